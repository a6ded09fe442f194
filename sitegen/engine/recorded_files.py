"""The files of a site that a build has recorded so far, by the part of the site that owns them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain, groupby
from operator import attrgetter

from sitegen.engine.memo import PageRow
from sitegen.history.fold_state import decode, encode
from sitegen.history.memo_rows import stored
from sitegen.model.named_tuple import NamedTuple


class ListChanges(NamedTuple):
    """The differences between the recorded files and those that the memo lists."""

    added: list[PageRow]
    """Recorded files that the memo does not list as they are now."""
    outdated: list[PageRow]
    """Files as the memo lists them that are not recorded in this way."""


class RecordedFiles:
    """Collects the files of each owner: an eval, an instruction file, the commits, a list, or the site."""

    def __init__(self) -> None:
        self._records: dict[str, list[bytes]] = {}
        """The files by owner, each record encoded: as values they would take two and a half times the memory.
        A later record of a path counts."""
        self._whole: set[str] = set()
        """Owners whose files were all recorded."""

    def add(self, owner: str, rows: Collection[PageRow], *, whole: bool) -> None:
        """Record all files of an owner or, if not ``whole``, files that are added to the ones it already has."""
        self._records.setdefault(owner, []).append(encode(rows))
        if whole:
            self._whole.add(owner)

    def drop(self, owner: str) -> None:
        """Record that an owner has no files any more."""
        self._whole.add(owner)

    def all(self) -> Iterator[PageRow]:
        """Yield all files that were recorded so far."""
        return chain.from_iterable(map(self.of, self._records))

    def of(self, owner: str) -> tuple[PageRow, ...]:
        """Return the files of an owner that were recorded so far."""
        rows = chain.from_iterable(decode(record, tuple[PageRow, ...]) for record in self._records.get(owner, ()))
        return tuple({row.path: row for row in rows}.values())

    def whole_owners(self) -> list[str]:
        """Return the owners whose files were all recorded, or that were dropped."""
        return sorted(self._whole)

    def not_replaced(self, listed: Iterable[PageRow]) -> Iterator[PageRow]:
        """Yield the listed files that stay: neither they nor all files of their owner were recorded."""
        owners, recorded = set(map(stored, self._whole)), {row.path for row in self.all()}
        return (row for row in listed if row.owner not in owners and row.path not in recorded)

    def compare(self, listed: Iterable[PageRow]) -> ListChanges:
        """Compare the recorded files with listed ones, which are in the order of their owners."""
        changes = ListChanges([], [])
        others = dict.fromkeys(self._records)
        for owner, rows in groupby(listed, key=attrgetter("owner")):
            before, now = set(rows), self.of(owner)
            changes.added.extend(row for row in now if row not in before)
            changes.outdated.extend(sorted(before.difference(now)))
            others.pop(owner, None)
        changes.added.extend(chain.from_iterable(map(self.of, others)))
        return changes

    def stale(self, outdated: Collection[PageRow]) -> list[PageRow]:
        """Return the outdated files whose paths the site no longer has."""
        recorded = {row.path for row in self.all()} if outdated else ()
        return [row for row in outdated if row.path not in recorded]
