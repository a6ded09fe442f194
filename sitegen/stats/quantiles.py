"""Quantiles of the normal and of Student's distribution, and of given values.

scipy is not used, because importing it would slow down every build.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import ceil, cos, erf, fsum, pi, sin, sqrt, tan
from typing import Final

_SERIES: Final = 30
"""Degrees of freedom up to which the finite series is summed; the error of the expansion is less than 1e-7 above."""


@cache
def normal(level: float) -> float:
    """Z such that a standard normal lies within -z..z with the chance *level*, 0 < level < 1: 1.96 for 0.95."""
    return _bisected_root(lambda z: erf(z / sqrt(2)), level, 0.0, 9.0)


@cache
def student(level: float, freedom: int) -> float:
    """T such that Student's t with *freedom* >= 1 degrees lies within -t..t with the chance *level*.

    Abramowitz and Stegun 1964: the finite series 26.7.3 and 26.7.4; for many degrees the expansion 26.7.5.
    """
    if freedom > _SERIES:
        z = normal(level)
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )
        return z + fsum(term / freedom**power for power, term in enumerate(terms, 1))
    return sqrt(freedom) * tan(_bisected_root(lambda angle: _within(angle, freedom), level, 0.0, pi / 2))


def _within(angle: float, freedom: int) -> float:
    """The chance of -t..t, where tan(angle) = t / sqrt(freedom)."""
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(3 if odd else 2, freedom - 1, 2):
        term *= (k - 1) / k * cos(angle) ** 2
        total += term
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def _bisected_root(rising: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Where a rising function reaches the target, found by bisection to the last bit."""
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if rising(middle) < target:
            low = middle
        else:
            high = middle


def nearest_rank(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed; 0 < share <= 1, at least one value.

    This is the nearest-rank percentile (NIST/SEMATECH e-Handbook of Statistical Methods, 7.2.6.2). It is always one of
    the values, so it does not suggest more precision than a few values have.
    """
    return sorted(values)[ceil(share * len(values) - 1e-9) - 1]
