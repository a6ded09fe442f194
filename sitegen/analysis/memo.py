"""The memo: one SQLite file that remembers scorecards, the folded timeline and which pages stand in which folder.

Safe to delete at any time (the next build is a cold one) and safe beside a second process: SQLite's write-ahead log
keeps readers and writers apart, scorecards are content-addressed, and what belongs to one output folder is replaced in
one transaction. A damaged file is put aside and begun anew, never an error.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple, Self

from sitegen.analysis.cached import CachedRow, owner_of, within
from sitegen.analysis.memo_damage import (
    DamageError,
    holds_damage,
    is_damage,
    memo_error,
    opened,
    patiently,
    put_aside,
    sealed,
)
from sitegen.errors import MemoDamagedError, SitegenError
from sitegen.history.cache_folder import MEMO, begin_cache_folder
from sitegen.history.fold_state import stored
from sitegen.locking import PATIENCE, wait_for_lock

SCHEMA_VERSION: Final = 39
"""Raised whenever the tables, or the form of anything that is kept in them, change: an older memo is emptied."""
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS parts (kind TEXT, key TEXT, body BLOB NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pages (site TEXT, owner TEXT, path TEXT, key TEXT NOT NULL,
    size INTEGER NOT NULL, full INTEGER NOT NULL, PRIMARY KEY (site, owner, path)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sizes (site TEXT, owner TEXT, body BLOB NOT NULL, PRIMARY KEY (site, owner)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS folders (site TEXT, path TEXT, mtime INTEGER NOT NULL,
    PRIMARY KEY (site, path)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sites (site TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
"""
_PAGE: Final = "owner, path, key, size, full"


class PageRow(NamedTuple):
    """A file of a site: who it belongs to, where it stands, and the digest of what it was made from."""

    owner: str
    """What it is rebuilt with: ``eval:<id>``, ``instruction:<path>``, ``commits``, or empty for the site itself."""
    path: str
    key: str
    size: int = 0
    """In bytes."""
    full: int = 0
    """Of a short page that makes room: bytes of the full report, with the data beside it; 1 if nobody rendered it."""


class Memo:
    """The open memo. Reading never fails for want of an entry; writing happens inside ``transaction``."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._db = connection
        self._folder = folder
        self._lasting: frozenset[str] = frozenset()
        self._put_meanwhile: list[CachedRow] = []

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open or begin the memo in a folder, which ignores itself by a ``.gitignore`` of its own."""
        begin_cache_folder(folder)
        with _locked(folder):  # a file that another process has only begun would look damaged
            try:
                return cls(_connect(folder / MEMO), folder)
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise memo_error(error, folder) from error
            put_aside(folder)
            return cls(_connect(folder / MEMO), folder)

    def close(self) -> None:
        """Close the file; whatever was not committed is gone."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Close. Of whatever was not foreseen, the memo is asked whether it is to blame; if so, it is put aside.

        Raises MemoDamagedError, or MemoError where the disk or another program is at fault.
        """
        if isinstance(error, sqlite3.Error) and not is_damage(error):
            self._give_up()
            raise memo_error(error, self._folder) from error
        asked = isinstance(error, Exception) and not isinstance(error, (SitegenError, OSError))
        damaged = asked and (isinstance(error, (sqlite3.Error, DamageError)) or holds_damage(self._db))
        self._give_up()
        if damaged:
            with _locked(self._folder):
                put_aside(self._folder)
            raise MemoDamagedError(
                "The memo was damaged, and was put aside.",
                where=str(self._folder),
                fix="Run this again: the next one begins without it.",
            ) from error

    def _give_up(self) -> None:
        with suppress(sqlite3.Error):
            self.close()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other builds of this memo waiting until the end: one process folds history at a time."""
        with _locked(self._folder):
            yield

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing: a killed process leaves the memo as it was before."""
        patiently(self._db, "BEGIN IMMEDIATE", self._folder)
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def tentative(self, lasting: Collection[str]) -> Iterator[None]:
        """Forget at the end what is put meanwhile, but for values of these kinds."""
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

    # Values by kind and key. The kinds are declared in ``stages/cached_kinds.py``, but for the three of the fold.

    def get(self, kind: str, key: str) -> bytes | None:
        """The content of one, or None."""
        row = self._db.execute("SELECT body FROM parts WHERE kind = ? AND key = ?", (kind, stored(key))).fetchone()
        return opened(row[0]) if row else None

    def rows(self, kind: str, keys: Iterable[str]) -> Iterator[CachedRow]:
        """Those of a kind that have one of these keys."""
        every = list(dict.fromkeys(map(stored, keys)))
        for start in range(0, len(every), 500):
            some = every[start : start + 500]
            marks = ",".join("?" * len(some))
            found = self._db.execute(f"SELECT key, body FROM parts WHERE kind = ? AND key IN ({marks})", (kind, *some))
            yield from ((kind, key, opened(body)) for key, body in found)

    def rows_within(self, kind: str, owner: str) -> Iterator[CachedRow]:
        """Those of a kind whose key is ``within`` an eval or a file."""
        bounds = within(stored(owner), ""), within(stored(owner), "\U0010ffff")
        found = self._db.execute("SELECT key, body FROM parts WHERE kind = ? AND key BETWEEN ? AND ?", (kind, *bounds))
        return ((kind, key, opened(body)) for key, body in found)

    def put(self, kind: str, key: str, content: bytes) -> None:
        """Keep one."""
        self.put_rows([(kind, key, content)])

    def put_rows(self, rows: Iterable[CachedRow]) -> None:
        """Keep some."""
        if self._lasting:
            rows = list(rows)
            self._put_meanwhile += (row for row in rows if row[0] in self._lasting)
        self._db.executemany(
            "INSERT OR REPLACE INTO parts VALUES (?, ?, ?)",
            ((kind, stored(key), sealed(content)) for kind, key, content in rows),
        )

    def delete(self, kind: str, key: str) -> None:
        """Forget one."""
        self._db.execute("DELETE FROM parts WHERE kind = ? AND key = ?", (kind, stored(key)))

    def forget(self, kind: str) -> None:
        """Forget all of a kind."""
        self._db.execute("DELETE FROM parts WHERE kind = ?", (kind,))

    def forget_others(self, kind: str, owners: Iterable[str]) -> None:
        """Forget those of a kind whose key neither is nor is ``within`` one of these."""
        known = set(map(stored, owners))
        every = self._db.execute("SELECT key FROM parts WHERE kind = ?", (kind,)).fetchall()
        gone = ((kind, key) for (key,) in every if owner_of(key) not in known)
        self._db.executemany("DELETE FROM parts WHERE kind = ? AND key = ?", gone)

    def keys(self, kind: str) -> tuple[str, ...]:
        """The keys of all of a kind, sorted."""
        return tuple(row[0] for row in self._db.execute("SELECT key FROM parts WHERE kind = ? ORDER BY key", (kind,)))

    def all(self, kind: str) -> tuple[tuple[str, bytes], ...]:
        """Every (key, content) of a kind, by key."""
        rows = self._db.execute("SELECT key, body FROM parts WHERE kind = ? ORDER BY key", (kind,))
        return tuple((key, opened(body)) for key, body in rows)

    # What stands in an output folder.

    def site(self, site: str) -> bytes | None:
        """The state of an output folder as the last finished build left it; None if unknown or interrupted."""
        row = self._db.execute("SELECT body FROM sites WHERE site = ?", (site,)).fetchone()
        return opened(row[0]) if row else None

    def keep_site(self, site: str, body: bytes) -> None:
        """Remember the state of an output folder: its build is finished."""
        self._db.execute("INSERT OR REPLACE INTO sites VALUES (?, ?)", (site, sealed(body)))

    def mark_dirty(self, site: str) -> None:
        """Forget the state of an output folder before the first write into it, at once and for every process to see."""
        patiently(self._db, "DELETE FROM sites WHERE site = ?", self._folder, (site,))

    def pages(self, site: str, owner: str | None = None) -> tuple[PageRow, ...]:
        """The files of a site, or those of one owner, by path."""
        if owner is None:
            query = self._db.execute(f"SELECT {_PAGE} FROM pages WHERE site = ? ORDER BY path", (site,))
        else:
            query = self._db.execute(
                f"SELECT {_PAGE} FROM pages WHERE site = ? AND owner = ? ORDER BY path", (site, stored(owner))
            )
        return tuple(PageRow(*row) for row in query)

    def pages_at(self, site: str, owner: str, paths: Iterable[str]) -> tuple[PageRow, ...]:
        """Those files of an owner that stand at one of these paths."""
        query = f"SELECT {_PAGE} FROM pages WHERE site = ? AND owner = ? AND path = ?"
        found = (self._db.execute(query, (site, stored(owner), path)).fetchone() for path in paths)
        return tuple(PageRow(*row) for row in found if row)

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

    def count_pages(self, site: str) -> int:
        """How many files the site has."""
        return int(self._db.execute("SELECT count(*) FROM pages WHERE site = ?", (site,)).fetchone()[0])

    def sizes(self, site: str) -> tuple[tuple[str, bytes], ...]:
        """(owner, what its files have in bytes), as far as that is kept."""
        rows = self._db.execute("SELECT owner, body FROM sizes WHERE site = ? ORDER BY owner", (site,))
        return tuple((name, opened(body)) for name, body in rows)

    def keep_sizes(self, site: str, owner: str, body: bytes) -> None:
        """Remember what the files of an owner have."""
        self._db.execute("INSERT OR REPLACE INTO sizes VALUES (?, ?, ?)", (site, stored(owner), sealed(body)))

    def forget_sizes(self, site: str) -> None:
        """Forget it of all owners."""
        self._db.execute("DELETE FROM sizes WHERE site = ?", (site,))

    def folders(self, site: str) -> tuple[tuple[str, int], ...]:
        """(folder, modification time in ns) as the last finished build left them."""
        return tuple(self._db.execute("SELECT path, mtime FROM folders WHERE site = ? ORDER BY path", (site,)))

    def keep_folders(self, site: str, rows: Iterable[tuple[str, int]]) -> None:
        """Replace the folders of a site."""
        self._db.execute("DELETE FROM folders WHERE site = ?", (site,))
        self._db.executemany("INSERT INTO folders VALUES (?, ?, ?)", ((site, *row) for row in rows))


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Alone among processes, until the end."""
    with open(folder / "lock", "a", encoding="utf-8") as handle:
        wait_for_lock(handle, folder / "lock", "The memo")
        yield


def _connect(file: Path) -> sqlite3.Connection:
    """Open the file and bring it to this version; a memo of another version is emptied, for it can be made again."""
    connection = sqlite3.connect(file, timeout=PATIENCE, isolation_level=None)
    try:
        # Scorecards have 2 KB and parts hundreds: pages of SQLite's own 4 KB made a new file two fifths larger.
        connection.execute("PRAGMA page_size = 16384")
        patiently(connection, "PRAGMA journal_mode = WAL", file.parent)
        connection.execute("PRAGMA synchronous = NORMAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != SCHEMA_VERSION:
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                connection.execute(f"DROP TABLE IF EXISTS {table}")
            connection.executescript(_TABLES)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    except BaseException:
        connection.close()
        raise
    return connection
