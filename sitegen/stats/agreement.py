"""How often things that should be equal differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from math import fsum, sqrt
from typing import NamedTuple, Self

from sitegen.stats.significance import mean


def differing(outcomes: Iterable[Hashable]) -> tuple[int, int]:
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
