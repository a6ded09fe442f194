"""Finds the steps of a series: where its level changed by more than its noise explains.

The levels are the piecewise constant function that minimises the Potts functional

    sum of (value - level)^2 + penalty * number of steps

(Potts 1952; Friedrich, Kempe, Liebscher and Winkler 2008, *Complexity Penalized M-Estimation*), found exactly by
dynamic programming. Candidates that can no longer be optimal are pruned (functional pruning, FPOP; Maidstone, Hocking,
Rigaill and Fearnhead 2017), so that a series without any step takes no longer; PELT (Killick, Fearnhead and Eckley
2012) finds the same levels, but prunes only if there are many steps.

The penalty of a step follows the Schwarz criterion: 3 log n variances of the noise. The noise is estimated from the
median absolute difference of neighbours, which a few steps do not change: 1.4826 times it, over the square root of 2,
is the standard deviation of normal noise. If the units of the values (documents, fields, cases) imply a smaller
standard deviation, candidates are found with that one: in few values that improve step by step, the differences of
neighbours are not noise. This finds candidates; ``significant_starts`` decides which of them are steps. Newest values
that deviate, but are too few for a test, are *fresh*.

*Blips*, values that deviate from the values before and after them (``stats/outliers.py``), are removed before levels
are computed; blips of two or three values only if they do not form a level. In estimates of noise the deviation of each
value is limited to four standard deviations, as is a candidate level of a single value, so that a failed run hides no
step.
"""

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import cbrt, fsum, inf, log, sqrt
from typing import Final

from sitegen.model.frozen import Frozen
from sitegen.stats import outliers
from sitegen.stats.intervals import median
from sitegen.stats.step_tests import TAILS, Aside, UnitVariance, level_values, typical_variance

FEWEST: Final = 5
"""With fewer defined values no step can be distinguished from noise."""
_FURTHEST: Final = 4.0  # largest deviation of a single value in estimates of noise, in standard deviations
_FINEST: Final = 1e-6  # the smallest change that counts as a step in a series without noise


class Level(Frozen):
    """Neighbouring values of a series around one mean."""

    start: int
    """Index of its first value."""
    end: int
    """Index after its last value."""
    size: int
    """Number of values, without gaps and blips."""
    mean: float


class Levels(Frozen):
    """A series divided into levels: each but the first begins with a step."""

    levels: tuple[Level, ...]
    """The levels in order; empty if no value is defined. Gaps and blips between two levels belong to neither."""
    noise: float
    """The standard deviation that was assumed of a single value; 0 if values are exact."""
    blips: tuple[outliers.Blip, ...]
    fresh: tuple[Level, Level] | None = None
    """If the newest values deviate, but are too few for a step: the last level without them, and their own level."""


def levels(values: Sequence[float | None], grain: float = 0.0, unit_variance: UnitVariance = lambda *_: None) -> Levels:
    """Return the levels of a series, in which None is a gap. As a rule this takes n log n steps for n values.

    With fewer than ``FEWEST`` values no step is found. A lasting drift becomes a staircase.

    ``grain``: by how much one case moves a value; 0 if there are no cases, or they are unknown. Then the smallest
    difference of two values is used, and single values may have heavy tails. ``unit_variance``: the variance due to
    units of two values, by their indices. Called only for values near candidates.
    """
    defined = [(index, value) for index, value in enumerate(values) if value is not None]
    row = [value for _, value in defined]
    sigma = noise(row)
    off = max(outliers.OUTLYING * sigma, outliers.EQUAL)
    singles = list(outliers.excursions(row, 1, off))
    starts = {blip.start for blip in singles}
    sigma_without_blips = noise([value for place, value in enumerate(row) if place not in starts])
    heavy = not grain
    apart = (after - before for before, after in pairwise(sorted(row)))
    grain = grain or min((distance for distance in apart if distance > outliers.EQUAL), default=0.0)
    beyond = max(outliers.FAR, outliers.FAR_HEAVY * cbrt(len(row))) if heavy else outliers.FAR
    far = max(beyond * sigma_without_blips, outliers.FAR_CASES * grain - outliers.EQUAL, off)
    singles = [blip._replace(far=blip.distance > far) for blip in singles]
    fit = _levels(defined, singles, sigma, grain, unit_variance, heavy)

    def is_within_level(blip: outliers.Excursion) -> bool:
        """Whether a blip lies inside one level, with all its values off the level's mean."""
        return any(
            all(
                level.start <= index < level.end and abs(value - level.mean) > off
                for index, value in defined[blip.start : blip.end]
            )
            for level in fit.levels
        )

    longer = [
        blip._replace(far=True)
        for size in range(2, outliers.LONGEST_BLIP + 1)
        for blip in outliers.excursions(row, size, far)
    ]
    within_level = [blip for blip in longer if is_within_level(blip)]
    if not within_level:
        return fit
    return _levels(defined, outliers.without_overlaps([*singles, *within_level]), sigma, grain, unit_variance, heavy)


def _levels(
    defined: Sequence[tuple[int, float]],
    blips: Sequence[outliers.Excursion],
    sigma: float,
    grain: float,
    unit_variance: UnitVariance,
    heavy: bool,
) -> Levels:
    """Return the levels of the defined values, given as (index, value), without these blips."""
    off = {place: blip.agreed for blip in blips for place in range(blip.start, blip.end)}
    steady = [entry for place, entry in enumerate(defined) if place not in off]
    row = [value for _, value in steady]
    placed = tuple(
        outliers.Blip(tuple(index for index, _ in defined[blip.start : blip.end]), blip.far) for blip in blips
    )

    def level(start: int, end: int) -> Level:
        return Level(
            start=steady[start][0],
            end=steady[end - 1][0] + 1,
            size=end - start,
            mean=fsum(row[start:end]) / (end - start),
        )

    if len(row) < FEWEST:
        return Levels((level(0, len(row)),) if row else (), sigma, placed)

    def of_units(before: int, after: int) -> float | None:
        return unit_variance(steady[before][0], steady[after][0])

    typical = typical_variance(len(row), of_units)
    single = sigma if typical is None else min(sigma, max(sqrt(typical), grain / 2))
    furthest = max(_FURTHEST * single, grain)
    aside = [
        Aside(bisect(steady, defined[place]), agreed, max(-furthest, min(defined[place][1] - agreed, furthest)))
        for place, agreed in off.items()
    ]
    candidates = _starts(row, max(penalty(len(row)) * single**2, _FINEST**2))
    calm, candidates = _lasting_levels(row, candidates, furthest)
    starts = level_values(calm, aside, grain, of_units).significant_starts(candidates)
    confirmed = tuple(level(start, end) for start, end in pairwise([*starts, len(row)]))
    new = level_values([*calm[:-1], row[-1]], aside, grain, of_units, TAILS if heavy else inf).newest_start(starts)
    fresh = (level(starts[-1], new), level(new, len(row))) if new is not None else None
    return Levels(levels=confirmed, noise=sigma, blips=placed, fresh=fresh)


def _lasting_levels(row: Sequence[float], starts: Sequence[int], furthest: float) -> tuple[list[float], list[int]]:
    """Join each level of a single value to the nearer neighbouring level, at most ``furthest`` from its mean.

    Returns the values with these limits applied, and the starts of the remaining levels.
    """
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


def noise(values: Sequence[float]) -> float:
    """Return the standard deviation of a single value, from the differences of neighbours; 0 if the values are exact.

    If most neighbours are equal (a model without randomness, a metric of few cases), the median of their differences is
    0. Then single blips are the noise: variance = share of blips * median size^2.
    """
    differences = [abs(after - before) for before, after in pairwise(values)]
    middle = median(differences) if differences else 0.0
    if middle > outliers.EQUAL:
        return 1.4826 * middle / sqrt(2)
    off = sorted(blip.distance for blip in outliers.excursions(values, 1, outliers.EQUAL))
    return off[(len(off) - 1) // 2] * sqrt(len(off) / len(values)) if off else 0.0


def penalty(count: int) -> float:
    """Return the penalty of a step in a series of ``count`` values, in variances of the noise (Schwarz 1978)."""
    return 3 * log(count)


def _starts(values: Sequence[float], cost: float) -> list[int]:
    """Return where the levels that minimise the functional begin; ``cost``: the penalty of one step."""
    if max(values) - min(values) <= outliers.EQUAL:
        return [0]
    centre = fsum(values) / len(values)
    sums = [0.0, *accumulate(value - centre for value in values)]
    squares = [0.0, *accumulate((value - centre) ** 2 for value in values)]
    paid = [0.0]
    """For each index, the cost of the best levels before it, including a step there."""
    begins: list[int] = []
    """For each index, the start of the last of the best levels up to it."""
    pieces = [(min(values) - centre, max(values) - centre, 0)]
    """(low, high, start): start is the best start of a level between low and high. Pieces cover the range of values."""
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
    """Add a piece; join it to the last one if that has the same start."""
    if pieces and pieces[-1][2] == start:
        low = pieces.pop()[0]
    pieces.append((low, high, start))
