"""Tests whether a change of any metric is more than chance, by the same tests as for the headline.

Also estimates the variance of a metric that is due to units alone, for the tests of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from msgspec.structs import replace

from sitegen.analysis.deltas import Compared
from sitegen.analysis.noise.changes import FEWEST, change_verdict, mean_verdict
from sitegen.analysis.noise.samples import is_counted, paired_sample_of
from sitegen.model.changes import ChangeVerdict, Spread
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import Flips
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point
from sitegen.stats.intervals import ratio_change
from sitegen.stats.step_tests import UnitVariance


def metric_verdict(spec: MetricSpec, compared: Compared, flips: Flips) -> ChangeVerdict | None:
    """Judge the change of a metric as ``change_verdict`` does; None if its noise cannot be estimated.

    Noise cannot be estimated if the metric is neither a ratio of counts nor a mean over documents. The noise of repeats
    is that of the headline, and plays no part.
    """
    after, traits = compared.after, compared.after.traits
    if traits.is_recorded:
        return None
    is_headline = after.metrics[0].name == spec.name
    if not is_headline and not _has_units(spec.name, after):
        return None
    if not is_headline and traits.answers_cases:
        pairs = paired_sample_of(compared, spec.name)[1]
        return mean_verdict(pairs, scale=spec.high - spec.low, higher_is_better=spec.higher_is_better)
    return change_verdict(
        Compared(_with_headline(spec.name, compared.before), _with_headline(spec.name, after)),
        flips,
        higher_is_better=spec.higher_is_better,
    )


def variance_by_units(points: Sequence[Point], metrics: Sequence[str]) -> Callable[[str], UnitVariance]:
    """Return a function that makes the estimate for one of the metrics of the variance of an output by its units.

    The estimate, from how the units of two outputs differ, is half the squared standard error of the change between
    them, over the same units as in a verdict on that change. None if only one side is scored, if anything besides the
    output differs, if there are fewer than ``FEWEST`` units, or if the metric is not a sample of units; for kinds that
    answer cases only the headline is one.
    """

    @cache
    def spreads(before: int, after: int) -> dict[str, Spread | None]:
        """Return the change of each metric over the units that both outputs have; None below two units."""
        first, last = points[before].scorecard, points[after].scorecard
        traits = last.traits
        if first.status != "scored" or last.status != "scored" or traits.is_recorded:
            return {}
        if points[before].snapshot.roles_changed_in(points[after].snapshot) != ("outputs",):
            return {}
        compared = Compared(first, last)
        samples = {
            name: paired_sample_of(compared, name)
            for name in metrics
            if _has_units(name, last) and (not traits.answers_cases or name == last.metrics[0].name)
        }
        return {name: ratio_change(pairs) for name, (_, pairs) in samples.items()}

    def of_metric(metric: str) -> UnitVariance:
        @cache
        def variance(before: int, after: int) -> float | None:
            change = spreads(before, after).get(metric)
            return change.error**2 / 2 if change and change.freedom + 1 >= FEWEST else None

        return variance

    return of_metric


def _has_units(name: str, card: Scorecard) -> bool:
    return is_counted(name) or any(metric.name == name for document in card.documents for metric in document.metrics)


def _with_headline(name: str, card: Scorecard) -> Scorecard:
    return replace(card, metrics=tuple(sorted(card.metrics, key=lambda metric: metric.name != name)))
