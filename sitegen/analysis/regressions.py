"""Finds the steps of an eval: level changes beyond noise, whether a loss was regained, and what changed with them.

Also applies the mutes of the configuration.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec.structs import replace

from sitegen.analysis.copies import first_of_each_output
from sitegen.analysis.deltas import graded_since
from sitegen.analysis.edits import edits_of_outputs
from sitegen.analysis.series import HEADLINES
from sitegen.config import MUTE_DIGITS, Mute
from sitegen.frozen import Frozen
from sitegen.model.metrics import MetricSpec
from sitegen.model.problems import Problem
from sitegen.model.regressions import MetricStep, Step, StepStatus
from sitegen.model.series import EvalSummary, Point, Series
from sitegen.model.timeline import Edit
from sitegen.stats.averages import low_median, mean
from sitegen.stats.outliers import OUTLYING

if TYPE_CHECKING:
    from sitegen.stats.steps import Level, Levels

REGAINED: Final = 0.75
"""Share of a loss that a later level must regain for the regression to count as fixed."""


Told: TypeAlias = Literal["step", "new", "blip"]


class _MetricLevels(Frozen):
    """A step or a bad run of one metric: two neighbouring levels."""

    spec: MetricSpec
    before: Level
    after: Level
    old: tuple[int, ...]
    """The points before the step with outputs of the earlier level."""
    noise: float
    told: Told = "step"
    """new: the later level has too few values to be distinguished from noise. blip: it is a bad run."""
    until: int | None = None
    """The first point at which the loss was regained; None if there is none, or if nothing was lost."""
    regained: float | None = None
    """The share of the loss that is regained by then, or by now; None if nothing was lost."""

    @property
    def measured(self) -> MetricStep:
        """Both levels, and the size of the step."""
        share = 100 * (self.after.mean - self.before.mean) / (self.spec.high - self.spec.low)
        return MetricStep(
            name=self.spec.name,
            before=self.before.mean,
            after=self.after.mean,
            points=share if self.spec.higher_is_better else -share,
        )

    def regained_by(self, value: float) -> float:
        """The share of the loss that a value regains."""
        return (value - self.after.mean) / (self.before.mean - self.after.mean)


def steps_of(series: Series, beside: Sequence[Sequence[Edit]] | None = None) -> tuple[Step, ...]:
    """Return the steps of an eval and the bad runs of its headline, by time.

    Falls that are too new to distinguish from noise are among the steps. Only metrics that are stored for
    every point are examined.

    Args:
        series: all points of the eval.
        beside: for each point the edits beside it (``OutputEdits.beside``); None: it is computed.

    """
    from sitegen.analysis.noise.metrics import variance_by_units  # takes time to import, and new points alone need it
    from sitegen.stats.steps import levels

    specs, points = series.specs[:HEADLINES], series.points
    cases = 0 if series.info.recorded else _case_count(points)
    unit_variance = variance_by_units(points, series.info.kind, [spec.name for spec in specs])
    if beside is None:
        snapshots = [point.snapshot for point in points]
        beside = edits_of_outputs(snapshots, [edit for point in points for edit in point.edits]).beside
    found = [
        step
        for spec in specs
        for grain in ((spec.high - spec.low) / cases if cases else 0.0,)
        for fit in (partial(levels, grain=grain, unit_variance=unit_variance(spec.name)),)
        for stretch in _stretches(points, spec.name)
        for step in _steps_of_metric(points, spec, stretch, fit)
    ]
    groups = _steps_by_point(step for step in found if step.told != "blip")
    groups += [[step] for step in found if step.told == "blip" and step.spec is specs[0]]
    steps = [_step(points, group, specs[0], beside) for group in groups]
    steps.sort(key=lambda step: step.at)
    ended = {step.until: step.at for step in reversed(steps) if step.status == "fixed"}
    return tuple(replace(step, undoes=ended.get(step.at)) if step.status == "better" else step for step in steps)


def _case_count(points: Iterable[Point]) -> int:
    """Return the number of cases of which a metric is a share: expected values, or documents if there are none.

    This is the median over the points; 0 without points.
    """
    cases = [point.scorecard.expected_values or len(point.scorecard.documents) for point in points]
    return low_median(cases) if cases else 0


def _stretches(points: Sequence[Point], metric: str) -> list[list[int]]:
    """Return the indices of points that can be compared with each other: a list for each judge."""
    stretches: dict[int, list[int]] = {}
    for index, first in enumerate(graded_since([point.scorecard for point in points], metric)):
        stretches.setdefault(first, []).append(index)
    return list(stretches.values())


def _evidence(points: Sequence[Point], metric: str, of: Sequence[int]) -> list[float | None]:
    """Return the metric of each point that is new evidence among the points *of*, and None for all other points.

    A copy of an output of these points is no new evidence, and neither is a re-scored point with the same value.
    """
    values: list[float | None] = [None] * len(points)
    outputs: set[int] = set()
    for index in of:
        point, value = points[index], points[index].scorecard.metric(metric)
        if "outputs" in point.snapshot.cause:
            is_new = _output(points, index) not in outputs
        else:
            is_new = index == 0 or value != points[index - 1].scorecard.metric(metric)
        values[index] = value if is_new else None
        outputs.add(_output(points, index))
    return values


def _output(points: Sequence[Point], index: int) -> int:
    """Return the index of the first point with the same output."""
    first = points[index].first_with_output
    while first is None and index and "outputs" not in points[index].snapshot.cause:
        index -= 1  # the same output, scored again
        first = points[index].first_with_output
    return index if first is None else first


def _steps_of_metric(
    points: Sequence[Point], spec: MetricSpec, of: Sequence[int], fit: Callable[[Sequence[float | None]], Levels]
) -> Iterator[_MetricLevels]:
    """Yield the steps and bad runs among the points *of*, which can be compared with each other, and how losses ended.

    A loss is regained by a later level, or where an output of before the fall is in use again.
    """
    steps = list(_steps_between_returns(points, spec, of, fit))
    for step in steps:
        if step.told == "blip" or step.measured.points > 0:
            yield step
            continue
        later = [level for one in steps if one.told == "step" and (level := one.after).start > step.after.start]
        back = _return(points, of, step)
        end = next((level for level in later if step.regained_by(level.mean) >= REGAINED), None)
        until = end.start if end else None
        if back is not None and (until is None or back < until):
            until, share = back, step.regained_by(points[back].scorecard.metric(spec.name) or 0.0)
        else:
            share = max(0.0, step.regained_by((end or later[-1]).mean)) if later else 0.0
        if step.told != "new" or until is None:
            yield replace(step, until=until, regained=share)


def _return(points: Sequence[Point], of: Sequence[int], fall: _MetricLevels, since: int = 0) -> int | None:
    """Return the first point, after *since*, at which an output of before a fall regains the loss; None without one."""
    for index in of:
        value = points[index].scorecard.metric(fall.spec.name)
        is_old = index > max(since, fall.after.start) and _output(points, index) < fall.after.start
        if is_old and value is not None and fall.regained_by(value) >= REGAINED:
            return index
    return None


def _steps_between_returns(
    points: Sequence[Point],
    spec: MetricSpec,
    of: Sequence[int],
    fit: Callable[[Sequence[float | None]], Levels],
    since: int = 0,
) -> Iterator[_MetricLevels]:
    """Yield the steps and bad runs from index *since* on.

    A fall ends where an output of before it is in use again. From there on, outputs are compared with those of before
    the fall and not with those of the fall: a later fall is another one, with its own size and its own commit.
    """
    found = list(_steps_of_fit(points, spec, of, fit))
    falls = [step for step in found if step.told != "blip" and step.measured.points < 0]
    returns = [(back, fall.after.start) for fall in falls if (back := _return(points, of, fall, since)) is not None]
    if not returns:
        yield from (step for step in found if step.after.start >= since)
        return
    back, start = min(returns)
    before = _steps_of_fit(points, spec, [index for index in of if index < back], fit)
    yield from (step for step in before if step.after.start >= since and step.told != "new")
    yield from _steps_between_returns(points, spec, [index for index in of if not start <= index < back], fit, back)


def _steps_of_fit(
    points: Sequence[Point], spec: MetricSpec, of: Sequence[int], fit: Callable[[Sequence[float | None]], Levels]
) -> Iterator[_MetricLevels]:
    """Yield the steps between the levels of these points, their newest fall if it is too new to tell, and bad runs."""
    column = _evidence(points, spec.name, of)
    found = fit(column)

    def step(
        before: Level, after: Level, told: Literal["step", "new", "blip"] = "step", until: int | None = None
    ) -> _MetricLevels:
        outputs = {_output(points, index) for index in of if before.start <= index < before.end}
        old = tuple(index for index in of if before.start <= index < after.start and _output(points, index) in outputs)
        return _MetricLevels(spec, before, after, old, found.noise, told, until)

    yield from (step(*neighbours) for neighbours in pairwise(found.levels))
    if found.fresh:
        newest = step(*found.fresh, "new")
        if newest.measured.points < 0:
            yield newest
    aside = {index for blip in found.blips for index in blip.at}
    defined = [index for index, value in enumerate(column) if value is not None and index not in aside]
    for blip in found.blips:
        at, end = blip.at[0], blip.at[-1] + 1
        here = bisect(defined, at)
        last, until = defined[here - 1 : here + 1]
        level = next(level for level in found.levels if level.start <= last < level.end)
        values = [column[index] or 0.0 for index in blip.at]
        run = replace(level, start=at, end=end, size=len(values), mean=mean(values))
        bad = step(replace(level, end=last + 1), run, "blip", until)
        if blip.far and bad.measured.points < 0 and abs(run.mean - level.mean) > OUTLYING * found.noise:
            yield bad


def _steps_by_point(steps_of_metrics: Iterable[_MetricLevels]) -> list[list[_MetricLevels]]:
    """Group the steps of several metrics at one point, or at two neighbours: noise may put them a point apart."""
    by_start: dict[int, list[_MetricLevels]] = {}
    for step in steps_of_metrics:
        by_start.setdefault(step.after.start, []).append(step)
    groups: list[list[_MetricLevels]] = []
    for start, steps in sorted(by_start.items()):
        names = {step.spec.name for step in steps}
        if (
            groups
            and start - groups[-1][0].after.start == 1
            and names.isdisjoint(step.spec.name for step in groups[-1])
        ):
            groups[-1].extend(steps)
        else:
            groups.append(steps)
    return groups


def _step(
    points: Sequence[Point], group: list[_MetricLevels], headline: MetricSpec, beside: Sequence[Sequence[Edit]]
) -> Step:
    """Return the step of several metrics at one place, with the outputs at the new level until it was regained."""
    from sitegen.analysis.step_context import circumstances

    first = min(group, key=lambda step: (step.told == "new", step.spec != headline, step.measured.points))
    at, worse = first.after.start, first.measured.points < 0
    end = first.after.end if first.told == "blip" else len(points) if first.until is None else first.until
    outputs = [index for index in range(at, end) if "outputs" in points[index].snapshot.cause]
    different = len(first_of_each_output(points, outputs))
    status: StepStatus = "better" if not worse else "open" if first.until is None else "fixed"
    if first.told != "step":
        status = first.told
    elif status == "open" and different == 1:
        status = "new"  # one output counts as one value, however often it is re-scored
    return Step(
        at=at,
        before=first.old[-1],
        metrics=(first.measured, *(step.measured for step in group if step is not first)),
        status=status,
        commit=replace(points[at].snapshot.commit, body=""),
        circumstances=circumstances(
            points, first.old, range(at, first.after.end), beside=beside, metric=first.spec.name, worse=worse
        ),
        iterations=len(outputs),
        different=different,
        until=first.until,
        regained=first.regained,
        noise=first.noise,
    )


def mute_of(mutes: Iterable[Mute], summary: EvalSummary, step: Step) -> Mute | None:
    """Return the first mute in the configuration that names this step."""
    return next((mute for mute in mutes if _mutes_step(mute, summary, step)), None)


def unmatched_mutes(mutes: Sequence[Mute], summaries: Iterable[EvalSummary]) -> tuple[Problem, ...]:
    """Return a note for each mute that matches no step: it is mistyped, or no longer needed."""
    matched = {
        mute for summary in summaries for step in summary.steps for mute in mutes if _mutes_step(mute, summary, step)
    }
    return tuple(
        Problem.of_type(
            "unmatched_mute",
            f"A mute names no step: eval {mute.eval!r}, commit {mute.commit!r}"
            + (f", metric {mute.metric!r}." if mute.metric else "."),
            "Correct it, or remove it from [regressions] of the configuration. The page of regressions has the "
            f"commits; {MUTE_DIGITS} digits are needed.",
        )
        for mute in mutes
        if mute not in matched
    )


def _mutes_step(mute: Mute, summary: EvalSummary, step: Step) -> bool:
    return (
        mute.eval == summary.info.id
        and len(mute.commit) >= MUTE_DIGITS
        and step.commit.sha.startswith(mute.commit.lower())
        and mute.metric in (None, step.metrics[0].name)
        and mute.iteration in (None, summary.headlines[step.at].label)
    )
