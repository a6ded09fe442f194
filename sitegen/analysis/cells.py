"""Follows every cell of an eval from point to point: when it was right or wrong, and its expected and actual values.

A cell stores only the points at which it changed, so that its history grows with its changes and not with the number
of points. A ``CellTracker`` continues from the cells of an earlier one, so that a new point costs only that point.

``flips`` compares the cells of two points without scoring anything again. If only one point judged a cell, and the cell
is a hallucination in a document that both points hold, then the other point counts as right: the cell flipped. Any
other error without a counterpart comes from different documents or ground truth: it appeared or vanished.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from sitegen.model.cells import WRONG, Cell, CellFlip, CellMap, Fate, Flips, Run, Tally
from sitegen.model.outcomes import CellKey, Judgement
from sitegen.model.values import Value
from sitegen.text.values import bounded_json

LONGEST: Final = 200
"""Characters of a value that a cell stores."""


def short_json(value: Value) -> str:
    """A value as bounded JSON text, empty for none; two long values that differ anywhere stay different."""
    return "" if value is None else bounded_json(value, LONGEST)


class CellTracker:
    """Builds the histories of all cells from the judgements of one point after the other."""

    def __init__(self, earlier: CellMap | None = None) -> None:
        """Continue from the cells of *earlier*, if given."""
        self._points = earlier.points if earlier else 0
        self._tracks: dict[CellKey, _Track] = {}
        for cell in earlier.cells if earlier else ():
            self._tracks[cell.key] = _Track(cell, list(cell.runs))

    @property
    def points(self) -> int:
        """How many points have been followed."""
        return self._points

    def follow(self, judgements: Iterable[Judgement]) -> None:
        """Add the judgements of the next point."""
        here = self._points
        tracks = self._tracks
        judged = 0
        for judgement in judgements:
            key = judgement.key
            track = tracks.get(key)
            if track is None:
                track = tracks[key] = _Track(judgement, [])
            if track.last_point == here and judgement.outcome not in WRONG:
                continue  # the cell is judged twice at this point: an error counts, whichever comes first
            judged += track.last_point != here
            track.last_point = here
            if track.latest is not judgement:  # scorers reuse the same object where nothing changed
                track.move_to(judgement)
                track.add_run(
                    Run(
                        start=here,
                        state=judgement.outcome,
                        expected=short_json(judgement.expected),
                        actual=short_json(judgement.actual),
                    )
                )
        if judged < len(tracks):
            for track in tracks.values():
                if track.last_point != here:
                    track.latest = None
                    track.add_run(Run(start=here, state="absent", expected="", actual=""))
        self._points = here + 1

    def cells(self) -> CellMap:
        """The histories of all cells so far."""
        cells = (track.cell(extra, track.runs) for (_, _, extra), track in self._tracks.items())
        return CellMap(self._points, tuple(cells))

    def lately(self) -> CellMap:
        """Only what a comparison of the last two points needs: cells that changed or are wrong, with their last runs.

        Of the cells that stayed right, which are most of them, one of each document is included: it shows that both
        points hold the document.
        """
        before = self._points - 2
        held: set[str] = set()
        cells = []
        for (document, _, extra), track in self._tracks.items():
            last = track.runs[-1]
            changed = last.start > before
            if not changed and not last.is_wrong:
                if last.state == "absent" or document in held:
                    continue
                held.add(document)
            cells.append(track.cell(extra, track.runs[-3:] if changed else [last]))
        return CellMap(self._points, tuple(cells))

    def wrong_since(self, judgement: Judgement) -> int | None:
        """The first point of the unbroken streak of errors of a judgement's cell that lasts to the last point."""
        since = None
        for run in reversed(self._tracks[judgement.key].runs):
            if not run.is_wrong:
                break
            since = run.start
        return since


class _Track:
    """The history of one cell while points are added."""

    __slots__ = ("earlier_attributes", "last_point", "latest", "location", "runs")

    def __init__(self, location: Judgement | Cell, runs: list[Run]) -> None:
        self.location = location
        """Has the document, path and attribute of the cell, as of the newest point that judged it."""
        self.earlier_attributes = location.earlier_attributes if isinstance(location, Cell) else ()
        self.runs = runs
        self.latest: Judgement | None = None
        self.last_point = -1

    def cell(self, extra: bool, runs: Sequence[Run]) -> Cell:
        """The cell with some of its runs."""
        return Cell(
            document=self.location.document,
            path=self.location.path,
            attribute=self.location.attribute,
            extra=extra,
            runs=tuple(runs),
            named_path=self.location.named_path,
            earlier_attributes=self.earlier_attributes,
        )

    def move_to(self, judgement: Judgement) -> None:
        """Take the location from a newer judgement, and remember the attribute that the cell had before."""
        if judgement.attribute != self.location.attribute:
            attributes = dict.fromkeys((*self.earlier_attributes, self.location.attribute))
            self.earlier_attributes = tuple(name for name in attributes if name != judgement.attribute)
        self.latest = self.location = judgement

    def add_run(self, run: Run) -> None:
        """Begin a run, in place of one that begins at the same point; does nothing if the state is the same."""
        runs = self.runs
        if runs and runs[-1].start == run.start:
            runs.pop()
        if not runs or runs[-1][1:] != run[1:]:
            runs.append(run)


FEW: Final = 2
"""Up to so many pairs of points it is faster to look up each cell than to expand its whole history."""

Held: TypeAlias = dict[str, bytearray]
"""For each document and each point, whether the point judged anything in the document."""


def flips(cells: CellMap, before: int, after: int) -> Flips:
    """The number of cells by fate and attribute from one point to another, given by their indices in the series."""
    return tallied(flipped_cells(cells, before, after))


def tallied(flipped: Iterable[CellFlip]) -> Flips:
    """Count cells by fate and attribute."""
    counts: Counter[tuple[Fate, str]] = Counter()
    by_truth = 0
    for flip in flipped:
        counts[flip.fate, flip.cell.attribute] += 1
        by_truth += flip.by_truth
    return _sorted_flips(counts, by_truth)


def flipped_cells(cells: CellMap, before: int, after: int) -> Iterator[CellFlip]:
    """The cells that are wrong at one or both of two points, in the order of the map."""
    sides = [(cell, cell.at(before), cell.at(after)) for cell in cells.cells]
    earlier = {cell.document for cell, run, _ in sides if run is not None and run.state != "absent"}
    later = {cell.document for cell, _, run in sides if run is not None and run.state != "absent"}
    for cell, first, last in sides:
        if fate := fate_of(first, last, cell.document in earlier and cell.document in later):
            yield CellFlip(fate=fate, cell=cell, before=first, after=last)


def flips_between(cells: CellMap, pairs: Sequence[tuple[int, int]]) -> tuple[Flips, ...]:
    """``flips`` for many pairs of points, in one pass over the cells."""
    if len(pairs) <= FEW:
        return tuple(flips(cells, before, after) for before, after in pairs)
    held = held_documents(cells)
    tallies: list[Counter[tuple[Fate, str]]] = [Counter() for _ in pairs]
    by_truth = [0] * len(pairs)
    for cell in cells.cells:
        if not any(run.is_wrong for run in cell.runs):
            continue
        line, points, wrong = _runs_by_point(cell, cells.points), held[cell.document], _wrong_points(cell, cells.points)
        for index, (before, after) in enumerate(pairs):
            if not (wrong[before] or wrong[after]):
                continue
            first, last = line[before], line[after]
            if fate := fate_of(first, last, bool(points[before] and points[after])):
                tallies[index][fate, cell.attribute] += 1
                by_truth[index] += (
                    first is not last and CellFlip(fate=fate, cell=cell, before=first, after=last).by_truth
                )
    return tuple(map(_sorted_flips, tallies, by_truth))


def fate_of(before: Run | None, after: Run | None, held: bool) -> Fate | None:
    """The fate of a cell; None if it is wrong at neither point. *held*: whether both points hold its document."""
    was_wrong, is_wrong = before is not None and before.is_wrong, after is not None and after.is_wrong
    if not was_wrong and not is_wrong:
        return None
    states = [run.state for run in (before, after) if run is not None and run.state != "absent"]
    if len(states) == 1 and not (held and states == ["hallucination"]):
        return "appeared" if is_wrong else "vanished"
    if was_wrong and is_wrong:
        return "still_wrong"
    return "broken" if is_wrong else "fixed"


def held_documents(cells: CellMap) -> Held:
    """Which points hold which documents."""
    held: Held = {}
    for cell in cells.cells:
        points = held.setdefault(cell.document, bytearray(cells.points))
        for run, end in spans(cell, cells.points):
            if run.state != "absent":
                points[run.start : end] = b"\1" * (end - run.start)
    return held


def _runs_by_point(cell: Cell, points: int) -> list[Run | None]:
    """The run that a cell is in at each point; None before its first."""
    line: list[Run | None] = [None] * cell.runs[0].start
    for run, end in spans(cell, points):
        line += [run] * (end - run.start)
    return line


def _wrong_points(cell: Cell, points: int) -> bytearray:
    """Whether a cell is wrong at each point."""
    wrong = bytearray(points)
    for run, end in spans(cell, points):
        if run.is_wrong:
            wrong[run.start : end] = b"\1" * (end - run.start)
    return wrong


def spans(cell: Cell, points: int) -> Iterator[tuple[Run, int]]:
    """Each run of a cell, with the index of the point after the run's last."""
    return zip(cell.runs, [*(run.start for run in cell.runs[1:]), points], strict=True)


def _sorted_flips(counts: Counter[tuple[Fate, str]], by_truth: int) -> Flips:
    def tally(fate: Fate) -> Tally:
        numbers = [(attribute, number) for (key, attribute), number in counts.items() if key == fate]
        return tuple(sorted(numbers, key=lambda item: (-item[1], item[0])))

    return Flips(
        fixed=tally("fixed"),
        broken=tally("broken"),
        still=tally("still_wrong"),
        appeared=tally("appeared"),
        vanished=tally("vanished"),
        by_truth=by_truth,
    )
