"""How often things that should be equal differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from math import fsum, sqrt

from sitegen.stats.significance import mean


def differing(outcomes: Iterable[Hashable]) -> tuple[int, int]:
    """(pairs that differ, pairs) among the outcomes of one thing that was judged again and again.

    Their quotient is what the observed agreement within one subject lacks to 1 (Fleiss 1971).
    """
    numbers = Counter(outcomes).values()
    judged = sum(numbers)
    pairs = judged * (judged - 1) // 2
    return pairs - sum(number * (number - 1) // 2 for number in numbers), pairs


def repeatability(groups: Iterable[Sequence[float]]) -> float | None:
    """The standard deviation within groups of repeats, pooled over groups; None if no group has two values.

    The repeatability standard deviation of ISO 5725-2.
    """
    several = [group for group in groups if len(group) > 1]
    freedom = sum(len(group) - 1 for group in several)
    if not freedom:
        return None
    return sqrt(fsum((value - mean(group)) ** 2 for group in several for value in group) / freedom)
