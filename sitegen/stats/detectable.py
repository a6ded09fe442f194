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

    Of *pairs* cells, *flips* go one way or the other by chance alone. The sample size of Miettinen (*Biometrics* 24,
    1968) as simplified by Connor (*Biometrics* 43, 1987), solved for the difference. Where fewer flip by chance than it
    takes, all go one way: 8. None if there are too few cells.
    """
    alpha, beta = normal(LEVEL), normal(_ONE_SIDED)
    room = flips * (pairs + beta**2 - alpha**2)
    net = (pairs * sqrt(flips) * alpha + sqrt(max(0.0, pairs * room)) * beta) / (pairs + beta**2)
    if net > flips or not flips:
        net = (alpha + beta) ** 2
    return ceil(net) if ceil(net) <= pairs else None
