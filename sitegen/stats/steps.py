"""Step changes of one series: where its level moved by more than its noise explains.

The levels are the piecewise constant function that minimises the Potts functional

    sum of (value - level)^2 + penalty * number of steps

(Potts 1952; Friedrich, Kempe, Liebscher and Winkler 2008, *Complexity Penalized M-Estimation*), found exactly by
dynamic programming. What cannot be optimal any more is pruned by its functional (FPOP; Maidstone, Hocking, Rigaill and
Fearnhead 2017), so that a series without any step takes no longer; PELT (Killick, Fearnhead and Eckley 2012) finds the
same levels, but prunes only where steps are many.

The noise is the median absolute difference of neighbours, which a few steps do not change: 1.4826 times it, over the
square root of 2, is the standard deviation of normal noise. A step costs what the Schwarz criterion asks, 3 log n
variances, and more in a short series, whose noise is known less well: 3 (1 + 40 / n) log n. By simulation this finds a
step in one of a hundred series of 5 to 300 values of normal noise; in one of twenty if the tails are as heavy as those
of Student's t with 3 degrees of freedom, and in one of ten, of five to ten values in one of four, where the score is of
so few cases that most values are equal (``noise``).

A value that is off by three standard deviations and whose two neighbours agree against it is a *blip*, not a step (the
Hampel filter over three points; Pearson 2002): it is set aside before the levels are sought.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
FINEST: Final = 1e-6
"""The least change that is a step in an exact series."""


class Level(NamedTuple):
    """A stretch of a series around one value."""

    start: int
    """Index of its first value."""
    end: int
    """Index after its last value."""
    size: int
    """Values in it: gaps and blips are none."""
    mean: float
    """Of these values."""


class Levels(NamedTuple):
    """A series as levels: each begins with a step, but for the first."""

    levels: tuple[Level, ...]
    """In order; empty if no value is defined. Gaps and blips between two belong to neither."""
    noise: float
    """The standard deviation that was assumed of a single value; 0 if they are exact."""
    blips: tuple[int, ...]
    """Indices of single values that were off and came back, ascending."""


def levels(values: Sequence[float | None]) -> Levels:
    """The levels of a series; None is a gap. In n log n steps for n values, as a rule.

    No step is found in fewer than ``FEWEST`` values. A lasting drift becomes a staircase.
    """
    known = [(index, value) for index, value in enumerate(values) if value is not None]
    sigma = noise([value for _, value in known])
    limit = max(OUTLYING * sigma, EQUAL)
    blips = {
        index
        for (index, _), (value, agreed) in zip(known[1:], _agreed([value for _, value in known]), strict=False)
        if abs(value - agreed) > limit
    }
    kept = [(index, value) for index, value in known if index not in blips]
    row = [value for _, value in kept]
    starts = _starts(row, max(penalty(len(row)) * sigma**2, FINEST**2)) if len(row) >= FEWEST else [0]
    found = tuple(
        Level(kept[start][0], kept[end - 1][0] + 1, end - start, sum(row[start:end]) / (end - start))
        for start, end in pairwise([*starts, len(row)])
        if end > start
    )
    return Levels(found, sigma, tuple(sorted(blips)))


def noise(values: Sequence[float]) -> float:
    """The standard deviation of a single value, from the differences of neighbours; 0 if the values are exact.

    Where most neighbours are equal (a model without randomness, a score of few cases), their median says nothing. Then
    the values that were off alone and came back are the noise: variance = share of them * their usual size^2. If there
    are none, any change is a step.
    """
    differences = [abs(after - before) for before, after in pairwise(values)]
    middle = median(differences) if differences else 0.0
    if middle > EQUAL:
        return 1.4826 * middle / sqrt(2)
    off = sorted(abs(value - agreed) for value, agreed in _agreed(values) if abs(value - agreed) > EQUAL)
    return off[(len(off) - 1) // 2] * sqrt(len(off) / len(values)) if off else 0.0


def penalty(count: int) -> float:
    """What a step costs in a series of so many values, in variances of the noise."""
    return 3 * log(count) * (1 + 40 / count)


def _agreed(values: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Each value but the first and the last, and the middle one of it and its neighbours."""
    for before, value, after in zip(values, values[1:], values[2:], strict=False):
        yield value, sorted((before, value, after))[1]


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
