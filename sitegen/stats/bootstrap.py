"""Percentile intervals by resampling whole units, seeded by the data, so that the same data give the same interval."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from math import erfc, fsum, sqrt
from random import Random
from typing import Final, TypeAlias

from sitegen.model.noise import Ends
from sitegen.stats.counts import Share
from sitegen.stats.intervals import LEVEL, Paired, student

_RESAMPLES: Final = 2000

_MOST_DRAWS: Final = 400_000
"""Largest number of draws in all resamples together: with many units fewer resamples are made, at least LEAST."""

LEAST: Final = 400

_Row: TypeAlias = tuple[float, ...]


def bootstrap_ratio(units: Sequence[Share]) -> Ends | None:
    """Compute the interval of a ratio of sums over units; None for fewer than two units."""
    return _resampled_interval([(*share,) for share in units], _ratio)


def bootstrap_ratio_change(units: Sequence[Paired]) -> Ends | None:
    """Compute the interval of the change of a ratio, with both sides of a unit drawn together; None below two units."""
    return _resampled_interval([(*pair.before, *pair.after) for pair in units], _ratio_change)


def _resampled_interval(rows: Sequence[_Row], statistic: Callable[[_Row], float | None]) -> Ends | None:
    """Resample the rows with replacement, and return the percentiles of the statistic of their sums.

    The interval is a little wider than ``LEVEL`` says, because percentiles of few units are too narrow (Hesterberg,
    *The American Statistician* 69, 2015, "expanded percentile interval"): by sqrt(n / (n - 1)), and as t is wider than
    z. Resamples with an undefined statistic are left out. The order of the rows does not matter.
    """
    number = len(rows)
    if number < 2:
        return None
    ordered = sorted(rows)
    draw = Random(int.from_bytes(hashlib.sha256(repr(ordered).encode()).digest()[:8])).random
    columns = tuple(zip(*ordered, strict=True))
    statistics = []
    for _ in range(min(_RESAMPLES, max(LEAST, _MOST_DRAWS // number))):
        # Only ``random`` gives the same numbers in every version of Python.
        drawn = [int(draw() * number) for _ in range(number)]
        value = statistic(tuple(fsum([column[index] for index in drawn]) for column in columns))
        if value is not None:
            statistics.append(value)
    if not statistics:
        return None
    statistics.sort()
    tail = erfc(sqrt(number / (number - 1)) * student(LEVEL, number - 1) / sqrt(2)) / 2
    cut = int(tail * len(statistics))
    return Ends(statistics[cut], statistics[-1 - cut])


def _ratio(sums: _Row) -> float | None:
    part, whole = sums
    return part / whole if whole else None


def _ratio_change(sums: _Row) -> float | None:
    before, after = _ratio(sums[:2]), _ratio(sums[2:])
    return None if before is None or after is None else after - before
