"""The one count of problems that pages, data files and the terminal show."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.text.plain import counted


class ProblemCounts(NamedTuple):
    """Number of causes, by severity."""

    error: int
    warning: int
    note: int
    past: int
    """Causes that the newest outputs no longer have, whatever their severity."""

    @property
    def current(self) -> int:
        """Number of causes that are not past."""
        return self.error + self.warning + self.note

    @property
    def text(self) -> str:
        """The counts as ``1 error, 2 warnings, and 3 on earlier outputs``; ``no problems`` if none is current."""
        numbers = ((self.error, "error"), (self.warning, "warning"), (self.note, "note"))
        current = ", ".join(counted(number, noun) for number, noun in numbers if number)
        return (current or "no problems") + (f", and {self.past:,} on earlier outputs" if self.past else "")
