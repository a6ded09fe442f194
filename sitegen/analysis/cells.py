"""Follows every cell of an eval from point to point: when it was right or wrong, and its expected and actual values.

A cell stores only the points at which it changed, so that its history grows with its changes and not with the number
of points. A ``CellTracker`` continues from the cells of an earlier one, so that a new point costs only that point.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from sitegen.analysis.deltas import judged_documents
from sitegen.model.answers import DIFFERING
from sitegen.model.outcomes import BLANK, WRONG, Cell, CellKey, CellMap, Judgement, Period, Value, changed_judgements
from sitegen.model.scorecards import Result
from sitegen.text.values import bounded_json

_LONGEST_VALUE: Final = 200  # largest number of characters of a value that a cell stores


def short_json(value: Value) -> str:
    """Return a value as bounded JSON text, empty for no value; two long values that differ anywhere stay different."""
    return "" if value is None else bounded_json(value, _LONGEST_VALUE)


class CellTracker:
    """Builds the histories of all cells from the judgements of one point after the other."""

    def __init__(self, earlier: CellMap | None = None, outputs: Sequence[int] | None = None) -> None:
        """Continue from the cells of ``earlier``, if given.

        ``outputs``: as in ``CellMap``, of all points; by default no two have the same output.
        """
        self._points = len(earlier.outputs) if earlier else 0
        self._outputs = outputs
        self._tracks: dict[CellKey, _Track] = {}
        for cell in earlier.cells if earlier else ():
            self._tracks[cell.key] = _Track(cell, list(cell.periods))
        self._judgements: Sequence[Judgement] | None = None
        """Judgements of the last point; None if a cell may have several."""
        self._documents = {name: list(at) for name, at in earlier.documents.items()} if earlier else {}
        """For each document the points at which it came and went, as in ``CellMap``."""
        self._cases = {**earlier.cases} if earlier else {}
        self._here = {name for name, at in self._documents.items() if len(at) % 2}
        """Documents of the last point."""

    @property
    def points(self) -> int:
        """Number of points that were followed."""
        return self._points

    def follow(self, judgements: Sequence[Judgement], documents: Iterable[str]) -> None:
        """Add the judgements of the next point, and the ids of its documents.

        A judgement that is the same object as before costs nothing: scorers reuse those of values that did not change.
        """
        here, tracks = self._points, self._tracks
        new, gone = changed_judgements(self._judgements or (), judgements)
        keys_gone = {judgement.key for judgement in gone}
        keys_new = {key for judgement in new if (key := judgement.key) in tracks}
        judged_once = self._judgements is not None and not any(
            tracks[key].periods[-1].state != "absent" for key in keys_new - keys_gone
        )
        unseen: Iterable[CellKey] = keys_gone
        if not judged_once:  # a cell may be judged twice, or this is the first point: examine all cells
            new, unseen = list(judgements), tracks
        cells = set()
        for judgement in new:
            key = judgement.key
            track = tracks.get(key)
            if track is None:
                track = tracks[key] = _Track(judgement, [])
            if key in cells and judgement.outcome not in WRONG:
                continue  # the cell is judged twice at this point: the error counts, in either order
            cells.add(key)
            if track.latest is not judgement:
                track.move_to(judgement)
                track.add_period(_period(here, judgement))
        for key in unseen:
            if key not in cells:
                tracks[key].latest = None
                tracks[key].add_period(Period(start=here, state="absent", expected="", actual=""))
        self._judgements = judgements if len(cells) == len(new) else None
        names = dict.fromkeys(documents)
        for name in (*(name for name in names if name not in self._here), *(self._here - names.keys())):
            self._documents.setdefault(name, []).append(here)
        self._here = set(names)
        self._points = here + 1

    def follow_result(self, result: Result, rejudged: Mapping[int, Result] = MappingProxyType({})) -> None:
        """Add the result of the next point, whose scorecard says what its output was asked for (``as_asked``).

        ``rejudged``: by its index, the last point with another output, ``judged_as`` this one. If the point before has
        the same output, the result is that of the point before as well.
        """
        card, documents, here = result.scorecard, judged_documents(result.scorecard), self._points
        is_rescored = here and self._outputs and self._outputs[here] == self._outputs[here - 1]
        others = {**rejudged, here - 1: result} if is_rescored else rejudged
        self._cases |= {document.name: document.of_case for document in card.documents if document.of_case}
        self.follow(result.judgements, [document.name for document in documents])
        for document in card.documents:
            if document.status == "not_asked":
                self._documents.setdefault(document.name, [])
        for at, judgement in ((at, judgement) for at, each in others.items() for judgement in each.judgements):
            track, judged = self._tracks.get(judgement.key), _period(here, judgement)
            was_held = bisect_right(self._documents.get(judgement.document, ()), at) % 2
            if track and was_held and track.periods[-1].state != "absent":
                before = next((period for period in reversed(track.periods) if period.start <= at), judged)
                since = [period for period in track.rejudged if period.start > at and period.actual == judged.actual]
                was_asked = before.state != "absent" and before is not judged
                differs = (since[-1] if since else before)[1:] != judged[1:]
                if (was_asked and differs) or (not was_asked and judged.state == "hallucination"):
                    track.rejudged.append(judged)

    def cells(self) -> CellMap:
        """Return the histories of all cells so far."""
        cells = [track.cell() for track in self._tracks.values()]
        documents = {name: tuple(at) for name, at in self._documents.items()}
        return CellMap(
            outputs=tuple((self._outputs or range(self._points))[: self._points]),
            cells=tuple(cells),
            documents=documents,
            cases={**self._cases},
        )


def _period(start: int, judgement: Judgement) -> Period:
    actual, differing = judgement.actual, DIFFERING.match(judgement.note)
    if differing and isinstance(actual, str):
        actual = f"{differing[0]}: {actual}"
    return Period(
        start=start,
        state=judgement.outcome,
        # A blank may be written as "", null or a word for nothing: all of them expect nothing.
        expected="" if judgement.outcome in BLANK else short_json(judgement.expected),
        actual=short_json(actual),
    )


class _Track:
    """The history of one cell, while points are added."""

    __slots__ = ("earlier_attributes", "latest", "location", "periods", "rejudged")

    def __init__(self, location: Judgement | Cell, periods: list[Period]) -> None:
        self.location = location
        """Holds the document, path and attribute of the cell at the newest point that judged it."""
        self.earlier_attributes = location.earlier_attributes if isinstance(location, Cell) else ()
        self.periods = periods
        self.rejudged = [*location.rejudged] if isinstance(location, Cell) else []
        self.latest: Judgement | None = None

    def cell(self) -> Cell:
        document, path, extra = self.location.key
        return Cell(
            document=document,
            path=path,
            attribute=self.location.attribute,
            extra=extra,
            periods=tuple(self.periods),
            named_path=self.location.named_path,
            earlier_attributes=self.earlier_attributes,
            rejudged=tuple(self.rejudged),
        )

    def move_to(self, judgement: Judgement) -> None:
        """Take the location from a newer judgement, and remember the attribute that the cell had before."""
        if judgement.attribute != self.location.attribute:
            attributes = dict.fromkeys((*self.earlier_attributes, self.location.attribute))
            self.earlier_attributes = tuple(name for name in attributes if name != judgement.attribute)
        self.latest = self.location = judgement

    def add_period(self, period: Period) -> None:
        """Begin a period in place of one that begins at the same point, unless the last period continues."""
        periods = self.periods
        if periods and periods[-1].start == period.start:
            periods.pop()
        if not periods or periods[-1][1:] != period[1:]:
            periods.append(period)


def cells_of(*results: Result, rejudged: Iterable[Result] = ()) -> CellMap:
    """Follow the cells through some results of one eval. ``rejudged``: as in ``follow_result``, of the last one."""
    tracker = CellTracker()
    for index, result in enumerate(results, start=-1):
        is_last = index + 2 == len(results)
        tracker.follow_result(result, dict(zip([index], rejudged, strict=False)) if is_last else {})
    return tracker.cells()
