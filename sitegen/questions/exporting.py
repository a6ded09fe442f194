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
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import Judgement
from sitegen.model.scorecards import Result
from sitegen.model.series import Series
from sitegen.questions.export_tables import (
    TABLES,
    At,
    Batch,
    ExportColumn,
    ExportFormat,
    ExportRow,
    Table,
    counts_at,
    integer,
    real,
    rows_of,
)
from sitegen.stats.counts import CountRatio, in_file_order
from sitegen.text.plain import encodable, spreadsheet_safe
from sitegen.text.values import json_value

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame


_PLACE: Final = (
    integer("iteration", lambda at: at.point.snapshot.iteration),
    ExportColumn("label", lambda at: at.point.snapshot.label),
    ExportColumn("commit", lambda at: at.point.snapshot.commit.sha),
    ExportColumn("committed_at", lambda at: at.point.snapshot.commit.committed_at),
)
"""The columns by which a table names a point; the last one becomes a time in UTC."""


def points(series: Series) -> DataFrame:
    """Return one row for each point, oldest first, with its commit, the metrics of the eval's kind, and counts.

    Columns: ``iteration``, ``label``, ``commit``, ``committed_at`` (UTC), ``author``, ``subject``, ``cause``,
    ``same_as`` (label of the iteration that the output is a copy of), ``status``, ``edits`` (number of instruction
    edits since the previous point), each metric under its name, ``tp``, ``fp``, ``fn``, ``tn`` and the four error
    types.
    """

    def metric(spec: MetricSpec) -> ExportColumn:
        return real(spec.name, lambda at: at.point.scorecard.metric(spec.name))

    columns = (
        *_PLACE,
        ExportColumn("author", lambda at: at.point.snapshot.commit.author),
        ExportColumn("subject", lambda at: at.point.snapshot.commit.subject),
        ExportColumn("cause", lambda at: " ".join(at.point.snapshot.cause)),
        ExportColumn("same_as", lambda at: series.copied_label(at.index)),
        ExportColumn("status", lambda at: at.point.scorecard.status),
        integer("edits", lambda at: len(at.point.edits)),
        *map(metric, series.specs),
        *counts_at("point.scorecard.counts"),
    )
    return _frame(columns, [At(series, index) for index in range(len(series.points))])


def fields(series: Series) -> DataFrame:
    """Return one row for each point and attribute, oldest point first, attributes in the order of the ground truth.

    Columns: ``iteration``, ``label``, ``commit``, ``committed_at`` (UTC), ``attribute``, the ratios that are not the
    same number as another metric, ``tp``, ``fp`` and ``fn`` (None if these are the same number as another one), ``tn``
    and the four error types.
    """

    def ratio(of_counts: CountRatio) -> ExportColumn:
        return real(of_counts.name, lambda at: of_counts.of(at.part.counts))

    columns = (
        *_PLACE,
        ExportColumn("attribute", lambda at: at.part.attribute),
        *(ratio(each) for each in in_file_order() if each.name not in series.info.nouns.same),
        *counts_at("part.counts"),
    )
    of_points = (point.scorecard.fields for point in series.points)
    return _frame(columns, [At(series, index, field) for index, fields in enumerate(of_points) for field in fields])


def slices(series: Series) -> DataFrame:
    """Return one row for each point and each group of answers with one value on an axis, oldest point first.

    Columns: ``iteration``, ``label``, ``commit``, ``committed_at`` (UTC), ``axis`` (``variant``, ``model``, both with a
    comma between, or a tag), ``slice`` (the value, as in ``short · mini``), ``variant`` and ``model`` (None along other
    axes), the headline under its name, ``cases``, ``cost`` (US dollars) and ``latency`` (seconds).
    """
    headline = series.specs[0]
    columns = (
        *_PLACE,
        ExportColumn("axis", lambda at: at.part.axis),
        ExportColumn("slice", lambda at: at.part.value),
        ExportColumn("variant", lambda at: at.part.axes.get("variant")),
        ExportColumn("model", lambda at: at.part.axes.get("model")),
        real(headline.name, lambda at: at.part.headline),
        integer("cases", lambda at: at.part.cases),
        real("cost", lambda at: at.part.cost),
        real("latency", lambda at: at.part.latency),
    )
    of_points = (slice_rows(point.scorecard, headline) for point in series.points)
    return _frame(columns, [At(series, index, row) for index, rows in enumerate(of_points) for row in rows])


def judgements(result: Result) -> DataFrame:
    """Return one row for each judgement.

    Columns: ``document``, ``path``, ``attribute``, ``outcome``, ``expected``, ``actual`` (Python values, None for a
    missing value) and ``note``. Answers that can be grouped also have ``case`` and a column for each axis: ``variant``,
    ``model``, ``repeat`` and the tags, None where a case lacks the tag.
    """
    own = Judgement.__struct_fields__
    axes = {
        document.name: {
            name: encodable(value)
            for name, value in {"case": document.case, "repeat": document.repeat, **document.axes}.items()
            if value and name not in own
        }
        for document in result.scorecard.documents
        if document.axes or document.repeat
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


def _frame(columns: Sequence[ExportColumn], about: Sequence[At]) -> DataFrame:
    types = {"text": "str", "integer": "int64", "real": "float64"}
    optional = {**types, "integer": "Int64"}  # which has a value for none
    by_name = {column.name: (optional if column.optional else types)[column.type] for column in columns}
    return _typed_table([*rows_of(columns, about)], by_name)


def _typed_table(rows: Sequence[Any], columns: Mapping[str, str]) -> DataFrame:
    """Return a table with columns of these types, which do not depend on its rows; impossible dates are missing."""
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

    ``place``: as the user named it. Raises OutputFolderError if it leads through a link of the project at ``top``.
    """
    real = named_place(place, top, option="-o")
    is_new_folder = format == "csv" and real.is_relative_to(top) and not real.exists()
    written = (_write_csv if format == "csv" else _write_sqlite)(real, batches)
    if is_new_folder:  # git ignores it as it does a site; whoever commits the tables deletes this file
        (real / ".gitignore").write_text("*\n", encoding="utf-8")
    return tuple(place / file.relative_to(real) for file in written)


def _write_csv(folder: Path, batches: Iterable[Batch]) -> tuple[Path, ...]:
    """Return one file for each table, with a header. Undefined cells are empty; booleans are ``true`` and ``false``."""
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
    """Return one database with keys, foreign keys and declared types."""
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
    """Yield the rows of each table in lists of at most ``AT_ONCE``."""
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
