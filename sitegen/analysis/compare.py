"""Compares two outputs of an eval cell by cell.

Points, reports, the gate, ``sitegen compare`` and the page of comparisons all take their counts of fixed and broken
cells from this module. ``deltas`` computes how the metrics changed, and ``noise`` whether the change may be chance.
"""

from __future__ import annotations

from sitegen.analysis.cells import CellTracker, flipped_cells, held_documents, tallied
from sitegen.frozen import Frozen
from sitegen.model.cells import CellFlip, CellMap, Fate, Flips, Run
from sitegen.model.scorecards import Result


class OutputComparison(Frozen):
    """The change of every cell between two outputs."""

    flipped: tuple[CellFlip, ...]
    """The cells that are wrong on at least one side, in the order in which they were first judged."""
    still_right: int
    """Number of cells that are right on both sides."""
    right_on_one_side: int
    """Number of cells that are right on one side and missing from the other."""
    common: int
    """Number of documents that both sides have."""
    only_before: int
    only_after: int

    @property
    def flips(self) -> Flips:
        """Count the cells by fate and attribute."""
        return tallied(self.flipped)

    def with_fate(self, *fates: Fate) -> tuple[CellFlip, ...]:
        """Return the cells with one of these fates."""
        return tuple(flip for flip in self.flipped if flip.fate in fates)


def compare_results(before: Result, after: Result) -> OutputComparison:
    """Compare two results of one eval."""
    tracker = CellTracker()
    for result in (before, after):
        tracker.follow(result.judgements)
    return compare_points(tracker.cells(), 0, 1)


def compare_points(cells: CellMap, before: int, after: int) -> OutputComparison:
    """Compare two points of a series, given by their indices."""
    right_sides = [
        (_is_right(first), _is_right(last))
        for first, last in ((cell.at(before), cell.at(after)) for cell in cells.cells)
        if not ((first and first.is_wrong) or (last and last.is_wrong))
    ]
    documents = [(bool(held[before]), bool(held[after])) for held in held_documents(cells).values()]
    return OutputComparison(
        flipped=tuple(flipped_cells(cells, before, after)),
        still_right=right_sides.count((True, True)),
        right_on_one_side=right_sides.count((True, False)) + right_sides.count((False, True)),
        common=documents.count((True, True)),
        only_before=documents.count((True, False)),
        only_after=documents.count((False, True)),
    )


def _is_right(run: Run | None) -> bool:
    return run is not None and run.state != "absent" and not run.is_wrong
