"""Compares each eval with its past: whether it is or may be worse now, and which eval needs attention first.

The overview, the page of regressions and the summary all use these functions, so that they agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias, get_args

from msgspec.structs import replace

from sitegen.analysis.flips import flips
from sitegen.analysis.noise.changes import change_verdict
from sitegen.analysis.regressions import mute_of
from sitegen.config import Mute
from sitegen.frozen import Frozen
from sitegen.model.cells import Flips
from sitegen.model.metrics import ROUNDING, MetricSpec
from sitegen.model.noise import ChangeVerdict, Decision
from sitegen.model.regressions import Step
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import EvalSummary, Headline, Peak, Series

Trouble: TypeAlias = Literal["unscored", "worse", "too new", "below target", "behind", "none", "no outputs"]
"""unscored: the newest output has no headline although an earlier one has, unless runs record it, or its files cannot
be read. worse: a
regression is open, or the newest output is worse than the best one by more than chance. too new: the newest values are
lower, but too few to distinguish from noise. below target: the headline misses its target. behind: the
best output was better, but by no more than chance explains. none: the eval is at its best."""

TROUBLES: Final[tuple[Trouble, ...]] = get_args(Trouble)
"""All kinds of trouble, from the worst to the least."""

LOST: Final[tuple[Trouble, ...]] = TROUBLES[:3]
"""Kinds of trouble that are, or may be, losses: if no eval has one, a page may say that nothing is worse."""

WORSE: Final[tuple[Decision, ...]] = ("worse",)
"""Verdicts of a loss that is more than chance."""


class EvalStanding(Frozen):
    """An eval compared with its past."""

    summary: EvalSummary
    trouble: Trouble
    lost: tuple[Step, ...]
    """Its open regressions that are not muted: regressions of the headline first, then the largest first."""
    too_new: tuple[Step, ...]
    """Its falls that are too new to distinguish from noise, and not muted."""
    behind: float | None
    """How much worse the newest headline is than the best one, in the metric's own unit; 0 if it is the best. Both are
    scored by the newest ground truth and rules. None if either is undefined."""
    behind_by_more_than_chance: bool
    below_target: bool

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
        return self.summary.headlines[self.summary.peak.at] if self.summary.peak else None

    @property
    def size(self) -> float:
        """The largest loss, in hundredths of the metric's range."""
        losses = [abs(step.metrics[0].points) for step in (*self.lost, *self.too_new)]
        span = self.spec.high - self.spec.low
        return max((*losses, 100 * (self.behind or 0.0) / span))


def standings(summaries: Iterable[EvalSummary], mutes: Sequence[Mute]) -> tuple[EvalStanding, ...]:
    """Return every eval that is not deleted, worst trouble first, and within the same trouble largest loss first."""
    alive = (standing_of(summary, mutes) for summary in summaries if not summary.deleted)
    return tuple(sorted(alive, key=_trouble_rank))


def standing_of(summary: EvalSummary, mutes: Sequence[Mute]) -> EvalStanding:
    """Compute the standing of one eval."""
    muted = [step for step in summary.steps if mute_of(mutes, summary, step)]
    steps = [step for step in summary.steps if step not in muted]
    spec, newest = summary.specs[0], summary.headlines[-1] if summary.headlines else None
    value = newest.values[0] if newest else None
    behind = None
    if summary.peak and value is not None:
        behind = max(0.0, (summary.peak.value - value) * (1 if spec.higher_is_better else -1))
        behind = 0.0 if behind < ROUNDING else behind
    # A mute of a fall below the best output also covers the distance to that output.
    expected = summary.peak is not None and any(step.at > summary.peak.at for step in muted)
    target = spec.target(summary.info.thresholds)
    result = EvalStanding(
        summary=summary,
        trouble="none",
        lost=tuple(
            sorted(
                (step for step in steps if step.status == "open"),
                key=lambda step: (step.metrics[0].name != spec.name, step.metrics[0].points, -step.at),
            )
        ),
        too_new=tuple(step for step in steps if step.status == "new"),
        behind=behind,
        behind_by_more_than_chance=bool(
            behind and not expected and summary.since_best and summary.since_best.decision in WORSE
        ),
        below_target=target is not None and value is not None and not spec.reaches(value, target),
    )
    return replace(result, trouble=_trouble(result, newest))


def _trouble(standing: EvalStanding, newest: Headline | None) -> Trouble:
    if newest is None:
        return "no outputs"
    is_missing = newest.values[0] is None and not standing.spec.recorded  # a run need not record every number
    if newest.status != "scored" or (is_missing and standing.summary.peak):
        return "unscored"
    if standing.lost or standing.behind_by_more_than_chance:
        return "worse"
    if standing.too_new:
        return "too new"
    if standing.below_target:
        return "below target"
    return "behind" if standing.behind else "none"


def _trouble_rank(standing: EvalStanding) -> tuple[int, float, str, str]:
    return TROUBLES.index(standing.trouble), -standing.size, standing.summary.info.name, standing.summary.info.id


def nothing_is_worse(evals: Iterable[EvalStanding]) -> bool:
    """Decide whether a page may say that nothing is worse: no loss is open, too new, or beyond chance."""
    return not any(standing.trouble in LOST for standing in evals)


def since_best(series: Series, peak: Peak | None) -> ChangeVerdict | None:
    """Judge the change from the best output to the newest point, both scored by the newest ground truth and rules.

    None if the newest point is the best or has no headline, and for recorded numbers, which no test can distinguish
    from chance. The verdict has no fields.
    """
    newest = len(series.points) - 1
    if peak is None or peak.at == newest or series.points[newest].scorecard.status != "scored":
        return None
    cards = [point.now or point.scorecard for point in (series.points[peak.at], series.points[newest])]
    return _verdict(series, cards[0], cards[1], flips(series.cells, peak.at, newest))


def last_change(series: Series) -> ChangeVerdict | None:
    """Judge the change from the last point but one to the newest, as in reports, without fields; None as above."""
    if len(series.points) < 2:
        return None
    before, newest = series.points[-2:]
    if newest.flips is None or "outputs" not in newest.snapshot.cause:
        return None
    return _verdict(series, before.scorecard, newest.scorecard, newest.flips)


def _verdict(series: Series, before: Scorecard, after: Scorecard, flipped: Flips) -> ChangeVerdict | None:
    if series.info.recorded:
        return None
    return replace(
        change_verdict(
            before,
            after,
            series.info.kind,
            flipped,
            noise=series.noise,
            higher_is_better=series.specs[0].higher_is_better,
        ),
        fields=(),
    )
