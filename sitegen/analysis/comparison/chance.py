"""Whether a result and a later one differ by more than chance: what reports say of neighbours, of any two results."""

from __future__ import annotations

from dataclasses import dataclass

from sitegen.analysis.noise.changes import change_verdict, independent_flips
from sitegen.analysis.noise.intervals import bootstrap_of, bootstrap_of_change, interval_of
from sitegen.model.cells import Flips
from sitegen.model.noise import Decision, Interval, Unit, Why
from sitegen.model.scorecards import Scorecard


@dataclass(frozen=True, slots=True)
class HeadlineInterval:
    """Where the headline, or its change, may lie at a level of 95 %."""

    low: float
    high: float
    unit: Unit
    """What was taken for a sample of more of its kind."""
    n: int
    """How many of the unit."""
    method: str


@dataclass(frozen=True, slots=True)
class Chance:
    """How the headline is judged."""

    decision: Decision
    """*inconclusive*: it may be chance. What repeated outputs tell is not asked."""
    why: Why
    """What decided."""
    difference: float | None
    """Of the headline, after minus before, over what both have."""
    before: HeadlineInterval | None
    """Around the headline of either side."""
    after: HeadlineInterval | None
    change: HeadlineInterval | None
    """Around the change, every unit held against itself."""
    bootstrap_before: HeadlineInterval | None
    """The same three by drawing whole units again, seeded by the data; None for kind ``responses``."""
    bootstrap_after: HeadlineInterval | None
    bootstrap_change: HeadlineInterval | None
    fixed: int
    """What McNemar's test is made over. Where fields are the units, only that of a list which flipped most counts."""
    broken: int
    detectable: float | None
    """The least change that these units show 8 times in 10."""


def chance_of(
    before: Scorecard,
    after: Scorecard,
    kind: str,
    flips: Flips,
    *,
    higher_is_better: bool = True,
) -> Chance:
    """Judge the change of the headline, between whose sides these cells flipped."""
    verdict = change_verdict(before, after, kind, flips, higher_is_better=higher_is_better)
    compared = verdict.why != "another judge"
    by_field = verdict.interval is not None and verdict.interval.unit == "fields"
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
        fixed=independent_flips(flips.fixed) if by_field else verdict.fixed,
        broken=independent_flips(flips.broken) if by_field else verdict.broken,
        detectable=verdict.detectable,
    )


def _headline_interval(interval: Interval | None) -> HeadlineInterval | None:
    return interval and HeadlineInterval(
        low=interval.low, high=interval.high, unit=interval.unit, n=interval.n, method=interval.method
    )
