"""What changed from one point of an eval to another: metrics with parts by cause, noise, and steps."""

from typing import Final, Literal, NamedTuple, TypeAlias

from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen, FrozenObject
from sitegen.model.outcomes import Flips, Tally
from sitegen.model.timeline import Cause
from sitegen.model.usage import Exchange

Unit: TypeAlias = Literal["documents", "fields", "cases"]
"""What a sample consists of. fields: there are too few documents, so the interval is about further fields of the same
documents. cases: test cases of kind ``responses``."""


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
    "documents flip as a whole",
    "the best was chosen",
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
    doubts: tuple[int, int] = (0, 0)
    """How many of the broken cells flip often, and of how many the label may be wrong."""
    counted: tuple[int, int] = (0, 0)
    """What the sign test counts of ``fixed`` and of ``broken``: each list item once, because all its cells flip
    together."""
    unit: Unit | None = None
    """The unit of the interval."""
    n: int = 0
    """Number of units."""
    in_part: tuple[tuple[str, float, float], ...] = ()
    """Documents of which more or fewer answers are right than before, and not all on either side, with both shares."""

    @property
    def is_open(self) -> bool:
        """Whether the change may be chance: the decision is at most *likely*, or *cannot tell*."""
        return self.decision in OPEN


Comparability: TypeAlias = Literal["comparable", "bridged", "refused"]
"""comparable: both points have the same documents and cases. bridged: computed over those that both have.
refused: they have none in common, or one of them has no numbers."""


class Overlap(NamedTuple):
    """Which documents two points have in common."""

    common: int
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()

    @property
    def verdict(self) -> Comparability:
        """How the two points can be compared."""
        if not self.common:
            return "refused"
        return "bridged" if self.only_before or self.only_after else "comparable"


class DeltaParts(FrozenObject):
    """The parts of a change by their cause. They sum to the whole, to 1e-12."""

    outputs: float
    ground_truth: float
    rules: float
    """Mapping, schema and settings."""


class MetricDelta(Frozen):
    """The change of one metric, over the documents that both points have."""

    name: str
    change: float | None
    """After minus before; None if the comparison is refused, or if either value is undefined."""
    parts: DeltaParts | None
    """None if the change is None, or if the metric is undefined for a mixture of the files of both points."""


class Change(Frozen):
    """What became of an eval between two of its points: ``analysis/change.py`` alone makes it."""

    overlap: Overlap
    metrics: tuple[MetricDelta, ...]
    """In the order of the kind's specs, followed by metrics of usage; the first is the headline."""
    model: Exchange | None = None
    """The change of the model, if any: its part in a change of metrics is unknown."""
    judge: Exchange | None = None
    """The change of the judge, if any: grades of two judges are not compared."""
    flips: Flips = Flips()
    verdict: ChangeVerdict | None = None
    """Whether the headline changed by more than chance. None for the same output: the effect of
    ground truth and rules is certain. None for recorded numbers, of which no test can tell chance."""

    @property
    def headline(self) -> MetricDelta:
        """The change of the headline metric."""
        return self.metrics[0]

    @property
    def may_hide(self) -> bool:
        """Whether a group of answers may be worse behind the headline: this is judged, and not called worse itself."""
        return self.verdict is not None and self.verdict.decision not in ("worse", "likely worse")

    def of(self, metric: str) -> float | None:
        """Return the change of a metric as the later ground truth and rules judge both outputs; None if undefined.

        Of the same output it is what these made.
        """
        delta = next((delta for delta in self.metrics if delta.name == metric), MetricDelta(metric, None, None))
        return delta.parts.outputs if delta.parts and self.verdict else delta.change


StepStatus: TypeAlias = Literal["fell", "open", "muted", "behind", "new", "fixed", "better", "blip"]
"""open: a regression whose loss was not regained. muted: the same, if the page of its eval has to be quiet about it.
fixed: a regression, or another loss, that was regained. better: a step up.

The others are not steps. fell: the newest output is worse than the one before by more than chance. behind: it is worse
than the best one by more than chance. new: the newest values are lower, but too few to distinguish from noise. blip:
one to three values far below both neighbours."""

WORSE: Final[tuple[StepStatus, ...]] = ("fell", "open", "behind", "new")
"""The statuses of an eval that is worse than it was, or may be."""

LEVELS: Final[tuple[StepStatus, ...]] = ("open", "fixed", "better", "muted")


class Moved(Frozen):
    """A number on either side of a step: the mean number of errors over the nearest points."""

    name: str
    """An error type, or an attribute."""
    before: float
    after: float

    @property
    def change(self) -> float:
        """After minus before."""
        return self.after - self.before


class MetricStep(Moved):
    """One metric at a step: its levels before and after, which are means over points."""

    points: float
    """The change in hundredths of the metric's range, positive if it is for the better; comparable between metrics."""


EditedFile: TypeAlias = tuple[str, str]
"""An edit of an instruction file: the path after the edit, and the id of the commit."""


class Step(Frozen):
    """A step of one eval, or another loss. Metrics that change at one point are one step: usually they do together."""

    at: int
    """The first point at the new level, as an index of the series; for *behind*, the output that lost most of it."""
    before: int
    """The last point at the old level."""
    metrics: tuple[MetricStep, ...]
    """The first is the main one: the headline if it stepped, else the metric that lost most. For *behind*, from the
    best output to the newest."""
    status: StepStatus
    commit: Commit
    """The commit of the first point at the new level, without the body of its message."""
    iterations: int
    """Number of outputs at the new level, until it was regained or until now."""
    different: int = 0
    """Number of different outputs at the new level; copies of an output are no further evidence."""
    causes: tuple[Cause, ...] = ()
    """What changed between the two levels; this and the following are associated with the step in time, and need not
    be its cause."""
    edits: tuple[EditedFile, ...] = ()
    """Edits of instructions between the two levels, newest first; empty if no new output was made between them."""
    more_edits: int = 0
    edited: Commit | None = None
    """The commit of the newest of these edits, without the body of its message; None without edits."""
    documents: tuple[int, int] | None = None
    """Their number before and after; None if it is the same."""
    errors: tuple[Moved, ...] = ()
    """The error types whose numbers changed, in the order of ``ERROR_TYPES``."""
    fields: tuple[Moved, ...] = ()
    """The attributes whose errors changed most in the direction of the step."""
    delta: MetricDelta | None = None
    """The delta of the headline between both points; None if they are not neighbours."""
    model: Exchange | None = None
    judge: Exchange | None = None
    until: int | None = None
    """The first point of the level that regained the loss; None if there is no such level, or if nothing was lost."""
    regained: float | None = None
    """The share of the loss that is regained by then, or by now; above 1 if the level is better than before."""
    undoes: int | None = None
    """For a step up, ``at`` of the regression that it ends."""
    noise: float = 0.0
    """The assumed standard deviation of a single value of the first metric."""
    verdict: ChangeVerdict | None = None
    """What is *worse*: the change from ``before`` to ``at``."""

    @property
    def place(self) -> float:
        """Place in data coordinates: between the last point at the old level and the first point at the new level."""
        return self.at if self.status == "blip" else self.at - 0.5
