"""Ranks variants, and rates how well tests support the ranking (rule 34)."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Final

from sitegen.analysis.comparison.values import Confidence, Ranked, VariantNumbers, VariantPair

WEIGHTS: Final = (("accuracy", 0.4, 1.0), ("consistency", 0.3, 1.0), ("quality", 0.3, 5.0))
"""(metric, weight, best value)."""

FEWEST_ANSWERS: Final = 30
"""Fewest responses of each variant for high confidence: with fewer, a few other cases could reverse the result."""

DIGITS: Final = 12
"""Number of decimals to which scores are compared: finer than any metric, coarser than rounding errors of a sum."""


def ranking(variants: Sequence[VariantNumbers]) -> tuple[Ranked, ...]:
    """Sort variants by score. Equal scores share a rank and are sorted by name; variants without a score come last."""
    scored = {variant.name: _ranking_score(variant) for variant in variants}
    measured = {
        variant.name: tuple(metric for metric, _, _ in WEIGHTS if getattr(variant, metric) is not None)
        for variant in variants
    }
    alike = len({metrics for metrics in measured.values() if metrics}) <= 1
    scores = [score for score in scored.values() if score is not None]
    rows = [
        Ranked(
            rank=None if score is None else 1 + sum(higher > score for higher in scores),
            name=name,
            score=score,
            measured=measured[name],
            comparable=alike and score is not None,
        )
        for name, score in scored.items()
    ]
    return tuple(sorted(rows, key=lambda row: (row.rank is None, row.rank or 0, row.name)))


def _fewest_answers(name: str, pairs: Sequence[VariantPair]) -> int:
    """Return the number of responses behind the best supported win of a variant, in the pair with the fewest."""
    return min(
        max((test.sample for test in pair.tests if test.independent.better == name), default=0)
        for pair in pairs
        if name in (pair.first, pair.second)
    )


def _ranking_score(numbers: VariantNumbers) -> float | None:
    parts = [
        (weight, value / best) for metric, weight, best in WEIGHTS if (value := getattr(numbers, metric)) is not None
    ]
    whole = fsum(weight for weight, _ in parts)
    return round(fsum(weight * share for weight, share in parts) / whole, DIGITS) if parts else None


def sole_leader(rows: Sequence[Ranked]) -> Ranked | None:
    """Return the variant that alone ranks first; None if several share the first rank, or nothing was measured."""
    first = [row for row in rows if row.rank == 1]
    return first[0] if len(first) == 1 else None


def confidence(rows: Sequence[Ranked], pairs: Sequence[VariantPair], overall_winner: str | None) -> Confidence:
    """Rate how well the tests support the ranking.

    high: the variant that ranks first is also the overall winner, all variants were measured on the same metrics, and
    it won each comparison by a test with at least ``FEWEST_ANSWERS`` responses of either variant. medium: at least one
    test, independent or paired, favours it significantly, and none favours another variant. low: otherwise.
    """
    first = sole_leader(rows)
    if first is None:
        return "low"
    if first.comparable and first.name == overall_winner and _fewest_answers(first.name, pairs) >= FEWEST_ANSWERS:
        return "high"
    verdicts = {
        tested.better
        for pair in pairs
        if first.name in (pair.first, pair.second)
        for test in pair.tests
        for tested in (test.independent, test.paired)
    } - {None}
    return "medium" if verdicts == {first.name} else "low"
