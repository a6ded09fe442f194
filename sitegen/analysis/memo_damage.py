"""Handles faults of the memo's file: damage, a full disk, a lock that another program holds.

SQLite detects a broken structure and a value of another type than its column, but not a changed byte in a value. So
every stored value begins with a checksum.
"""

from __future__ import annotations

import sqlite3
import warnings
import zlib
from pathlib import Path
from typing import Any, Final

from sitegen.errors import MemoError, Notice
from sitegen.history.cache_folder import MEMO, MEMO_FILES
from sitegen.locking import PATIENCE, holder, say_waiting

ASIDE: Final = "memo.damaged.sqlite3"
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


class DamageError(Exception):
    """A stored value does not match its checksum."""


def with_checksum(body: bytes) -> bytes:
    """Return a value with its checksum in front."""
    return zlib.crc32(body).to_bytes(4, "big") + body


def without_checksum(stored: bytes) -> bytes:
    """Return a stored value without its checksum. Raises DamageError if the checksum does not match."""
    if not isinstance(stored, bytes) or zlib.crc32(body := stored[4:]).to_bytes(4, "big") != stored[:4]:
        raise DamageError
    return body


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


def holds_damage(connection: sqlite3.Connection) -> bool:
    """Decide whether any part of the file is damaged. Reads the whole file; called only after an error."""
    try:
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            return True
        for table in ("parts", "sites"):
            for (body,) in connection.execute(f"SELECT body FROM {table}"):
                without_checksum(body)
        return False
    except sqlite3.Error as error:
        return is_damage(error)
    except (DamageError, UnicodeDecodeError, MemoryError):
        return True


def put_aside(folder: Path) -> None:
    """Rename a damaged memo, and print a warning."""
    if (folder / MEMO).exists():
        (folder / MEMO).replace(folder / ASIDE)
    for name in MEMO_FILES[1:]:
        (folder / name).unlink(missing_ok=True)
    text = f"The memo in {folder} was damaged: it was put aside as {ASIDE}, and a new one is begun."
    warnings.warn(text, Notice, stacklevel=1)
