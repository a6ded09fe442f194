"""Measures of agreement: between repeats of one thing, the categories of two judges, and vectors of responses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from math import fsum, sqrt
from typing import NamedTuple, Self

from sitegen.model.scorecards import Kappa
from sitegen.stats.intervals import LEVEL
from sitegen.stats.quantiles import normal
from sitegen.stats.significance import mean


def differing_pairs(outcomes: Iterable[Hashable]) -> tuple[int, int]:
    """(pairs that differ, pairs) among the outcomes of one thing that was judged several times.

    Their quotient is 1 minus the observed agreement within one subject (Fleiss 1971).
    """
    numbers = Counter(outcomes).values()
    judged = sum(numbers)
    pairs = judged * (judged - 1) // 2
    return pairs - sum(number * (number - 1) // 2 for number in numbers), pairs


class Repeatability(NamedTuple):
    """The distances of values from the mean of their group, pooled over groups of repeats.

    The cost of adding a group does not grow with the groups before it, and their order does not matter.
    """

    squares: tuple[float, ...] = ()
    """Floats whose exact sum is the sum of the squared distances."""
    freedom: int = 0
    """Number of values, minus one for each group."""

    def plus(self, group: Sequence[float]) -> Self:
        """Add a group; one of fewer than two values is ignored."""
        if len(group) < 2:
            return self
        centre = mean(group)
        squares = _exact_sum([*self.squares, *((value - centre) ** 2 for value in group)])
        return self._replace(squares=squares, freedom=self.freedom + len(group) - 1)

    @property
    def deviation(self) -> float | None:
        """The repeatability standard deviation of ISO 5725-2; None if no group had two values."""
        return sqrt(fsum(self.squares) / self.freedom) if self.freedom else None


def _exact_sum(values: Sequence[float]) -> tuple[float, ...]:
    """A few floats with the same exact sum: the rounded sum, then the rounding error of each, until it is 0."""
    parts: list[float] = []
    while rest := fsum((*values, *(-part for part in parts))):
        parts.append(rest)
    return tuple(parts)


def cohens_kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> Kappa | None:
    """Kappa of (one judge's category, the other's) over the same things, with an interval of 95 %.

    kappa = (po - pe) / (1 - pe), where po is the share that both judged alike, and pe the share that two judges with
    these frequencies would judge alike by luck (J. Cohen, *A coefficient of agreement for nominal scales*, 1960). The
    interval is the normal one with the large-sample standard error of J. L. Fleiss, J. Cohen and B. S. Everitt, *Large
    sample standard errors of kappa and weighted kappa*, 1969, formula 13, cut to -1..1. None for fewer than two things,
    and if both judges use a single category: then they would agree by luck alone.
    """
    judged = len(pairs)
    if judged < 2:
        return None
    both = Counter(pairs)
    first, second = (Counter(side) for side in zip(*pairs, strict=True))
    categories = first.keys() | second.keys()
    if len(categories) < 2:
        return None
    agreed = sum(both[category, category] for category in categories)
    observed = agreed / judged
    expected = sum(first[category] * second[category] for category in categories) / judged**2
    value = (observed - expected) / (1 - expected)
    # fsum: the sum must not depend on the order of the categories, which a set does not define.
    alike = fsum(
        both[category, category] / judged * (1 - (first[category] + second[category]) / judged * (1 - value)) ** 2
        for category in categories
    )
    apart = fsum(
        number / judged * ((second[row] + first[column]) / judged * (1 - value)) ** 2
        for (row, column), number in both.items()
        if row != column
    )
    variance = (alike + apart - (value - expected * (1 - value)) ** 2) / (judged * (1 - expected) ** 2)
    reach = normal(LEVEL) * sqrt(max(0.0, variance))
    return Kappa(value=value, low=max(-1.0, value - reach), high=min(1.0, value + reach), agreed=agreed, judged=judged)


def mean_pairwise_cosine(vectors: Sequence[Sequence[float]]) -> float | None:
    """The mean cosine over all pairs, -1..1; None for fewer than two vectors.

    All vectors have the same length and finite members. A zero vector has similarity 0 with every other. With unit
    vectors u of n responses the cosines of all ordered pairs sum up to ``|sum u|^2 - sum |u|^2``, so that the cost
    grows with n, not with its square.
    """
    count = len(vectors)
    if count < 2:
        return None
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float64)
    largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    # Scaled first: the squares of very large or very small members would overflow or vanish.
    rows = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    units = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    total = units.sum(axis=0)
    mean = float(total @ total - (units * units).sum()) / (count * (count - 1))
    return max(-1.0, min(1.0, mean))
