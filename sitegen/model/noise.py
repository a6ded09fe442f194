"""Noise: how far a number can be trusted, and whether a change of it is more than chance."""

from typing import Final, Literal, TypeAlias

from sitegen.model.cells import Tally
from sitegen.model.frozen import Frozen, FrozenObject
from sitegen.model.named_tuple import NamedTuple

Unit: TypeAlias = Literal["documents", "fields", "cases", "runs"]
"""What a sample consists of. fields: there are too few documents, so the interval is about further fields of the same
documents. cases: test cases of kind ``responses``. runs: outputs made again."""


class Ends(NamedTuple):
    """Both ends of an interval or of a range."""

    low: float
    high: float


class Interval(FrozenObject):
    """The interval of a number, or of a change, at a level of 95 %, in the unit of the metric."""

    low: float
    high: float
    unit: Unit
    n: int
    """Number of units."""
    method: str
    """The method in words, for pages: ``Wilson, effective sample size``."""


class Spread(Frozen):
    """An estimate with its standard error and degrees of freedom."""

    value: float
    error: float
    """Standard error."""
    freedom: int
    """Number of units minus one."""


class FlipRate(Frozen):
    """How often repeated outputs differ in a field."""

    attribute: str
    """Empty for all fields together."""
    flips: int
    """Pairs of outputs whose outcomes differ, summed over cells."""
    pairs: int

    @property
    def rate(self) -> float | None:
        """The share of pairs that differ; None without any pair."""
        return self.flips / self.pairs if self.pairs else None


class Noise(Frozen):
    """The noise of an eval, estimated from repeated outputs."""

    groups: int
    """Number of groups of outputs made under the same instructions, with the same ground truth and rules."""
    outputs: int
    deviation: float | None
    """Standard deviation of the headline among repeats, pooled over groups; None if no group has two values."""
    limit: float | None
    """Two repeats differ by less than this 95 times in 100; None without three repeats, or two pairs of them."""
    pooled: FlipRate = FlipRate("", 0, 0)
    fields: tuple[FlipRate, ...] = ()
    """The field that flips most often first."""
    bad_runs: tuple[str, ...] = ()
    """Names of outputs so far off their repeats that they are left out of the deviation, the limit and the rates."""
    first: int = 0
    """Index of the first output of the group that the point itself belongs to, alone or with its repeats before it."""
    repeats: int = 0
    """Number of outputs of this group that have a headline, without bad runs; 0 if it is unknown."""
    mean: float = 0.0
    """Their mean headline."""

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the deviation; at least 1."""
        return max(1, self.outputs - self.groups - len(self.bad_runs))


Decision: TypeAlias = Literal["better", "likely better", "cannot tell", "likely worse", "worse", "same"]
"""What a change is on the cases of both outputs. better, worse: more than chance at a level of 95 %. likely: at a level
of 80 %. cannot tell: not even that, or there is too little to compare. same: no cell flipped, and the number did not
change."""

OPEN: Final[tuple[Decision, ...]] = ("likely better", "cannot tell", "likely worse")
"""The decisions that further outputs may still change."""

Why: TypeAlias = Literal[
    "another judge",
    "beyond chance",
    "a field was lost",
    "nothing moved",
    "nothing to compare",
    "within the noise of repeats",
    "flips may be chance",
    "flips go the other way",
]


class ChangeVerdict(FrozenObject):
    """Whether the headline changed: on the cases of both outputs (the decision), and beyond them (the interval)."""

    decision: Decision
    """The word for the change on these cases. It does not depend on the interval."""
    why: Why
    """The reason for the decision: unless the change is beyond chance, what is least certain of it."""
    change: float | None = None
    """After minus before, over what both points have; None if it is undefined."""
    interval: Ends | None = None
    """The interval of the change over units, for further cases of their kind; it does not influence the decision. None
    for fewer than two units, and if all moved alike."""
    fixed: int = 0
    """Number of cells that became right; if the headline is not a ratio of counts, of cases in which it got better."""
    broken: int = 0
    p_value: float | None = None
    """The exact sign test of ``counted``; None if nothing could be compared."""
    detectable: float | None = None
    """The least change of the headline that this set detects 8 times in 10; None if it is unknown."""
    lost_fields: Tally = ()
    """The fields that were right wherever they were judged, in three values at least, and are now wrong wherever they
    are judged, with the number of their values."""
    counted: tuple[int, int] = (0, 0)
    """What the sign test counts of ``fixed`` and of ``broken``: each list item once, because all its cells flip
    together."""
    unit: Unit | None = None
    """The unit of the interval."""
    n: int = 0
    """Number of units."""

    @property
    def is_open(self) -> bool:
        """Whether the change may be chance: the decision is at most *likely*, or *cannot tell*."""
        return self.decision in OPEN
