"""Computes the interval of a metric, of its change, and of means over evals and runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sitegen.analysis.noise.samples import is_counted, paired_sample_of, sample_of
from sitegen.model.kinds import traits_of
from sitegen.model.noise import Ends, Interval, Unit
from sitegen.model.scorecards import Scorecard
from sitegen.stats.intervals import Estimate, around, around_mean, effective_wilson, mean_of, ratio, wilson

_EFFECTIVE: Final = "Wilson, effective sample size"


def interval_of(card: Scorecard, kind: str, metric: str | None = None) -> Interval | None:
    """Compute the interval of a metric, by default the headline.

    None if the metric is undefined or recorded, if there is only one unit, or if it cannot be computed from the scores
    of documents. The formula is closed, and cheap enough for every point: one pass over documents or fields.
    """
    metric = metric or card.metrics[0].name
    value = card.metric(metric)
    traits = traits_of(kind)
    if value is None or traits.is_recorded:
        return None
    if traits.answers_cases:
        if not is_counted(metric):
            return None
        cases = len(card.cases)
        return _stated_interval(wilson(value, cases), unit="cases", n=cases, method="Wilson") if cases else None
    sample = sample_of(card, metric)
    spread = ratio(sample.shares)
    if spread is None:
        return None
    ends = effective_wilson(spread, sample.trials)
    return _stated_interval(ends, unit=sample.unit, n=sample.shares.total(), method=_EFFECTIVE)


def _stated_interval(ends: Ends | None, unit: Unit, n: int, method: str) -> Interval | None:
    return None if ends is None else Interval(low=ends.low, high=ends.high, unit=unit, n=n, method=method)


def ends_of_mean(headlines: Iterable[tuple[float | None, Interval | None]]) -> Ends | None:
    """Combine intervals of headlines to the interval of their mean over evals; undefined headlines are left out.

    It describes the uncertainty of these evals, not how other evals would score. None if a headline has no interval.
    """
    ends = [
        None if interval is None else Estimate(value, interval.low, interval.high)
        for value, interval in headlines
        if value is not None
    ]
    with_interval = [end for end in ends if end is not None]
    return around_mean(with_interval) if len(with_interval) == len(ends) else None


def bootstrap_of(card: Scorecard, kind: str) -> Interval | None:
    """Bootstrap the interval of the headline, seeded by the data; takes milliseconds. None for kind ``responses``."""
    from sitegen.stats.bootstrap import bootstrap_ratio

    metric, value = card.metrics[0]
    if value is None or not _is_sample_of_documents(kind):
        return None
    sample = sample_of(card, metric)
    ends = bootstrap_ratio(tuple(sample.shares.elements()))
    return _stated_interval(ends, unit=sample.unit, n=sample.shares.total(), method="bootstrap")


def bootstrap_of_change(before: Scorecard, after: Scorecard, kind: str) -> Interval | None:
    """Bootstrap the interval of the headline's change by resampling common units, both sides of a unit together."""
    from sitegen.stats.bootstrap import bootstrap_ratio_change

    if not _is_sample_of_documents(kind):
        return None
    unit, pairs = paired_sample_of(before, after, after.metrics[0].name)
    ends = bootstrap_ratio_change(tuple(pairs.elements()))
    return _stated_interval(ends, unit=unit, n=pairs.total(), method="bootstrap")


def _is_sample_of_documents(kind: str) -> bool:
    """Decide whether documents are the sample of a kind: not for recorded numbers, nor if cases are the sample."""
    traits = traits_of(kind)
    return not (traits.is_recorded or traits.answers_cases)


def interval_of_runs(values: Sequence[float]) -> Interval | None:
    """Compute the interval of the mean over repeated runs of one iteration; None for fewer than two runs."""
    spread = mean_of(values)
    return _stated_interval(
        around(spread) if spread else None, unit="runs", n=len(values), method="Student's t over runs"
    )
