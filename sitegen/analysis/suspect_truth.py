"""Finds labels that may be wrong: those that many outputs contradict with the same value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from sitegen.analysis.copies import first_of_each_output
from sitegen.model.cells import Cell, CellMap, Run
from sitegen.model.series import Point
from sitegen.model.suspect_truth import SuspectTruth
from sitegen.model.values import REDACTED

LEAST: Final = 3
"""How many outputs have to agree."""
SHARE: Final = 0.6
"""The share of the outputs compared with the label that has to agree."""
MOST: Final = 50
"""Suspects that are listed for one eval."""


def suspect_truth(cells: CellMap, points: Sequence[Point]) -> tuple[SuspectTruth, ...]:
    """The suspects of an eval at its newest point, those with the most agreeing outputs first.

    Each output since the last change of the label counts once: copies and points that were only scored again do not
    count. The newest output has to be wrong too. Omissions do not count as agreement: any bad prompt leaves values out.
    """
    if not points:
        return ()
    last = len(points) - 1
    new_outputs = [index for index, point in enumerate(points) if "outputs" in point.snapshot.cause]
    suspects = (
        _suspect(cell, newest.expected, new_outputs, points)
        for cell in cells.cells
        if (newest := cell.at(last)) is not None and newest.is_wrong and not cell.extra
    )
    return tuple(sorted(filter(None, suspects), key=_strongest_first)[:MOST])


def _suspect(cell: Cell, label: str, new_outputs: Sequence[int], points: Sequence[Point]) -> SuspectTruth | None:
    held_against = dict(_compared_with(cell, label, new_outputs))
    compared = [(index, held_against[index]) for index in first_of_each_output(points, held_against)]
    values = Counter(run.actual for _, run in compared if run.is_wrong and run.actual not in {"", REDACTED.literal})
    if not values:
        return None
    value, agreeing = values.most_common(1)[0]
    if agreeing < LEAST or agreeing < SHARE * len(compared):
        return None
    agreed = [index for index, run in compared if run.actual == value]
    edits = sum(len(point.edits) for point in points[agreed[0] + 1 : agreed[-1] + 1])
    return SuspectTruth(
        document=cell.document,
        path=cell.path,
        attribute=cell.attribute,
        expected=label,
        actual=value,
        agreeing=agreeing,
        outputs=len(compared),
        edits=edits,
        first=agreed[0],
        last=agreed[-1],
        named_path=cell.named_path,
    )


def _compared_with(cell: Cell, label: str, new_outputs: Sequence[int]) -> list[tuple[int, Run]]:
    """The new outputs that were compared with the label since its last change, in series order."""
    compared: list[tuple[int, Run]] = []
    for index in reversed(new_outputs):
        run = cell.at(index)
        if run is None or run.state == "absent":
            continue
        if run.expected != label:
            break
        compared.append((index, run))
    return compared[::-1]


def _strongest_first(suspect: SuspectTruth) -> tuple[int, float, str, str]:
    return -suspect.agreeing, -suspect.agreeing / suspect.outputs, suspect.document, suspect.path
