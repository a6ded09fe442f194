"""The tables of an export (``sitegen/export/1``), and their rows, made with one series in memory at a time.

No name is a keyword of SQL, so that none needs quotes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final, Literal, TypeAlias

from sitegen import __version__
from sitegen.analysis.slices import slices_of
from sitegen.engine.timeline import Timeline
from sitegen.importers.case import BETWEEN
from sitegen.model.changes import Interval, MetricDelta
from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import ERROR_TYPES
from sitegen.model.series import Point, Series
from sitegen.model.timeline import ROLES, Role
from sitegen.model.usage import RunUsage
from sitegen.pages import links
from sitegen.questions.comparison_files.changes import document_headline
from sitegen.scoring.results_file import of_answer
from sitegen.stats.counts import CELLS
from sitegen.text.plain import encodable
from sitegen.text.values import as_json

SCHEMA: Final = "sitegen/export/1"

ExportFormat: TypeAlias = Literal["csv", "sqlite"]
ColumnType: TypeAlias = Literal["text", "integer", "real", "boolean"]
ExportCell: TypeAlias = str | float | bool | None
ExportRow: TypeAlias = tuple[ExportCell, ...]


class ExportColumn(Frozen, gc=True):
    """A column of a table."""

    name: str
    cell: Callable[[Any], ExportCell]
    """Takes what a row of the table is about."""
    type: ColumnType = "text"
    optional: bool = False
    """Whether cells may be undefined."""


class Table(Frozen, gc=True):
    """A table."""

    name: str
    columns: tuple[ExportColumn, ...]
    key: tuple[str, ...]
    references: tuple[tuple[tuple[str, ...], str], ...] = ()
    """Columns whose values are the key of another table, and the name of that table."""


class At(Frozen, gc=True):
    """What a row of most tables is about: a point of an eval, or a part of it."""

    series: Series
    index: int
    part: Any = None
    """A metric, document, field or slice of the point, or the number of an edit; None for the point itself."""

    @property
    def point(self) -> Point:
        """The point."""
        return self.series.points[self.index]

    @property
    def delta(self) -> MetricDelta:
        """The change of the metric ``part`` since the point before."""
        changes = self.point.change.metrics if self.point.change else ()
        return next((each for each in changes if each.name == self.part.name), MetricDelta(self.part.name, None, None))


def integer(name: str, cell: Callable[[Any], int | None], *, optional: bool = False) -> ExportColumn:
    """Return a column of whole numbers."""
    return ExportColumn(name, cell, type="integer", optional=optional)


def real(name: str, cell: Callable[[Any], float | None]) -> ExportColumn:
    """Return a column of numbers that may be undefined."""
    return ExportColumn(name, cell, type="real", optional=True)


def counts_at(path: str) -> tuple[ExportColumn, ...]:
    """Return the columns of the counts at a path of attributes; None if another one is the same, or none is known."""

    def count(name: str) -> ExportColumn:
        of = attrgetter(f"{path}.{name}")
        return integer(name, lambda at: None if name in at.series.info.uncounted else of(at), optional=True)

    return tuple(map(count, (*CELLS, *ERROR_TYPES)))


def _commit(of: Callable[[Any], Commit]) -> tuple[ExportColumn, ...]:
    return (
        ExportColumn("commit_id", lambda row: of(row).sha),
        integer("position", lambda row: of(row).position),
        ExportColumn("committed_at", lambda row: of(row).committed_at),
        ExportColumn("author", lambda row: of(row).author),
        ExportColumn("subject", lambda row: of(row).subject),
    )


def _interval(of: Callable[[Any], Interval | None]) -> tuple[ExportColumn, ...]:
    return (
        real("interval_low", lambda row: getattr(of(row), "low", None)),
        real("interval_high", lambda row: getattr(of(row), "high", None)),
    )


def _by_cause(role: Role) -> ExportColumn:
    """Return the part of a change; recorded numbers have none."""
    return real(f"by_{role}", lambda at: None if at.part.recorded else getattr(at.delta.parts, role, None))


def _usage(at: At) -> RunUsage:
    return at.point.scorecard.usage or RunUsage()


_AT: Final = (ExportColumn("eval_id", lambda at: at.series.info.id), integer("point", lambda at: at.index))
_POINT: Final = (("eval_id", "point"), "points")

TABLES: Final = (
    Table(
        name="about",
        columns=(ExportColumn("name", lambda fact: fact[0]), ExportColumn("value", lambda fact: fact[1])),
        key=("name",),
    ),
    Table(
        name="instructions",
        columns=(
            integer("edit", lambda row: row[0]),
            ExportColumn("path", lambda row: row[1].path),
            ExportColumn("status", lambda row: row[1].status),
            ExportColumn("old_path", lambda row: row[1].old and row[1].old.path, optional=True),
            ExportColumn("old_blob", lambda row: row[1].old and row[1].old.oid, optional=True),
            ExportColumn("new_blob", lambda row: row[1].new and row[1].new.oid, optional=True),
            *_commit(lambda row: row[1].commit),
        ),
        key=("edit",),
    ),
    Table(
        name="evals",
        columns=(
            ExportColumn("eval_id", lambda series: series.info.id),
            ExportColumn("name", lambda series: series.info.name),
            ExportColumn("kind", lambda series: series.info.kind),
            ExportColumn("description", lambda series: series.info.description),
            ExportColumn("headline", lambda series: series.specs[0].name),
            ExportColumn("deleted", lambda series: series.history.deleted, "boolean"),
        ),
        key=("eval_id",),
    ),
    Table(
        name="points",
        columns=(
            *_AT,
            integer("iteration", lambda at: at.point.snapshot.iteration),
            ExportColumn("label", lambda at: at.point.snapshot.label),
            *_commit(lambda at: at.point.snapshot.commit),
            ExportColumn("recorded_at", lambda at: at.point.snapshot.recorded_at, optional=True),
            ExportColumn("cause", lambda at: " ".join(at.point.snapshot.cause)),
            ExportColumn("status", lambda at: at.point.scorecard.status),
            ExportColumn("stale", lambda at: at.point.stale, "boolean"),
            *counts_at("point.scorecard.counts"),
            ExportColumn("report", lambda at: links.report(at.series.info.id, at.point.snapshot.slug)),
            ExportColumn("models", lambda at: ", ".join(_usage(at).models) or None, optional=True),
            ExportColumn("parameters", lambda at: _usage(at).parameters or None, optional=True),
            ExportColumn("judges", lambda at: ", ".join(_usage(at).judges) or None, optional=True),
            integer("same_as", lambda at: at.point.copy_of, optional=True),
        ),
        key=("eval_id", "point"),
        references=((("eval_id",), "evals"),),
    ),
    Table(
        name="scores",
        columns=(
            *_AT,
            ExportColumn("metric", lambda at: at.part.name),
            real("score_then", lambda at: at.point.scorecard.metric(at.part.name)),
            real("score_now", lambda at: at.point.now and not at.part.recorded and at.point.now.metric(at.part.name)),
            real("change", lambda at: at.delta.change),
            *map(_by_cause, ROLES),
            *_interval(lambda at: at.point.interval if at.part is at.series.specs[0] else None),
        ),
        key=("eval_id", "point", "metric"),
        references=(_POINT,),
    ),
    Table(
        name="documents",
        columns=(
            *_AT,
            ExportColumn("document", lambda at: at.part.name),
            ExportColumn("answered_case", lambda at: at.part.case),
            ExportColumn("status", lambda at: at.part.status),
            ExportColumn("variant", lambda at: at.part.axes.get("variant"), optional=True),
            ExportColumn("model", lambda at: at.part.axes.get("model"), optional=True),
            ExportColumn("repeat", lambda at: at.part.repeat or None, optional=True),
            ExportColumn(
                "tags", lambda at: as_json(tags) if (tags := of_answer(at.part)["tags"]) else None, optional=True
            ),
            real("score", lambda at: document_headline(at.series.specs[0].name, at.part)),
            real("cost", lambda at: at.part.cost),
            real("latency", lambda at: at.part.latency),
            *counts_at("part.counts"),
        ),
        key=("eval_id", "point", "document"),
        references=(_POINT,),
    ),
    Table(
        name="slices",
        columns=(
            *_AT,
            ExportColumn("axis", lambda at: at.part[0]),
            ExportColumn("slice", lambda at: BETWEEN.join(at.part[1].values)),
            ExportColumn("variant", lambda at: at.part[1].where.get("variant"), optional=True),
            ExportColumn("model", lambda at: at.part[1].where.get("model"), optional=True),
            real("score", lambda at: at.part[1].value),
            *_interval(lambda at: at.part[1].interval),
            real("change", lambda at: at.part[1].change),
            ExportColumn("verdict", lambda at: at.part[1].verdict and at.part[1].verdict.decision, optional=True),
            integer("cases", lambda at: at.part[1].cases),
            real("cost", lambda at: at.part[1].cost),
            real("latency", lambda at: at.part[1].latency),
        ),
        key=("eval_id", "point", "axis", "slice"),
        references=(_POINT,),
    ),
    Table(
        name="fields",
        columns=(*_AT, ExportColumn("attribute", lambda at: at.part.attribute), *counts_at("part.counts")),
        key=("eval_id", "point", "attribute"),
        references=(_POINT,),
    ),
    Table(
        name="cells",
        columns=(
            ExportColumn("eval_id", lambda row: row[0].info.id),
            integer("cell", lambda row: row[1]),
            ExportColumn("document", lambda row: row[2].document),
            ExportColumn("path", lambda row: row[2].path),
            ExportColumn("attribute", lambda row: row[2].attribute),
            ExportColumn("extra", lambda row: row[2].extra, "boolean"),
            integer("from_point", lambda row: row[3].start),
            integer("to_point", lambda row: row[4] - 1),
            ExportColumn("state", lambda row: row[3].state),
            ExportColumn("expected", lambda row: row[3].expected or None, optional=True),
            ExportColumn("actual", lambda row: row[3].actual or None, optional=True),
        ),
        key=("eval_id", "cell", "from_point"),
        references=((("eval_id", "from_point"), "points"), (("eval_id", "to_point"), "points")),
    ),
    Table(
        name="point_edits",
        columns=(*_AT, integer("edit", lambda at: at.part)),
        key=("eval_id", "point", "edit"),
        references=(_POINT, (("edit",), "instructions")),
    ),
)
"""A table comes after the tables that it refers to."""


Batch: TypeAlias = tuple[str, Iterable[ExportRow]]
"""The name of a table, and rows of it."""


def batches(timeline: Timeline, every_series: Iterable[Series]) -> Iterator[Batch]:
    """Yield all rows of all tables; a row comes after the rows that it refers to."""
    edits = sorted(
        (edit for file in timeline.instructions for edit in file.edits),
        key=lambda edit: (edit.commit.position, edit.path, edit.status),
    )
    numbers = {(edit.path, edit.commit.sha): number for number, edit in enumerate(edits)}
    yield _rows("about", {"schema": SCHEMA, "sitegen": __version__, "head": timeline.head.sha}.items())
    yield _rows("instructions", enumerate(edits))
    for series in every_series:
        points, cells = series.points, series.cells
        cards = [point.scorecard for point in points]
        parts: dict[str, list[Iterable[Any]]] = {
            "points": [(None,) for _ in points],
            "scores": [series.specs for _ in points],
            "fields": [card.fields for card in cards],
            "documents": [card.documents for card in cards],
            "slices": [
                slices_of(before, card, series.specs[0], (cells, index - 1, index), pairs=True)
                for index, (before, card) in enumerate(zip((None, *cards), cards, strict=False))
            ],
            "point_edits": [sorted({numbers[edit.path, edit.commit.sha] for edit in point.edits}) for point in points],
        }
        yield _rows("evals", [series])
        for name, of_points in parts.items():
            yield _rows(name, (At(series, index, part) for index, of in enumerate(of_points) for part in of))
        yield _rows(
            "cells",
            (
                (series, number, cell, period, end)
                for number, cell in enumerate(cells.cells)
                for period, end in cell.spans(len(points))
            ),
        )


def _rows(name: str, about: Iterable[Any]) -> Batch:
    return name, rows_of(next(table.columns for table in TABLES if table.name == name), about)


def rows_of(columns: Sequence[ExportColumn], about: Iterable[Any]) -> Iterator[ExportRow]:
    """Yield a row about each of these, with bytes that are not UTF-8 spelled out in texts."""
    for each in about:
        cells = [column.cell(each) for column in columns]
        yield tuple([encodable(cell) if isinstance(cell, str) else cell for cell in cells])
