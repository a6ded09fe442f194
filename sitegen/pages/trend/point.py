"""One iteration in the chart and the table of a trend."""

from __future__ import annotations

from sitegen.frozen import Frozen
from sitegen.model.commits import Commit
from sitegen.model.noise import Interval
from sitegen.model.scorecards import Status
from sitegen.pages.changes import DisplayedChange, Flipped
from sitegen.pages.labels import STATUSES


class TrendPoint(Frozen):
    """One point of the chart and the table."""

    number: int
    label: str
    file: str
    """Address of the report, relative to the trend page."""
    commit: Commit
    status: Status
    cause: str
    """The causes of the snapshot, in words."""
    rescored: bool
    """Whether there is no new output: only ground truth or rules changed."""
    deleted: bool
    values: tuple[float | None, ...]
    """Values of the drawn metrics, in the order of the specs."""
    errors: tuple[int, ...]
    """Number of errors of each type, in the order of ``ERROR_TYPES``."""
    edited: tuple[str, ...]
    """Paths of the instruction files that were edited between the previous output and this one."""
    variants: tuple[float | None, ...] = ()
    """The headline of each drawn variant."""
    changes: tuple[DisplayedChange, ...] = ()
    """Changes of the drawn metrics since the previous point; none at the first point."""
    flipped: Flipped | None = None
    """Cells that flipped since the previous point."""
    stale: bool = False
    """Whether instructions that drive the eval were edited after the output was made."""
    interval: Interval | None = None
    """Interval of the headline."""
    models: tuple[str, ...] = ()
    """Models that made the output; empty if it does not state any."""
    exchanged: tuple[str, ...] = ()
    """``model`` and ``judge``, if they differ from the previous point."""
    copy_of: int | None = None
    """Index of the point whose output this one copies; None if it is not a copy."""

    @property
    def remark(self) -> str:
        """The unusual facts about the point, in words; empty without any."""
        if self.status != "scored":
            return STATUSES[self.status]
        return self.cause if self.rescored else ""
