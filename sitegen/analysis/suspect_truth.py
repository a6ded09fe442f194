"""Which labels may be wrong: those that many outputs contradict with one and the same value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from sitegen.model.cells import Cell, CellMap, Run
from sitegen.model.series import Point
from sitegen.model.suspect_truth import SuspectTruth
from sitegen.model.values import REDACTED

LEAST: Final = 3
"""Outputs that have to agree."""
SHARE: Final = 0.6
"""Share of the outputs held against the label that have to agree."""
MOST: Final = 50
"""Suspects of one eval, those with the most agreeing outputs."""


def suspect_truth(cells: CellMap, points: Sequence[Point]) -> tuple[SuspectTruth, ...]:
    """The suspects of an eval at its newest point, the most agreed on first.

    Counted are outputs, each once, since the label has been what it is; a point that was only scored again brings
    none. The newest output still has to be wrong there. An omission is no value: nothing is what a bad prompt gives.
    """
    if not points:
        return ()
    last = len(points) - 1
    made = [index for index, point in enumerate(points) if "outputs" in point.snapshot.cause]
    found = []
    for cell in cells.cells:
        newest = cell.at(last)
        if newest is not None and newest.is_wrong and not cell.extra:
            suspect = _suspect(cell, newest.expected, made, points)
            if suspect is not None:
                found.append(suspect)
    return tuple(sorted(found, key=_strongest_first)[:MOST])


def _suspect(cell: Cell, label: str, made: Sequence[int], points: Sequence[Point]) -> SuspectTruth | None:
    held = _held_against(cell, label, made)
    given = Counter(run.actual for _, run in held if run.is_wrong and run.actual not in {"", REDACTED.literal})
    if not given:
        return None
    value, agreeing = given.most_common(1)[0]
    if agreeing < LEAST or agreeing < SHARE * len(held):
        return None
    agreed = [index for index, run in held if run.actual == value]
    edits = sum(len(point.edits) for point in points[agreed[0] + 1 : agreed[-1] + 1])
    return SuspectTruth(
        document=cell.document,
        path=cell.path,
        attribute=cell.attribute,
        expected=label,
        actual=value,
        agreeing=agreeing,
        outputs=len(held),
        edits=edits,
        first=agreed[0],
        last=agreed[-1],
        named_path=cell.named_path,
    )


def _held_against(cell: Cell, label: str, made: Sequence[int]) -> list[tuple[int, Run]]:
    """The points with outputs that the label has been compared with since it is what it is, in series order."""
    found: list[tuple[int, Run]] = []
    for index in reversed(made):
        run = cell.at(index)
        if run is None or run.state == "absent":
            continue
        if run.expected != label:
            break
        found.append((index, run))
    return found[::-1]


def _strongest_first(suspect: SuspectTruth) -> tuple[int, float, str, str]:
    return -suspect.agreeing, -suspect.agreeing / suspect.outputs, suspect.document, suspect.path
