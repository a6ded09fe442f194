"""Whether a change of any metric is more than chance: by the same three tests as for the headline.

Of what kind ``responses`` measures of each answer, over the test cases that both sides answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import fsum
from typing import Final

from sitegen.analysis.noise.changes import change_verdict, mean_verdict
from sitegen.analysis.noise.samples import is_counted
from sitegen.model.cells import Flips
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict, Noise
from sitegen.model.scorecards import Answer, Scorecard
from sitegen.stats.intervals import Paired, Share, ratio_change


def metric_verdict(
    spec: MetricSpec, before: Scorecard, after: Scorecard, kind: str, flips: Flips, noise: Noise | None = None
) -> ChangeVerdict | None:
    """Hold a metric of a point against an earlier one, as ``change_verdict`` does; None if nothing tells its noise.

    Nothing does where a metric is neither a ratio of counts nor a mean over documents, and for what kind ``responses``
    measures besides its headline: that is made from answers (``answers``). ``noise``, what repeated outputs tell, is of
    the headline alone.
    """
    traits = traits_of(kind)
    if traits.is_recorded:
        return None
    leads = after.metrics[0].name == spec.name
    if not leads and (traits.answers_cases or not _has_units(spec.name, after)):
        return None
    return change_verdict(
        _led_by(spec.name, before),
        _led_by(spec.name, after),
        kind,
        flips,
        noise=noise if leads else None,
        higher_is_better=spec.higher_is_better,
    )


def _has_units(name: str, card: Scorecard) -> bool:
    return is_counted(name) or any(metric.name == name for each in card.documents for metric in each.metrics)


def _led_by(name: str, card: Scorecard) -> Scorecard:
    """The same with another metric in the place of the headline."""
    return card._replace(metrics=tuple(sorted(card.metrics, key=lambda metric: metric.name != name)))


_MEASURES: Final[Mapping[str, Callable[[Answer], float | None]]] = {
    "accuracy": lambda answer: answer.correct,
    "average_quality": lambda answer: answer.quality,
    "rouge1": lambda answer: answer.rouge and answer.rouge[0],
    "rouge2": lambda answer: answer.rouge and answer.rouge[1],
    "rougeL": lambda answer: answer.rouge and answer.rouge[2],
}
"""Metrics that are means over answers. How much answers are alike is a matter of their pairs."""


def is_mean(name: str) -> bool:
    """Whether a metric is a mean over answers."""
    return name in _MEASURES


def answers_change(name: str, before: Iterable[Answer], after: Iterable[Answer]) -> float | None:
    """The change of such a mean over the answers to common cases; None if there are none."""
    pairs = tuple(_paired_cases(name, before, after).elements())
    if not pairs:
        return None
    return _mean_of_shares(pair.after for pair in pairs) - _mean_of_shares(pair.before for pair in pairs)


def answers_verdict(spec: MetricSpec, before: Iterable[Answer], after: Iterable[Answer]) -> ChangeVerdict | None:
    """Whether the change is more than chance; None if the metric is no mean over answers.

    The cases are the units: what variants answer to one case hangs together.
    """
    if not is_mean(spec.name):
        return None
    spread = ratio_change(_paired_cases(spec.name, before, after))
    return mean_verdict("cases", spread, scale=spec.high - spec.low, higher_is_better=spec.higher_is_better)


def _mean_of_shares(shares: Iterable[Share]) -> float:
    totals, numbers = zip(*shares, strict=True)
    return fsum(totals) / fsum(numbers)


def _paired_cases(name: str, before: Iterable[Answer], after: Iterable[Answer]) -> Counter[Paired]:
    earlier, later = _shares_by_case(name, before), _shares_by_case(name, after)
    return Counter(Paired(earlier[case], later[case]) for case in earlier.keys() & later.keys())


def _shares_by_case(name: str, answers: Iterable[Answer]) -> dict[str, Share]:
    """Of each case that has it: the sum over its answers, and their number."""
    found: dict[str, Share] = {}
    for answer in answers:
        value = _MEASURES[name](answer)
        if value is not None:
            total, number = found.get(answer.case_id, (0.0, 0.0))
            found[answer.case_id] = total + value, number + 1
    return found
