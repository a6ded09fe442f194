"""Writes tables to files. Each file is written under a temporary name and then moved, so it is never incomplete.

Only Parquet goes through pandas. Its JSON writes at most 15 digits, so numbers would change. Its CSV and SQLite are
exact but would not be simpler, because the declarations of tables and the spelling of cells would stay here.
"""

from __future__ import annotations

import csv
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from pathlib import Path
from secrets import token_hex
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import Final

from sitegen.errors import ConfigurationError, OutputFolderError
from sitegen.exporting.rows import Batch
from sitegen.exporting.tables import SCHEMA, TABLES, ExportColumn, ExportFormat, ExportRow, Table
from sitegen.project_files import named_place
from sitegen.text.json_bytes import to_json_bytes
from sitegen.text.plain import spreadsheet_safe

PLACES: Final[dict[ExportFormat, str]] = {
    "csv": "export",
    "json": "export.json",
    "parquet": "export",
    "sqlite": "export.sqlite",
}
"""The default place of each format: a folder with a file for each table, or one file."""

AT_ONCE: Final = 10_000
"""Rows of a table that are held in memory at a time."""

_SQL_TYPES: Final = {"text": "TEXT", "integer": "INTEGER", "real": "REAL", "boolean": "INTEGER"}


def check_format(format: ExportFormat) -> None:
    """Raise ConfigurationError if a format needs a package that is not installed, before any work is done."""
    from importlib.util import find_spec

    if format == "parquet" and find_spec("pyarrow") is None:
        raise ConfigurationError(
            "Parquet needs pyarrow, which is not installed.",
            fix="pip install 'sitegen-evals[parquet]', or choose --format csv, json or sqlite.",
        )


def write_tables(format: ExportFormat, place: Path, batches: Iterable[Batch], top: Path) -> tuple[Path, ...]:
    """Write every table and return the files. Existing files of the same names are replaced.

    *place* is as the user named it. Raises OutputFolderError if it leads through a link of the project at *top*.
    """
    real = named_place(place, top, option="-o")
    return tuple(place / file.relative_to(real) for file in _WRITERS[format](real, batches))


def _write_csv(folder: Path, batches: Iterable[Batch]) -> tuple[Path, ...]:
    """One file for each table, with a header. Undefined cells are empty; booleans are ``true`` and ``false``."""
    files = {table.name: folder / f"{table.name}.csv" for table in TABLES}
    with ExitStack() as stack:
        writers = {}
        for table in TABLES:
            temporary = stack.enter_context(_whole_file(files[table.name]))
            stream = stack.enter_context(open(temporary, "w", encoding="utf-8", newline=""))
            writers[table.name] = csv.writer(stream, lineterminator="\n")
            writers[table.name].writerow(_column_names(table))
        for name, rows in batches:
            writers[name].writerows([spreadsheet_safe(cell) for cell in row] for row in rows)
    return tuple(files.values())


def _write_json(file: Path, batches: Iterable[Batch]) -> tuple[Path, ...]:
    """One object of table name -> rows as objects.

    Batches of different tables alternate, so the rows of each table are collected in a temporary file of its own.
    """
    with _whole_file(file) as temporary, ExitStack() as stack:
        parts = {table.name: stack.enter_context(TemporaryFile(dir=file.parent)) for table in TABLES}
        names = {table.name: _column_names(table) for table in TABLES}
        for name, rows in batches:
            for chunk in _row_chunks(rows):
                listed = to_json_bytes([dict(zip(names[name], row, strict=True)) for row in chunk], indent=None)
                parts[name].write(b"," * bool(parts[name].tell()) + listed.strip()[1:-1])
        with open(temporary, "wb") as whole:
            whole.write(b'{"schema":"%s","tables":' % SCHEMA.encode())
            for number, table in enumerate(TABLES):
                whole.write(b'%s"%s":[' % (b"," if number else b"{", table.name.encode()))
                parts[table.name].seek(0)
                copyfileobj(parts[table.name], whole)
                whole.write(b"]")
            whole.write(b"}}\n")
    return (file,)


def _write_parquet(folder: Path, batches: Iterable[Batch]) -> tuple[Path, ...]:
    """One file for each table."""
    from sitegen.frames import ParquetFile

    files = {table.name: folder / f"{table.name}.parquet" for table in TABLES}
    with ExitStack() as stack:
        writers = {}
        for table in TABLES:
            temporary = stack.enter_context(_whole_file(files[table.name]))
            columns = {column.name: column.type for column in table.columns}
            writers[table.name] = stack.enter_context(closing(ParquetFile(columns, temporary)))
        for name, rows in batches:
            for chunk in _row_chunks(rows):
                writers[name].add(chunk)
    return tuple(files.values())


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
        for name, rows in batches:
            for chunk in _row_chunks(rows):
                with _errors_of(file):
                    database.executemany(inserts[name], chunk)
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


def _column_names(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns)


def _row_chunks(rows: Iterable[ExportRow]) -> Iterator[list[ExportRow]]:
    """The rows in lists of at most ``AT_ONCE``."""
    remaining = iter(rows)
    while chunk := list(islice(remaining, AT_ONCE)):
        yield chunk


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


_WRITERS: Final[dict[ExportFormat, Callable[[Path, Iterable[Batch]], tuple[Path, ...]]]] = {
    "csv": _write_csv,
    "json": _write_json,
    "parquet": _write_parquet,
    "sqlite": _write_sqlite,
}
