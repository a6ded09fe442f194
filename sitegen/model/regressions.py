"""Steps: where the level of an eval changed by more than its noise. One for the worse is a *regression*."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from sitegen.model.commits import Commit
from sitegen.model.deltas import MetricDelta
from sitegen.model.scorecards import Status
from sitegen.model.timeline import Cause
from sitegen.model.usage import Exchange

StepStatus: TypeAlias = Literal["open", "fixed", "better", "new", "blip"]
"""open, fixed: a regression whose level was not regained yet, or was. better: a step up. new: no step yet; the newest
values are lower, too few to tell that from noise. blip: no step; one to three values far below both of their
neighbours."""

UNTOLD: Final[tuple[StepStatus, ...]] = ("new", "blip")
"""Those that are no steps."""


class MetricStep(NamedTuple):
    """One metric at a step: its level before and after, which is the mean of the points there."""

    name: str
    before: float
    after: float
    points: float
    """The change in hundredths of the metric's range, positive if it is for the better: sizes that compare."""


class EditedFile(NamedTuple):
    """An edit of an instruction file."""

    path: str
    """After the edit."""
    sha: str
    """Of the commit."""


class Moved(NamedTuple):
    """Errors per point on either side of a step: the mean over the nearest points."""

    name: str
    """An error type, or an attribute."""
    before: float
    after: float

    @property
    def change(self) -> float:
        """After minus before."""
        return self.after - self.before


class Circumstances(NamedTuple):
    """What changed between the two levels of a step: association, not cause."""

    causes: tuple[Cause, ...]
    output: Status
    """Of the first point at the new level: an output that cannot be read is its own explanation."""
    edits: tuple[EditedFile, ...]
    """Edits of instructions beside the new outputs between both levels, the newest first; none without a new output."""
    more_edits: int
    """Further ones."""
    documents: tuple[int, int] | None
    """(before, after): how many documents there were, if they are not the same ones."""
    errors: tuple[Moved, ...]
    """By type, in the order of ``ERROR_TYPES``: those that changed."""
    fields: tuple[Moved, ...]
    """The attributes whose errors moved most with the step."""
    delta: MetricDelta | None = None
    """Of the metric that the step goes by, from the one point to the other; None if they are no neighbours."""
    model: Exchange | None = None
    """Another model made the output at the new level."""
    judge: Exchange | None = None
    """Another judge graded it."""


class Step(NamedTuple):
    """A step of one eval. The metrics that stepped at one point are one step, since they usually move together."""

    at: int
    """The first point at the new level, as an index of the series."""
    before: int
    """The last point at the old level."""
    metrics: tuple[MetricStep, ...]
    """The first is the one that the step goes by: the headline if it stepped, else the one that lost most."""
    status: StepStatus
    commit: Commit
    """Of the first point at the new level, without its body."""
    circumstances: Circumstances
    iterations: int
    """Outputs at the new level: until it was regained, or until now."""
    until: int | None = None
    """The point from which the level was regained; None if it was not, or if there is nothing to regain."""
    regained: float | None = None
    """The share of a loss that is regained, by then or by now; above 1 if the level is better than it was."""
    undoes: int | None = None
    """Of a step up: ``at`` of the regression that it ends."""
    noise: float = 0.0
    """The standard deviation of a single value of the first metric, as it was assumed."""
    different: int = 0
    """How many of these outputs are different files: copies of one output are one witness."""
