"""The sign test, which decides, and tests of two prompts as independent samples, two-sided (rule 33); effect sizes.

The sign test, which builds use, needs only the standard library. Other distribution functions come from
``scipy.special``: ``scipy.stats`` takes a second to import, and raises or warns where a p value is undefined. The test
suite compares the results with ``scipy.stats`` and ``statsmodels``.

``least_change`` and ``least_net_flips`` compute the smallest change that a set can detect, two-sided at the 5 % level
and with a power of 0.8. Effect sizes are those of Cohen, *Statistical Power Analysis*, 1988.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from math import asin, ceil, comb, erfc, fsum, sqrt
from typing import Final

from sitegen.model.changes import Spread
from sitegen.model.frozen import FrozenObject
from sitegen.stats.intervals import LEVEL, mean, normal, student

ALPHA: Final = 0.05
"""A smaller p value is called significant."""

EXACT: Final = 500
"""With fewer flips, the sign test uses the exact binomial distribution; with more, both agree to three digits."""

_EXACT_SUMS: Final = 60
"""With fewer differences of any size, every sum of them is counted; with more, the normal distribution is close."""

ROUNDING: Final = 1e-12
"""Differences of ratios that differ by less are equal."""


class Significance(FrozenObject):
    """The result of a test."""

    method: str
    statistic: float | None
    """None if the method has none, or if it is undefined."""
    p_value: float | None
    """None if undefined; ``note`` gives the reason."""
    note: str = ""


def chi_square(right_1: int, wrong_1: int, right_2: int, wrong_2: int) -> Significance:
    """Pearson's chi-square of a 2 x 2 table with Yates' continuity correction, one degree of freedom.

    Undefined if a row or a column is zero: then nothing was answered, or all answers are alike. A note warns if the
    expected number in a cell is below 5, where the approximation is poor (Cochran 1954).
    """
    from scipy.special import chdtrc

    method = "chi-square with Yates' correction"
    total = right_1 + wrong_1 + right_2 + wrong_2
    rows, columns = (right_1 + wrong_1, right_2 + wrong_2), (right_1 + right_2, wrong_1 + wrong_2)
    margins = rows[0] * rows[1] * columns[0] * columns[1]
    if not margins:
        return Significance(method=method, statistic=None, p_value=None, note="a row or a column of the table is zero")
    distance = max(0.0, abs(right_1 * wrong_2 - wrong_1 * right_2) - total / 2)
    statistic = total * distance**2 / margins
    note = "fewer than 5 right or wrong answers expected" if min(rows) * min(columns) < 5 * total else ""
    return Significance(method=method, statistic=statistic, p_value=float(chdtrc(1, statistic)), note=note)


def sign_test(positive: int, negative: int) -> float:
    """Return the p value of the sign test of so many positive and negative differences; 1 if there is none.

    Exact: twice the smaller tail of a binomial with chance 1/2. From ``EXACT`` differences on by the normal
    distribution, with continuity correction.
    """
    signs = positive + negative
    if signs >= EXACT:
        return erfc(max(0, abs(positive - negative) - 1) / sqrt(2 * signs))
    term = tail = 1
    for number in range(min(positive, negative)):
        term = term * (signs - number) // (number + 1)
        tail += term
    return min(1.0, tail / 2 ** (signs - 1)) if signs else 1.0


def sign_flip_test(differences: Iterable[tuple[int, int]]) -> float:
    """Return the p value of a sum of differences, each of which is as likely to have the other sign.

    ``differences``: each value, and how often it occurs. Exact (R. A. Fisher, *The Design of Experiments*, 1935); from
    ``_EXACT_SUMS`` differences on by the normal distribution. If all differ by 1, it is the sign test.
    """
    several = [(value, times) for value, times in differences if value]
    number, seen = sum(times for _, times in several), abs(sum(value * times for value, times in several))
    if number >= _EXACT_SUMS:
        return erfc(seen / sqrt(2 * sum(value**2 * times for value, times in several)))
    ways = {0: 1}  # each possible sum, and in how many ways it comes about
    for value in chain.from_iterable([value] * times for value, times in several):
        longer: Counter[int] = Counter()
        for so_far, of in ways.items():
            longer[so_far + value] += of
            longer[so_far - value] += of
        ways = longer
    return float(sum(of for each, of in ways.items() if abs(each) >= seen) / 2**number)


def least_discordant(level: float, most: int) -> tuple[int, ...]:
    """Make a table with which pages decide whether the sign test's p is below a level, without computing the test.

    Entry k is the smallest number of flips, up to ``most``, for which p is below the level if k of them have the rarer
    direction. With more flips and the same k, p is even smaller.
    """
    least: list[int] = []
    discordant = 0
    while discordant <= most:
        fewer = len(least)
        if discordant >= 2 * fewer and sign_test(fewer, discordant - fewer) < level:
            least.append(discordant)
        else:
            discordant += 1
    return tuple(least)


def t_test(first: Sequence[float], second: Sequence[float]) -> Significance:
    """Student's t-test of two independent samples, with their pooled variance.

    Undefined for a sample of fewer than two. If neither sample varies, t is undefined too, and p is the exact share of
    permutations whose means differ at least as much.
    """
    from scipy.special import stdtr

    method, n, m = "independent t-test", len(first), len(second)
    if n < 2 or m < 2:
        return Significance(method=method, statistic=None, p_value=None, note="fewer than two values")
    if min(first) == max(first) and min(second) == max(second):
        as_far = 2 if n == m else 1
        p_value = 1.0 if first[0] == second[0] else as_far / comb(n + m, n)
        return Significance(
            method="exact permutation test", statistic=None, p_value=p_value, note="neither sample varies"
        )
    error = sqrt(pooled_variance(first, second) * (1 / n + 1 / m))
    statistic = (mean(first) - mean(second)) / error
    return Significance(method, statistic, 2 * float(stdtr(n + m - 2, -abs(statistic))))


def variance(values: Sequence[float]) -> float:
    """Return the sample variance, with n - 1; at least two values."""
    middle = mean(values)
    return fsum((value - middle) ** 2 for value in values) / (len(values) - 1)


def pooled_variance(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the variance of two samples around their own means, with n + m - 2."""
    n, m = len(first), len(second)
    return ((n - 1) * variance(first) + (m - 1) * variance(second)) / (n + m - 2)


_POWER: Final = 0.8  # chance of detecting a change


def cohens_h(first: float, second: float) -> float:
    """Return the difference of two proportions on the arcsine scale: equal ones are equally detectable (chapter 6)."""
    return 2 * asin(sqrt(first)) - 2 * asin(sqrt(second))


def cohens_d(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return the difference of two means in pooled standard deviations (chapter 2); None if undefined or 0."""
    if len(first) < 2 or len(second) < 2:
        return None
    spread = sqrt(pooled_variance(first, second))
    return (mean(first) - mean(second)) / spread if spread else None


_ONE_SIDED: Final = 2 * _POWER - 1  # the two-sided level whose upper quantile is the ``_POWER`` quantile of one side


def least_change(spread: Spread) -> float:
    """Return the smallest change that is detected with the power ``_POWER``, if its paired estimate spreads like this.

    The minimum detectable effect of Bloom (*Evaluation Review* 19, 1995): the quantiles of Student's t for level and
    power, added, times the standard error; 2.8 standard errors if there are many units.
    """
    return (student(LEVEL, spread.freedom) + student(_ONE_SIDED, spread.freedom)) * spread.error


def least_net_flips(pairs: int, flips: int) -> int | None:
    """Return how many more cells must be fixed than broken, or the reverse, for McNemar's test to find it.

    Of ``pairs`` cells, ``flips`` flip one way or the other by chance alone. The sample size of Miettinen (*Biometrics*
    24, 1968) as simplified by Connor (*Biometrics* 43, 1987), solved for the difference. If fewer cells flip by chance
    than the test requires, all flips must have the same direction: 8. None if there are too few cells.
    """
    alpha, beta = normal(LEVEL), normal(_ONE_SIDED)
    room = flips * (pairs + beta**2 - alpha**2)
    net = (pairs * sqrt(flips) * alpha + sqrt(max(0.0, pairs * room)) * beta) / (pairs + beta**2)
    if net > flips or not flips:
        net = (alpha + beta) ** 2
    return ceil(net) if ceil(net) <= pairs else None
