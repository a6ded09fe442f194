"""Step changes of one series: where its level moved by more than its noise explains.

The levels are the piecewise constant function that minimises the Potts functional

    sum of (value - level)^2 + penalty * number of steps

(Potts 1952; Friedrich, Kempe, Liebscher and Winkler 2008, *Complexity Penalized M-Estimation*), found exactly by
dynamic programming. What cannot be optimal any more is pruned by its functional (FPOP; Maidstone, Hocking, Rigaill and
Fearnhead 2017), so that a series without any step takes no longer; PELT (Killick, Fearnhead and Eckley 2012) finds the
same levels, but prunes only where steps are many.

A step costs what the Schwarz criterion asks, 3 log n variances of the noise. The noise is the median absolute
difference of neighbours, which a few steps do not change: 1.4826 times it, over the square root of 2, is the standard
deviation of normal noise. What this finds are candidates. The steps are those that ``significant_starts`` leaves;
newest values that are off, and too few for a test, are *fresh*.

*Blips*, values that were off and came back (``stats/outliers.py``), are set aside before the levels are sought; of two
or three neighbouring values only if they are no level of their own. As noise each value counts for no more than four
standard deviations, and so does a candidate of a single value: a run that failed hides no step.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import fsum, log, sqrt
from statistics import median
from typing import Final, NamedTuple

from sitegen.stats.outliers import (
    EQUAL,
    FAR,
    FAR_CASES,
    LONGEST,
    OUTLYING,
    Blip,
    Excursion,
    excursions,
    without_overlaps,
)
from sitegen.stats.step_tests import Aside, level_values, newest_start, significant_starts

FEWEST: Final = 5
"""Defined values below which no level is told from noise."""
FURTHEST: Final = 4.0
"""Standard deviations that a single value is taken to be off at most, as noise."""
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
    blips: tuple[Blip, ...]
    """Ascending; no value is in two."""
    fresh: tuple[Level, Level] | None = None
    """If the newest values are off, and too few to tell: the last level without them, and they."""


def levels(values: Sequence[float | None], grain: float = 0.0) -> Levels:
    """The levels of a series; None is a gap. In n log n steps for n values, as a rule.

    ``grain``: by how much one case moves a value; 0 if it is not known, and the least difference of two values stands
    for it. No step is found in fewer than ``FEWEST`` values. A drift that lasts becomes a staircase.
    """
    known = [(index, value) for index, value in enumerate(values) if value is not None]
    every = [value for _, value in known]
    sigma = noise(every)
    off = max(OUTLYING * sigma, EQUAL)
    alone = {blip.start for blip in excursions(every, 1, off)}
    rest = noise([value for place, value in enumerate(every) if place not in alone])
    grain = grain or _finest(every)
    far = max(FAR * rest, FAR_CASES * grain - EQUAL, off)
    single = [blip._replace(far=blip.by > far) for blip in excursions(every, 1, off)]
    found = _levels(known, single, sigma, grain)
    longer = [blip._replace(far=True) for size in range(2, LONGEST + 1) for blip in excursions(every, size, far)]
    untold = [blip for blip in longer if _in_level(blip, known, found.levels, off)]
    return _levels(known, without_overlaps([*single, *untold]), sigma, grain) if untold else found


def _in_level(blip: Excursion, known: Sequence[tuple[int, float]], levels: Sequence[Level], limit: float) -> bool:
    """Whether a blip is within a level, and all of it off that."""
    off = known[blip.start : blip.end]
    return any(
        all(level.start <= index < level.end and abs(value - level.mean) > limit for index, value in off)
        for level in levels
    )


def _levels(known: Sequence[tuple[int, float]], blips: Sequence[Excursion], sigma: float, grain: float) -> Levels:
    """The levels of what is known, as (index, value), but for these blips."""
    off = {place: blip.agreed for blip in blips for place in range(blip.start, blip.end)}
    kept = [each for place, each in enumerate(known) if place not in off]
    row = [value for _, value in kept]
    told = tuple(Blip(tuple(index for index, _ in known[blip.start : blip.end]), blip.far) for blip in blips)

    def level(start: int, end: int) -> Level:
        return Level(
            start=kept[start][0], end=kept[end - 1][0] + 1, size=end - start, mean=fsum(row[start:end]) / (end - start)
        )

    if len(row) < FEWEST:
        return Levels((level(0, len(row)),) if row else (), sigma, told)
    furthest = max(FURTHEST * sigma, grain)
    aside = [
        Aside(bisect(kept, known[place]), agreed, max(-furthest, min(known[place][1] - agreed, furthest)))
        for place, agreed in off.items()
    ]
    candidates = _starts(row, max(penalty(len(row)) * sigma**2, FINEST**2))
    calm, candidates = _lasting_levels(row, candidates, furthest)
    starts = significant_starts(level_values(calm, aside, grain), candidates)
    found = tuple(level(start, end) for start, end in pairwise([*starts, len(row)]))
    new = newest_start(level_values([*calm[:-1], row[-1]], aside, grain), starts)
    fresh = (level(starts[-1], new), level(new, len(row))) if new is not None else None
    return Levels(levels=found, noise=sigma, blips=told, fresh=fresh)


def _lasting_levels(row: Sequence[float], starts: Sequence[int], furthest: float) -> tuple[list[float], list[int]]:
    """Levels of a single value put to the level beside them that is nearer, and no further off it than ``furthest``."""
    calm = list(row)
    levels = [(start, end, fsum(row[start:end]) / (end - start)) for start, end in pairwise([*starts, len(row)])]
    lasting = [level for level in levels if level[1] - level[0] > 1]
    cuts = [0]
    for (_, end, before), (start, _, after) in pairwise(lasting):
        nearer = (index for index in range(end, start) if abs(row[index] - after) < abs(row[index] - before))
        cuts.append(next(nearer, start))
    for (start, end, mean), first, last in zip(lasting, cuts, [*cuts[1:], len(row)], strict=False):
        for index in (*range(first, start), *range(end, last)):
            calm[index] = max(mean - furthest, min(row[index], mean + furthest))
    return calm, cuts


def _finest(values: Sequence[float]) -> float:
    """The least difference of two values; 0 if all are equal."""
    return min((after - before for before, after in pairwise(sorted(values)) if after - before > EQUAL), default=0.0)


def noise(values: Sequence[float]) -> float:
    """The standard deviation of a single value, from the differences of neighbours; 0 if the values are exact.

    Where most neighbours are equal (a model without randomness, a score of few cases), their median says nothing. Then
    the values that were off alone and came back are the noise: variance = share of them * their usual size^2.
    """
    differences = [abs(after - before) for before, after in pairwise(values)]
    middle = median(differences) if differences else 0.0
    if middle > EQUAL:
        return 1.4826 * middle / sqrt(2)
    off = sorted(blip.by for blip in excursions(values, 1, EQUAL))
    return off[(len(off) - 1) // 2] * sqrt(len(off) / len(values)) if off else 0.0


def penalty(count: int) -> float:
    """What a step costs in a series of so many values, in variances of the noise (Schwarz 1978)."""
    return 3 * log(count)


def _starts(values: Sequence[float], cost: float) -> list[int]:
    """Where the levels that minimise the functional begin; ``cost`` is that of one step."""
    if max(values) - min(values) <= EQUAL:
        return [0]
    centre = fsum(values) / len(values)
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
                _append_piece(left, low, high, end)
                continue
            if first > low:
                _append_piece(left, low, first, end)
            left.append((first, last, start))
            if last < high:
                _append_piece(left, last, high, end)
        pieces = left
    starts = [begins[-1]]
    while starts[-1]:
        starts.append(begins[starts[-1] - 1])
    return starts[::-1]


def _append_piece(pieces: list[tuple[float, float, int]], low: float, high: float, start: int) -> None:
    """Add a piece; one that goes on where the last ended is the same piece."""
    if pieces and pieces[-1][2] == start:
        low = pieces.pop()[0]
    pieces.append((low, high, start))
