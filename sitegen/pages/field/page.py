"""The page of one field: when its cells were right and wrong, and which commits changed them, with their values.

Its columns are the points at which one of its cells changed, and no number on it depends on later points, so a commit
that changes none of its cells does not change the page.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Self

from sitegen.analysis.blame import (
    Blame,
    CellBlame,
    ChangePoint,
    ExplainedPeriod,
    by_attribute,
    change_points,
    worst_first,
)
from sitegen.frozen import Frozen
from sitegen.model.cells import Cell, CellMap, State
from sitegen.model.commits import Commit
from sitegen.model.series import EvalInfo, Point, Series
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.named_tuple import NamedTuple
from sitegen.pages import links
from sitegen.pages.labels import ROLES

CELLS: Final = 100
"""Number of cells that a page lists: cells that are wrong now, then cells that flipped most often."""

COLUMNS: Final = 60
"""Number of points of change that are drawn: the newest ones."""

TURNS: Final = 60
"""Number of points of change that are listed: the newest ones."""

RUNS: Final = 400
"""Number of periods that are listed in total; each cell has the same share, its newest periods."""

FEWEST_PERIODS: Final = 3


class PointName(Frozen):
    """The name of a point on the page, and its links."""

    number: str
    """The head of the column: ``12``, or ``12*`` for an earlier output that was scored again."""
    label: str
    file: str
    """Address of its report, relative to the page."""
    commit: Commit
    edits: int
    """Number of edits of instructions since the previous point."""


class Band(NamedTuple):
    """One period of a cell in its strip of columns."""

    state: State | None
    """None before the cell was first judged."""
    columns: int


class PeriodRow(Frozen):
    """One period of a cell in the table."""

    at: PointName
    explained: ExplainedPeriod
    lasts: bool
    """Whether it has not ended."""


class CellRow(Frozen):
    """One cell."""

    blame: CellBlame
    since: PointName | None
    """First point of the streak of errors that lasts to now; None if the cell is not wrong now."""
    bands: tuple[Band, ...]
    periods: tuple[PeriodRow, ...]
    """Newest first."""
    earlier: int
    """Number of periods that are not listed."""


class TurnRow(Frozen):
    """A point at which cells changed."""

    at: PointName
    change: ChangePoint


class FieldView(Frozen):
    """What ``pages/field.html`` shows."""

    info: EvalInfo
    attribute: str
    columns: tuple[PointName, ...]
    more_columns: int
    cells: tuple[CellRow, ...]
    more_cells: int
    """Number of further cells that were wrong at some point."""
    never_wrong: int
    turns: tuple[TurnRow, ...]
    """Newest first."""
    more_turns: int
    numbers: FieldNumbers
    since: PointName | None
    """First point of the oldest error that has not ended."""
    flipped: PointName | None
    """The point of the newest flip."""
    nav: str = "evals"

    @property
    def scored_again(self) -> bool:
        """Whether any column is an earlier output that was scored again."""
        return any(column.number.endswith("*") for column in self.columns)


class FieldNumbers(Frozen):
    """The numbers of a field."""

    wrong: int
    """Number of cells that are wrong now."""
    judged: int
    since: int | None
    """Index of the first point of the oldest error that has not ended."""
    flipped: int | None
    """Index of the point of the newest flip."""
    flips: int
    causes: Mapping[str, int]
    """Number of flips by cause in words, most flips first."""

    @classmethod
    def of(cls, cells: Iterable[CellBlame]) -> Self:
        """Count over all cells of the field."""
        every = tuple(cells)
        since = [cell.wrong_since for cell in every if cell.wrong_since is not None]
        flips = [explained for cell in every for explained in cell.periods if explained.is_flip]
        return cls(
            wrong=len(since),
            judged=sum(cell.periods[-1].period.state != "absent" for cell in every),
            since=min(since, default=None),
            flipped=max((explained.period.start for explained in flips), default=None),
            flips=len(flips),
            causes=_by_cause(flips),
        )


class FieldWork(Frozen):
    """A field page that a build may have to render."""

    path: str
    attribute: str
    cells: tuple[Cell, ...]
    last: int
    """Index of the newest point at which one of the cells changed; the page shows nothing later."""
    position: int
    """Position of the commit of this point."""

    def traced(self, blame: Blame) -> list[CellBlame]:
        """The history of each cell through the last point of the page."""
        return [blame.trace(cell, self.last + 1) for cell in self.cells]


def field_work(eval_id: str, cells: CellMap, snapshots: Sequence[Snapshot]) -> list[FieldWork]:
    """The pages of an eval, one for every attribute that was ever judged; first those that changed longest ago."""
    works = []
    for attribute, of_attribute in by_attribute(cells).items():
        last = max(cell.periods[-1].start for cell in of_attribute)
        works.append(
            FieldWork(
                path=links.field(eval_id, attribute),
                attribute=attribute,
                cells=tuple(of_attribute),
                last=last,
                position=snapshots[last].commit.position,
            )
        )
    return sorted(works, key=lambda work: (work.position, work.path))


def field_page(series: Series, blame: Blame, work: FieldWork) -> Page:
    """The page of one attribute."""
    return Page(work.path, "pages/field.html", _FieldPage(series, blame, work).view())


class _FieldPage:
    """Builds the view of one page. Names of points are cached, because many rows share them."""

    def __init__(self, series: Series, blame: Blame, work: FieldWork) -> None:
        self._series = series
        self._work = work
        self._points = work.last + 1
        self._cells = work.traced(blame)
        self._names: dict[int, PointName] = {}

    def view(self) -> FieldView:
        wrong = worst_first(cell for cell in self._cells if cell.ever_wrong)
        followed = wrong[:CELLS]
        starts = {explained.period.start for cell in wrong for explained in cell.periods}
        turns = [turn for turn in change_points(self._cells, self._points) if turn.point in starts]
        columns = [turn.point for turn in turns][-COLUMNS:]
        most_periods = max(FEWEST_PERIODS, RUNS // max(1, len(followed)))
        numbers = FieldNumbers.of(self._cells)
        return FieldView(
            info=self._series.info,
            attribute=self._work.attribute,
            columns=tuple(map(self._point_name, columns)),
            more_columns=len(turns) - len(columns),
            cells=tuple(self._cell(cell, columns, most_periods) for cell in followed),
            more_cells=len(wrong) - len(followed),
            never_wrong=len(self._cells) - len(wrong),
            turns=tuple(TurnRow(self._point_name(turn.point), turn) for turn in reversed(turns[-TURNS:])),
            more_turns=max(0, len(turns) - TURNS),
            numbers=numbers,
            since=self._point_of(numbers.since),
            flipped=self._point_of(numbers.flipped),
        )

    def _cell(self, blame: CellBlame, columns: Sequence[int], most_periods: int) -> CellRow:
        return CellRow(
            blame=blame,
            since=self._point_of(blame.wrong_since),
            bands=tuple(_bands(blame, columns)),
            periods=tuple(self._period(explained) for explained in reversed(blame.periods[-most_periods:])),
            earlier=max(0, len(blame.periods) - most_periods),
        )

    def _period(self, explained: ExplainedPeriod) -> PeriodRow:
        return PeriodRow(self._point_name(explained.period.start), explained, lasts=explained.end == self._points)

    def _point_of(self, index: int | None) -> PointName | None:
        return None if index is None else self._point_name(index)

    def _point_name(self, index: int) -> PointName:
        name = self._names.get(index)
        if name is None:
            name = self._names[index] = _point_name(self._series.info, self._series.points[index])
        return name


def _point_name(info: EvalInfo, point: Point) -> PointName:
    at = point.snapshot
    again = "" if "outputs" in at.cause else "*"
    return PointName(
        number=f"{at.iteration}{again}",
        label=at.label,
        file=f"../{links.report(info.id, at.slug).rpartition('/')[2]}",
        commit=at.commit,
        edits=len(point.edits),
    )


def _bands(blame: CellBlame, columns: Sequence[int]) -> Iterator[Band]:
    """The periods of a cell over the columns; earlier periods are cut at the first column."""
    done = bisect_left(columns, blame.periods[0].period.start)
    if done:
        yield Band(None, done)
    for explained in blame.periods:
        end = bisect_left(columns, explained.end)
        if end > done:
            yield Band(explained.period.state, end - done)
        done = end


def _by_cause(flips: Iterable[ExplainedPeriod]) -> dict[str, int]:
    """Flips by cause; a flip with two causes counts once, for both together."""
    counts = Counter(" and ".join(ROLES[role] for role in flip.causes) or "unknown" for flip in flips)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
