"""Measures of agreement between repeats, between the categories of two judges, and between vectors of responses."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from math import fsum, sqrt
from typing import Final, TypeVar

from sitegen.model.frozen import Frozen
from sitegen.model.scorecards import Kappa
from sitegen.stats.intervals import LEVEL, mean, median, normal, student, wilson
from sitegen.stats.outliers import FAR

T = TypeVar("T", bound=Hashable)

_FAR_LEVEL: Final = 0.9995
"""Confidence level of the bound on bad runs: one in two thousand normal repeats of known scatter exceeds it."""


def differing_pairs(outcomes: Iterable[Hashable]) -> tuple[int, int]:
    """Count the pairs of outcomes that differ, and all pairs, for one subject that was judged several times.

    The quotient of the two numbers is 1 minus the observed agreement within the subject (Fleiss 1971).
    """
    numbers = Counter(outcomes).values()
    judged = sum(numbers)
    pairs = judged * (judged - 1) // 2
    return pairs - sum(number * (number - 1) // 2 for number in numbers), pairs


class RepeatedValues(Frozen):
    """The values of one group of repeats, at least two."""

    values: tuple[float, ...]
    distances: tuple[float, ...]
    """Distances from the median of the group, ascending, without the smallest. See ``repeated_values``."""
    squares: float
    """Sum of the squared distances from the mean."""
    least: float
    """Smallest distance of a bad run from the median."""

    def far_off(self, cut: float) -> tuple[int, ...]:
        """Return the places of the values beyond a distance from the median, which is at least that of a bad run."""
        cut = max(cut, self.least)
        middle, count = median(self.values), len(self.values)
        inflation = sqrt(count / (count - 1))
        return tuple([place for place, value in enumerate(self.values) if inflation * abs(value - middle) > cut])


class Repeatability(Frozen):
    """The scatter of repeats, without bad runs."""

    deviation: float | None
    """The repeatability standard deviation of ISO 5725-2; None if no group has two values."""
    freedom: int
    """Degrees of freedom: number of values, minus one for each group."""
    bad: Mapping[int, tuple[int, ...]]
    """Index of a group -> the indices of its bad runs, for each group that has any, in their order."""


def repeated_values(values: Sequence[float], least: float = 0.0) -> RepeatedValues:
    """Prepare a group of two or more repeats.

    The distances are multiplied by the root of n / (n - 1), because the median of few values is near each of them.
    """
    middle, count = median(values), len(values)
    distances = sorted(abs(value - middle) for value in values)[1:]
    inflation = sqrt(count / (count - 1))
    return RepeatedValues(
        values=tuple(values),
        distances=tuple([inflation * distance for distance in distances]),
        squares=_squares(values),
        least=least,
    )


def repeatability(groups: Sequence[RepeatedValues]) -> Repeatability:
    """Compute the pooled scatter within groups, without bad runs: one of them would hide every change.

    The scale is 1.4826 times the median distance from the median of the value's group, which a bad run hardly changes.
    A value is a bad run if its distance exceeds the quantile ``_FAR_LEVEL`` of Student's t for as many distances, and
    ``FAR`` scales. Both values of a pair have the same distance, so both are excluded.
    """
    distances = sorted(chain.from_iterable(group.distances for group in groups))
    if not distances:
        return Repeatability(deviation=None, freedom=0, bad={})
    scale = 1.4826 * distances[(len(distances) - 1) // 2]
    cut = max(FAR, student(_FAR_LEVEL, len(distances))) * scale
    beyond = {index: group.far_off(cut) for index, group in enumerate(groups) if group.distances[-1] > cut}
    bad = {index: places for index, places in beyond.items() if places}
    squares, freedom = [group.squares for group in groups], len(distances)
    for index, places in bad.items():
        group = groups[index]
        rest = [value for place, value in enumerate(group.values) if place not in places]
        squares[index] = _squares(rest) if len(rest) > 1 else 0.0
        freedom -= len(group.distances) - max(0, len(rest) - 1)
    deviation = sqrt(fsum(squares) / freedom) if freedom else None
    return Repeatability(deviation=deviation, freedom=freedom, bad=bad)


def _squares(values: Sequence[float]) -> float:
    centre = mean(values)
    return fsum((value - centre) ** 2 for value in values)


def cohens_kappa(pairs: Sequence[tuple[T, T]]) -> Kappa | None:
    """Compute kappa of the categories that two judges gave to the same things, with an interval of 95 %.

    kappa = (po - pe) / (1 - pe), where po is the share that both judged alike, and pe the share that two judges with
    these frequencies would judge alike by luck (J. Cohen, *A coefficient of agreement for nominal scales*, 1960). The
    interval is the normal one with the large-sample standard error of J. L. Fleiss, J. Cohen and B. S. Everitt, *Large
    sample standard errors of kappa and weighted kappa*, 1969, formula 13, cut to -1..1. If all is judged alike, it has
    no width, and the lower end follows from Wilson's interval of po. None for fewer than two things, and if both judges
    use a single category: then they would agree by luck alone.
    """
    judged = len(pairs)
    if judged < 2:
        return None
    both = Counter(pairs)
    first, second = (Counter(side) for side in zip(*pairs, strict=True))
    categories = first.keys() | second.keys()
    if len(categories) < 2:
        return None
    alike_by_category = Counter(category for category, other in pairs if category == other)
    agreed = alike_by_category.total()
    observed = agreed / judged
    expected = sum(first[category] * second[category] for category in categories) / judged**2
    value = (observed - expected) / (1 - expected)
    # fsum: the sum must not depend on the order of the categories, which a set does not define.
    alike = fsum(
        number / judged * (1 - (first[category] + second[category]) / judged * (1 - value)) ** 2
        for category, number in alike_by_category.items()
    )
    apart = fsum(
        number / judged * ((second[row] + first[column]) / judged * (1 - value)) ** 2
        for (row, column), number in both.items()
        if row != column
    )
    variance = (alike + apart - (value - expected * (1 - value)) ** 2) / (judged * (1 - expected) ** 2)
    reach = normal(LEVEL) * sqrt(max(0.0, variance))
    low = value - reach if agreed < judged else (wilson(1.0, judged).low - expected) / (1 - expected)
    return Kappa(value=value, low=max(-1.0, low), high=min(1.0, value + reach), agreed=agreed, judged=judged)


def mean_pairwise_cosine(vectors: Sequence[Sequence[float]]) -> float | None:
    """Compute the mean cosine over all pairs, -1..1; None for fewer than two vectors.

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
