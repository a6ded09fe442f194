"""Histories, judgements and exports as pandas tables, and the files of an export. No other module imports pandas.

Undefined numbers are NaN. Values of outputs and of the ground truth stay as they were read, with Decimals for numbers
that have a fraction. Each file is written under a temporary name and then moved, so it is never incomplete.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

from sitegen.analysis.slices import slice_rows
from sitegen.data_files.project_files import named_place
from sitegen.errors import OutputFolderError
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import ERROR_TYPES, Judgement
from sitegen.model.scorecards import Result
from sitegen.model.series import Point, Series
from sitegen.questions.export_tables import TABLES, Batch, ExportFormat, ExportRow, Table
from sitegen.stats.counts import in_file_order, ratios
from sitegen.text.plain import encodable, spreadsheet_safe
from sitegen.text.values import json_value

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame


_COUNTS: Final = ("tp", "fp", "fn", "tn", *ERROR_TYPES)
_RATIOS: Final = tuple(ratio.name for ratio in in_file_order())
_PLACE: Final = {"iteration": "int64", "label": "str", "commit": "str", "committed_at": "object"}
"""The columns by which a table names a point, with their types; the last one becomes a time in UTC."""


def points(series: Series) -> DataFrame:
    """One row for each point, oldest first, with its commit, the metrics of the eval's kind, and counts.

    Columns: ``iteration``, ``label``, ``commit``, ``committed_at`` (UTC), ``author``, ``subject``, ``cause``,
    ``same_as`` (label of the iteration that the output is a copy of), ``status``, ``edits`` (number of instruction
    edits since the previous point), each metric under its name, ``tp``, ``fp``, ``fn``, ``tn`` and the four error
    types.
    """
    metrics = [spec.name for spec in series.specs]
    rows = [
        {
            **_place_of_point(point),
            "author": encodable(point.snapshot.commit.author),
            "subject": encodable(point.snapshot.commit.subject),
            "cause": " ".join(point.snapshot.cause),
            "same_as": series.copied_label(index),
            "status": point.scorecard.status,
            "edits": len(point.edits),
            **{name: point.scorecard.metric(name) for name in metrics},
            **_counts_by_name(point.scorecard.counts),
        }
        for index, point in enumerate(series.points)
    ]
    texts = dict.fromkeys(("author", "subject", "cause", "same_as", "status"), "str")
    return _typed_table(
        rows, _PLACE | texts | {"edits": "int64"} | dict.fromkeys(metrics, "float64") | dict.fromkeys(_COUNTS, "int64")
    )


def fields(series: Series) -> DataFrame:
    """One row for each point and attribute, oldest point first, attributes in the order of the ground truth.

    Columns: ``iteration``, ``label``, ``commit``, ``committed_at`` (UTC), ``attribute``, the ratios
    ``precision``, ``recall`` and ``f1``, ``tp``, ``fp``, ``fn``, ``tn`` and the four error types.
    """
    rows = [
        {
            **_place_of_point(point),
            "attribute": encodable(field.attribute),
            **ratios(field.counts),
            **_counts_by_name(field.counts),
        }
        for point in series.points
        for field in point.scorecard.fields
    ]
    numbers = dict.fromkeys(_RATIOS, "float64") | dict.fromkeys(_COUNTS, "int64")
    return _typed_table(rows, _PLACE | {"attribute": "str"} | numbers)


def slices(series: Series) -> DataFrame:
    """One row for each point and each group of answers with one value on an axis, oldest point first.

    Columns: ``iteration``, ``label``, ``commit``, ``committed_at`` (UTC), ``axis`` (``variant``, ``model``, both with a
    comma between, or a tag), ``slice`` (the value, as in ``short · mini``), the headline under its name, ``cases``,
    ``cost`` (US dollars) and ``latency`` (seconds).
    """
    headline = series.specs[0].name
    rows = [
        {
            **_place_of_point(point),
            "axis": row.axis,
            "slice": row.value,
            headline: row.headline,
            "cases": row.cases,
            "cost": row.cost,
            "latency": row.latency,
        }
        for point in series.points
        for row in slice_rows(point.scorecard, series.specs[0])
    ]
    numbers = {headline: "float64", "cases": "int64", "cost": "float64", "latency": "float64"}
    return _typed_table(rows, _PLACE | {"axis": "str", "slice": "str"} | numbers)


def judgements(result: Result) -> DataFrame:
    """One row for each judgement.

    Columns: ``document``, ``path``, ``attribute``, ``outcome``, ``expected``, ``actual`` (Python values, None for a
    missing value) and ``note``. Answers that can be grouped also have ``case`` and a column for each axis: ``variant``,
    ``model`` and the tags, None where a case lacks the tag.
    """
    own = Judgement.__struct_fields__
    axes = {
        document.id: {
            name: encodable(value)
            for name, value in {"case": document.unit, **document.axes}.items()
            if name not in own
        }
        for document in result.scorecard.documents
        if document.axes
    }
    texts = ("document", "path", "attribute", "outcome", "note")
    rows = [
        {
            **{name: encodable(getattr(judgement, name)) for name in texts},
            "expected": json_value(judgement.expected),
            "actual": json_value(judgement.actual),
            **axes.get(judgement.document, {}),
        }
        for judgement in result.judgements
    ]
    further = dict.fromkeys((name for of_document in axes.values() for name in of_document), "object")
    return _typed_table(rows, {name: "str" if name in texts else "object" for name in own} | further)


def _place_of_point(point: Point) -> dict[str, Any]:
    at = point.snapshot
    return {
        "iteration": at.iteration,
        "label": encodable(at.label),
        "commit": at.commit.sha,
        "committed_at": at.commit.committed_at,
    }


def _counts_by_name(counts: Counts) -> dict[str, int]:
    return {name: getattr(counts, name) for name in _COUNTS}


def _typed_table(rows: Sequence[dict[str, Any]], columns: Mapping[str, str]) -> DataFrame:
    """A table with columns of these types, which do not depend on its rows; dates that do not exist are missing."""
    import pandas

    table = pandas.DataFrame(rows, columns=list(columns), dtype=object)
    if "committed_at" in columns:
        moments = pandas.to_datetime(table["committed_at"], utc=True, format="ISO8601", errors="coerce")
        return table.assign(committed_at=moments).astype({**columns, "committed_at": moments.dtype})
    return table.astype(columns)


PLACES: Final[dict[ExportFormat, str]] = {"csv": "export", "sqlite": "export.sqlite"}
"""The default place of each format: a folder with a file for each table, or one file."""

AT_ONCE: Final = 10_000
"""Rows of a table that are held in memory at a time."""

_SQL_TYPES: Final = {"text": "TEXT", "integer": "INTEGER", "real": "REAL", "boolean": "INTEGER"}


def write_tables(format: ExportFormat, place: Path, batches: Iterable[Batch], top: Path) -> tuple[Path, ...]:
    """Write every table and return the files. Existing files of the same names are replaced.

    ``place`` is as the user named it. Raises OutputFolderError if it leads through a link of the project at ``top``.
    """
    real = named_place(place, top, option="-o")
    written = (_write_csv if format == "csv" else _write_sqlite)(real, batches)
    return tuple(place / file.relative_to(real) for file in written)


def _write_csv(folder: Path, batches: Iterable[Batch]) -> tuple[Path, ...]:
    """One file for each table, with a header. Undefined cells are empty; booleans are ``true`` and ``false``."""
    files = {table.name: folder / f"{table.name}.csv" for table in TABLES}
    with ExitStack() as stack:
        streams = {}
        for table in TABLES:
            temporary = stack.enter_context(_whole_file(files[table.name]))
            streams[table.name] = stack.enter_context(open(temporary, "w", encoding="utf-8", newline=""))
            _csv_frame(table, ()).to_csv(streams[table.name], index=False, lineterminator="\n")
        for table, rows in _row_chunks(batches):
            _csv_frame(table, rows).to_csv(streams[table.name], index=False, header=False, lineterminator="\n")
    return tuple(files.values())


def _csv_frame(table: Table, rows: Iterable[ExportRow]) -> DataFrame:
    import pandas

    safe = ([spreadsheet_safe(cell) for cell in row] for row in rows)
    return pandas.DataFrame(safe, columns=[column.name for column in table.columns], dtype=object)


def _write_sqlite(file: Path, batches: Iterable[Batch]) -> tuple[Path, ...]:
    """One database with keys, foreign keys and declared types."""
    inserts = {
        table.name: f"INSERT INTO {table.name} VALUES ({', '.join('?' * len(table.columns))})" for table in TABLES
    }
    with _whole_file(file) as temporary, ExitStack() as stack:
        with _errors_of(file):
            database = stack.enter_context(closing(sqlite3.connect(temporary)))
            database.execute("PRAGMA journal_mode = OFF")
            database.execute("PRAGMA foreign_keys = ON")
            for table in TABLES:
                database.execute(_create_statement(table))
        for table, rows in _row_chunks(batches):
            with _errors_of(file):
                database.executemany(inserts[table.name], rows)
        with _errors_of(file):
            database.commit()
    return (file,)


@contextmanager
def _errors_of(file: Path) -> Iterator[None]:
    """Name the file in errors of its database, which would else be taken for errors of the memo with the rows."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OutputFolderError(
            f"The database cannot be written: {error}.",
            where=str(file),
            fix="Make room on the disk, or name another file with -o.",
        ) from error


def _create_statement(table: Table) -> str:
    keys = {other.name: ", ".join(other.key) for other in TABLES}
    parts = []
    for column in table.columns:
        needed = "" if column.optional else " NOT NULL"
        checked = f" CHECK ({column.name} IN (0, 1))" if column.type == "boolean" else ""
        parts.append(f"{column.name} {_SQL_TYPES[column.type]}{needed}{checked}")
    parts.append(f"PRIMARY KEY ({keys[table.name]})")
    parts += [
        f"FOREIGN KEY ({', '.join(columns)}) REFERENCES {other} ({keys[other]})" for columns, other in table.references
    ]
    lines = ",\n  ".join(parts)
    return f"CREATE TABLE {table.name} (\n  {lines}\n) WITHOUT ROWID"


def _row_chunks(batches: Iterable[Batch]) -> Iterator[tuple[Table, list[ExportRow]]]:
    """The rows of each table in lists of at most ``AT_ONCE``."""
    tables = {table.name: table for table in TABLES}
    for name, rows in batches:
        remaining = iter(rows)
        while chunk := list(islice(remaining, AT_ONCE)):
            yield tables[name], chunk


@contextmanager
def _whole_file(file: Path) -> Iterator[Path]:
    """A new file under a temporary name that nobody can guess, which is moved to its place at the end."""
    if file.is_dir():
        raise OutputFolderError(
            "A folder stands where the file goes.", where=str(file), fix="Name a file with -o, or move the folder away."
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name[:100]}.{token_hex(8)}")
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666))
    try:
        yield temporary
        os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)
