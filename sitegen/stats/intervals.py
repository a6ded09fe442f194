"""Means, medians and quantiles, and intervals of ratios of sums by closed formulas, cheap enough for every number.

Every metric here is a ratio of two sums over units: F1 is 2 TP over 2 TP + FP + FN of the documents, a mean is the sum
of the values over their number. Values of one unit are not independent, so the units are the sample.

Nothing here imports scipy or ``statistics``, because that would slow down every build.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from math import ceil, cos, erf, fsum, pi, sin, sqrt, tan
from typing import Final, NamedTuple, TypeAlias

from sitegen.model.changes import Ends, Spread
from sitegen.stats.counts import Share

_SERIES: Final = 30  # degrees of freedom up to which a finite series is summed; above, the error is less than 1e-7


@cache
def normal(level: float) -> float:
    """Z such that a standard normal lies within -z..z with the chance ``level``, 0 < level < 1: 1.96 for 0.95."""
    return _bisected_root(lambda z: erf(z / sqrt(2)), level, 9.0)


@cache
def student(level: float, freedom: int) -> float:
    """T such that Student's t with ``freedom`` >= 1 degrees lies within -t..t with the chance ``level``.

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
    return sqrt(freedom) * tan(_bisected_root(lambda angle: _within(angle, freedom), level, pi / 2))


def _within(angle: float, freedom: int) -> float:
    """Return the chance of -t..t, where tan(angle) = t / sqrt(freedom)."""
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(3 if odd else 2, freedom - 1, 2):
        term *= (k - 1) / k * cos(angle) ** 2
        total += term
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def _bisected_root(rising: Callable[[float], float], target: float, high: float) -> float:
    """Return where a rising function of numbers from 0 reaches the target, found by bisection to the last bit."""
    low = 0.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if rising(middle) < target:
            low = middle
        else:
            high = middle


def nearest_rank(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of values does not exceed; 0 < share <= 1, at least one.

    This is the nearest-rank percentile (NIST/SEMATECH e-Handbook of Statistical Methods, 7.2.6.2). It is always one of
    the values, so it does not suggest more precision than a few values have.
    """
    return sorted(values)[ceil(share * len(values) - 1e-9) - 1]


LEVEL: Final = 0.95  # of confidence of every interval

ROUNDING: Final = 1e-12
"""A smaller standard error counts as 0."""


class Paired(NamedTuple):
    """One unit on both sides of a change: what it adds to the numerator and to the denominator, which is above 0."""

    before: Share
    after: Share


Estimate: TypeAlias = tuple[float, float, float]
"""A number, and the low and the high end of its interval."""


def ratio(units: Mapping[Share, int]) -> Spread | None:
    """Return the ratio of the sums over units, given as the number of each share; None for fewer than two units.

    The standard error of a ratio of cluster totals is computed by linearisation (Cochran, *Sampling Techniques*, 1977,
    chapter 6): the residuals of the units around the ratio, divided by the sum of the denominators.
    """
    number = sum(units.values())
    if number < 2:
        return None
    whole = fsum(share.whole * times for share, times in units.items())
    value = fsum(share.part * times for share, times in units.items()) / whole
    squares = fsum((share.part - value * share.whole) ** 2 * times for share, times in units.items())
    return Spread(value, sqrt(squares * number / (number - 1)) / whole, number - 1)


def ratio_change(units: Mapping[Paired, int]) -> Spread | None:
    """Return the change of a ratio over the same units, after minus before; None for fewer than two units.

    Linearised like ``ratio``: the residual of a unit after minus its residual before. Because every unit is paired with
    itself, small changes become visible.
    """
    number = sum(units.values())
    earlier = fsum(pair.before.whole * times for pair, times in units.items())
    later = fsum(pair.after.whole * times for pair, times in units.items())
    if number < 2 or not earlier or not later:
        return None
    first = fsum(pair.before.part * times for pair, times in units.items()) / earlier
    last = fsum(pair.after.part * times for pair, times in units.items()) / later
    squares = fsum(
        ((after.part - last * after.whole) / later - (before.part - first * before.whole) / earlier) ** 2 * times
        for (before, after), times in units.items()
    )
    return Spread(last - first, sqrt(squares * number / (number - 1)), number - 1)


def mean_of(values: Sequence[float]) -> Spread | None:
    """Return the mean of values; None for fewer than two."""
    return ratio(Counter(Share(value, 1.0) for value in values))


def wilson(share: float, size: float) -> Ends:
    """Wilson's score interval, at ``LEVEL``, of a share 0..1 of ``size`` > 0 trials (Wilson 1927)."""
    z = normal(LEVEL)
    centre = (share + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return Ends(max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half)))


def effective_wilson(spread: Spread, most: float | None) -> Ends:
    """Wilson's interval of a share 0..1, for the number of independent trials with the same variance as the units.

    This is the effective number of trials of Korn and Graubard (*Survey Methodology* 24, 1998), reduced because few
    units estimate their variation poorly, in Wilson's interval (Dean and Pagano, *J. Survey Statistics and Methodology*
    3, 2015). Unlike a symmetric interval it stays within 0..1, and is not empty if all units are right. ``most``: the
    greatest number of trials; if the units do not vary at all, their number is used in place of None.
    """
    size = most or spread.freedom + 1.0
    if spread.error > ROUNDING:
        effective = spread.value * (1 - spread.value) / spread.error**2
        size = min(size, effective) if most else effective
    return wilson(spread.value, size * (normal(LEVEL) / student(LEVEL, spread.freedom)) ** 2)


def around_mean(numbers: Sequence[Estimate]) -> Ends | None:
    """Return the interval of the mean of independent numbers; None without numbers.

    The method of variance estimates recovery (Zou and Donner, *Statistics in Medicine* 27, 2008): the distance of each
    end from its number is the error on that side, and the squares of the errors are added.
    """
    if not numbers:
        return None
    mean = fsum(value for value, _, _ in numbers) / len(numbers)
    below = sqrt(fsum((value - low) ** 2 for value, low, _ in numbers)) / len(numbers)
    above = sqrt(fsum((high - value) ** 2 for value, _, high in numbers)) / len(numbers)
    return Ends(mean - below, mean + above)


def around(spread: Spread) -> Ends:
    """Return the symmetric interval of Student's t at ``LEVEL``, for a change or for a mean without bounds."""
    half = student(LEVEL, spread.freedom) * spread.error
    return Ends(spread.value - half, spread.value + half)


def mean(values: Iterable[float]) -> float:
    """Return the sum, rounded once, divided by the number of values. There is at least one."""
    summed = list(values)
    return fsum(summed) / len(summed)


def median(values: Collection[float]) -> float:
    """Return the value in the middle of at least one; of an even number, the mean of the two in the middle."""
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2
