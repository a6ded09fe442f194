"""Which cells flipped between two points of an eval, without scoring anything again.

Points are compared as two outputs are (``analysis.comparison``): a cell that only one of them judged is right at the
other if it holds a value that nobody expected, in a document that both points hold. Any other error without a
counterpart comes from other documents or another ground truth: it appeared or vanished, and did not flip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from sitegen.model.cells import Cell, CellFlip, CellMap, Fate, Flips, Run, Tally

FEW: Final = 2
"""Pairs of points up to which looking each cell up is less work than walking through all that it ever was."""

Held: TypeAlias = dict[str, bytearray]
"""Of each document, for each point: whether the point judged anything of it."""


def flips(cells: CellMap, before: int, after: int) -> Flips:
    """What became of the cells from one point to another; ``before`` and ``after`` are indices in the series."""
    return tallied(flipped_cells(cells, before, after))


def tallied(flipped: Iterable[CellFlip]) -> Flips:
    """The cells counted, where they are at hand."""
    counts: Counter[tuple[Fate, str]] = Counter()
    by_truth = 0
    for flip in flipped:
        counts[flip.fate, flip.cell.attribute] += 1
        by_truth += flip.by_truth
    return _flips(counts, by_truth)


def flipped_cells(cells: CellMap, before: int, after: int) -> Iterator[CellFlip]:
    """The cells that are wrong at one of two points at least, in the order of the map."""
    sides = [(cell, cell.at(before), cell.at(after)) for cell in cells.cells]
    earlier = {cell.document for cell, run, _ in sides if run is not None and run.state != "absent"}
    later = {cell.document for cell, _, run in sides if run is not None and run.state != "absent"}
    for cell, first, last in sides:
        if fate := fate_of(first, last, cell.document in earlier and cell.document in later):
            yield CellFlip(fate, cell, first, last)


def flips_between(cells: CellMap, pairs: Sequence[tuple[int, int]]) -> tuple[Flips, ...]:
    """``flips`` of many pairs of points, each cell walked through once."""
    if len(pairs) <= FEW:
        return tuple(flips(cells, before, after) for before, after in pairs)
    held = held_documents(cells)
    tallies: list[Counter[tuple[Fate, str]]] = [Counter() for _ in pairs]
    by_truth = [0] * len(pairs)
    for cell in cells.cells:
        if not any(run.is_wrong for run in cell.runs):
            continue
        line, points, wrong = _line(cell, cells.points), held[cell.document], _wrong(cell, cells.points)
        for index, (before, after) in enumerate(pairs):
            if not (wrong[before] or wrong[after]):
                continue
            first, last = line[before], line[after]
            if fate := fate_of(first, last, _both_hold(points, before, after)):
                tallies[index][fate, cell.attribute] += 1
                by_truth[index] += first is not last and CellFlip(fate, cell, first, last).by_truth
    return tuple(map(_flips, tallies, by_truth))


def fate_of(before: Run | None, after: Run | None, held: bool) -> Fate | None:
    """What became of a cell; None if it is wrong at neither point. ``held``: both points hold its document."""
    was_wrong, is_wrong = before is not None and before.is_wrong, after is not None and after.is_wrong
    if not was_wrong and not is_wrong:
        return None
    states = [run.state for run in (before, after) if run is not None and run.state != "absent"]
    if len(states) == 1 and not (held and states == ["hallucination"]):
        return "appeared" if is_wrong else "vanished"
    if was_wrong and is_wrong:
        return "still_wrong"
    return "broken" if is_wrong else "fixed"


def _both_hold(points: bytearray, before: int, after: int) -> bool:
    return bool(points[before] and points[after])


def held_documents(cells: CellMap) -> Held:
    """Which points hold which documents."""
    held: Held = {}
    for cell in cells.cells:
        points = held.setdefault(cell.document, bytearray(cells.points))
        for run, end in spans(cell, cells.points):
            if run.state != "absent":
                points[run.start : end] = b"\1" * (end - run.start)
    return held


def _line(cell: Cell, points: int) -> list[Run | None]:
    """What a cell is at each point."""
    line: list[Run | None] = [None] * cell.runs[0].start
    for run, end in spans(cell, points):
        line += [run] * (end - run.start)
    return line


def _wrong(cell: Cell, points: int) -> bytearray:
    """Whether a cell is wrong at each point."""
    wrong = bytearray(points)
    for run, end in spans(cell, points):
        if run.is_wrong:
            wrong[run.start : end] = b"\1" * (end - run.start)
    return wrong


def spans(cell: Cell, points: int) -> Iterator[tuple[Run, int]]:
    """Each run with the point after its last."""
    return zip(cell.runs, [*(run.start for run in cell.runs[1:]), points], strict=True)


def _flips(counts: Counter[tuple[Fate, str]], by_truth: int) -> Flips:
    def tally(wanted: Fate) -> Tally:
        some = [(attribute, number) for (fate, attribute), number in counts.items() if fate == wanted]
        return tuple(sorted(some, key=lambda item: (-item[1], item[0])))

    return Flips(tally("fixed"), tally("broken"), tally("still_wrong"), tally("appeared"), tally("vanished"), by_truth)
