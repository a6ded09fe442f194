"""The least change that a set can show: two-sided at the 5 % level, with a chance of 8 in 10."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Final

from sitegen.stats.intervals import LEVEL
from sitegen.stats.quantiles import normal, student
from sitegen.stats.sample_size import POWER

_ONE_SIDED: Final = 2 * POWER - 1
"""The two-sided level whose upper end has the chance POWER below it."""


def least_change(error: float, freedom: int) -> float:
    """The least change whose paired estimate has this standard error and that is found with the chance POWER.

    The minimum detectable effect of Bloom (*Evaluation Review* 19, 1995): the quantiles of Student's t for level and
    power, added, times the standard error; 2.8 standard errors where there are many units.
    """
    return (student(LEVEL, freedom) + student(_ONE_SIDED, freedom)) * error


def least_net_flips(pairs: int, flips: int) -> int | None:
    """How many more cells must be fixed than broken (or the reverse) for McNemar's test to find it.

    Of *pairs* cells, *flips* go one way or the other by chance alone. Solved for the difference, the sample size of
    Miettinen (*Biometrics* 24, 1968) as simplified by Connor (*Biometrics* 43, 1987). Where nothing flips by chance,
    all flips go one way. None if there are too few cells.
    """
    alpha, beta = normal(LEVEL), normal(_ONE_SIDED)
    if not pairs:
        return None
    share = flips / pairs
    room = share * (pairs + beta**2 - alpha**2)
    net = (sqrt(pairs * share) * alpha + beta * sqrt(max(0.0, room))) / (pairs + beta**2)
    if net > share or not flips:
        net = _one_way(pairs)
    found = ceil(net * pairs)
    return found if found <= pairs else None


def _one_way(pairs: int) -> float:
    """The same where every flip goes one way: the difference is then the share of flips itself."""
    alpha, beta = normal(LEVEL), normal(_ONE_SIDED)
    # pairs * net = (alpha + beta * sqrt(1 - net))^2 falls in net on the right and rises on the left: halve.
    low, high = 0.0, (alpha + beta) ** 2 / pairs
    for _ in range(60):
        middle = (low + high) / 2
        short = pairs * middle < (alpha + beta * sqrt(max(0.0, 1 - middle))) ** 2
        low, high = (middle, high) if short else (low, middle)
    return high
