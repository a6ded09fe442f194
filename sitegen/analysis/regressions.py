"""Finds the steps of an eval: level changes beyond noise, whether a loss was regained, and what changed with them.

Also applies the mutes of the configuration.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

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
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import EvalSummary, Point, Series
from sitegen.model.timeline import Edit
from sitegen.stats.averages import low_median, mean
from sitegen.stats.outliers import OUTLYING

if TYPE_CHECKING:
    from sitegen.stats.steps import Level, Levels

REGAINED: Final = 0.75
"""Share of a loss that a later level must regain for the regression to count as fixed."""


class _MetricLevels(Frozen):
    """A step of one metric: two neighbouring levels."""

    spec: MetricSpec
    before: Level
    after: Level
    later: tuple[Level, ...]
    """The levels after these two."""
    noise: float
    new: bool = False
    """Whether the later level has too few values to be distinguished from noise."""

    def measured(self) -> MetricStep:
        return _metric_step(self.spec, self.before.mean, self.after.mean)


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

    specs = series.specs[:HEADLINES]
    cases = 0 if series.info.recorded else _case_count(series.points)
    cards = [point.scorecard for point in series.points]
    unit_variance = variance_by_units(series.points, series.info.kind, [spec.name for spec in specs])
    fitted = [
        (spec, column, levels(column, (spec.high - spec.low) / cases if cases else 0.0, of_metric))
        for spec in specs
        for of_metric in (unit_variance(spec.name),)
        for column in _by_one_judge(cards, spec.name, _evidence(series.points, spec.name))
    ]
    if beside is None:
        snapshots = [point.snapshot for point in series.points]
        beside = edits_of_outputs(snapshots, [edit for point in series.points for edit in point.edits]).beside
    metric_steps = [step for spec, _, fit in fitted for step in _metric_steps(series.points, spec, fit)]
    steps = [_step(series.points, group, specs[0], beside) for group in _steps_by_point(metric_steps)]
    for spec, column, fit in fitted:
        if spec is specs[0]:
            steps.extend(_bad_runs(series.points, spec, column, fit, beside))
    steps.sort(key=lambda step: step.at)
    ended = {step.until: step.at for step in reversed(steps) if step.status == "fixed"}
    return tuple(replace(step, undoes=ended.get(step.at)) if step.status == "better" else step for step in steps)


def _case_count(points: Iterable[Point]) -> int:
    """Return the number of cases of which a metric is a share: expected values, or documents if there are none.

    This is the median over the points; 0 without points.
    """
    cases = [point.scorecard.expected_values or len(point.scorecard.documents) for point in points]
    return low_median(cases) if cases else 0


def _evidence(points: Sequence[Point], metric: str) -> list[float | None]:
    """Return the metric of each point that is new evidence, and None for all other points.

    A copy is no new evidence, and neither is a re-scored point with the same value.
    """
    values: list[float | None] = []
    last: float | None = None
    for point in points:
        value = point.scorecard.metric(metric)
        scored_again = "outputs" not in point.snapshot.cause
        values.append(None if point.is_copy or (scored_again and value == last) else value)
        last = value
    return values


def _by_one_judge(
    cards: Sequence[Scorecard], metric: str, values: Sequence[float | None]
) -> Iterator[list[float | None]]:
    """Yield one column of the metric's values for each judge, with None where another judge graded."""
    since = graded_since(cards, metric)
    for start in dict.fromkeys(since):
        yield [value if first == start else None for value, first in zip(values, since, strict=True)]


def _metric_steps(points: Sequence[Point], spec: MetricSpec, fit: Levels) -> Iterator[_MetricLevels]:
    for number, (before, after) in enumerate(pairwise(fit.levels), 2):
        yield _MetricLevels(spec=spec, before=before, after=after, later=fit.levels[number:], noise=fit.noise)
    if fit.fresh:
        before, after = fit.fresh
        fall = _MetricLevels(spec=spec, before=before, after=after, later=(), noise=fit.noise, new=True)
        if fall.measured().points < 0 and _regained(points, fall)[0] is None:
            yield fall


def _metric_step(spec: MetricSpec, before: float, after: float) -> MetricStep:
    share = 100 * (after - before) / (spec.high - spec.low)
    return MetricStep(name=spec.name, before=before, after=after, points=share if spec.higher_is_better else -share)


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
    first = min(group, key=lambda step: (step.new, step.spec != headline, step.measured().points))
    worse = first.measured().points < 0
    until, regained = _regained(points, first) if worse else (None, None)
    status: StepStatus = "new" if first.new else "better" if not worse else "open" if until is None else "fixed"
    before, after = first.before, first.after
    last = before.end - 1
    while last + 1 < after.start and "outputs" not in points[last + 1].snapshot.cause:
        last += 1  # re-scored to the same value, or to none
    step = _measured_step(
        points,
        range(before.start, last + 1),
        range(after.start, after.end),
        beside,
        metrics=(first.measured(), *(step.measured() for step in group if step is not first)),
        status=status,
        end=len(points) if until is None else until,
        until=until,
        noise=first.noise,
    )
    if status == "open" and step.different == 1:
        status = "new"  # one output counts as one value, however often it is re-scored
    return replace(step, status=status, regained=regained)


def _measured_step(
    points: Sequence[Point],
    before: range,
    after: range,
    beside: Sequence[Sequence[Edit]],
    *,
    metrics: tuple[MetricStep, ...],
    status: StepStatus,
    end: int,
    until: int | None,
    noise: float,
) -> Step:
    """Return a step between the points of two levels, with the outputs at the new level up to the index *end*."""
    from sitegen.analysis.step_context import circumstances

    at = after.start
    outputs = [index for index in range(at, end) if "outputs" in points[index].snapshot.cause]
    return Step(
        at=at,
        before=before[-1],
        metrics=metrics,
        status=status,
        commit=replace(points[at].snapshot.commit, body=""),
        circumstances=circumstances(
            points, before, after, beside=beside, metric=metrics[0].name, worse=metrics[0].points < 0
        ),
        iterations=len(outputs),
        different=len(first_of_each_output(points, outputs)),
        until=until,
        noise=noise,
    )


def _regained(points: Sequence[Point], step: _MetricLevels) -> tuple[int | None, float]:
    """Return the first point where the loss was regained, if any, and the share regained by then, or by now.

    A loss is regained by a later level, or by an output from before the loss that was restored and is the newest.
    """
    share = 0.0
    for level in step.later:
        share = _share_regained(step, level.mean)
        if share >= REGAINED:
            return level.start, share
    put_back = _put_back(points, step.after.start)
    value = points[-1].scorecard.metric(step.spec.name)
    if put_back is not None and value is not None and _share_regained(step, value) >= REGAINED:
        return put_back, _share_regained(step, value)
    return None, max(0.0, share)


def _share_regained(step: _MetricLevels, value: float) -> float:
    return (value - step.after.mean) / (step.before.mean - step.after.mean)


def _put_back(points: Sequence[Point], start: int) -> int | None:
    """Return the first of the newest points that all are copies of outputs before index *start*; None without any."""
    first = None
    for index in range(len(points) - 1, start - 1, -1):
        earliest = points[index].first_with_output
        if earliest is None or earliest >= start:
            break
        first = index
    return first


def _bad_runs(
    points: Sequence[Point],
    spec: MetricSpec,
    column: Sequence[float | None],
    fit: Levels,
    beside: Sequence[Sequence[Edit]],
) -> Iterator[Step]:
    """Yield the outliers of the headline that are far worse than their neighbours."""
    aside = {index for blip in fit.blips for index in blip.at}
    defined = [index for index, value in enumerate(column) if value is not None and index not in aside]
    for blip in fit.blips:
        at, end = blip.at[0], blip.at[-1] + 1
        here = bisect(defined, at)
        before, until = defined[here - 1 : here + 1]
        level = next(level for level in fit.levels if level.start <= before < level.end)
        metric = _metric_step(spec, level.mean, mean(column[index] or 0.0 for index in blip.at))
        if blip.far and metric.points < 0 and abs(metric.after - metric.before) > OUTLYING * fit.noise:
            yield _measured_step(
                points,
                range(level.start, before + 1),
                range(at, end),
                beside,
                metrics=(metric,),
                status="blip",
                end=end,
                until=until,
                noise=fit.noise,
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
