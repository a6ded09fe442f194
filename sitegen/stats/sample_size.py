"""Effect sizes, and how many cases it takes to detect them (Cohen, *Statistical Power Analysis*, 1988).

The least number of cases is per prompt, for a two-sided independent test (at alpha 0.05 unless another level is given)
that finds a difference of the observed size with a chance of 0.8. ``statsmodels.stats.power`` gives the same numbers.
Conversely, ``least_change`` and ``least_net_flips`` compute the smallest change that a set can detect, two-sided at the
5 % level and with the same power.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import asin, ceil, sqrt
from typing import Final

from sitegen.stats.intervals import LEVEL, normal, student
from sitegen.stats.significance import ALPHA, mean, pooled_variance

POWER: Final = 0.8

MOST: Final = 10_000_000
"""The greatest number of cases that is reported."""


def cohens_h(first: float, second: float) -> float:
    """The difference of two proportions on the arcsine scale, with equal differences equally detectable (chapter 6)."""
    return 2 * asin(sqrt(first)) - 2 * asin(sqrt(second))


def cohens_d(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The difference of two means in pooled standard deviations (chapter 2); None where these are undefined or 0."""
    if len(first) < 2 or len(second) < 2:
        return None
    spread = sqrt(pooled_variance(first, second))
    return (mean(first) - mean(second)) / spread if spread else None


def cases_for_proportions(h: float, alpha: float = ALPHA) -> int | None:
    """Least number of cases for two proportions that differ by Cohen's h: normal approximation (chapter 6).

    None if there is no difference, or one so small that it takes more than ten million cases.
    """
    from scipy.special import ndtr, ndtri

    limit = float(ndtri(1 - alpha / 2))

    def power(cases: int) -> float:
        shift = abs(h) * sqrt(cases / 2)
        return float(ndtr(shift - limit) + ndtr(-shift - limit))

    return _least(power) if h else None


def cases_for_means(d: float, alpha: float = ALPHA) -> int | None:
    """Least number of cases for two means that differ by Cohen's d: noncentral t distribution (chapter 2).

    None if there is no difference, or one so small that it takes more than ten million cases.
    """
    from scipy.special import nctdtr, stdtrit

    def power(cases: int) -> float:
        freedom, shift = 2 * cases - 2, abs(d) * sqrt(cases / 2)
        limit = float(stdtrit(freedom, 1 - alpha / 2))
        return float(1 - nctdtr(freedom, shift, limit) + nctdtr(freedom, shift, -limit))

    return _least(power) if d else None


def _least(power: Callable[[int], float]) -> int | None:
    """The least number of cases, at least 2, with enough power; None if it is above MOST."""
    enough = 2
    while power(enough) < POWER:
        enough *= 2
        if enough > MOST:
            return None
    short = enough // 2
    while enough - short > 1:
        middle = (short + enough) // 2
        short, enough = (short, middle) if power(middle) >= POWER else (middle, enough)
    return max(2, enough)


_ONE_SIDED: Final = 2 * POWER - 1
"""The two-sided level whose upper quantile is the POWER quantile of one side."""


def least_change(error: float, freedom: int) -> float:
    """The smallest change that is detected with the power POWER, if its paired estimate has this standard error.

    The minimum detectable effect of Bloom (*Evaluation Review* 19, 1995): the quantiles of Student's t for level and
    power, added, times the standard error; 2.8 standard errors if there are many units.
    """
    return (student(LEVEL, freedom) + student(_ONE_SIDED, freedom)) * error


def least_net_flips(pairs: int, flips: int) -> int | None:
    """How many more cells must be fixed than broken, or the reverse, for McNemar's test to find it.

    Of *pairs* cells, *flips* flip one way or the other by chance alone. The sample size of Miettinen (*Biometrics* 24,
    1968) as simplified by Connor (*Biometrics* 43, 1987), solved for the difference. If fewer cells flip by chance than
    the test requires, all flips must have the same direction: 8. None if there are too few cells.
    """
    alpha, beta = normal(LEVEL), normal(_ONE_SIDED)
    room = flips * (pairs + beta**2 - alpha**2)
    net = (pairs * sqrt(flips) * alpha + sqrt(max(0.0, pairs * room)) * beta) / (pairs + beta**2)
    if net > flips or not flips:
        net = (alpha + beta) ** 2
    return ceil(net) if ceil(net) <= pairs else None
