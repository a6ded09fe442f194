"""Steps: changes of the level of an eval by more than its noise. A step for the worse is a *regression*."""

from typing import Final, Literal, TypeAlias

from sitegen.model.commits import Commit
from sitegen.model.deltas import MetricDelta
from sitegen.model.frozen import Frozen
from sitegen.model.named_tuple import NamedTuple
from sitegen.model.noise import ChangeVerdict
from sitegen.model.scorecards import Status
from sitegen.model.timeline import Cause
from sitegen.model.usage import Exchange

StepStatus: TypeAlias = Literal["fell", "open", "behind", "new", "fixed", "better", "blip"]
"""open: a regression whose loss was not regained. fixed: a regression, or another loss, that was regained. better: a
step up.

The others are not steps. fell: the newest output is worse than the one before by more than chance. behind: it is worse
than the best one by more than chance. new: the newest values are lower, but too few to distinguish from noise. blip:
one to three values far below both neighbours."""

WORSE: Final[tuple[StepStatus, ...]] = ("fell", "open", "behind", "new")
"""The statuses of an eval that is worse than it was, or may be."""

LEVELS: Final[tuple[StepStatus, ...]] = ("open", "fixed", "better")
"""The statuses of steps."""


class MetricStep(Frozen):
    """One metric at a step: its levels before and after, which are means over points."""

    name: str
    before: float
    after: float
    points: float
    """The change in hundredths of the metric's range, positive if it is for the better; comparable between metrics."""


class EditedFile(Frozen):
    """An edit of an instruction file."""

    path: str
    """Path after the edit."""
    sha: str
    """Id of the commit."""


class Moved(Frozen):
    """The mean number of errors over the nearest points on either side of a step."""

    name: str
    """An error type, or an attribute."""
    before: float
    after: float

    @property
    def change(self) -> float:
        """After minus before."""
        return self.after - self.before


class DocumentNumbers(NamedTuple):
    """The number of documents before and after a step."""

    before: int
    after: int


class Circumstances(Frozen):
    """What changed between the two levels of a step: association, not cause."""

    causes: tuple[Cause, ...]
    output: Status
    """Status of the first point at the new level: an output that cannot be read explains the step."""
    edits: tuple[EditedFile, ...]
    """Edits of instructions between the two levels, newest first; empty if no new output was made between them."""
    more_edits: int
    documents: DocumentNumbers | None
    """None if the number is the same."""
    errors: tuple[Moved, ...]
    """The error types whose numbers changed, in the order of ``ERROR_TYPES``."""
    fields: tuple[Moved, ...]
    """The attributes whose errors changed most in the direction of the step."""
    delta: MetricDelta | None = None
    """The delta of the main metric between both points; None if they are not neighbours."""
    model: Exchange | None = None
    judge: Exchange | None = None
    edited: Commit | None = None
    """The commit of the newest of these edits, without the body of its message; None without edits."""


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
    circumstances: Circumstances
    iterations: int
    """Number of outputs at the new level, until it was regained or until now."""
    until: int | None = None
    """The first point of the level that regained the loss; None if there is no such level, or if nothing was lost."""
    regained: float | None = None
    """The share of the loss that is regained by then, or by now; above 1 if the level is better than before."""
    undoes: int | None = None
    """For a step up, ``at`` of the regression that it ends."""
    noise: float = 0.0
    """The assumed standard deviation of a single value of the first metric."""
    different: int = 0
    """Number of different outputs at the new level; copies of an output are no further evidence."""
    verdict: ChangeVerdict | None = None
    """What is *worse*: the change from ``before`` to ``at``."""
