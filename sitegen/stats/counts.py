"""Precision, recall, F1 and their means: the only place that knows how (rules 1, 2, 6, 7 and 9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from math import fsum
from typing import Final, NamedTuple

from sitegen.model.metrics import Convention, Counts
from sitegen.model.outcomes import ERROR_TYPES, Judgement, Outcome

_OUTCOMES: Final[tuple[Outcome, ...]] = ("correct", "true_negative", *ERROR_TYPES)


def tally(judgements: Sequence[Judgement], convention: Convention = "standard") -> Counts:
    """Count judgements.

    A format error without an expected value stands for a whole list; the cells that it fails to give are omissions
    of their own, so that it adds no FN (rule 24).
    """
    if len(judgements) == 1:
        # Most attributes are judged once, and there are hundreds of them in an output.
        return _lone(judgements[0].outcome, judgements[0].expected is None, convention)
    outcomes = [judgement.outcome for judgement in judgements]
    whole_lists = 0
    if "format_error" in outcomes:
        whole_lists = sum(each.outcome == "format_error" and each.expected is None for each in judgements)
    return _counted(outcomes, whole_lists, convention)


@cache
def _lone(outcome: Outcome, unexpected: bool, convention: Convention) -> Counts:
    return _counted([outcome], int(unexpected and outcome == "format_error"), convention)


def _counted(outcomes: list[Outcome], whole_lists: int, convention: Convention) -> Counts:
    tp, tn, omission, hallucination, wrong_value, format_error = map(outcomes.count, _OUTCOMES)
    wrong = 0 if convention == "omissions_only" else wrong_value + format_error - whole_lists
    false_positives = hallucination + wrong_value + format_error
    return Counts(tp, false_positives, omission + wrong, tn, omission, hallucination, wrong_value, format_error)


def total(counts: Iterable[Counts]) -> Counts:
    """The sum, number by number: what pooled metrics are made from."""
    columns = zip(*counts, strict=True)
    return Counts(*(sum(column) for column in columns))


def precision(counts: Counts) -> float | None:
    """TP / (TP + FP): what share of the given values is right."""
    return _ratio(counts.tp, counts.tp + counts.fp)


def recall(counts: Counts) -> float | None:
    """TP / (TP + FN): what share of the expected values was found."""
    return _ratio(counts.tp, counts.tp + counts.fn)


def f1(counts: Counts) -> float | None:
    """2 TP / (2 TP + FP + FN): 0 if there are only errors, undefined only if there is nothing at all."""
    return _ratio(2 * counts.tp, 2 * counts.tp + counts.fp + counts.fn)


def field_accuracy(counts: Counts) -> float | None:
    """(TP + TN) / attributes judged."""
    return _ratio(counts.tp + counts.tn, _judged(counts))


def quotient(metric: str, counts: Counts) -> tuple[int, int] | None:
    """Numerator and denominator of a metric that is a ratio of summed counts; None for any other.

    What intervals are made from. ``accuracy`` is that of highlights and of responses: correct / expected.
    """
    tp = counts.tp
    if metric == "f1":
        return 2 * tp, 2 * tp + counts.fp + counts.fn
    if metric in ("recall", "accuracy"):
        return tp, tp + counts.fn
    if metric == "field_accuracy":
        return tp + counts.tn, _judged(counts)
    return (tp, tp + counts.fp) if metric == "precision" else None


def _judged(counts: Counts) -> int:
    """Attributes that were judged: a wrong value is one, whatever the convention counts it as."""
    wrong = counts.omission + counts.hallucination + counts.wrong_value + counts.format_error
    return counts.tp + counts.tn + wrong


def mean(values: Iterable[float | None]) -> tuple[float | None, int]:
    """The mean of what is defined, and how many values were left out because they are not (rule 6)."""
    every = list(values)
    defined = [value for value in every if value is not None]
    left_out = len(every) - len(defined)
    return (fsum(defined) / len(defined) if defined else None), left_out


class Averages(NamedTuple):
    """F1, precision and recall, in this order, over several evals (rule 7)."""

    macro: tuple[float | None, ...]
    """The mean of the evals' own."""
    left_out: tuple[int, ...]
    """How many evals each mean leaves out because it is undefined there."""
    pooled: tuple[float | None, ...]
    """Of all counts together."""

    @classmethod
    def of(cls, counts: Sequence[Counts]) -> Averages:
        """The averages over the counts of each eval."""
        ratios = (f1, precision, recall)
        means = [mean(map(ratio, counts)) for ratio in ratios]
        together = total([Counts(), *counts])
        return cls(
            tuple(value for value, _ in means),
            tuple(number for _, number in means),
            tuple(ratio(together) for ratio in ratios),
        )

    def named(self) -> dict[str, float | None]:
        """The values by the names that they have in files: ``macro_f1``, ``pooled_recall``."""
        rows = {"macro": self.macro, "pooled": self.pooled}
        names = ("f1", "precision", "recall")
        return {f"{which}_{name}": value for which, row in rows.items() for name, value in zip(names, row, strict=True)}


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
