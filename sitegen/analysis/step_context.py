"""Lists what changed between two levels of an eval, and which errors changed with it: association, not cause."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.deltas import exchanges
from sitegen.model.changes import Circumstances, EditedFile, Moved
from sitegen.model.outcomes import ERROR_TYPES, ErrorType
from sitegen.model.series import Point
from sitegen.model.timeline import Edit
from sitegen.stats.counts import errors

EDITS: Final = 8
"""Number of instruction edits that are listed."""
NEAR: Final = 5
"""Number of points on either side whose errors are compared."""
FIELDS: Final = 3
"""Number of attributes that are listed."""


def circumstances(
    points: Sequence[Point],
    before: Sequence[int],
    after: range,
    *,
    beside: Sequence[Sequence[Edit]],
    metric: str,
    worse: bool,
) -> Circumstances:
    """List what changed from the last point of one level to the first point of the next, for a metric with that step.

    Args:
        points: points of the eval, in series order.
        before: indices of the points with outputs of the earlier level.
        after: indices of the points of the later level.
        beside: for each point the edits beside it (``OutputEdits.beside``). Only edits beside new outputs are listed: a
            re-scored point has the old output, whatever was edited since.
        metric: name of the metric that stepped.
        worse: whether the later level is worse.

    """
    last, first = before[-1], after[0]
    between = range(last + 1, first + 1)
    causes = tuple(dict.fromkeys(cause for index in between for cause in points[index].snapshot.cause))
    new_outputs = (index for index in between if "outputs" in points[index].snapshot.cause)
    edits = list(dict.fromkeys(chain.from_iterable(beside[index] for index in new_outputs)))[::-1]
    model, judge = exchanges(points[last].scorecard, points[first].scorecard)
    old, new = [points[index] for index in before[-NEAR:]], [points[index] for index in after[:NEAR]]
    moved = (Moved(name, _mean_errors(old, name), _mean_errors(new, name)) for name in ERROR_TYPES)
    change = points[first].change if first == last + 1 else None
    deltas = change.metrics if change else ()
    return Circumstances(
        causes=causes,
        output=points[first].scorecard.status,
        edits=tuple(EditedFile(edit.path, edit.commit.sha) for edit in edits[:EDITS]),
        more_edits=max(0, len(edits) - EDITS),
        documents=_changed_documents(points[last], points[first]),
        errors=tuple(error for error in moved if error.before != error.after),
        fields=_moved_fields(old, new, worse=worse),
        delta=next((delta for delta in deltas if delta.name == metric), None),
        model=model,
        judge=judge,
        edited=replace(edits[0].commit, body="") if edits else None,
    )


def _changed_documents(before: Point, after: Point) -> tuple[int, int] | None:
    old = {document.id for document in before.scorecard.documents}
    new = {document.id for document in after.scorecard.documents}
    return None if old == new else (len(old), len(new))


def _mean_errors(points: Sequence[Point], error_type: ErrorType) -> float:
    numbers: list[int] = [getattr(point.scorecard.counts, error_type) for point in points]
    return sum(numbers) / len(numbers)


def _moved_fields(before: Sequence[Point], after: Sequence[Point], *, worse: bool) -> tuple[Moved, ...]:
    """Return the attributes whose errors increased most with a loss, or decreased most with a gain."""
    old, new = _errors_by_attribute(before), _errors_by_attribute(after)
    moved = [Moved(name, old.get(name, 0.0), new.get(name, 0.0)) for name in dict.fromkeys((*new, *old))]
    sign = 1 if worse else -1
    ranked = sorted((field for field in moved if sign * field.change > 0), key=lambda field: -abs(field.change))
    return tuple(ranked[:FIELDS])


def _errors_by_attribute(points: Sequence[Point]) -> dict[str, float]:
    """Return for each attribute its mean number of errors per point."""
    sums: dict[str, int] = {}
    for point in points:
        for field in point.scorecard.fields:
            sums[field.attribute] = sums.get(field.attribute, 0) + errors(field.counts)
    return {name: number / len(points) for name, number in sums.items()}
