"""Handles faults of the memo's file: it cannot be read, the disk is full, or another program holds a lock."""

from __future__ import annotations

import sqlite3
import warnings
from pathlib import Path
from typing import Any, Final

from sitegen.data_files.locking import PATIENCE, holder, say_waiting
from sitegen.errors import MemoError, Notice
from sitegen.history.cache_folder import MEMO, MEMO_FILES

_WAIT: Final = 60_000
"""Milliseconds to wait for another program that holds the memo, after printing a message."""
_NO_DAMAGE: Final = {
    sqlite3.SQLITE_BUSY: "is held by another program",
    sqlite3.SQLITE_LOCKED: "is held by another program",
    sqlite3.SQLITE_FULL: "cannot be written: the disk is full",
    sqlite3.SQLITE_READONLY: "cannot be written",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    sqlite3.SQLITE_PERM: "cannot be opened",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk fails, or is full",
}


def is_damage(error: sqlite3.Error) -> bool:
    """Decide whether an error is due to the file, and not to the disk or another program."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return code == sqlite3.SQLITE_IOERR_SHORT_READ or code & 0xFF not in _NO_DAMAGE


def memo_error(error: sqlite3.Error, folder: Path) -> MemoError:
    """Return the error that ends the command if the file is not at fault."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    message = f"The memo {_NO_DAMAGE.get(code, 'cannot be used')}"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        message = message.replace("another program", holder(*(folder / name for name in MEMO_FILES)))
    fix = "Make room on the disk, end the other program, or name another folder with --cache."
    return MemoError(f"{message}.", where=str(folder / MEMO), fix=fix)


def patiently(connection: sqlite3.Connection, statement: str, folder: Path, values: tuple[Any, ...] = ()) -> None:
    """Run a statement that may have to wait for another program; if it does, print which program."""
    try:
        connection.execute(statement, values)
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        say_waiting("The memo", *(folder / name for name in MEMO_FILES))
        connection.execute(f"PRAGMA busy_timeout = {_WAIT}")
        connection.execute(statement, values)
        connection.execute(f"PRAGMA busy_timeout = {int(PATIENCE * 1000)}")


def is_readable(connection: sqlite3.Connection) -> bool:
    """Decide whether SQLite can read the whole file, with values of the declared types. Called only after an error."""
    try:
        return bool(connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))
    except (sqlite3.Error, UnicodeDecodeError, MemoryError):
        return False


def throw_away(folder: Path) -> None:
    """Delete a memo that cannot be read, and print a warning."""
    for name in MEMO_FILES:
        (folder / name).unlink(missing_ok=True)
    warnings.warn(f"The memo in {folder} could not be read: it is made again.", Notice, stacklevel=1)
