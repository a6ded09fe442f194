"""Which levels of a series are told apart, and whether its newest values are off: what noise alone does not do.

A least sum of squares finds places, not evidence: of few values the noise is hardly known, and heavy tails or a score
of few cases make levels of their own. So two neighbouring levels are told apart only if two things hold. Of the steps
for which they do not, the one that explains least is dropped, until they hold for all.

- Student's test of the two levels, at ``CHANCE`` over the number of places that a step could have (Bonferroni); its
  tail by Wallace (1959, *Bounds on normal approximations to Student's and the chi-square distributions*). What one
  case is worth is the *grain*: the standard deviation is taken for half of it or more, which is that of a single case
  that is right by the toss of a coin. Where each value resembles the one before, a mean varies more (Bartlett 1946):
  the variance is taken times (1 + r) / (1 - r). The correlation r of neighbours is corrected for what the two means
  take of it.
- Heavy tails do not explain it: all values of the one level are beyond all of the other, or the rank sum says so at
  ``CHANCE_RANKS`` over the number of places (Wilcoxon 1945; Mann and Whitney 1947). Two values have to be further
  from the others than those are from each other. One value is never told.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import ceil, comb, erfc, fsum, log, sqrt
from typing import Final, NamedTuple

CHANCE: Final = 0.0002
"""Of any step in a series of normal noise, at most."""
CHANCE_RANKS: Final = 10 * CHANCE
"""A rank sum knows of no distribution, and less of a few values than Student's test."""
CHANCE_NEWEST: Final = 0.003
"""Of newest values to be off where they are most."""
NEWEST: Final = 10
"""Values that may be too new to tell."""
FEWEST_BEFORE: Final = 3
"""Values that the newest ones are held against."""
EXACT: Final = 20
"""Values of the smaller level up to which ranks are counted out."""
MOST_ALIKE: Final = 0.4
"""A larger correlation is that of a drift."""


class Aside(NamedTuple):
    """A single value that was off and came back: noise, and part of no level."""

    place: int
    """How many values of the row are before it."""
    agreed: float
    """What its neighbours agree on."""
    off: float
    """By how much it was off, as far as that counts."""


class LevelValues(NamedTuple):
    """The values that are cut into levels, with their sums."""

    values: Sequence[float]
    sums: Sequence[float]
    """Of the first n values, from none on."""
    aside: Sequence[Aside]
    least: float
    """The variance of a single value is not below it."""


def level_values(values: Sequence[float], aside: Sequence[Aside], grain: float) -> LevelValues:
    """``grain``: what one case is worth."""
    centre = fsum(values) / len(values)
    around = [value - centre for value in values]
    off = [one._replace(agreed=one.agreed - centre) for one in aside]
    return LevelValues(values=around, sums=[0.0, *accumulate(around)], aside=off, least=(grain / 2) ** 2)


def significant_starts(row: LevelValues, starts: Sequence[int]) -> list[int]:
    """Those of the starts of levels at which a step is more than noise, and the first."""
    chances: dict[tuple[int, int, int], float] = {}

    def chance(step: tuple[int, int, int]) -> float:
        if step not in chances:
            chances[step] = _chance(row, *step)
        return chances[step]

    bounds = [*starts, len(row.values)]
    places = len(row.values) - 1
    while len(bounds) > 2:
        steps = list(zip(bounds, bounds[1:], bounds[2:], strict=False))
        failing = [step for step in steps if chance(step) * places >= CHANCE]
        failing = failing or [step for step in steps if not _beyond_tails(row, *step)]
        if not failing:
            break
        bounds.remove(min(failing, key=lambda step: _gain(row, *step))[1])
    return bounds[:-1]


def newest_start(row: LevelValues, starts: Sequence[int]) -> int | None:
    """Where the newest values begin, if they are off the last level and too few to be told apart; else None."""
    last, end = starts[-1], len(row.values)
    places = range(last + FEWEST_BEFORE, end)
    start = max(places, key=lambda start: _gain(row, last, start, end), default=last)
    few = last < start >= end - NEWEST
    return start if few and _chance(row, last, start, end) < CHANCE_NEWEST else None


def _gain(row: LevelValues, start: int, middle: int, end: int) -> float:
    """By how much the sum of squares is larger around one level than around two."""
    first, second = middle - start, end - middle
    before, after = row.sums[middle] - row.sums[start], row.sums[end] - row.sums[middle]
    return (after / second - before / first) ** 2 * first * second / (first + second)


def _chance(row: LevelValues, start: int, middle: int, end: int) -> float:
    """That the means of two levels differ so much, both sides, by Student's test; 1 without a degree of freedom."""
    off = [one.off for one in row.aside if start < one.place < end]
    before, after = _around(row, start, middle), _around(row, middle, end)
    squares = fsum(value * value for value in (*before, *after, *off))
    count = len(before) + len(after)
    freedom = count + len(off) - 2
    gain = _gain(row, start, middle, end)
    if freedom < 1 or not gain:
        return 1.0
    alike = 0.0
    if squares > row.least:
        products = fsum(one * other for level in (before, after) for one, other in pairwise(level))
        alike = min(max(products / squares + 2 / count, 0.0), MOST_ALIKE)
    variance = max(squares / freedom * (1 + alike) / (1 - alike), row.least)
    deviate = (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log(1 + gain / (variance * freedom)))
    return erfc(deviate / sqrt(2))


def _around(row: LevelValues, start: int, end: int) -> list[float]:
    """The values of a level without its mean."""
    mean = (row.sums[end] - row.sums[start]) / (end - start)
    return [value - mean for value in row.values[start:end]]


def _beyond_tails(row: LevelValues, start: int, middle: int, end: int) -> bool:
    """Whether heavy tails do not explain a step."""
    few, many = sorted((_all(row, start, middle), _all(row, middle, end)), key=len)
    gap = max(min(few) - max(many), min(many) - max(few))
    if len(few) < 3:
        return len(few) > 1 and gap > max(many) - min(many)
    return gap > 0 or _rank_sum(few, many) * (len(row.values) - 1) < CHANCE_RANKS


def _all(row: LevelValues, start: int, end: int) -> list[float]:
    """The values of a level, and those aside among them."""
    return [*row.values[start:end], *(one.agreed + one.off for one in row.aside if start < one.place < end)]


def _rank_sum(few: Sequence[float], many: Sequence[float]) -> float:
    """The chance of so uneven ranks, both sides; of many values by the normal approximation. Ties make it too large."""
    ranked, pairs = sorted(many), len(few) * len(many)
    beyond = sum(bisect_left(ranked, value) + bisect_right(ranked, value) for value in few) / 2
    least = min(beyond, pairs - beyond)
    if least > pairs / 4:
        return 1.0
    if len(few) > EXACT:
        return erfc((pairs / 2 - least - 0.5) / sqrt(pairs * (len(few) + len(many) + 1) / 6))
    # Arrangements by their number of pairs in the wrong order, up to the least: a Gaussian binomial coefficient.
    arranged = [1, *([0] * ceil(least))]
    for size in range(1, len(few) + 1):
        for wrong in range(len(arranged) - 1, len(many) + size - 1, -1):
            arranged[wrong] -= arranged[wrong - len(many) - size]
        for wrong in range(size, len(arranged)):
            arranged[wrong] += arranged[wrong - size]
    return 2 * sum(arranged) / comb(len(few) + len(many), len(few))
