"""Step changes of one series: where its level moved by more than its noise explains.

The levels are the piecewise constant function that minimises the Potts functional

    sum of (value - level)^2 + penalty * number of steps

(Potts 1952; Friedrich, Kempe, Liebscher and Winkler 2008, *Complexity Penalized M-Estimation*), found exactly by
dynamic programming. What cannot be optimal any more is pruned by its functional (FPOP; Maidstone, Hocking, Rigaill and
Fearnhead 2017), so that a series without any step takes no longer; PELT (Killick, Fearnhead and Eckley 2012) finds the
same levels, but prunes only where steps are many.

The noise is the median absolute difference of neighbours, which a few steps do not change: 1.4826 times it, over the
square root of 2, is the standard deviation of normal noise. A step costs what the Schwarz criterion asks, 3 log n
variances, and more in a short series, whose noise is known less well: 3 (1 + 40 / n) log n. In normal noise of 5 to
300 values this finds a step in one series of a hundred, by simulation; with tails as heavy as those of Student's t
with 3 degrees of freedom, in one of twenty.

A value that is off by three standard deviations and whose two neighbours agree against it is a *blip*, not a step (the
Hampel filter over three points; Pearson 2002): it is set aside before the levels are sought.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import log, sqrt
from statistics import median
from typing import Final, NamedTuple

FEWEST: Final = 5
"""Defined values below which no level is told from noise."""
OUTLYING: Final = 3.0
"""Standard deviations that make a blip."""
EQUAL: Final = 1e-9
"""Values no further apart are the same: the last digits of a sum depend on its order."""


class Level(NamedTuple):
    """A stretch of a series around one value."""

    start: int
    """Index of its first value."""
    end: int
    """Index after its last value."""
    count: int
    """Values in it: gaps and blips are none."""
    mean: float
    """Of these values."""


class Levels(NamedTuple):
    """A series as levels: each begins with a step, but for the first."""

    levels: tuple[Level, ...]
    """In order; empty if no value is defined. Gaps and blips between two belong to neither."""
    noise: float
    """The standard deviation that was assumed of a single value; 0 if no two neighbours differ."""
    blips: tuple[int, ...]
    """Indices of single values that were off and came back, ascending."""


def levels(values: Sequence[float | None]) -> Levels:
    """The levels of a series; None is a gap. In n log n steps for n values, as a rule.

    No step is found in fewer than ``FEWEST`` values. A lasting drift becomes a staircase.
    """
    known = [(index, value) for index, value in enumerate(values) if value is not None]
    sigma = noise([value for _, value in known])
    blips = _blips(known, OUTLYING * sigma)
    kept = [(index, value) for index, value in known if index not in blips]
    row = [value for _, value in kept]
    starts = _starts(row, penalty(len(row)) * sigma**2) if len(row) >= FEWEST and sigma else [0]
    found = tuple(
        Level(kept[start][0], kept[end - 1][0] + 1, end - start, sum(row[start:end]) / (end - start))
        for start, end in pairwise([*starts, len(row)])
        if end > start
    )
    return Levels(found, sigma, tuple(sorted(blips)))


def noise(values: Sequence[float]) -> float:
    """The standard deviation of a single value, from the differences of neighbours.

    Where most neighbours are equal (a model without randomness, scores of a few cases) their median says nothing. Then
    the noise is taken for rare changes of the usual size: variance = share of changes * size^2 / 2.
    """
    differences = [abs(after - before) for before, after in pairwise(values)]
    changes = [each for each in differences if each > EQUAL]
    if not changes:
        return 0.0
    middle = median(differences)
    if middle > EQUAL:
        return 1.4826 * middle / sqrt(2)
    return sorted(changes)[(len(changes) - 1) // 2] * sqrt(len(changes) / len(differences) / 2)


def penalty(count: int) -> float:
    """What a step costs in a series of so many values, in variances of the noise."""
    return 3 * log(count) * (1 + 40 / count)


def _blips(known: Sequence[tuple[int, float]], limit: float) -> frozenset[int]:
    """Indices of the values that are further than the limit from the middle one of themselves and their neighbours."""
    return frozenset(
        index
        for (_, before), (index, value), (_, after) in zip(known, known[1:], known[2:], strict=False)
        if abs(value - sorted((before, value, after))[1]) > max(limit, EQUAL)
    )


def _starts(values: Sequence[float], cost: float) -> list[int]:
    """Where the levels that minimise the functional begin; ``cost`` is that of one step."""
    if max(values) - min(values) <= EQUAL:
        return [0]
    centre = sum(values) / len(values)
    sums = [0.0, *accumulate(value - centre for value in values)]
    squares = [0.0, *accumulate((value - centre) ** 2 for value in values)]
    paid = [0.0]
    """What the best levels before each index cost, a step there included."""
    begins: list[int] = []
    """Where the last of the best levels up to each index begins."""
    pieces = [(min(values) - centre, max(values) - centre, 0)]
    """(from, to, start): for a level in this range it is best to begin there. They cover the range of the values."""
    for end in range(1, len(values) + 1):
        best, begin = min(
            (paid[start] + squares[end] - squares[start] - (sums[end] - sums[start]) ** 2 / (end - start), start)
            for start in {start for _, _, start in pieces}
        )
        begins.append(begin)
        limit = best + cost
        paid.append(limit)
        left: list[tuple[float, float, int]] = []
        for low, high, start in pieces:
            count, total = end - start, sums[end] - sums[start]
            middle = total / count
            room = limit - (paid[start] + squares[end] - squares[start] - total * middle)
            reach = sqrt(room / count) if room > 0 else 0.0
            first, last = max(low, middle - reach), min(high, middle + reach)
            if first >= last:
                _append(left, low, high, end)
                continue
            if first > low:
                _append(left, low, first, end)
            left.append((first, last, start))
            if last < high:
                _append(left, last, high, end)
        pieces = left
    starts = [begins[-1]]
    while starts[-1]:
        starts.append(begins[starts[-1] - 1])
    return starts[::-1]


def _append(pieces: list[tuple[float, float, int]], low: float, high: float, start: int) -> None:
    """Add a piece; one that goes on where the last ended is the same piece."""
    if pieces and pieces[-1][2] == start:
        low = pieces.pop()[0]
    pieces.append((low, high, start))
