"""Means and medians. Importing ``statistics`` takes as long as importing ten modules of ours."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import fsum


def mean(values: Iterable[float]) -> float:
    """The sum, rounded once, divided by the number of values. There is at least one."""
    summed = list(values)
    return fsum(summed) / len(summed)


def median(values: Collection[float]) -> float:
    """The value in the middle of at least one; of an even number, the mean of the two in the middle."""
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def low_median(values: Collection[int]) -> int:
    """The value in the middle of at least one; of an even number, the smaller of the two in the middle."""
    return sorted(values)[(len(values) - 1) // 2]
