"""Tests which steps of a series are more than noise, and whether its newest values deviate.

Minimising a sum of squares finds candidates, but is no evidence: few values estimate noise poorly, and heavy tails or a
metric of few cases produce spurious levels. So a step between two neighbouring levels counts only if both of the
following hold. Of the steps that fail, the one that explains least is removed, until they hold for all steps.

- Student's test of the two levels is significant, at ``CHANCE`` over the number of possible places (Bonferroni); its
  tail is by Wallace (1959, *Bounds on normal approximations to Student's and the chi-square distributions*). The
  *grain* is the weight of one case: the standard deviation is assumed to be at least half of it, the standard deviation
  of a single case that is right by the toss of a coin. If values correlate with their predecessors, a mean varies more
  (Bartlett 1946): the variance of the values is multiplied by (1 + r) / (1 - r). The correlation r of neighbours is
  corrected for the bias from subtracting the two means. If the variance of values due to their units is known
  (documents, fields or cases, if these vary independently), the variance is the mean of it and of the variance of the
  values, weighted by degrees of freedom: a moderated t test (Smyth 2004, *Linear models and empirical Bayes methods*).
  Five values alone have three degrees of freedom, so that without units hardly any step is found in them.
- Heavy tails do not explain the step: all values of one level are beyond all of the other, or the rank sum is
  significant at ``_CHANCE_RANKS`` over the number of places (Wilcoxon 1945; Mann and Whitney 1947). The distance of a
  level of two values to the others has to exceed their distance to each other. A single value is never a level.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from math import ceil, comb, erfc, fsum, inf, log, sqrt
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.model.frozen import Frozen
from sitegen.stats.intervals import median

CHANCE: Final = 0.005
"""The chance of any step in a series of normal noise is at most this."""
_CHANCE_RANKS: Final = 10 * CHANCE
"""Larger than CHANCE, because a rank sum assumes no distribution, and has less power for few values."""
_CHANCE_NEWEST: Final = 0.003
"""The level of significance for the newest values, at the place where they differ most from earlier values."""
NEWEST: Final = 10
"""The greatest number of values that may be too new to distinguish from noise."""
_FEWEST_BEFORE: Final = 3  # the least number of values that the newest ones are compared with
_WORTH: Final = 4
"""The degrees of freedom assigned to the variance of the units. With four, the values of the series can outweigh it: if
units are correlated, and so show a quarter of the true variance, the chance of a false step only rises to one in a
hundred."""
NEAR: Final = 10
"""Values on either side of a step whose units are used: with more values, their own variance is precise enough."""
_FEWEST_PAIRS: Final = 2  # the least number of pairs of values that have a variance of their units
EXACT: Final = 20
"""The greatest number of values in the smaller level for which the rank sum test is exact."""
TAILS: Final = 3
"""The degrees of freedom of Student's distribution that values without documents behind them are assumed to have."""
_MOST_ALIKE: Final = 0.4  # largest correlation that is assumed: a larger one is due to a drift


UnitVariance: TypeAlias = Callable[[int, int], float | None]
"""The variance of a single value, estimated from how the units of two values differ; None if it is unknown. Its
arguments are the indices of these values."""


Levels: TypeAlias = tuple[int, int, int]
"""Two neighbouring levels: where the first begins, where they meet, and where the second ends."""


class Aside(Frozen):
    """A single value that deviates from both neighbours. It counts as noise and is part of no level."""

    place: int
    """The number of values of the row before it."""
    agreed: float
    """The value that its neighbours agree on."""
    off: float
    """The deviation of the value, limited for the estimate of noise."""


class LevelValues(Frozen):
    """The values that are divided into levels, with their running sums."""

    values: Sequence[float]
    sums: Sequence[float]
    """Entry n is the sum of the first n values."""
    aside: Sequence[Aside]
    least: float
    """The least variance that is assumed of a single value."""
    unit_variance: UnitVariance
    """The variance due to units, by indices of *values*."""
    tails: float
    """Degrees of freedom of Student's distribution that a single value is assumed to have at most."""

    def significant_starts(self, starts: Sequence[int]) -> list[int]:
        """Return the starts of levels at which the step is more than noise; the first start is always included."""
        bounds = [*starts, len(self.values)]
        places = len(self.values) - 1

        def gain_if_chance(step: Levels) -> float | None:
            """Return what a step explains if the test of it fails; None if it does not fail."""
            return self._gain(step) if self._chance(step) * places >= CHANCE else None

        failing = list(map(gain_if_chance, zip(bounds, bounds[1:], bounds[2:], strict=False)))
        while failing:
            least = [(gain, place) for place, gain in enumerate(failing) if gain is not None]
            if not least:
                steps = enumerate(zip(bounds, bounds[1:], bounds[2:], strict=False))
                least = [(self._gain(step), place) for place, step in steps if not self._beyond_tails(step)]
            if not least:
                break
            place = min(least)[1]
            del bounds[place + 1], failing[place]
            for beside in range(max(0, place - 1), min(place + 1, len(failing))):  # only these two steps have changed
                failing[beside] = gain_if_chance((bounds[beside], bounds[beside + 1], bounds[beside + 2]))
        return bounds[:-1]

    def newest_start(self, starts: Sequence[int]) -> int | None:
        """Return where the newest values begin that deviate from the last level and are too few for a step, or None."""
        last, end = starts[-1], len(self.values)
        places = range(last + _FEWEST_BEFORE, end)
        start = max(places, key=lambda start: self._gain((last, start, end)), default=last)
        few = last < start >= end - NEWEST
        return start if few and self._chance((last, start, end), self.tails * (end - start)) < _CHANCE_NEWEST else None

    def _gain(self, step: Levels) -> float:
        """Return the decrease of the sum of squares if one level is divided into two."""
        start, middle, end = step
        first, second = middle - start, end - middle
        before, after = self.sums[middle] - self.sums[start], self.sums[end] - self.sums[middle]
        return (after / second - before / first) ** 2 * first * second / (first + second)

    def _chance(self, step: Levels, tails: float = inf) -> float:
        """Return the two-sided p value of Student's test that two levels are the same; 1 without a degree of freedom.

        ``tails``: the most degrees of freedom: the mean of a few values still has much of the tails of a single one.
        """
        start, middle, end = step
        off = [blip.off for blip in self.aside if start < blip.place < end]
        before, after = self._residuals(start, middle), self._residuals(middle, end)
        squares = fsum(value * value for value in (*before, *after, *off))
        count = len(before) + len(after)
        freedom, gain = count + len(off) - 2, self._gain(step)
        if freedom < 1 or not gain:
            return 1.0
        correlation = 0.0
        if squares > self.least:
            products = fsum(value * following for level in (before, after) for value, following in pairwise(level))
            correlation = min(max(products / squares + 2 / count, 0.0), _MOST_ALIKE)
        squares *= (1 + correlation) / (1 - correlation)
        of_units = self._variance_of_units(step)
        if of_units is not None:
            squares += _WORTH * of_units
            freedom += _WORTH
        variance = max(squares / freedom, self.least)
        of_tails = min(freedom, tails)
        deviate = (8 * of_tails + 1) / (8 * of_tails + 3) * sqrt(of_tails * log(1 + gain / (variance * of_tails)))
        return erfc(deviate / sqrt(2))

    def _variance_of_units(self, step: Levels) -> float | None:
        """Return the mean variance by units of neighbours within two levels; None if too few pairs have one."""
        start, middle, end = step
        pairs = (*range(max(start + 1, middle - NEAR), middle), *range(middle + 1, min(middle + NEAR, end)))
        variances = [variance for after in pairs if (variance := self.unit_variance(after - 1, after)) is not None]
        return max(fsum(variances) / len(variances), self.least) if len(variances) >= _FEWEST_PAIRS else None

    def _residuals(self, start: int, end: int) -> list[float]:
        mean = (self.sums[end] - self.sums[start]) / (end - start)
        return [value - mean for value in self.values[start:end]]

    def _beyond_tails(self, step: Levels) -> bool:
        start, middle, end = step
        few, many = sorted((self._with_blips(start, middle), self._with_blips(middle, end)), key=len)
        gap = max(min(few) - max(many), min(many) - max(few))
        if len(few) < 3:
            return len(few) > 1 and gap > max(many) - min(many)
        return gap > 0 or _rank_sum(few, many) * (len(self.values) - 1) < _CHANCE_RANKS

    def _with_blips(self, start: int, end: int) -> list[float]:
        return [*self.values[start:end], *(blip.agreed + blip.off for blip in self.aside if start < blip.place < end)]


def level_values(
    values: Sequence[float], aside: Sequence[Aside], grain: float, unit_variance: UnitVariance, tails: float = inf
) -> LevelValues:
    """Return the values minus their mean, with running sums. ``grain``: by how much one case moves a value."""
    centre = fsum(values) / len(values)
    centred = [value - centre for value in values]
    return LevelValues(
        values=centred,
        sums=[0.0, *accumulate(centred)],
        aside=[replace(blip, agreed=blip.agreed - centre) for blip in aside],
        least=(grain / 2) ** 2,
        unit_variance=unit_variance,
        tails=tails,
    )


def typical_variance(count: int, unit_variance: UnitVariance) -> float | None:
    """Return the median variance by units over pairs of neighbours of ``count`` values; None if too few pairs have one.

    Of more than ``2 * NEAR`` pairs, only this number, evenly spread, is examined.
    """
    step = ceil(count / (2 * NEAR))
    pairs = (unit_variance(after - 1, after) for after in range(1, count, step))
    variances = [variance for variance in pairs if variance is not None]
    return median(variances) if len(variances) >= _FEWEST_PAIRS else None


def _rank_sum(few: Sequence[float], many: Sequence[float]) -> float:
    """Return the two-sided p value of the rank sum test, approximate for many values. Ties make it too large."""
    ranked, pairs = sorted(many), len(few) * len(many)
    beyond = sum(bisect_left(ranked, value) + bisect_right(ranked, value) for value in few) / 2
    least = min(beyond, pairs - beyond)
    if least > pairs / 4:
        return 1.0
    if len(few) > EXACT:
        return erfc((pairs / 2 - least - 0.5) / sqrt(pairs * (len(few) + len(many) + 1) / 6))
    # The number of arrangements by their pairs in the wrong order, up to *least*: a Gaussian binomial coefficient.
    arranged = [1, *([0] * ceil(least))]
    for size in range(1, len(few) + 1):
        for wrong in range(len(arranged) - 1, len(many) + size - 1, -1):
            arranged[wrong] -= arranged[wrong - len(many) - size]
        for wrong in range(size, len(arranged)):
            arranged[wrong] += arranged[wrong - size]
    return 2 * sum(arranged) / comb(len(few) + len(many), len(few))
