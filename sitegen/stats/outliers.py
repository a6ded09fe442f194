"""Blips: one to three neighbouring values that were off and came back.

A single value is a blip if it is off by three standard deviations of the noise, and its two neighbours agree against
it (the Hampel filter over three points; Pearson 2002). In noise that is common: it keeps such a value from being taken
for a level, and says no more. A blip is *far* off if noise does not explain it: every value of it is beyond both of the
values beside it by six standard deviations or more, those of the series without single blips, and by what three cases
are worth. Two or three values are a blip only if they are far off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

OUTLYING: Final = 3.0
"""Standard deviations that make a blip of a single value."""
LONGEST: Final = 3
"""Values of a blip at most."""
FAR: Final = 6.0
"""Standard deviations that noise does not explain."""
FAR_CASES: Final = 3
"""Cases that it does not explain: where most values are equal, the noise is hardly known."""
EQUAL: Final = 1e-9
"""Values no further apart are the same: the last digits of a sum depend on its order."""


class Blip(NamedTuple):
    """A blip of a series."""

    at: tuple[int, ...]
    """Indices of its values, ascending."""
    far: bool
    """Whether noise does not explain it."""


class Excursion(NamedTuple):
    """A blip among the defined values of a series."""

    start: int
    end: int
    agreed: float
    """The nearer one of the two values beside it."""
    by: float
    """The distance of the nearest of its values from that."""
    far: bool = False
    """Whether noise does not explain it."""

    @property
    def size(self) -> int:
        """Values in it."""
        return self.end - self.start


def excursions(values: Sequence[float], size: int, limit: float) -> Iterator[Excursion]:
    """So many neighbouring values that are off, by more than a limit, from the nearer one of the two beside them."""
    for start in range(1, len(values) - size):
        blip = values[start : start + size]
        low, high = sorted((values[start - 1], values[start + size]))
        agreed, by = (low, low - max(blip)) if blip[0] < low else (high, min(blip) - high)
        if by > limit:
            yield Excursion(start=start, end=start + size, agreed=agreed, by=by)


def without_overlaps(blips: Iterable[Excursion]) -> list[Excursion]:
    """Of those that overlap the longest one, ascending. Single ones never do."""
    kept: list[Excursion] = []
    places: set[int] = set()
    for blip in sorted(blips, key=lambda blip: (-blip.size, blip.start)):
        if places.isdisjoint(range(blip.start, blip.end)):
            places.update(range(blip.start, blip.end))
            kept.append(blip)
    return sorted(kept)
