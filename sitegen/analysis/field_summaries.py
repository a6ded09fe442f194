"""Sums up the history of each field of an eval: its trend, the edits that changed it, the values that keep failing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from heapq import nlargest, nsmallest
from typing import Final

from sitegen.analysis.series import output_of_each
from sitegen.model.cells import Cell
from sitegen.model.metrics import Counts
from sitegen.model.series import FailingValue, FieldSummary, Point, Series
from sitegen.stats.counts import errors, judged
from sitegen.text.values import written

POINTS: Final = 20
"""Number of the newest points in a field's trend."""
MOVES: Final = 2
"""Number of outputs after an edit that are listed for a field: the ones at which most of its cells flipped."""
FAILING: Final = 2
"""Number of values that are listed for a field: the ones that were wrong for most outputs."""
_LONGEST: Final = 60
"""Largest number of characters of a listed value."""


def field_summaries(series: Series) -> tuple[FieldSummary, ...]:
    """Summarise the fields of an eval that ever had a wrong cell, in the order of the cells."""
    points = series.points
    if not points:
        return ()
    cells: dict[str, list[Cell]] = defaultdict(list)
    for cell in series.cells.cells:
        cells[cell.attribute].append(cell)
    columns = [dict(point.scorecard.fields) for point in points[-POINTS:]]
    outputs = output_of_each([point.first_with_output for point in points])
    moves = _moves(points)
    last = len(points) - 1
    summaries = []
    for attribute, of_field in cells.items():
        if not any(period.is_wrong for cell in of_field for period in cell.periods):
            continue
        now = columns[-1].get(attribute, Counts())
        streaks = [(since, cell) for cell in of_field if (since := cell.wrong_since(last)) is not None]
        oldest = nsmallest(FAILING, streaks, key=lambda streak: (streak[0], streak[1].label))
        summaries.append(
            FieldSummary(
                attribute=attribute,
                wrong=errors(now),
                judged=judged(now),
                right=tuple([_share_right(column.get(attribute)) for column in columns]),
                moves=tuple(
                    sorted(
                        nlargest(MOVES, moves.get(attribute, ()), key=lambda move: (move[1] + move[2], move[0])),
                        reverse=True,
                    )
                ),
                failing=tuple(_failing(cell, len(set(outputs[since:])), last) for since, cell in oldest),
            )
        )
    return tuple(summaries)


def _moves(points: Sequence[Point]) -> dict[str, list[tuple[int, int, int]]]:
    """Return for each field the outputs after an edit at which its cells flipped.

    A copy that was committed with an edit was not made with it: the edit counts for the next output that is no copy.
    """
    moves: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    edited = False
    for index, point in enumerate(points):
        edited |= bool(point.edits)
        if not edited or point.first_with_output is not None:
            continue
        edited = False
        if point.change is None:
            continue
        fixed, broken = dict(point.change.flips.fixed), dict(point.change.flips.broken)
        for attribute in fixed | broken:
            moves[attribute].append((index, fixed.get(attribute, 0), broken.get(attribute, 0)))
    return moves


def _share_right(counts: Counts | None) -> float | None:
    total = judged(counts) if counts else 0
    return 1 - errors(counts) / total if counts and total else None


def _failing(cell: Cell, outputs: int, last: int) -> FailingValue:
    period = cell.at(last)
    assert period is not None
    return FailingValue(
        label=cell.label,
        document=cell.document,
        expected=(written(period.expected) or "")[:_LONGEST],
        actual=(written(period.actual) or "")[:_LONGEST],
        outputs=outputs,
    )
