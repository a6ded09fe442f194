"""Cells: one attribute of one document, or of one list item, followed through all points of an eval; their flips."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Literal, NamedTuple, TypeAlias

from sitegen.model.outcomes import CellKey, Outcome

State: TypeAlias = Outcome | Literal["absent"]
"""absent: the point did not judge this cell; its document or item was not there."""

WRONG = frozenset({"omission", "hallucination", "wrong_value", "format_error"})


class Run(NamedTuple):
    """Consecutive points at which nothing about a cell changed."""

    start: int
    """Index, in the series, of the first of them; the run lasts until the next one's start."""
    state: State
    expected: str
    """As bounded JSON text; empty if there was no value."""
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
    """``walls[0].area``; of an unmatched item of the output, the output's own index."""
    attribute: str
    """``walls[].area``: what cells are grouped by."""
    extra: bool
    """An item that only the output has: its path counts the output's items, not the expected ones."""
    runs: tuple[Run, ...]
    """Oldest first; the first begins where the cell was judged first. Never empty."""
    named_path: str = ""
    """The path with list items by their names; empty where it is the same. Path and names are the newest ones."""
    earlier_attributes: tuple[str, ...] = ()
    """Other attributes that it had before, oldest first: a case can move to another category."""

    @property
    def label(self) -> str:
        """The path as it is shown."""
        return self.named_path or self.path

    @property
    def key(self) -> CellKey:
        """The same for all judgements of this cell."""
        return self.document, self.path, self.extra

    def at(self, index: int) -> Run | None:
        """What it was at a point; None before it was judged first."""
        here = bisect_right(self.runs, index, key=_start)
        return self.runs[here - 1] if here else None

    def wrong_since(self, index: int) -> int | None:
        """The first point of the unbroken streak of errors that holds at a point; None if it is not wrong there."""
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


class CellMap(NamedTuple):
    """All cells of an eval."""

    points: int
    """How many points of the series have been followed."""
    cells: tuple[Cell, ...]
    """In the order in which they were judged first."""

    def up_to(self, points: int) -> CellMap:
        """As it was after its first ``points``; but where a cell stands is what the newest of all points say."""
        cells = (
            cell._replace(runs=cell.runs[: bisect_left(cell.runs, points, key=_start)])
            for cell in self.cells
            if cell.runs[0].start < points
        )
        return CellMap(points, tuple(cells))


Fate: TypeAlias = Literal["fixed", "broken", "still_wrong", "appeared", "vanished"]
"""What became of a cell that is wrong at one of two points at least. appeared, vanished: it is an error of the later or
the earlier point alone, and the other does not hold the cell: its documents or its ground truth are not the same."""

Tally: TypeAlias = tuple[tuple[str, int], ...]
"""(attribute, number of its cells): most cells first, then by name. An attribute without a cell is not in it."""


class CellFlip(NamedTuple):
    """A cell that is wrong at one of two points at least."""

    fate: Fate
    cell: Cell
    before: Run | None
    after: Run | None
    """None: it was not judged yet, which is the same as absent."""

    @property
    def by_truth(self) -> bool:
        """The cell flipped while its expected value changed: not the output alone decided."""
        runs = [run for run in (self.before, self.after) if run is not None and run.state != "absent"]
        return self.fate in ("fixed", "broken") and len(runs) == 2 and runs[0].expected != runs[1].expected


class Flips(NamedTuple):
    """What became of all cells of an eval between two points, by attribute.

    The errors of the later point are those of the earlier one, and *broken* and *appeared* more, *fixed* and *vanished*
    less.
    """

    fixed: Tally = ()
    broken: Tally = ()
    still: Tally = ()
    """Wrong at both points."""
    appeared: Tally = ()
    vanished: Tally = ()
    by_truth: int = 0
    """Of the fixed and broken cells, those whose expected value changed in between."""
