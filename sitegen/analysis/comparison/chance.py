"""Tests whether any two results differ by more than chance, with the tests that reports use for neighbouring points."""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.analysis.noise.changes import change_verdict
from sitegen.analysis.noise.intervals import bootstrap_of, bootstrap_of_change, interval_of
from sitegen.model.cells import Flips, Tally
from sitegen.model.noise import Decision, Interval, Unit, Why
from sitegen.model.scorecards import Scorecard


@dataclass(frozen=True, slots=True)
class HeadlineInterval:
    """The interval of the headline, or of its change, at a level of 95 %."""

    low: float
    high: float
    unit: Unit
    """The unit of the sample."""
    n: int
    """Number of units."""
    method: str


@dataclass(frozen=True, slots=True)
class Chance:
    """The verdict on the change of the headline."""

    decision: Decision
    """The word for the change, by the least certain of the tests. Noise of repeated outputs is not among the tests."""
    why: Why
    """The reason for the decision."""
    difference: float | None
    """The change of the headline, after minus before, over the documents that both sides have."""
    before: HeadlineInterval | None
    """The interval of the headline before."""
    after: HeadlineInterval | None
    change: HeadlineInterval | None
    """The interval of the change, from units paired with themselves."""
    bootstrap_before: HeadlineInterval | None
    """The same three intervals by resampling whole units, seeded by the data; None for kind ``responses``."""
    bootstrap_after: HeadlineInterval | None
    bootstrap_change: HeadlineInterval | None
    fixed: int
    """What the sign test counts: list items, and judgements outside of lists."""
    broken: int
    p_value: float | None
    """The exact sign test of ``fixed`` and ``broken``; None if nothing could be compared."""
    lost_fields: Tally
    """The fields that were right wherever they were judged, and are wrong wherever they are judged after, with
    the number of their values."""
    detectable: float | None
    """The smallest change that a sample of this size detects with a power of 0.8."""


def chance_of(
    before: Scorecard,
    after: Scorecard,
    kind: str,
    flips: Flips,
    *,
    higher_is_better: bool,
) -> Chance:
    """Judge the change of the headline between two results, given the cells that flipped."""
    verdict = change_verdict(before, after, kind, flips, higher_is_better=higher_is_better)
    compared = verdict.why != "another judge"
    return Chance(
        decision=verdict.decision,
        why=verdict.why,
        difference=verdict.change,
        before=_headline_interval(interval_of(before, kind)),
        after=_headline_interval(interval_of(after, kind)),
        change=_headline_interval(verdict.interval),
        bootstrap_before=_headline_interval(bootstrap_of(before, kind)),
        bootstrap_after=_headline_interval(bootstrap_of(after, kind)),
        bootstrap_change=_headline_interval(bootstrap_of_change(before, after, kind)) if compared else None,
        fixed=verdict.counted[0],
        broken=verdict.counted[1],
        p_value=verdict.p_value,
        lost_fields=verdict.lost_fields,
        detectable=verdict.detectable,
    )


def _headline_interval(interval: Interval | None) -> HeadlineInterval | None:
    return interval and HeadlineInterval(*interval[:5])
