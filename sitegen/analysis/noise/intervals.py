"""The interval beside a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sitegen.analysis.noise.samples import cases_of, is_counted, paired_sample_of, sample_of
from sitegen.model.kinds import traits_of
from sitegen.model.noise import Interval
from sitegen.model.scorecards import Scorecard
from sitegen.stats.intervals import around, around_mean, effective_wilson, mean_of, ratio, wilson

GRADES: Final = (1, 5)
"""The scale of the quality."""

_EFFECTIVE: Final = "Wilson, effective sample size"


def interval_of(card: Scorecard, kind: str, metric: str | None = None) -> Interval | None:
    """The interval of a metric, by default the headline.

    None where it is undefined or only recorded, where there is but one unit to make it from, and for metrics that the
    scores of documents do not add up to. Closed, and cheap enough for every point: one pass over the documents or the
    fields.
    """
    metric = metric or card.metrics[0].name
    value = card.metric(metric)
    traits = traits_of(kind)
    if value is None or traits.is_recorded:
        return None
    if traits.answers_cases:
        if not is_counted(metric):
            return None
        cases = cases_of(card)
        return Interval(*wilson(value, cases), "cases", cases, "Wilson")
    sample = sample_of(card, metric)
    spread = ratio(sample.shares)
    if spread is None:
        return None
    return Interval(*effective_wilson(spread, sample.trials), sample.unit, sample.shares.total(), _EFFECTIVE)


def ends_of_mean(numbers: Iterable[tuple[float | None, Interval | None]]) -> tuple[float, float] | None:
    """The interval of the mean of headlines over evals, from those of the evals; what is undefined is left out.

    It says how far these evals can be trusted, not how others would do. None if a headline has no interval.
    """
    known = [(value, interval) for value, interval in numbers if value is not None]
    found = [(value, interval.low, interval.high) for value, interval in known if interval is not None]
    return around_mean(found) if len(found) == len(known) else None


def bootstrap_of(card: Scorecard, kind: str) -> Interval | None:
    """That of the headline by resampling, seeded by the data: takes milliseconds. None for kind ``responses``."""
    from sitegen.stats.bootstrap import bootstrap_ratio

    metric, value = card.metrics[0]
    if value is None or not _can_be_drawn_again(kind):
        return None
    sample = sample_of(card, metric)
    found = bootstrap_ratio(tuple(sample.shares.elements()))
    return Interval(*found, sample.unit, sample.shares.total(), "bootstrap") if found else None


def bootstrap_of_change(before: Scorecard, after: Scorecard, kind: str) -> Interval | None:
    """That of the headline's change by resampling what both have, both sides of a unit drawn together."""
    from sitegen.stats.bootstrap import bootstrap_ratio_change

    if not _can_be_drawn_again(kind):
        return None
    unit, pairs = paired_sample_of(before, after)
    found = bootstrap_ratio_change(tuple(pairs.elements()))
    return Interval(*found, unit, pairs.total(), "bootstrap") if found else None


def _can_be_drawn_again(kind: str) -> bool:
    """Whether the documents of a kind are the sample: not where nothing is scored, nor where cases are the sample."""
    traits = traits_of(kind)
    return not (traits.is_recorded or traits.answers_cases)


def interval_of_runs(values: Sequence[float]) -> Interval | None:
    """The interval of the mean over repeated runs of one iteration; None for fewer than two."""
    spread = mean_of(values)
    return Interval(*around(spread), "runs", len(values), "Student's t over runs") if spread else None
