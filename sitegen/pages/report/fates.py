"""Counts the cells that were fixed, broken, or stayed wrong since the previous point, and lists the fixed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sitegen.frozen import Frozen
from sitegen.model.cells import CellFlip, Flips
from sitegen.pages.change_text import Flipped, flipped
from sitegen.pages.report.discrepancies import field_file

FIELDS: Final = 12
"""Number of fields in the table: the ones with the most flips."""

FIXED: Final = 50
"""Number of fixed cells that are listed; the page shows them nowhere else."""


class FateRow(Frozen):
    """One attribute with cells that flipped, appeared or vanished."""

    attribute: str
    file: str
    """The page of the attribute, as seen from the report."""
    fixed: int
    broken: int
    still: int
    other: int
    """Errors that appeared or vanished with documents or ground truth."""


class Fates(Frozen):
    """All cells that changed since the previous point."""

    flipped: Flipped
    by_truth: int
    """Number of fixed and broken cells whose expected value changed."""
    rows: tuple[FateRow, ...]
    """Most flips first."""
    more_fields: int
    cells: tuple[CellFlip, ...]
    """The first fixed cells."""
    more_cells: int


def fates(eval_id: str, flips: Flips, fixed: Sequence[CellFlip]) -> Fates:
    """Summarises the flips between two points; ``fixed`` are the cells that were fixed."""
    rows = _fate_rows(eval_id, flips)
    return Fates(
        flipped=flipped(flips),
        by_truth=flips.by_truth,
        rows=tuple(rows[:FIELDS]),
        more_fields=max(0, len(rows) - FIELDS),
        cells=tuple(fixed[:FIXED]),
        more_cells=max(0, len(fixed) - FIXED),
    )


def _fate_rows(eval_id: str, flips: Flips) -> Sequence[FateRow]:
    fixed, broken, still = dict(flips.fixed), dict(flips.broken), dict(flips.still)
    appeared, vanished = dict(flips.appeared), dict(flips.vanished)
    rows = [
        FateRow(
            attribute=attribute,
            file=field_file(eval_id, attribute),
            fixed=fixed.get(attribute, 0),
            broken=broken.get(attribute, 0),
            still=still.get(attribute, 0),
            other=appeared.get(attribute, 0) + vanished.get(attribute, 0),
        )
        for attribute in fixed | broken | appeared | vanished
    ]
    return sorted(rows, key=lambda row: (-row.fixed - row.broken, -row.other, -row.still, row.attribute))
