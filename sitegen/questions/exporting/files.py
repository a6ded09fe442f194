"""Writes tables to files. Each file is written under a temporary name and then moved, so it is never incomplete."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Final

from sitegen.data_files.project_files import named_place
from sitegen.errors import OutputFolderError
from sitegen.questions.exporting.frames import rows_of
from sitegen.questions.exporting.tables import TABLES, Batch, ExportColumn, ExportFormat, ExportRow, Table
from sitegen.text.plain import spreadsheet_safe

if TYPE_CHECKING:
    from sitegen.questions.exporting.frames import DataFrame

PLACES: Final[dict[ExportFormat, str]] = {"csv": "export", "sqlite": "export.sqlite"}
"""The default place of each format: a folder with a file for each table, or one file."""

AT_ONCE: Final = 10_000
"""Rows of a table that are held in memory at a time."""

_SQL_TYPES: Final = {"text": "TEXT", "integer": "INTEGER", "real": "REAL", "boolean": "INTEGER"}


def write_tables(format: ExportFormat, place: Path, batches: Iterable[Batch], top: Path) -> tuple[Path, ...]:
    """Write every table and return the files. Existing files of the same names are replaced.

    *place* is as the user named it. Raises OutputFolderError if it leads through a link of the project at *top*.
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
    safe = ([spreadsheet_safe(cell) for cell in row] for row in rows)
    return rows_of([column.name for column in table.columns], safe)


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
    parts = [_column_declaration(column) for column in table.columns]
    parts.append(f"PRIMARY KEY ({', '.join(table.key)})")
    parts += [
        f"FOREIGN KEY ({', '.join(reference.columns)}) REFERENCES {reference.table} ({', '.join(reference.key)})"
        for reference in table.references
    ]
    lines = ",\n  ".join(parts)
    return f"CREATE TABLE {table.name} (\n  {lines}\n) WITHOUT ROWID"


def _column_declaration(column: ExportColumn) -> str:
    needed = "" if column.optional else " NOT NULL"
    checked = f" CHECK ({column.name} IN (0, 1))" if column.type == "boolean" else ""
    return f"{column.name} {_SQL_TYPES[column.type]}{needed}{checked}"


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
