"""How far things agree that should: repeats of one thing, the categories of two judges, vectors of responses."""

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
    """(pairs that differ, pairs) among the outcomes of one thing that was judged again and again.

    Their quotient is what the observed agreement within one subject lacks to 1 (Fleiss 1971).
    """
    numbers = Counter(outcomes).values()
    judged = sum(numbers)
    pairs = judged * (judged - 1) // 2
    return pairs - sum(number * (number - 1) // 2 for number in numbers), pairs


class Repeatability(NamedTuple):
    """How far values are from the mean of their group, pooled over groups of repeats.

    Another group costs its own values alone, however many were added before, and the order of groups does not matter.
    """

    squares: tuple[float, ...] = ()
    """Floats whose exact sum is the sum of the squared distances."""
    freedom: int = 0
    """Values that were added, less one for each group."""

    def plus(self, group: Sequence[float]) -> Self:
        """With one more group; a group of fewer than two values tells nothing."""
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
    """Few floats with the same exact sum: the rounded sum, then what rounding took from it, until nothing is left."""
    parts: list[float] = []
    while rest := fsum((*values, *(-part for part in parts))):
        parts.append(rest)
    return tuple(parts)


def cohens_kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> Kappa | None:
    """Kappa of (one judge's category, the other's) over the same things, with an interval of 95 %.

    kappa = (po - pe) / (1 - pe), where po is the share that both judged alike, and pe the share that two judges with
    these frequencies would judge alike by luck (J. Cohen, *A coefficient of agreement for nominal scales*, 1960). The
    interval is the normal one with the large-sample standard error of J. L. Fleiss, J. Cohen and B. S. Everitt, *Large
    sample standard errors of kappa and weighted kappa*, 1969, formula 13, and never leaves -1..1. None for fewer than
    two things, and where both judges know one category only: luck alone would have them agree.
    """
    judged = len(pairs)
    if judged < 2:
        return None
    both = Counter(pairs)
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    categories = first.keys() | second.keys()
    if len(categories) < 2:
        return None
    agreed = sum(both[category, category] for category in categories)
    observed = agreed / judged
    expected = sum(first[each] * second[each] for each in categories) / judged**2
    value = (observed - expected) / (1 - expected)
    # fsum: the sum must not depend on the order of the categories, which a set does not keep.
    alike = fsum(
        both[each, each] / judged * (1 - (first[each] + second[each]) / judged * (1 - value)) ** 2
        for each in categories
    )
    apart = fsum(
        number / judged * ((second[one] + first[other]) / judged * (1 - value)) ** 2
        for (one, other), number in both.items()
        if one != other
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
