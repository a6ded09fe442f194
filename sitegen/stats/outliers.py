"""Finds blips: one to three neighbouring values that deviate from the values before and after them.

A single value is a blip if it deviates by three standard deviations of the noise from both of its neighbours (the
Hampel filter over three points; Pearson 2002). Noise produces many of these; they are only prevented from counting as a
level. A blip is *far* if noise does not explain it: each of its values is beyond both neighbouring values by at least
six standard deviations, estimated without single blips, and by at least the weight of three cases. Two or three values
are a blip only if they are far.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from sitegen.model.frozen import Frozen

OUTLYING: Final = 3.0
"""Standard deviations by which a single value must deviate to be a blip."""
LONGEST_BLIP: Final = 3
"""The greatest number of values in a blip."""
FAR: Final = 6.0
"""Standard deviations beyond which noise does not explain a value."""
FAR_HEAVY: Final = 7.0
"""Times the cube root of the number of values, the same for values without documents behind them: the largest of n
values with Student's distribution of three degrees of freedom grows with the cube root of n."""
FAR_CASES: Final = 3
"""Number of cases by which a value must deviate as well: if most values are equal, the estimate of noise is poor."""
EQUAL: Final = 1e-9
"""Values that differ by less are equal: the last digits of a sum depend on its order."""


class Blip(Frozen):
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
    """The nearer of the two neighbouring values."""
    distance: float
    """The distance from ``agreed`` to the nearest value of the blip."""
    far: bool = False
    """Whether noise does not explain it."""

    @property
    def size(self) -> int:
        """Number of values."""
        return self.end - self.start


def excursions(values: Sequence[float], size: int, limit: float) -> Iterator[Excursion]:
    """Find runs of ``size`` values that all deviate from the nearer of their two neighbours by more than ``limit``."""
    for start in range(1, len(values) - size):
        blip = values[start : start + size]
        low, high = sorted((values[start - 1], values[start + size]))
        agreed, distance = (low, low - max(blip)) if blip[0] < low else (high, min(blip) - high)
        if distance > limit:
            yield Excursion(start=start, end=start + size, agreed=agreed, distance=distance)


def without_overlaps(blips: Iterable[Excursion]) -> list[Excursion]:
    """Return the blips without those that overlap a longer one, in order."""
    longest: list[Excursion] = []
    places: set[int] = set()
    for blip in sorted(blips, key=lambda blip: (-blip.size, blip.start)):
        if places.isdisjoint(range(blip.start, blip.end)):
            places.update(range(blip.start, blip.end))
            longest.append(blip)
    return sorted(longest)
