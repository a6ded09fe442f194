"""Steps: where the level of an eval changed by more than its noise. One for the worse is a regression."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from sitegen.model.commits import Commit
from sitegen.model.scorecards import Status
from sitegen.model.timeline import Cause

StepStatus: TypeAlias = Literal["open", "fixed", "better"]
"""open and fixed: a regression whose level was not, or was, regained. better: a step up."""


class MetricStep(NamedTuple):
    """One metric at a step: the mean of the level before, and of the level after."""

    name: str
    before: float
    after: float
    points: float
    """The change in hundredths of the metric's range, positive if it is for the better: sizes that can be compared."""

    @property
    def change(self) -> float:
        """After minus before, in the units of the metric."""
        return self.after - self.before


class EditedFile(NamedTuple):
    """An instruction file that was edited between the two levels."""

    path: str
    """After the edit."""
    sha: str
    """Of the commit that edited it."""


class Moved(NamedTuple):
    """Errors per point on either side of a step: the mean over up to five points each."""

    name: str
    """An error type, or an attribute."""
    before: float
    after: float


class Step(NamedTuple):
    """A step of one eval. All metrics that stepped at one point are one step, since they usually move together."""

    at: int
    """The first point at the new level, as an index of the series."""
    before: int
    """The last point at the old level."""
    metrics: tuple[MetricStep, ...]
    """The first is the one that the step goes by: the headline, if it stepped, else the one that lost most."""
    status: StepStatus
    commit: Commit
    """Of the first point at the new level, without its body."""
    causes: tuple[Cause, ...]
    """What changed between the two points."""
    output: Status
    """Of the first point at the new level: an output that cannot be read is its own explanation."""
    edits: tuple[EditedFile, ...]
    """Instruction edits between the two points, the newest first; at most ``EDITS``."""
    more_edits: int
    iterations: int
    """Outputs at the new level: until it was regained, or until now."""
    until: int | None = None
    """The point from which the level was regained; None if it was not, or there is nothing to regain."""
    regained: float | None = None
    """Which share of a regression is regained, by then or by now."""
    undoes: int | None = None
    """Of a step up: ``at`` of the regression that it ends."""
    alone: bool = False
    """The new level is the newest point alone: it may yet be a single bad or good run."""
    noise: float = 0.0
    """Standard deviation of a single value of the first metric, as it was assumed."""
    documents: tuple[int, int] | None = None
    """(before, after): how many there were, if they are not the same documents."""
    errors: tuple[Moved, ...] = ()
    """By type, in the order of ``ERROR_TYPES``, those that changed."""
    fields: tuple[Moved, ...] = ()
    """The attributes whose errors moved most with the step; at most three."""
