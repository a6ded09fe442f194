"""Follows every cell of an eval from point to point: when it was right and wrong, and what was expected and given.

A cell keeps only the points at which something about it changed, so that its history costs what happened to it and not
how many points there are. ``CellTracker`` goes on where an earlier one stopped: a new point costs that point alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sitegen.model.cells import WRONG, Cell, CellMap, Run
from sitegen.model.outcomes import CellKey, Judgement
from sitegen.model.values import Value
from sitegen.text.values import bounded_json

LONGEST: Final = 200
"""Characters of a value that a cell keeps."""


def shown(value: Value) -> str:
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
                track.become(Run(here, judgement.outcome, shown(judgement.expected), shown(judgement.actual)))
        if judged < len(tracks):
            for track in tracks.values():
                if track.seen != here:
                    track.last = None
                    track.become(Run(here, "absent", "", ""))
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
