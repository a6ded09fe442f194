"""Flips: which cells went from wrong to right, or from right to wrong, between two points of an eval."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from sitegen.model.cells import Cell, Run

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
