"""Circumstances: what changed between two levels of an eval, and which errors moved with it. Association, not cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sitegen.analysis.deltas import exchanges
from sitegen.model.deltas import MetricDelta
from sitegen.model.outcomes import ERROR_TYPES, ErrorType
from sitegen.model.regressions import Circumstances, EditedFile, Moved
from sitegen.model.series import Point
from sitegen.model.timeline import Edit
from sitegen.stats.counts import errors

EDITS: Final = 8
"""Instruction edits that are named."""
NEAR: Final = 5
"""Points on either side whose errors are compared."""
FIELDS: Final = 3
"""Attributes that are named."""


def circumstances(points: Sequence[Point], before: range, after: range, *, metric: str, worse: bool) -> Circumstances:
    """What changed from the last point of one stretch to the first of the next, for a metric that stepped there.

    Edits of instructions have to do with new outputs alone: a re-scored point holds the old output, whatever was edited
    since. They count from the last output of an earlier commit on, because of several outputs of one commit history
    does not say which its edits came before.
    """
    last, first = before[-1], after[0]
    between = points[last + 1 : first + 1]
    causes = tuple(dict.fromkeys(cause for point in between for cause in point.snapshot.cause))
    edits = _edits_since_output(points, first) if "outputs" in causes else []
    model, judge = exchanges(points[last].scorecard, points[first].scorecard)
    old, new = [points[index] for index in before[-NEAR:]], [points[index] for index in after[:NEAR]]
    return Circumstances(
        causes=causes,
        output=points[first].scorecard.status,
        edits=tuple(EditedFile(edit.path, edit.commit.sha) for edit in edits[:EDITS]),
        more_edits=max(0, len(edits) - EDITS),
        documents=_changed_documents(points[before[-1]], points[first]),
        errors=_moved_errors(old, new),
        fields=_moved_fields(old, new, worse=worse),
        delta=_delta(points[first], metric) if first == last + 1 else None,
        model=model,
        judge=judge,
    )


def _delta(point: Point, metric: str) -> MetricDelta | None:
    """Against the point before it."""
    return next((one for one in point.delta.metrics if one.name == metric), None) if point.delta else None


def _edits_since_output(points: Sequence[Point], first: int) -> list[Edit]:
    """Those after the last output of an earlier commit, the newest first."""
    commit = points[first].snapshot.commit.sha
    last = first - 1
    while last >= 0 and ("outputs" not in points[last].snapshot.cause or points[last].snapshot.commit.sha == commit):
        last -= 1
    return [edit for point in points[last + 1 : first + 1] for edit in point.edits][::-1]


def _changed_documents(before: Point, after: Point) -> tuple[int, int] | None:
    old = {document.id for document in before.scorecard.documents}
    new = {document.id for document in after.scorecard.documents}
    return None if old == new else (len(old), len(new))


def _moved_errors(before: Sequence[Point], after: Sequence[Point]) -> tuple[Moved, ...]:
    moved = (Moved(name, _mean_errors(before, name), _mean_errors(after, name)) for name in ERROR_TYPES)
    return tuple(one for one in moved if one.before != one.after)


def _mean_errors(points: Sequence[Point], error_type: ErrorType) -> float:
    numbers: list[int] = [getattr(point.scorecard.counts, error_type) for point in points]
    return sum(numbers) / len(numbers)


def _moved_fields(before: Sequence[Point], after: Sequence[Point], *, worse: bool) -> tuple[Moved, ...]:
    """The attributes whose errors grew most with a loss, or fell most with a gain."""
    old, new = _errors_by_attribute(before), _errors_by_attribute(after)
    moved = [Moved(name, old.get(name, 0.0), new.get(name, 0.0)) for name in dict.fromkeys((*new, *old))]
    sign = 1 if worse else -1
    ranked = sorted((one for one in moved if sign * one.change > 0), key=lambda one: -abs(one.change))
    return tuple(ranked[:FIELDS])


def _errors_by_attribute(points: Sequence[Point]) -> dict[str, float]:
    """For each attribute, its errors at every point."""
    sums: dict[str, int] = {}
    for point in points:
        for field in point.scorecard.fields:
            sums[field.attribute] = sums.get(field.attribute, 0) + errors(field.counts)
    return {name: number / len(points) for name, number in sums.items()}
