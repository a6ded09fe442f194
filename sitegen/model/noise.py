"""Noise: how far a number can be trusted, and whether a change of it is more than chance."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Unit: TypeAlias = Literal["documents", "fields", "cases", "runs"]
"""What is taken for a sample of more of its kind. fields: there are too few documents, so the interval speaks of other
fields of the same documents. cases: test cases of kind ``responses``. runs: outputs made again."""


class Interval(NamedTuple):
    """Where a number, or a change, may lie. Both ends are in the unit of the metric."""

    low: float
    high: float
    unit: Unit
    n: int
    """How many of the unit it was made from."""
    method: str
    """In words, for the page: ``Wilson, effective sample size``."""
    level: float = 0.95


class FieldMove(NamedTuple):
    """A field of which some cell flipped, with McNemar's test of it."""

    attribute: str
    fixed: int
    broken: int
    p_value: float
    adjusted_p: float
    """By Holm over the fields that moved."""


class FlipRate(NamedTuple):
    """How often outputs made again under the same instructions differ in a field."""

    attribute: str
    """Empty: all fields together."""
    flips: int
    """Pairs of outputs whose outcomes differ, summed over cells."""
    pairs: int

    @property
    def rate(self) -> float | None:
        """The share of pairs that differ; None without any pair."""
        return self.flips / self.pairs if self.pairs else None


class Noise(NamedTuple):
    """What repeated outputs tell."""

    groups: int
    """Sets of outputs that were made under the same instructions and compared with the same truth."""
    outputs: int
    """In all groups together."""
    deviation: float | None
    """Standard deviation of the headline among repeats, pooled over groups; None if no group has two values."""
    limit: float | None
    """Two repeats lie within this of each other 95 times in 100; None without three repeats, or two pairs of them."""
    pooled: FlipRate
    fields: tuple[FlipRate, ...]
    """The field that flips most often first."""


Decision: TypeAlias = Literal["better", "worse", "inconclusive", "same"]
"""same: not one cell flipped, and the number did not move."""

Why: TypeAlias = Literal[
    "another judge",
    "beyond chance",
    "nothing moved",
    "nothing to compare",
    "too few units",
    "within the noise of repeats",
    "interval holds zero",
    "flips may be chance",
    "flips go the other way",
]


class ChangeVerdict(NamedTuple):
    """Whether the headline moved by more than chance."""

    decision: Decision
    why: Why
    """What decided; of several reasons to doubt, the first in the order of ``Why``."""
    change: float | None
    """After minus before, over what both points hold; None if it is undefined."""
    interval: Interval | None
    """Of the change."""
    fixed: int
    broken: int
    p_value: float | None
    """McNemar over the cells that flipped, None if nothing could be compared. Where fields are the units, of the fields
    of one list only the one that flipped most is counted: a list item takes all its cells with it."""
    detectable: float | None
    """The least change of the headline that this set shows 8 times in 10; None if nothing says so."""
    fields: tuple[FieldMove, ...]
    """The fields that moved, the least p first."""
