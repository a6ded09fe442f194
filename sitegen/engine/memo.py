"""The memo: one SQLite file that stores results by content, and the files of each output folder.

It is safe to delete at any time (the next build is a cold one), and several processes can use it: SQLite's write-ahead
log separates readers and writers, scorecards are content-addressed, and the rows of one output folder are replaced in
one transaction. A file that cannot be read is thrown away and made again; it never ends a build.
"""

import json
import sqlite3
import warnings
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from sitegen.data_files.project_files import PATIENCE, holder, say_waiting, wait_for_lock
from sitegen.errors import MemoUnreadableError, Notice, SitegenError
from sitegen.history.cache_folder import MEMO, MEMO_FILES, begin_cache_folder
from sitegen.project import code_of_sitegen

_WITHIN: Final = "\x1f"  # between an owner and a part of it in a key


class CachedRow(NamedTuple):
    """One row of the memo: the kind, the key and the encoded value."""

    kind: str
    key: str
    content: bytes


def stored(name: str) -> str:
    """Return a path, or an id made from a path, as text that SQLite can store: bytes that are not UTF-8 are escaped."""
    return name if name.isascii() else name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def within(owner: str, part: object) -> str:
    """Return the key of one of several values of a kind that belong to the same eval or file."""
    return f"{owner}{_WITHIN}{part}"


_WAIT: Final = 60_000  # milliseconds to wait for another program that holds the memo, after printing a message
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


def memo_error(error: sqlite3.Error, folder: Path) -> SitegenError:
    """Return the error that ends the command if the file is not at fault."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    message = f"The memo {_NO_DAMAGE.get(code, 'cannot be used')}"
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        message = message.replace("another program", holder(*(folder / name for name in MEMO_FILES)))
    fix = "Make room on the disk, end the other program, or name another folder with --cache."
    return SitegenError(f"{message}.", where=str(folder / MEMO), fix=fix)


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


@contextmanager
def decoding() -> Iterator[None]:
    """Report a value that cannot be decoded as damage of the memo. Any other ValueError is a fault of sitegen."""
    try:
        yield
    except (ValueError, zlib.error) as error:
        raise sqlite3.DatabaseError("A value of the memo cannot be decoded.") from error


def throw_away(folder: Path) -> None:
    """Delete a memo that cannot be read, and print a warning."""
    for name in MEMO_FILES:
        (folder / name).unlink(missing_ok=True)
    warnings.warn(f"The memo in {folder} could not be read: it is made again.", Notice, stacklevel=1)


# Keys of scorecards are random. Rows with ids are stored in the order in which they are written, and only the index of
# keys is in another order; with rows stored by key, each new row rewrote a page of others, unless all fit into memory.
_TABLES: Final = {
    "parts": (("kind TEXT", "key TEXT", "body BLOB"), "PRIMARY KEY (kind, key))"),
    "pages": (
        ("site TEXT", "owner TEXT", "path TEXT", "key TEXT", "size INTEGER", "content TEXT"),
        "PRIMARY KEY (site, owner, path)) WITHOUT ROWID",
    ),
    "folders": (("site TEXT", "path TEXT", "mtime INTEGER"), "PRIMARY KEY (site, path)) WITHOUT ROWID"),
    "sites": (("site TEXT", "body BLOB"), "PRIMARY KEY (site)) WITHOUT ROWID"),
}
"""The columns of each table and the end of its declaration. A constraint of each column lets SQLite's check of the file
find values of another type, which the type alone does not exclude."""
_CACHE_KB: Final = 8_000  # the most memory for pages of the file, in units of 1,024 bytes; a small memo takes less
_PAGE: Final = "owner, path, key, size, content"


class PageRow(NamedTuple):
    """A file of a site: its owner, its path, and the digest of its inputs."""

    owner: str
    """The part that is rebuilt as a whole: ``eval:<id>``, ``instruction:<path>``, ``commits``; empty for the site."""
    path: str
    key: str
    size: int = 0
    """In bytes."""
    content: str = ""
    """The digest of its bytes, as in the list of the output folder."""


class Memo:
    """An open memo. Reading a missing entry returns None; writes must be inside ``transaction``."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._db = connection
        self._folder = folder
        self._lasting: frozenset[str] = frozenset()
        self._put_meanwhile: list[CachedRow] = []

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open or create the memo in a folder, whose ``.gitignore`` ignores the folder itself."""
        begin_cache_folder(folder)
        with _locked(folder):  # a file that another process is creating would look damaged
            try:
                return cls(_connect(folder / MEMO), folder)
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise memo_error(error, folder) from error
            except UnicodeDecodeError:
                pass  # the message quotes a damaged declaration of a table
            throw_away(folder)
            return cls(_connect(folder / MEMO), folder)

    def close(self) -> None:
        """Close the file; uncommitted changes are lost."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, *__: object) -> None:
        """Close the memo. If it turned out to be unreadable, throw it away.

        Raises MemoUnreadableError, or SitegenError if the disk or another program is at fault.
        """
        if isinstance(error, sqlite3.Error) and not is_damage(error):
            self._give_up()
            raise memo_error(error, self._folder) from error
        unexpected = isinstance(error, Exception) and not isinstance(error, (SitegenError, OSError))
        unreadable = unexpected and (isinstance(error, sqlite3.Error) or not is_readable(self._db))
        self._give_up()
        if unreadable:
            with _locked(self._folder):
                throw_away(self._folder)
            raise MemoUnreadableError(
                "The memo could not be read, and was thrown away.",
                where=str(self._folder),
                fix="Run this again: the next one begins without it.",
            ) from error

    def _give_up(self) -> None:
        with suppress(sqlite3.Error):
            self.close()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make other builds with this memo wait: only one process at a time folds history."""
        with _locked(self._folder):
            yield

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all writes or none, so that a killed process leaves the memo unchanged, except for ``save``."""
        patiently(self._db, "BEGIN IMMEDIATE", self._folder)
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def save(self) -> None:
        """Commit what the transaction wrote so far, and begin the next one: a killed process leaves that much."""
        if not self._lasting and self._db.in_transaction:
            self._db.execute("COMMIT")
            patiently(self._db, "BEGIN IMMEDIATE", self._folder)

    @contextmanager
    def tentative(self, lasting: Collection[str]) -> Iterator[None]:
        """Discard at the end everything that was written inside, except values of the ``lasting`` kinds."""
        self._lasting, self._put_meanwhile = frozenset(lasting), []
        patiently(self._db, "BEGIN IMMEDIATE", self._folder)
        try:
            yield
        finally:
            self._lasting = frozenset()
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
        with self.transaction():
            self.put_rows(self._put_meanwhile)

    # Values by kind and key. ``engine/cached_kinds.py`` declares the kinds.
    # Contents are cast, so that a damaged one of another type is bytes that cannot be decoded.

    def get(self, kind: str, key: str) -> bytes | None:
        """Return the content of a value, or None."""
        row = self._db.execute(
            "SELECT CAST(body AS BLOB) FROM parts WHERE kind = ? AND key = ?", (kind, stored(key))
        ).fetchone()
        return row[0] if row else None

    def rows(self, kind: str, keys: Iterable[str]) -> Iterator[CachedRow]:
        """Yield the values of a kind with one of these keys."""
        listed = json.dumps([*map(stored, keys)])  # one value, because SQLite limits the number of these
        rows = self._db.execute(
            "SELECT key, CAST(body AS BLOB) FROM parts WHERE kind = ? AND key IN (SELECT value FROM json_each(?))",
            (kind, listed),
        )
        return (CachedRow(kind, key, body) for key, body in rows)

    def rows_within(self, kind: str, owner: str) -> Iterator[CachedRow]:
        """Yield the values of a kind whose key is ``within`` an eval or a file."""
        bounds = within(stored(owner), ""), within(stored(owner), "\U0010ffff")
        rows = self._db.execute(
            "SELECT key, CAST(body AS BLOB) FROM parts WHERE kind = ? AND key BETWEEN ? AND ?", (kind, *bounds)
        )
        return (CachedRow(kind, key, body) for key, body in rows)

    def put(self, kind: str, key: str, content: bytes) -> None:
        """Store a value."""
        self.put_rows([CachedRow(kind, key, content)])

    def put_rows(self, rows: Iterable[CachedRow]) -> None:
        """Store values."""
        if self._lasting:
            rows = list(rows)
            self._put_meanwhile += (row for row in rows if row[0] in self._lasting)
        self._db.executemany(
            "INSERT OR REPLACE INTO parts VALUES (?, ?, ?)",
            ((kind, stored(key), content) for kind, key, content in rows),
        )

    def forget(self, kind: str) -> None:
        """Delete all values of a kind."""
        self._db.execute("DELETE FROM parts WHERE kind = ?", (kind,))

    def forget_others(self, kind: str, owners: Iterable[str]) -> None:
        """Delete the values of a kind that belong to none of these owners."""
        remaining = set(map(stored, owners))
        orphans = [(kind, key) for key in self.keys(kind) if key.partition(_WITHIN)[0] not in remaining]
        self._db.executemany("DELETE FROM parts WHERE kind = ? AND key = ?", orphans)

    def keys(self, kind: str) -> tuple[str, ...]:
        """Return the keys of all values of a kind, sorted."""
        return tuple(row[0] for row in self._db.execute("SELECT key FROM parts WHERE kind = ? ORDER BY key", (kind,)))

    def all(self, kind: str) -> tuple[bytes, ...]:
        """Return the contents of a kind, sorted by key."""
        rows = self._db.execute("SELECT CAST(body AS BLOB) FROM parts WHERE kind = ? ORDER BY key", (kind,))
        return tuple(body for (body,) in rows)

    # The files of an output folder.

    def site(self, site: str) -> bytes | None:
        """Return the state of an output folder after the last finished build; None if unknown or a build was killed."""
        row = self._db.execute("SELECT body FROM sites WHERE site = ?", (site,)).fetchone()
        return row[0] if row else None

    def keep_site(self, site: str, body: bytes) -> None:
        """Store the state of an output folder after its build has finished."""
        self._db.execute("INSERT OR REPLACE INTO sites VALUES (?, ?)", (site, body))

    def mark_dirty(self, site: str) -> None:
        """Delete the state of an output folder before the first write into it, visible at once to every process."""
        patiently(self._db, "DELETE FROM sites WHERE site = ?", self._folder, (site,))

    def each_page(self, site: str, owner: str | None = None) -> Iterator[PageRow]:
        """Yield the files of a site, or of one owner, by path, while no file of the site is added or removed.

        Files of a site are in the order of their owners, in which the table holds them: none has to be sorted.
        """
        condition, values = ("", (site,)) if owner is None else (" AND owner = ?", (site, stored(owner)))
        rows = self._db.execute(f"SELECT {_PAGE} FROM pages WHERE site = ?{condition} ORDER BY owner, path", values)
        return (PageRow(*row) for row in rows)

    def keep_pages(self, site: str, rows: Iterable[PageRow]) -> None:
        """Add or replace files of a site."""
        self._db.executemany(
            "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?)",
            ((site, stored(row.owner), *row[1:]) for row in rows),
        )

    def forget_pages(self, site: str, rows: Iterable[PageRow]) -> None:
        """Remove files of a site."""
        self._db.executemany(
            "DELETE FROM pages WHERE site = ? AND owner = ? AND path = ?",
            ((site, stored(row.owner), row.path) for row in rows),
        )

    def size_of_site(self, site: str) -> tuple[int, int]:
        """Return the number of files of a site, and their bytes together."""
        row = self._db.execute("SELECT count(*), total(size) FROM pages WHERE site = ?", (site,)).fetchone()
        return int(row[0]), int(row[1])

    def folders(self, site: str) -> dict[str, int]:
        """Return the modification time of each folder of a site, in ns, after the last finished build."""
        return dict(self._db.execute("SELECT path, mtime FROM folders WHERE site = ? ORDER BY path", (site,)))

    def keep_folders(self, site: str, times: Mapping[str, int]) -> None:
        """Replace the folders of a site."""
        self._db.execute("DELETE FROM folders WHERE site = ?", (site,))
        self._db.executemany("INSERT INTO folders VALUES (?, ?, ?)", ((site, *row) for row in times.items()))


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with open(folder / "lock", "a", encoding="utf-8") as handle:
        wait_for_lock(handle, folder / "lock", "The memo")
        yield


def _connect(file: Path) -> sqlite3.Connection:
    """Open the file; a memo that other code has written is emptied, because everything in it can be computed again."""
    written_by = int(code_of_sitegen()[:7], 16)  # SQLite keeps a number of 31 bits beside the tables
    connection = sqlite3.connect(file, timeout=PATIENCE, isolation_level=None)
    try:
        # Scorecards take about 2 KB, other values up to hundreds of KB: with pages of 4 KB, files were 40 % larger.
        connection.execute("PRAGMA page_size = 16384")
        connection.execute(f"PRAGMA cache_size = {-_CACHE_KB}")
        patiently(connection, "PRAGMA journal_mode = WAL", file.parent)
        connection.execute("PRAGMA synchronous = NORMAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != written_by:
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                connection.execute(f"DROP TABLE IF EXISTS {table}")
            for table, (columns, end) in _TABLES.items():
                typed = (
                    f"{each} NOT NULL CHECK (typeof({each.split()[0]}) = lower('{each.split()[1]}'))"
                    for each in columns
                )
                connection.execute(f"CREATE TABLE {table} ({', '.join(typed)}, {end}")
            connection.execute(f"PRAGMA user_version = {written_by}")
    except BaseException:
        connection.close()
        raise
    return connection
