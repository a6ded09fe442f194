"""Steps and regressions: where an eval's level changed, what changed with it, and whether it was regained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from sitegen.analysis.series import HEADLINES
from sitegen.model.metrics import Counts, MetricSpec
from sitegen.model.outcomes import ERROR_TYPES
from sitegen.model.regressions import EditedFile, MetricStep, Moved, Step, StepStatus
from sitegen.model.series import Point, Series
from sitegen.stats.steps import Level, levels

REGAINED: Final = 0.75
"""Share of a loss that a later level has to regain for the regression to be fixed."""
EDITS: Final = 8
"""Instruction edits that are kept of a step."""
NEAR: Final = 5
"""Points on either side of a step whose errors are compared."""
FIELDS: Final = 3
"""Attributes that are named."""


class _Found(NamedTuple):
    """A step of one metric."""

    spec: MetricSpec
    levels: tuple[Level, ...]
    number: int
    """Of the level that the step leads to."""
    noise: float

    @property
    def at(self) -> int:
        return self.levels[self.number].start

    @property
    def points(self) -> float:
        before, after = self.levels[self.number - 1], self.levels[self.number]
        share = (after.mean - before.mean) / (self.spec.high - self.spec.low)
        return 100 * share if self.spec.higher_is_better else -100 * share


def steps_of(series: Series) -> tuple[Step, ...]:
    """The steps of an eval, oldest first: of those metrics of which every point is kept."""
    specs = series.specs[:HEADLINES]
    columns = [[point.scorecard.metric(spec.name) for point in series.points] for spec in specs]
    found = [step for spec, column in zip(specs, columns, strict=True) for step in _steps(spec, column)]
    steps = [_step(series.points, group, specs[0]) for group in _together(found)]
    ended = {step.until: step.at for step in reversed(steps) if step.until is not None}
    return tuple(
        step._replace(undoes=ended.get(step.at)) if step.status == "better" else step
        for step in sorted(steps, key=_place)
    )


def champions(values: Sequence[float | None], *, higher_is_better: bool = True) -> tuple[int | None, ...]:
    """For each point the index of the best one so far; the earliest of equals. None before the first value."""
    best: int | None = None
    found = []
    for index, value in enumerate(values):
        if value is not None and (best is None or _better(value, values[best], higher_is_better)):
            best = index
        found.append(best)
    return tuple(found)


def _better(value: float, best: float | None, higher_is_better: bool) -> bool:
    return best is None or (value > best if higher_is_better else value < best)


def _steps(spec: MetricSpec, column: Sequence[float | None]) -> Iterator[_Found]:
    found = levels(column)
    for number in range(1, len(found.levels)):
        yield _Found(spec, found.levels, number, found.noise)


def _together(found: Iterable[_Found]) -> list[list[_Found]]:
    """Steps of several metrics at one point, or at two neighbours, where noise may have put them."""
    groups: list[list[_Found]] = []
    for step in found:
        near = [
            group
            for group in groups
            if abs(group[0].at - step.at) <= 1 and all(other.spec.name != step.spec.name for other in group)
        ]
        if near:
            min(near, key=lambda group: abs(group[0].at - step.at)).append(step)
        else:
            groups.append([step])
    return groups


def _step(points: Sequence[Point], group: list[_Found], headline: MetricSpec) -> Step:
    found = sorted(group, key=lambda step: (step.spec.name != headline.name, step.points >= 0, -abs(step.points)))
    first = found[0]
    before, after = first.levels[first.number - 1], first.levels[first.number]
    last = before.end - 1
    between = points[last + 1 : after.start + 1]
    edits = [edit for point in between for edit in point.edits][::-1]
    worse = first.points < 0
    until, regained = _regained(first) if worse else (None, None)
    status: StepStatus = "better" if not worse else "open" if until is None else "fixed"
    return Step(
        at=after.start,
        before=last,
        metrics=tuple(
            MetricStep(step.spec.name, step.levels[step.number - 1].mean, step.levels[step.number].mean, step.points)
            for step in found
        ),
        status=status,
        commit=points[after.start].snapshot.commit._replace(body=""),
        causes=tuple(dict.fromkeys(cause for point in between for cause in point.snapshot.cause)),
        output=points[after.start].scorecard.status,
        edits=tuple(EditedFile(edit.path, edit.commit.sha) for edit in edits[:EDITS]),
        more_edits=max(0, len(edits) - EDITS),
        iterations=sum("outputs" in point.snapshot.cause for point in points[after.start : until]),
        until=until,
        regained=regained,
        alone=after.start == len(points) - 1,
        noise=first.noise,
        documents=_documents(points[last], points[after.start]),
        errors=_errors(points[before.start : before.end][-NEAR:], points[after.start : after.end][:NEAR]),
        fields=_fields(points[before.start : before.end][-NEAR:], points[after.start : after.end][:NEAR], worse=worse),
    )


def _place(step: Step) -> int:
    return step.at


def _regained(step: _Found) -> tuple[int | None, float | None]:
    """From which point on the level was regained, if it was, and which share of the loss, by then or by now."""
    before, after = step.levels[step.number - 1].mean, step.levels[step.number].mean
    share = 0.0
    for level in step.levels[step.number + 1 :]:
        share = (level.mean - after) / (before - after)
        if share >= REGAINED:
            return level.start, share
    return None, max(0.0, share)


def _documents(before: Point, after: Point) -> tuple[int, int] | None:
    old = {document.id for document in before.scorecard.documents}
    new = {document.id for document in after.scorecard.documents}
    return None if old == new else (len(old), len(new))


def _errors(before: Sequence[Point], after: Sequence[Point]) -> tuple[Moved, ...]:
    moved = (
        Moved(
            name,
            _mean([getattr(point.scorecard.counts, name) for point in before]),
            _mean([getattr(point.scorecard.counts, name) for point in after]),
        )
        for name in ERROR_TYPES
    )
    return tuple(one for one in moved if one.before != one.after)


def _fields(before: Sequence[Point], after: Sequence[Point], *, worse: bool) -> tuple[Moved, ...]:
    """The attributes whose errors grew most with a step down, or shrank most with a step up."""
    old, new = _wrong(before), _wrong(after)
    sign = 1 if worse else -1
    moved = (Moved(name, old.get(name, 0.0), new.get(name, 0.0)) for name in dict.fromkeys((*new, *old)))
    ranked = sorted(moved, key=lambda one: sign * (one.before - one.after))
    return tuple(one for one in ranked[:FIELDS] if sign * (one.after - one.before) > 0)


def _wrong(points: Sequence[Point]) -> dict[str, float]:
    """Errors of each attribute, per point."""
    sums: dict[str, int] = {}
    for point in points:
        for field in point.scorecard.fields:
            sums[field.attribute] = sums.get(field.attribute, 0) + _total(field.counts)
    return {name: number / len(points) for name, number in sums.items()}


def _total(counts: Counts) -> int:
    return counts.omission + counts.hallucination + counts.wrong_value + counts.format_error


def _mean(numbers: Sequence[int]) -> float:
    return sum(numbers) / len(numbers)
