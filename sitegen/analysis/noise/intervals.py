"""The interval beside a headline."""

from __future__ import annotations

from collections.abc import Sequence

from sitegen.analysis.noise.samples import RESPONSES, cases_of, paired_sample_of, sample_of
from sitegen.model.noise import Interval
from sitegen.model.scorecards import Scorecard
from sitegen.stats.intervals import around, effective_wilson, mean_of, ratio, wilson


def interval_of(card: Scorecard, kind: str) -> Interval | None:
    """The interval of the headline; None where it is undefined, or there is but one unit to make it from.

    Closed, and cheap enough for every point: one pass over the documents or the fields.
    """
    if not card.metrics or card.metrics[0].value is None:
        return None
    if kind == RESPONSES:
        cases = cases_of(card)
        low, high = wilson(card.metrics[0].value, cases)
        return Interval(low, high, "cases", cases, "Wilson")
    sample = sample_of(card)
    spread = ratio(sample.shares)
    if spread is None:
        return None
    low, high = effective_wilson(spread, sample.trials)
    return Interval(low, high, sample.unit, sample.shares.total(), "Wilson, effective sample size")


def bootstrap_of(card: Scorecard, kind: str) -> Interval | None:
    """The same by resampling, seeded by the data: takes milliseconds. None for ``responses``, which has cases only."""
    from sitegen.stats.bootstrap import bootstrap_ratio

    if kind == RESPONSES or not card.metrics or card.metrics[0].value is None:
        return None
    sample = sample_of(card)
    found = bootstrap_ratio(tuple(sample.shares.elements()))
    return Interval(*found, sample.unit, sample.shares.total(), "bootstrap") if found else None


def bootstrap_of_change(before: Scorecard, after: Scorecard, kind: str) -> Interval | None:
    """The interval of the headline's change by resampling what both have, both sides of a unit drawn together."""
    from sitegen.stats.bootstrap import bootstrap_ratio_change

    if kind == RESPONSES:
        return None
    unit, pairs = paired_sample_of(before, after)
    found = bootstrap_ratio_change(tuple(pairs.elements()))
    return Interval(*found, unit, pairs.total(), "bootstrap") if found else None


def interval_of_runs(values: Sequence[float]) -> Interval | None:
    """The interval of the mean over repeated runs of one iteration; None for fewer than two."""
    spread = mean_of(values)
    return Interval(*around(spread), "runs", len(values), "Student's t over runs") if spread else None
