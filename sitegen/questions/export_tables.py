"""The tables of an export (``sitegen/export/1``), and their rows, made with one series in memory at a time.

No name is a keyword of SQL, so that none needs quotes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Final, Literal, TypeAlias

from msgspec.structs import astuple

from sitegen import __version__
from sitegen.analysis.series import variant_spread
from sitegen.analysis.slices import slices_of
from sitegen.engine.timeline import Timeline
from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import ERROR_TYPES, Value
from sitegen.model.scorecards import ANSWERERS
from sitegen.model.series import Series
from sitegen.model.timeline import Edit
from sitegen.model.usage import RunUsage
from sitegen.pages import links
from sitegen.questions.comparison_files.changes import document_headline
from sitegen.stats.counts import error_numbers
from sitegen.text.plain import encodable
from sitegen.text.values import as_json

SCHEMA: Final = "sitegen/export/1"

ExportFormat: TypeAlias = Literal["csv", "sqlite"]
ColumnType: TypeAlias = Literal["text", "integer", "real", "boolean"]
ExportCell: TypeAlias = str | float | bool | None
ExportRow: TypeAlias = tuple[ExportCell, ...]


class ExportColumn(Frozen):
    """A column of a table."""

    name: str
    type: ColumnType = "text"
    optional: bool = False
    """Whether cells may be undefined."""


class Table(Frozen):
    """A table, whose rows are tuples in the order of its columns."""

    name: str
    columns: tuple[ExportColumn, ...]
    key: tuple[str, ...]
    references: tuple[tuple[tuple[str, ...], str], ...] = ()
    """Columns whose values are the key of another table, and the name of that table."""


def _columns(*names: str, type: ColumnType = "text", optional: bool = False) -> tuple[ExportColumn, ...]:
    return tuple(ExportColumn(name, type, optional) for name in names)


_COUNTS: Final = _columns("tp", "fp", "fn", "tn", *ERROR_TYPES, type="integer")
_COMMIT: Final = (
    *_columns("commit_id"),
    *_columns("position", type="integer"),
    *_columns("committed_at", "author", "subject"),
)
_AT: Final = (*_columns("eval_id"), *_columns("point", type="integer"))
_POINT: Final = (("eval_id", "point"), "points")

TABLES: Final = (
    Table("about", _columns("name", "value"), ("name",)),
    Table(
        "instructions",
        (
            *_columns("edit", type="integer"),
            *_columns("path", "status"),
            *_columns("old_path", "old_blob", "new_blob", optional=True),
            *_COMMIT,
        ),
        ("edit",),
    ),
    Table(
        "evals",
        (*_columns("eval_id", "name", "kind", "description", "headline"), *_columns("deleted", type="boolean")),
        ("eval_id",),
    ),
    Table(
        name="points",
        columns=(
            *_AT,
            *_columns("iteration", type="integer"),
            *_columns("label"),
            *_COMMIT,
            *_columns("recorded_at", optional=True),
            *_columns("cause", "status"),
            *_columns("stale", type="boolean"),
            *_COUNTS,
            *_columns("report"),
            *_columns("models", "parameters", "judges", optional=True),
            *_columns("same_as", type="integer", optional=True),
        ),
        key=("eval_id", "point"),
        references=((("eval_id",), "evals"),),
    ),
    Table(
        name="scores",
        columns=(
            *_AT,
            *_columns("metric"),
            *_columns("score_then", "score_now", "change", type="real", optional=True),
            *_columns("by_outputs", "by_ground_truth", "by_rules", type="real", optional=True),
            *_columns("interval_low", "interval_high", type="real", optional=True),
            *_columns("variants_worst", "variants_best", type="real", optional=True),
        ),
        key=("eval_id", "point", "metric"),
        references=(_POINT,),
    ),
    Table(
        name="documents",
        columns=(
            *_AT,
            *_columns("document", "answered_case", "status"),
            *_columns("variant", "model", "tags", optional=True),
            *_columns("score", "cost", "latency", type="real", optional=True),
            *_COUNTS,
        ),
        key=("eval_id", "point", "document"),
        references=(_POINT,),
    ),
    Table(
        name="slices",
        columns=(
            *_AT,
            *_columns("axis", "slice"),
            *_columns("score", "interval_low", "interval_high", "change", type="real", optional=True),
            *_columns("verdict", optional=True),
            *_columns("cases", type="integer"),
            *_columns("cost", "latency", type="real", optional=True),
        ),
        key=("eval_id", "point", "axis", "slice"),
        references=(_POINT,),
    ),
    Table(
        name="fields",
        columns=(*_AT, *_columns("attribute"), *_COUNTS),
        key=("eval_id", "point", "attribute"),
        references=(_POINT,),
    ),
    Table(
        name="cells",
        columns=(
            *_columns("eval_id"),
            *_columns("cell", type="integer"),
            *_columns("document", "path", "attribute"),
            *_columns("extra", type="boolean"),
            *_columns("from_point", "to_point", type="integer"),
            *_columns("state"),
            *_columns("expected", "actual", optional=True),
        ),
        key=("eval_id", "cell", "from_point"),
        references=((("eval_id", "from_point"), "points"), (("eval_id", "to_point"), "points")),
    ),
    Table(
        name="point_edits",
        columns=(*_AT, *_columns("edit", type="integer")),
        key=("eval_id", "point", "edit"),
        references=(_POINT, (("edit",), "instructions")),
    ),
)
"""A table comes after the tables that it refers to."""


_EditKey: TypeAlias = tuple[str, str]
_EditNumbers: TypeAlias = Mapping[_EditKey, int]


Batch: TypeAlias = tuple[str, Iterable[ExportRow]]
"""The name of a table, and rows of it."""


def batches(timeline: Timeline, every_series: Iterable[Series]) -> Iterator[Batch]:
    """All rows of all tables; a row comes after the rows that it refers to."""
    edits = sorted(
        (edit for file in timeline.instructions for edit in file.edits),
        key=lambda edit: (edit.commit.position, edit.path, edit.status),
    )
    about = {"schema": SCHEMA, "sitegen": __version__, "head": timeline.head.sha}
    yield "about", about.items()
    yield (
        "instructions",
        (
            _encodable_row(
                (
                    number,
                    edit.path,
                    edit.status,
                    edit.old and edit.old.path,
                    edit.old and edit.old.oid,
                    edit.new and edit.new.oid,
                    *_commit_in_columns(edit.commit),
                )
            )
            for number, edit in enumerate(edits)
        ),
    )
    numbers = {_edit_key(edit): number for number, edit in enumerate(edits)}
    for series in every_series:
        yield from _series_batches(series, numbers)


def _series_batches(series: Series, numbers: _EditNumbers) -> Iterator[Batch]:
    info, points = series.info, tuple(enumerate(series.points))
    about = (info.id, info.name, info.kind, info.description, series.specs[0].name, series.history.deleted)
    yield "evals", [_encodable_row(about)]
    yield "points", _point_rows(series)
    yield "scores", _score_rows(series)
    yield (
        "fields",
        (
            _encodable_row((info.id, index, field.attribute, *_counts_in_columns(field.counts)))
            for index, point in points
            for field in point.scorecard.fields
        ),
    )
    yield "documents", _document_rows(series)
    yield "slices", _slice_rows(series)
    yield "cells", _cell_rows(series)
    yield (
        "point_edits",
        (
            (encodable(info.id), index, number)
            for index, point in points
            for number in sorted({numbers[_edit_key(edit)] for edit in point.edits})
        ),
    )


def _edit_key(edit: Edit) -> _EditKey:
    return edit.path, edit.commit.sha


def _commit_in_columns(commit: Commit) -> ExportRow:
    return commit.sha, commit.position, commit.committed_at, commit.author, commit.subject


def _point_rows(series: Series) -> Iterator[ExportRow]:
    for index, point in enumerate(series.points):
        at, card = point.snapshot, point.scorecard
        usage = card.usage or RunUsage()
        yield _encodable_row(
            (
                series.info.id,
                index,
                at.iteration,
                at.label,
                *_commit_in_columns(at.commit),
                at.recorded_at,
                " ".join(at.cause),
                card.status,
                point.stale,
                *_counts_in_columns(card.counts),
                links.report(series.info.id, at.slug),
                ", ".join(usage.models) or None,
                usage.parameters or None,
                ", ".join(usage.judges) or None,
                point.copy_of,
            )
        )


def _score_rows(series: Series) -> Iterator[ExportRow]:
    """One row for each metric of the kind at each point. Only the headline has an interval."""
    for (index, point), spec in product(enumerate(series.points), series.specs):
        delta = (
            next((delta for delta in point.change.metrics if delta.name == spec.name), None) if point.change else None
        )
        parts = delta and delta.parts if not spec.recorded else None
        interval = point.interval if spec is series.specs[0] else None
        spread = variant_spread(spec, point.scorecard)
        yield (
            encodable(series.info.id),
            index,
            spec.name,
            point.scorecard.metric(spec.name),
            point.now.metric(spec.name) if point.now and not spec.recorded else None,
            delta.change if delta else None,
            *(astuple(parts) if parts else (None, None, None)),
            interval.low if interval else None,
            interval.high if interval else None,
            spread.worst if spread else None,
            spread.best if spread else None,
        )


def _document_rows(series: Series) -> Iterator[ExportRow]:
    """One row for each document of each point: who answered it, and its tags as a JSON object."""
    headline = series.specs[0].name
    for index, document in ((at, each) for at, point in enumerate(series.points) for each in point.scorecard.documents):
        tags: Value = {axis: value for axis, value in document.axes.items() if axis not in ANSWERERS}
        yield _encodable_row(
            (
                series.info.id,
                index,
                document.id,
                document.unit,
                document.status,
                *map(document.axes.get, ANSWERERS),
                as_json(tags) if tags else None,
                document_headline(headline, document),
                document.cost,
                document.latency,
                *_counts_in_columns(document.counts),
            )
        )


def _slice_rows(series: Series) -> Iterator[ExportRow]:
    """One row for each group of answers of a point with one value on an axis."""
    cards = [point.scorecard for point in series.points]
    for index, (before, card) in enumerate(zip((None, *cards), cards, strict=False)):
        for axis, part in slices_of(before, card, series.specs[0]):
            interval = part.interval
            yield _encodable_row(
                (
                    series.info.id,
                    index,
                    axis,
                    part.values[0],
                    part.value,
                    interval.low if interval else None,
                    interval.high if interval else None,
                    part.change,
                    part.verdict.decision if part.verdict else None,
                    part.cases,
                    part.cost,
                    part.latency,
                )
            )


def _cell_rows(series: Series) -> Iterator[ExportRow]:
    """One row for each period of a cell, with its first and last point."""
    last = len(series.points) - 1
    for number, cell in enumerate(series.cells.cells):
        ends = [*(period.start - 1 for period in cell.periods[1:]), last]
        for period, end in zip(cell.periods, ends, strict=True):
            yield _encodable_row(
                (
                    series.info.id,
                    number,
                    cell.document,
                    cell.path,
                    cell.attribute,
                    cell.extra,
                    period.start,
                    end,
                    period.state,
                    period.expected or None,
                    period.actual or None,
                )
            )


def _counts_in_columns(counts: Counts) -> tuple[int, ...]:
    return counts.tp, counts.fp, counts.fn, counts.tn, *error_numbers(counts)


def _encodable_row(row: Iterable[ExportCell]) -> ExportRow:
    """The row with bytes that are not UTF-8 spelled out in its texts."""
    return tuple(encodable(cell) if isinstance(cell, str) else cell for cell in row)
