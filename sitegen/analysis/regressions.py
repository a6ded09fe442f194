"""Finds the steps of an eval: level changes beyond noise, whether a loss was regained, and what changed with them."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec.structs import replace

from sitegen.analysis.deltas import Compared, comparable_since
from sitegen.analysis.series import first_of_each_output, in_another_unit, output_of
from sitegen.model.changes import MetricStep, Moved, Step, StepStatus
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import ERROR_TYPES, ErrorType
from sitegen.model.series import HEADLINES, Point, Series
from sitegen.scoring.kinds import scorer
from sitegen.stats.counts import errors
from sitegen.stats.intervals import mean
from sitegen.stats.outliers import OUTLYING

if TYPE_CHECKING:
    from sitegen.stats.steps import Level, Levels

NEAR: Final = 5
"""Number of points on either side of a step: the documents that these have in common
are measured, and their errors are compared."""
REGAINED: Final = 0.75  # of a loss, which a later level must regain for the regression to count as fixed
_SETTLED: Final = 3  # fewest outputs of a level whose mean shows that a loss was regained, if the level is lower by now

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
    over: frozenset[str] | None = None
    """The documents that it is measured over; None for all, if they are the same throughout."""

    @property
    def measured(self) -> MetricStep:
        """Both levels, and the size of the step."""
        return metric_step(self.spec, self.before.mean, self.after.mean)

    def regained_by(self, value: float) -> float:
        """Return the share of the loss that a value regains."""
        return (value - self.after.mean) / (self.before.mean - self.after.mean)


def steps_of(series: Series) -> tuple[Step, ...]:
    """Return the steps of an eval and the bad runs of its headline, by time.

    Falls that are too new to distinguish from noise are among the steps. Only metrics that are stored for
    every point are examined.
    """
    from sitegen.analysis.noise.changes import variance_by_units  # takes time to import, and new points alone need it
    from sitegen.stats.steps import levels

    specs, points = series.specs[:HEADLINES], series.points
    # The cases of which a metric is a share: expected values, or documents if there are none.
    every = [point.scorecard.expected_values or len(point.scorecard.documents) for point in points]
    cases = sorted(every)[(len(every) - 1) // 2] if every and not series.info.recorded else 0
    unit_variance = variance_by_units(points, [spec.name for spec in specs])
    since = comparable_since([point.scorecard for point in points], [spec.name for spec in specs])
    found: list[_MetricLevels] = []
    for spec in specs:
        grain = (spec.high - spec.low) / cases if cases else 0.0
        fit = partial(levels, grain=grain, unit_variance=unit_variance(spec.name))
        search = _StepSearch(points=points, spec=spec, fit=fit)
        # Each is comparable from its first point on.
        odd = in_another_unit([point.scorecard.metric(spec.name) for point in points]) if spec.recorded else ()
        stretches = grouped((first, index) for index, first in enumerate(since[spec.name]) if index not in odd)
        found += [step for stretch in stretches.values() for step in search.steps(stretch)]
    watched = [spec for spec in specs if spec.recorded or spec.target(series.info.thresholds) is not None]
    groups = list[list[_MetricLevels]]()
    for group in _steps_by_point(step for step in found if step.told != "blip"):
        has_gain = any(step.spec == specs[0] and step.measured.points > 0 for step in group)
        hidden = [step for step in group if has_gain and step.spec in watched and step.measured.points < 0]
        groups += filter(None, ([step for step in group if step not in hidden], hidden))
    groups += [[step] for step in found if step.told == "blip" and step.spec is specs[0]]
    steps = [_step(points, group, specs[0]) for group in groups]
    steps.sort(key=lambda step: step.at)
    ended = {step.until: step.at for step in reversed(steps) if step.status == "fixed"}
    return tuple(replace(step, undoes=ended.get(step.at)) if step.status == "better" else step for step in steps)


def _documents(points: Iterable[Point]) -> list[frozenset[str]]:
    """Return the ids of the documents of each point that has any."""
    each = (frozenset([document.name for document in point.scorecard.documents]) for point in points)
    return [names for names in each if names]


class _StepSearch(Frozen):
    """The search for the steps of one metric; *of* are the indices of points that can be compared with each other."""

    points: Sequence[Point]
    spec: MetricSpec
    fit: Callable[[Sequence[float | None]], Levels]

    def steps(self, of: Sequence[int]) -> Iterator[_MetricLevels]:
        """Yield the steps and bad runs. A loss ends by a later level, or where an output of before it is used again."""
        steps = list(self._between_returns(of))
        for step in steps:
            if step.told == "blip" or step.measured.points > 0:
                yield step
                continue
            later = [at for at in steps if at.told == "step" and at.after.start > step.after.start]
            shares = [(at.after.start, step.regained_by(self._mean(at.after, step.over))) for at in later]
            best = [(at.after.start, max(self._shares(of, step, at.after), default=0.0)) for at in later]
            ends = [(at, share) for at, share in (*shares, *best) if share >= REGAINED]
            back = self._return(of, step)
            if back is not None:
                ends.append((back, step.regained_by(self._value(back, step.over) or 0.0)))
            until, share = min(ends, default=(None, max(0.0, shares[-1][1]) if shares else 0.0))
            if step.told != "new" or until is None:
                yield replace(step, until=until, regained=share)

    def _value(self, index: int, over: frozenset[str] | None = None) -> float | None:
        """Return the metric at a point over some of its documents; over all if none are named."""
        card = self.points[index].scorecard
        if over is None:
            return card.metric(self.spec.name)
        shared = [document for document in card.documents if document.name in over]
        if len(shared) < len(over):
            return None
        return dict(scorer(card.kind).metrics_for(shared)).get(self.spec.name)

    def _mean(self, level: Level, over: frozenset[str] | None) -> float:
        """Return the mean of a level over some documents; over all of them if these are not in its outputs."""
        values = [self._value(index, over) for index in range(level.start, level.end)] if over else []
        defined = [value for value in values if value is not None]
        return mean(defined) if defined else level.mean

    def _shares(self, of: Iterable[int], fall: _MetricLevels, level: Level) -> Iterator[float]:
        """Yield the share of a loss that a later level had regained at each of its outputs, from some on.

        A loss that was regained once is closed for good, also if the next fall lowers the mean of the whole level.
        """
        here = [index for index in of if level.start <= index < level.end]  # no others: a series may have many levels
        values = [value for value in self._evidence(here, fall.over) if value is not None]
        for number in range(_SETTLED, len(values)):
            yield fall.regained_by(mean(values[:number]))

    def _evidence(self, of: Iterable[int], over: frozenset[str] | None = None) -> list[float | None]:
        """Return the metric of each point that is new evidence, and None for all other points.

        A copy of an output of these points is no new evidence, and neither is a re-scored point with the same value.
        """
        values: list[float | None] = [None] * len(self.points)
        outputs: set[int] = set()
        for index in of:
            output, value = output_of(self.points, index), self._value(index, over)
            if "outputs" in self.points[index].snapshot.cause:
                is_new = output not in outputs
            else:
                is_new = index == 0 or value != self._value(index - 1, over)
            values[index] = value if is_new else None
            outputs.add(output)
        return values

    def _return(self, of: Iterable[int], fall: _MetricLevels, since: int = 0) -> int | None:
        """Return the first point after ``since`` at which an output of before a fall regains the loss, or None."""
        for index in of:
            if index > max(since, fall.after.start) and output_of(self.points, index) < fall.after.start:
                value = self._value(index, fall.over)
                if value is not None and fall.regained_by(value) >= REGAINED:
                    return index
        return None

    def _between_returns(self, of: Sequence[int], since: int = 0) -> Iterator[_MetricLevels]:
        """Yield the steps and bad runs from index ``since`` on.

        A fall ends where an output of before it is in use again. From there on, outputs are compared with those of
        before the fall and not with those of the fall: a later fall is another one, with its own size and commit.
        """
        found = list(self._fitted(of))
        falls = [step for step in found if step.told != "blip" and step.measured.points < 0]
        returns = [(back, at.after.start) for at in falls if (back := self._return(of, at, since)) is not None]
        if not returns:
            yield from (step for step in found if step.after.start >= since)
            return
        back, start = min(returns)
        before = self._fitted([index for index in of if index < back])
        yield from (step for step in before if step.after.start >= since and step.told != "new")
        yield from self._between_returns([index for index in of if not start <= index < back], back)

    def _fitted(self, of: Sequence[int]) -> Iterator[_MetricLevels]:
        """Yield the steps between levels, the newest fall if it is too new to tell, and bad runs."""
        column = self._evidence(of)
        found = self.fit(column)
        told: list[tuple[Level, Level, Told]] = [(*levels, "step") for levels in pairwise(found.levels)]
        if found.fresh:
            told.append((*found.fresh, "new"))
        for before, after, what in told:
            step = self._over_common(of, self._step(of, before, after, found.noise, what))
            if step and (what == "step" or step.measured.points < 0):
                yield step
        aside = {index for blip in found.blips for index in blip.at}
        defined = [index for index, value in enumerate(column) if value is not None and index not in aside]
        for blip in found.blips:
            at, end = blip.at[0], blip.at[-1] + 1
            here = bisect(defined, at)
            last, until = defined[here - 1 : here + 1]
            level = next(level for level in found.levels if level.start <= last < level.end)
            values = [column[index] or 0.0 for index in blip.at]
            run = replace(level, start=at, end=end, size=len(values), mean=mean(values))
            bad = replace(self._step(of, replace(level, end=last + 1), run, found.noise, "blip"), until=until)
            is_far = blip.far and abs(run.mean - level.mean) > OUTLYING * found.noise
            different = {*_documents(self.points[index] for index in (last, *range(at, end)))}
            if is_far and bad.measured.points < 0 and len(different) < 2:
                yield bad

    def _step(self, of: Iterable[int], before: Level, after: Level, noise: float, told: Told) -> _MetricLevels:
        outputs = {output_of(self.points, index) for index in of if before.start <= index < before.end}
        between = (index for index in of if before.start <= index < after.start)
        old = tuple(index for index in between if output_of(self.points, index) in outputs)
        return _MetricLevels(spec=self.spec, before=before, after=after, old=old, noise=noise, told=told)

    def _over_common(self, of: Sequence[int], step: _MetricLevels) -> _MetricLevels | None:
        """Return a step as it is over what both of its levels have in common; None if there is no step over that.

        Other documents are easier or harder, so a number over them says nothing about the outputs.
        """
        within = [index for index in of if step.before.start <= index < step.after.end]
        if len({*_documents(self.points[index] for index in within)}) < 2:
            return step
        near = [*step.old[-NEAR:], *[index for index in within if index >= step.after.start][:NEAR]]
        names = _documents([self.points[index] for index in near])
        over = frozenset.intersection(*names) if names else None
        found = self.fit(self._evidence(within, over)) if over else None
        pairs = [*pairwise(found.levels), *([found.fresh] if found.fresh else [])] if found else []
        for before, after in pairs:
            same = self._step(of, before, after, step.noise, step.told)
            is_here = abs(after.start - step.after.start) <= 1
            if is_here and (same.measured.points < 0) == (step.measured.points < 0):
                return replace(same, over=over)
        return None


def _steps_by_point(steps_of_metrics: Iterable[_MetricLevels]) -> list[list[_MetricLevels]]:
    """Group the steps of several metrics at one point, or at two neighbours: noise may put them a point apart."""
    by_start = grouped((step.after.start, step) for step in steps_of_metrics)
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


def _step(points: Sequence[Point], group: list[_MetricLevels], headline: MetricSpec) -> Step:
    """Return the step of several metrics at one place, with the outputs at the new level until it was regained."""
    first = min(group, key=lambda step: (step.told == "new", step.spec != headline, step.measured.points))
    end = first.after.end if first.told == "blip" else len(points) if first.until is None else first.until
    status: StepStatus = "better" if first.measured.points > 0 else "open" if first.until is None else "fixed"
    step = step_between(
        points,
        first.old,
        range(first.after.start, first.after.end),
        metrics=(first.measured, *(step.measured for step in group if step is not first)),
        status=status if first.told == "step" else first.told,
        end=end,
    )
    if step.status == "open" and step.different == 1:
        step = replace(step, status="new")  # one output counts as one value, however often it is re-scored
    return replace(step, until=first.until, regained=first.regained, noise=first.noise)


def metric_step(spec: MetricSpec, before: float, after: float) -> MetricStep:
    """Measure the change of a metric, positive if it is for the better."""
    share = 100 * (after - before) / (spec.high - spec.low)
    return MetricStep(name=spec.name, before=before, after=after, points=share if spec.higher_is_better else -share)


EDITS: Final = 8  # of instructions that are listed
FIELDS: Final = 3  # that are listed


def step_between(
    points: Sequence[Point],
    before: Sequence[int],
    after: range,
    *,
    metrics: tuple[MetricStep, ...],
    status: StepStatus,
    end: int,
) -> Step:
    """Return a step, with what changed from the last point of one level to the first point of the next.

    Only edits beside new outputs are listed: a re-scored point has the old output, whatever was edited since.

    ``before``: indices of the points with outputs of the earlier level. ``after``: those of the points of the later
    level. ``metrics``: the metrics that stepped, the main one first. ``end``: the index after the last point whose
    output counts as one at the new level.
    """
    last, first = before[-1], after[0]
    between = range(last + 1, first + 1)
    causes = tuple(dict.fromkeys(cause for index in between for cause in points[index].snapshot.cause))
    new_outputs = (index for index in between if "outputs" in points[index].snapshot.cause)
    beside = dict.fromkeys(chain.from_iterable(points[index].beside for index in new_outputs))
    edits = sorted(beside, key=lambda edit: -edit.commit.position)
    listed = (*edits[: EDITS - 1], *edits[EDITS - 1 :][-1:])  # with the oldest
    model, judge = Compared(points[last].scorecard, points[first].scorecard).exchanges
    documents = [{document.name for document in points[index].scorecard.documents} for index in (last, first)]
    old, new = [points[index] for index in before[-NEAR:]], [points[index] for index in after[:NEAR]]
    moved = (Moved(name, _mean_errors(old, name), _mean_errors(new, name)) for name in ERROR_TYPES)
    earlier, later = _errors_by_attribute(old), _errors_by_attribute(new)
    fields = (Moved(name, earlier.get(name, 0.0), later.get(name, 0.0)) for name in dict.fromkeys((*later, *earlier)))
    sign = -1 if status == "better" else 1  # a loss is of the fields whose errors increased, whatever the metric did
    moved_fields = sorted((each for each in fields if sign * each.change > 0), key=lambda each: -abs(each.change))
    change = points[first].change if first == last + 1 else None
    deltas = change.metrics if change else ()
    outputs = [index for index in range(first, end) if "outputs" in points[index].snapshot.cause]
    return Step(
        at=first,
        before=last,
        metrics=metrics,
        status=status,
        commit=replace(points[first].snapshot.commit, body=""),
        iterations=len(outputs),
        different=len(first_of_each_output(points, outputs)),
        causes=causes,
        edits=tuple((edit.path, edit.commit.sha) for edit in listed),
        more_edits=max(0, len(edits) - EDITS),
        documents=None if documents[0] == documents[1] else (len(documents[0]), len(documents[1])),
        errors=tuple(error for error in moved if error.before != error.after),
        fields=tuple(moved_fields[:FIELDS]),
        delta=next((delta for delta in deltas if delta.name == metrics[0].name), None),
        model=model,
        judge=judge,
        edited=replace(edits[0].commit, body="") if edits else None,
    )


def _mean_errors(points: Sequence[Point], error_type: ErrorType) -> float:
    numbers: list[int] = [getattr(point.scorecard.counts, error_type) for point in points]
    return sum(numbers) / len(numbers)


def _errors_by_attribute(points: Sequence[Point]) -> dict[str, float]:
    """Return for each attribute its mean number of errors per point."""
    sums: dict[str, int] = {}
    for point in points:
        for field in point.scorecard.fields:
            sums[field.attribute] = sums.get(field.attribute, 0) + errors(field.counts)
    return {name: number / len(points) for name, number in sums.items()}
