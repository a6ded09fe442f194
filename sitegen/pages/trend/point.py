"""One iteration as the chart and the table of a trend show it."""

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
    """What changed, in words."""
    rescored: bool
    """There is no new output: ground truth or rules changed."""
    deleted: bool
    values: tuple[float | None, ...]
    """In the order of the specs."""
    errors: tuple[int, ...]
    """In the order of ``ERROR_TYPES``."""
    edited: tuple[str, ...]
    """Paths of the instruction files that were edited before its output was made, since the output before."""
    variants: tuple[float | None, ...] = ()
    """The headline of each variant that is drawn."""
    changes: tuple[DisplayedChange, ...] = ()
    """Changes of the drawn metrics against the point before; none at the first point."""
    flipped: Flipped | None = None
    """Cells that flipped since the point before."""
    stale: bool = False
    """Instructions that drive the eval were edited after the output was made."""
    interval: Interval | None = None
    """Interval of the headline."""
    models: tuple[str, ...] = ()
    """Models that made the output; empty if it does not say."""
    exchanged: tuple[str, ...] = ()
    """``model`` and ``judge``, those that differ from the point before."""
    copy_of: int | None = None
    """Index of the point with the output that this one is a copy of; None if it is no copy."""

    @property
    def remark(self) -> str:
        """What is unusual about the point, in words; empty if nothing is."""
        if self.status != "scored":
            return STATUSES[self.status]
        return self.cause if self.rescored else ""
