"""Cells: one attribute of one document, or of one list item, followed through all points of an eval; their flips."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Literal, NamedTuple, TypeAlias

from sitegen.frozen import Frozen
from sitegen.model.outcomes import CellKey, Outcome

State: TypeAlias = Outcome | Literal["absent"]
"""absent: the point did not judge this cell, because it does not have the document or the item."""

WRONG = frozenset({"omission", "hallucination", "wrong_value", "format_error"})


class Run(NamedTuple):
    """Consecutive points at which nothing about a cell changed."""

    start: int
    """Index, in the series, of the first of them; the run lasts until the next one's start."""
    state: State
    expected: str
    """The value as bounded JSON text; empty if there was none."""
    actual: str

    @property
    def is_wrong(self) -> bool:
        """Whether it is an error."""
        return self.state in WRONG


class Cell(NamedTuple):
    """The history of one cell."""

    document: str
    """Id of the document; empty if the eval has only one."""
    path: str
    """``walls[0].area``; for an unmatched item of the output with its index in the output."""
    attribute: str
    """``walls[].area``: the path by which cells are grouped."""
    extra: bool
    """Whether it belongs to an item that only the output has; its path then has the index in the output."""
    runs: tuple[Run, ...]
    """Oldest first, from the point that judged the cell first on. Never empty."""
    named_path: str = ""
    """The path with list items by their names; empty where it is the same. Path and names are the newest ones."""
    earlier_attributes: tuple[str, ...] = ()
    """Other attributes that it had before, oldest first; for example, a case can move to another category."""

    @property
    def label(self) -> str:
        """The path as pages show it."""
        return self.named_path or self.path

    @property
    def key(self) -> CellKey:
        """The key of all judgements of this cell."""
        return self.document, self.path, self.extra

    def at(self, index: int) -> Run | None:
        """The run at a point; None before the cell was judged first."""
        following = bisect_right(self.runs, index, key=_start)
        return self.runs[following - 1] if following else None

    def wrong_since(self, index: int) -> int | None:
        """The first point of the unbroken streak of errors that includes a point; None if it is not wrong there."""
        since = None
        for run in self.runs:
            if run.start > index:
                break
            if not run.is_wrong:
                since = None
            elif since is None:
                since = run.start
        return since


def _start(run: Run) -> int:
    return run.start


class CellMap(Frozen):
    """All cells of an eval."""

    points: int
    """Number of points of the series that are included."""
    cells: tuple[Cell, ...]
    """In the order in which they were judged first."""

    def up_to(self, points: int) -> CellMap:
        """The map after its first *points*; but names and paths of cells stay those of the newest of all points."""
        cells = (
            cell._replace(runs=cell.runs[: bisect_left(cell.runs, points, key=_start)])
            for cell in self.cells
            if cell.runs[0].start < points
        )
        return CellMap(points, tuple(cells))


Fate: TypeAlias = Literal["fixed", "broken", "still_wrong", "appeared", "vanished"]
"""What happened to a cell that is wrong at one or both of two points. appeared, vanished: only the later or only the
earlier point has the cell, because their documents or their ground truth differ."""

Tally: TypeAlias = tuple[tuple[str, int], ...]
"""(attribute, number of its cells): most cells first, then by name. Attributes without any cell are left out."""


class CellFlip(NamedTuple):
    """A cell that is wrong at one or both of two points."""

    fate: Fate
    cell: Cell
    before: Run | None
    after: Run | None
    """None if it was not judged yet, which is the same as absent."""

    @property
    def by_truth(self) -> bool:
        """Whether the expected value changed with the flip, so that the output alone is not the cause."""
        runs = [run for run in (self.before, self.after) if run is not None and run.state != "absent"]
        return self.fate in ("fixed", "broken") and len(runs) == 2 and runs[0].expected != runs[1].expected


class Flips(Frozen):
    """The number of cells with each fate between two points, by attribute.

    The number of errors of the later point is that of the earlier one, plus *broken* and *appeared*, minus *fixed* and
    *vanished*.
    """

    fixed: Tally = ()
    broken: Tally = ()
    still: Tally = ()
    """Wrong at both points."""
    appeared: Tally = ()
    vanished: Tally = ()
    by_truth: int = 0
    """Number of fixed and broken cells whose expected value changed in between."""
