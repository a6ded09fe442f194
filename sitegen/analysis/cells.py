"""Follows every cell of an eval from point to point: when it was right and wrong, and what was expected and given.

A cell keeps only the points at which something about it changed, so that its history costs what happened to it and not
how many points there are. ``CellTracker`` goes on where an earlier one stopped: a new point costs that point alone.

``flips`` compares the cells of two points, as two outputs are compared (``analysis/comparison``) and without scoring
anything again: a cell that only one of them judged is right at the other if it holds a value that nobody expected, in a
document that both points hold. Any other error without a counterpart comes from other documents or another ground
truth: it appeared or vanished, and did not flip.
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
"""Characters of a value that a cell keeps."""


def short_json(value: Value) -> str:
    """A value as bounded JSON text, empty for none; two long values that differ anywhere stay different."""
    return "" if value is None else bounded_json(value, LONGEST)


class CellTracker:
    """Takes the judgements of one point after the other."""

    def __init__(self, known: CellMap | None = None) -> None:
        """``known``: what an earlier one ended with."""
        self._points = known.points if known else 0
        self._tracks: dict[CellKey, _Track] = {}
        for cell in known.cells if known else ():
            self._tracks[cell.key] = _Track(cell, list(cell.runs))

    @property
    def points(self) -> int:
        """How many points it has followed."""
        return self._points

    def follow(self, judgements: Iterable[Judgement]) -> None:
        """One more point."""
        here = self._points
        tracks = self._tracks
        judged = 0
        for judgement in judgements:
            key = judgement.key
            track = tracks.get(key)
            if track is None:
                track = tracks[key] = _Track(judgement, [])
            if track.seen == here and judgement.outcome not in WRONG:
                continue  # judged twice at one place: the error is what counts
            judged += track.seen != here
            track.seen = here
            if track.last is not judgement:  # most are made once for each ground truth and come again as they are
                track.stands_at(judgement)
                track.become(
                    Run(
                        start=here,
                        state=judgement.outcome,
                        expected=short_json(judgement.expected),
                        actual=short_json(judgement.actual),
                    )
                )
        if judged < len(tracks):
            for track in tracks.values():
                if track.seen != here:
                    track.last = None
                    track.become(Run(start=here, state="absent", expected="", actual=""))
        self._points = here + 1

    def cells(self) -> CellMap:
        """All that was followed."""
        cells = (track.cell(extra, track.runs) for (_, _, extra), track in self._tracks.items())
        return CellMap(self._points, tuple(cells))

    def lately(self) -> CellMap:
        """What tells the last two points apart: cells that changed or are wrong, without what ended before.

        Of those that stayed right, most of them, one stands for its document: it says that both points hold it.
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
        """The point from which on the cell of a judgement has been wrong without a break, up to the last point."""
        since = None
        for run in reversed(self._tracks[judgement.key].runs):
            if not run.is_wrong:
                break
            since = run.start
        return since


class _Track:
    """One cell on its way."""

    __slots__ = ("earlier", "last", "newest", "runs", "seen")

    def __init__(self, newest: Judgement | Cell, runs: list[Run]) -> None:
        self.newest = newest
        """What says where it stands."""
        self.earlier = newest.earlier_attributes if isinstance(newest, Cell) else ()
        self.runs = runs
        self.last: Judgement | None = None
        self.seen = -1

    def cell(self, extra: bool, runs: Sequence[Run]) -> Cell:
        """The cell with some of its runs."""
        at = self.newest
        return Cell(
            document=at.document,
            path=at.path,
            attribute=at.attribute,
            extra=extra,
            runs=tuple(runs),
            named_path=at.named_path,
            earlier_attributes=self.earlier,
        )

    def stands_at(self, judgement: Judgement) -> None:
        """A newer judgement says where it stands; the attributes that it had before are not forgotten."""
        if judgement.attribute != self.newest.attribute:
            had = dict.fromkeys((*self.earlier, self.newest.attribute))
            self.earlier = tuple(name for name in had if name != judgement.attribute)
        self.last = self.newest = judgement

    def become(self, run: Run) -> None:
        """What it is from a point on; nothing is added if it is that already."""
        runs = self.runs
        if runs and runs[-1].start == run.start:
            runs.pop()
        if not runs or runs[-1][1:] != run[1:]:
            runs.append(run)


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
    return _sorted_flips(counts, by_truth)


def flipped_cells(cells: CellMap, before: int, after: int) -> Iterator[CellFlip]:
    """The cells that are wrong at one of two points at least, in the order of the map."""
    sides = [(cell, cell.at(before), cell.at(after)) for cell in cells.cells]
    earlier = {cell.document for cell, run, _ in sides if run is not None and run.state != "absent"}
    later = {cell.document for cell, _, run in sides if run is not None and run.state != "absent"}
    for cell, first, last in sides:
        if fate := fate_of(first, last, cell.document in earlier and cell.document in later):
            yield CellFlip(fate=fate, cell=cell, before=first, after=last)


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
        line, points, wrong = _runs_by_point(cell, cells.points), held[cell.document], _wrong_points(cell, cells.points)
        for index, (before, after) in enumerate(pairs):
            if not (wrong[before] or wrong[after]):
                continue
            first, last = line[before], line[after]
            if fate := fate_of(first, last, _both_hold(points, before, after)):
                tallies[index][fate, cell.attribute] += 1
                by_truth[index] += (
                    first is not last and CellFlip(fate=fate, cell=cell, before=first, after=last).by_truth
                )
    return tuple(map(_sorted_flips, tallies, by_truth))


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


def _runs_by_point(cell: Cell, points: int) -> list[Run | None]:
    """What a cell is at each point."""
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
    """Each run with the point after its last."""
    return zip(cell.runs, [*(run.start for run in cell.runs[1:]), points], strict=True)


def _sorted_flips(counts: Counter[tuple[Fate, str]], by_truth: int) -> Flips:
    def tally(wanted: Fate) -> Tally:
        some = [(attribute, number) for (fate, attribute), number in counts.items() if fate == wanted]
        return tuple(sorted(some, key=lambda item: (-item[1], item[0])))

    return Flips(
        fixed=tally("fixed"),
        broken=tally("broken"),
        still=tally("still_wrong"),
        appeared=tally("appeared"),
        vanished=tally("vanished"),
        by_truth=by_truth,
    )
