"""Compares each eval with its past: whether it is or may be worse now, and which eval needs attention first.

The overview, the page of steps and the summary all use these functions, so that they agree. The mutes of the
configuration are applied here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Final, Literal, TypeAlias, get_args

from msgspec.structs import replace

from sitegen.analysis.change import ResultsOf, change, changes, compared_now, judged_today, scored_now
from sitegen.analysis.deltas import comparable_since
from sitegen.analysis.regressions import REGAINED, metric_step, step_between
from sitegen.analysis.series import first_of_each_output, in_another_unit, last_other_output, output_of
from sitegen.config.models import MUTE_DIGITS, Mute
from sitegen.data_files.project_files import SITE_FILES
from sitegen.model.changes import WORSE, ChangeVerdict, MetricStep, Step
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import ROUNDING, MetricSpec
from sitegen.model.problems import Problem
from sitegen.model.series import EvalSummary, Headline, Series

Trouble: TypeAlias = Literal["unscored", "worse", "too new", "below target", "behind", "none", "no outputs"]
"""unscored: the newest output has no headline although an earlier one has, unless runs record it, its files cannot be
read, or there is no output any more. worse: a regression is open, or the newest output is worse than the one before or
the best one by more than chance. too new: the newest values are lower, but too few to distinguish from noise. below
target: the headline misses its target. behind: the best output was better, but by no more than chance explains. none:
the eval is at its best."""

_TROUBLES: Final[tuple[Trouble, ...]] = get_args(Trouble)  # all kinds of trouble, from the worst to the least

LOST: Final[tuple[Trouble, ...]] = _TROUBLES[:3]
"""Kinds of trouble that are, or may be, losses: if no eval has one, a page may say that nothing is worse."""


class EvalStanding(Frozen):
    """An eval compared with its past."""

    summary: EvalSummary
    trouble: Trouble
    worse: tuple[Step, ...]
    """How it is worse than it was, or may be: what is not muted, the largest first."""
    muted: tuple[ListedStep, ...]
    """The same of what the configuration mutes, with its reasons."""
    behind: float | None
    """How much worse the newest headline is than the best one, in the metric's own unit; 0 if it is the best. Both are
    scored by the newest ground truth and rules, over the documents that both have. None if either is undefined, and if
    no other output can be compared with the newest."""

    @property
    def spec(self) -> MetricSpec:
        """The headline metric."""
        return self.summary.specs[0]

    @property
    def newest(self) -> Headline:
        """The newest point; the eval must have one."""
        return self.summary.headlines[-1]

    @property
    def best(self) -> Headline | None:
        """The best output; None if no output has a headline."""
        return self.summary.headlines[self.summary.best_output.at] if self.summary.best_output else None

    @property
    def behind_over_common(self) -> bool:
        """Whether the distance is measured over fewer documents than one of the two values."""
        value = self.newest.values[0]
        if not self.behind or self.summary.best_output is None or value is None:
            return False
        return abs(abs(self.summary.best_output.value - value) - self.behind) > ROUNDING

    @property
    def size(self) -> float:
        """The largest loss, in hundredths of the metric's range."""
        losses = [abs(step.metrics[0].points) for step in self.worse]
        return max((*losses, 100 * (self.behind or 0.0) / (self.spec.high - self.spec.low)))

    @property
    def loss_at_newest(self) -> Step | None:
        """The loss that the newest output brought, if it is more than chance or too new to tell."""
        return min((at for at in self.worse if at.status in ("fell", "new")), key=lambda at: at.status, default=None)

    @property
    def lost_since(self) -> Headline | None:
        """The last point before the largest older loss."""
        return next((self.summary.headlines[at.before] for at in self.worse if at.status == "open"), None)

    @property
    def worst_step(self) -> Step:
        """The loss to name first of an eval that has one: the surest, then the largest."""
        return min(self.worse, key=lambda step: step.status == "new")


def standings(summaries: Iterable[EvalSummary], mutes: Sequence[Mute]) -> tuple[EvalStanding, ...]:
    """Return every eval that is not deleted, worst trouble first, and within the same trouble largest loss first."""
    alive = (standing_of(summary, mutes) for summary in summaries if not summary.deleted)
    return tuple(
        sorted(alive, key=lambda at: (_TROUBLES.index(at.trouble), -at.size, at.summary.info.name, at.summary.info.id))
    )


def standing_of(summary: EvalSummary, mutes: Sequence[Mute]) -> EvalStanding:
    """Compute the standing of one eval."""
    found = [(step, ListedStep(summary, step).mute_in(mutes)) for step in summary.steps if step.status in WORSE]
    worse = [step for step, mute in found if not mute]
    spec, value = summary.specs[0], summary.value
    behind = None
    since = summary.headlines[-1].comparable_since if summary.headlines else 0
    is_alone = since and len(first_of_each_output(summary.headlines, range(since, len(summary.headlines)))) == 1
    mixed = spec.recorded and in_another_unit(one.values[0] for one in summary.headlines)
    if summary.best_output and value is not None and not mixed and not is_alone:
        judged = summary.since_best.change if summary.since_best else None  # over the documents that both have
        change = value - summary.best_output.value if judged is None else judged
        behind = max(0.0, -change if spec.higher_is_better else change)
        behind = 0.0 if behind < ROUNDING else behind
    return EvalStanding(
        summary=summary,
        trouble=_trouble(summary, worse, behind),
        worse=tuple(sorted(worse, key=lambda step: (step.metrics[0].points, -step.at))),
        muted=largest_first(ListedStep(summary, step, mute.why) for step, mute in found if mute),
        behind=behind,
    )


class ListedStep(Frozen):
    """A step and its eval."""

    summary: EvalSummary
    step: Step
    why: str = ""
    """The reason of its mute; empty if it is not muted."""

    @property
    def before(self) -> Headline:
        """The last point at the old level."""
        return self.summary.headlines[self.step.before]

    @property
    def at(self) -> Headline:
        """The first point at the new level."""
        return self.summary.headlines[self.step.at]

    @property
    def until(self) -> Headline | None:
        """The point from which the level was regained."""
        return None if self.step.until is None else self.summary.headlines[self.step.until]

    @property
    def metrics(self) -> list[tuple[MetricSpec, MetricStep]]:
        """The metrics of the step, the main one first."""
        specs = {spec.name: spec for spec in self.summary.specs}
        return [(specs[metric.name], metric) for metric in self.step.metrics]

    def mute_in(self, mutes: Iterable[Mute]) -> Mute | None:
        """Return the first mute in the configuration that names this step."""
        of_eval = (mute for mute in mutes if mute.eval == self.summary.info.id and len(mute.commit) >= MUTE_DIGITS)
        return next((mute for mute in of_eval if self.step.commit.sha.startswith(mute.commit.lower())), None)


def worse_than_it_was(evals: Iterable[EvalStanding]) -> tuple[ListedStep, ...]:
    """Return all that is worse than it was, or may be, without what is muted; the largest loss first."""
    return largest_first(ListedStep(standing.summary, step) for standing in evals for step in standing.worse)


def largest_first(steps: Iterable[ListedStep]) -> tuple[ListedStep, ...]:
    """Sort steps by the size of their headline."""
    return tuple(sorted(steps, key=lambda row: (-abs(row.step.metrics[0].points), row.summary.info.id, row.step.at)))


def _trouble(summary: EvalSummary, worse: Sequence[Step], behind: float | None) -> Trouble:
    if not summary.headlines:
        return "no outputs"
    is_missing = summary.value is None and not summary.specs[0].recorded  # a run need not record every number
    is_scored = summary.headlines[-1].status == "scored" and not summary.without_output
    if not is_scored or (is_missing and summary.best_output):
        return "unscored"
    if worse:
        return "too new" if all(step.status == "new" for step in worse) else "worse"
    if summary.target[1] is False:
        return "below target"
    return "behind" if behind else "none"


def with_losses(
    series: Series, steps: tuple[Step, ...], best: Sequence[int | None], since: ChangeVerdict | None
) -> tuple[Step, ...]:
    """Return the steps of an eval, with the verdict on each that is worse, and its losses that are no steps.

    These are the fall of the newest output, and the distance from the best output unless another loss is half of it, or
    lies where most of it was lost. Both only if they are more than chance. What was such a loss when an earlier output
    was the newest, and was regained since, is among them too: as *fixed*.

    ``best``: the best point up to each point. ``since``: the verdict on the distance from the best of all.
    """
    points = series.points
    if series.info.recorded or not points:
        return steps
    for loss in _regained_losses(series, best):
        fallen = [step for step in steps if step.status not in ("better", "blip")]
        if not any(abs(step.at - loss.at) <= 1 or step.until == loss.until for step in fallen):
            steps = (*(step for step in steps if step.at != loss.at), loss)  # a bad run is listed once
    newest, other = len(points) - 1, last_other_output(points)
    if other is not None and (fall := _fall(series, other + 1, newest)):
        steps = _with_fall(series, steps, fall)
    distance = _distance_from_best(series, best[newest], newest, since)
    if distance and not any(_explains(step, distance) for step in steps):
        steps = (*steps, distance)
    judged = changes(series, [(step.before, step.at) for step in steps if step.status in WORSE])
    return tuple(
        replace(step, verdict=judged[step.before, step.at].verdict) if step.status in WORSE else step
        for step in sorted(steps, key=lambda step: step.at)
    )


def _regained_losses(series: Series, best: Sequence[int | None]) -> Iterator[Step]:
    """Yield the falls of earlier outputs, and the distances from the best at that time, that a later one regained."""
    points = series.points
    ended: list[tuple[Step, float, int]] = []
    for newest in range(len(points) - 1):
        fall = _fall(series, newest, newest)
        if fall:
            later = range(newest + 1, len(points))
            others = (index for index in later if output_of(points, index) != output_of(points, newest))
            shares = ((_share_regained(series, fall.before, newest, index), index) for index in others)
            ended += [(fall, *end) for end in islice((end for end in shares if end[0] >= REGAINED), 1)]
        at = best[newest]
        regained = 0.0 if at is None else _share_regained(series, at, newest, newest + 1)
        if at is not None and regained >= REGAINED:
            verdict = change(series, at, newest).verdict if points[newest].scorecard.status == "scored" else None
            distance = _distance_from_best(series, at, newest, verdict)
            if distance:
                ended.append((distance, regained, newest + 1))
    for loss, share, until in ended:
        outputs = [index for index in range(loss.at, until) if "outputs" in points[index].snapshot.cause]
        different = len(first_of_each_output(points, outputs))
        yield replace(loss, status="fixed", until=until, regained=share, iterations=len(outputs), different=different)


def _share_regained(series: Series, before: int, low: int, later: int) -> float:
    """Return how much of the loss from one point to another a later one regained; 0 if nothing was lost, or known.

    Each is scored by the newest ground truth and rules. What is left of the loss is measured over what the first and
    the last have in common.
    """
    spec = series.specs[0]
    sign = 1 if spec.higher_is_better else -1
    first, *others = (series.points[at] for at in (before, low, later))
    lost, left = (compared_now(first, other).difference(spec.name) for other in others)
    return 0.0 if lost is None or left is None or sign * lost > -ROUNDING else 1 - left / lost


def _fall(series: Series, at: int, newest: int) -> Step | None:
    """Return the change that an output made, if it is for the worse by more than chance, also by today's rules.

    A field that was lost is for the worse, whatever the headline did, and so is what broke while it stayed. ``newest``:
    the last point with the output, which may have been scored again since.
    """
    points = series.points
    if at < 1 or points[newest].scorecard.status != "scored":
        return None
    verdict = change(series, at - 1, at).verdict
    if verdict is None or verdict.decision != "worse":
        return None
    spec = series.specs[0]
    after = points[at].scorecard.metric(spec.name)
    moved_now = compared_now(points[at - 1], points[newest]).difference(spec.name)
    if after is None or verdict.change is None or moved_now is None:
        return None
    moved = metric_step(spec, after - verdict.change, after)
    if not verdict.lost_fields and (moved.points > 0 or metric_step(spec, 0.0, moved_now).points > 0):
        return None
    return step_between(points, [at - 1], range(at, at + 1), metrics=(moved,), status="fell", end=newest + 1)


def _with_fall(series: Series, steps: tuple[Step, ...], fall: Step) -> tuple[Step, ...]:
    """Return the steps with the fall of the newest output, in place of a step there that is too new to be sure.

    Its metrics are measured as the headline is, over common documents: the numbers of the step are means of its levels,
    which do not fit beside the change of a single output.
    """
    there = next((step for step in steps if step.at == fall.at and step.status in WORSE), None)
    if there is None or there.status != "new":
        return steps if there else (*steps, fall)
    changed = {metric.name: metric.change for metric in change(series, fall.before, fall.at).metrics}
    named = {metric.name for metric in there.metrics} - {fall.metrics[0].name}
    values = ((spec, series.points[fall.at].scorecard.metric(spec.name)) for spec in series.specs if spec.name in named)
    moved = ((spec, value, changed.get(spec.name)) for spec, value in values)
    others = [metric_step(spec, now - by, now) for spec, now, by in moved if now is not None and by is not None]
    metrics = (*fall.metrics, *(metric for metric in others if metric.points < 0))
    surer = replace(fall, metrics=metrics, regained=there.regained, noise=there.noise)
    return tuple(surer if step is there else step for step in steps)


def _distance_from_best(series: Series, best: int | None, newest: int, since: ChangeVerdict | None) -> Step | None:
    """Return the loss from the best output to the newest, if it is more than chance, with the output that lost most.

    The loss began after the last output that had three quarters of it left. ``since``: the verdict on it.
    """
    if best is None or since is None or since.decision != "worse":
        return None
    points, spec = series.points, series.specs[0]
    known = [at for at in range(best, newest + 1) if scored_now(points[at]).metric(spec.name) is not None]

    def loss(before: int, after: int) -> float:
        """Over what both have; 0 if they have nothing in common."""
        moved = compared_now(points[before], points[after]).difference(spec.name) or 0.0
        return -moved if spec.higher_is_better else moved

    lost = loss(best, newest)
    near = max((place for place, at in enumerate(known[:-1]) if loss(best, at) <= (1 - REGAINED) * lost), default=0)
    before, at = max(pairwise(known[near:]), key=lambda pair: loss(*pair))
    value = scored_now(points[newest]).metric(spec.name) or 0.0
    moved = metric_step(spec, value + (lost if spec.higher_is_better else -lost), value)
    if moved.points >= 0:
        return None
    return step_between(points, [before], range(at, at + 1), metrics=(moved,), status="behind", end=newest + 1)


def _explains(step: Step, distance: Step) -> bool:
    """Decide whether a loss is a great part of the distance from the best output, or lies where most of it was lost."""
    moved, whole = step.metrics[0], distance.metrics[0]
    is_great = moved.name == whole.name and step.at >= distance.at and 2 * moved.points <= whole.points
    is_there = abs(step.at - distance.at) <= (step.status == "open")  # noise may put a step a point apart
    return step.status in ("fell", "open") and (is_great or is_there)


def since_best(series: Series, best: int | None, results_of: ResultsOf) -> ChangeVerdict | None:
    """Judge the change from the best output to the newest point, both scored by the newest ground truth and rules.

    Of several outputs one is the best by chance, so that p counts once for each value that they have (Bonferroni).
    None if the newest point is the best or a copy of it, or has no headline, and for recorded numbers, which no test
    can distinguish from chance.
    """
    newest = len(series.points) - 1
    if best is None or best == newest or series.points[newest].scorecard.status != "scored" or series.info.recorded:
        return None
    from sitegen.analysis.noise.changes import also_by  # takes time to import; as ``change`` does

    judged, places = judged_today(series, (best, newest), results_of)
    verdict, name = change(judged, *places).verdict, series.specs[0].name
    since = comparable_since([point.scorecard for point in series.points], [name])[name][newest]
    others = first_of_each_output(series.points, range(since, newest))
    values = {scored_now(series.points[at]).metric(name) for at in others} - {None}
    return verdict and also_by(len(values) * (verdict.p_value or 0.0), verdict, "the best was chosen")


def unmatched_mutes(mutes: Sequence[Mute], summaries: Iterable[EvalSummary]) -> tuple[Problem, ...]:
    """Return a note for each mute that matches no step: it is mistyped, or no longer needed."""
    steps = [ListedStep(summary, step) for summary in summaries for step in summary.steps]
    return tuple(
        Problem.of_type(
            "unmatched_mute",
            f"A mute names no step: eval {mute.eval!r}, commit {mute.commit!r}.",
            "Correct it, or remove it from [regressions] of the configuration. The page of steps has the "
            f"commits; {MUTE_DIGITS} digits are needed.",
            SITE_FILES[0],
            field=f"regressions.mute[{place}]",
        )
        for place, mute in enumerate(mutes)
        if not any(step.mute_in([mute]) for step in steps)
    )
