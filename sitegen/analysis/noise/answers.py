"""Changes of what kind ``responses`` measures of each answer, over the test cases that both sides answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import fsum
from typing import Final

from sitegen.analysis.noise.changes import mean_verdict
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict
from sitegen.model.scorecards import Answer
from sitegen.stats.intervals import Paired, Share, ratio_change

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
    pairs = tuple(_pairs(name, before, after).elements())
    if not pairs:
        return None
    return _mean(pair.after for pair in pairs) - _mean(pair.before for pair in pairs)


def answers_verdict(spec: MetricSpec, before: Iterable[Answer], after: Iterable[Answer]) -> ChangeVerdict | None:
    """Whether the change is more than chance; None if the metric is no mean over answers.

    The cases are the units: what variants answer to one case hangs together.
    """
    if not is_mean(spec.name):
        return None
    spread = ratio_change(_pairs(spec.name, before, after))
    return mean_verdict("cases", spread, scale=spec.high - spec.low, higher_is_better=spec.higher_is_better)


def _mean(shares: Iterable[Share]) -> float:
    totals, numbers = zip(*shares, strict=True)
    return fsum(totals) / fsum(numbers)


def _pairs(name: str, before: Iterable[Answer], after: Iterable[Answer]) -> Counter[Paired]:
    earlier, later = _by_case(name, before), _by_case(name, after)
    return Counter(Paired(earlier[case], later[case]) for case in earlier.keys() & later.keys())


def _by_case(name: str, answers: Iterable[Answer]) -> dict[str, Share]:
    """Of each case that has it: the sum over its answers, and their number."""
    found: dict[str, Share] = {}
    for answer in answers:
        value = _MEASURES[name](answer)
        if value is not None:
            total, number = found.get(answer.case_id, (0.0, 0.0))
            found[answer.case_id] = total + value, number + 1
    return found
