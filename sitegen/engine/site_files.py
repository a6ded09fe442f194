"""Writes and records the files of an output folder while a build brings them up to date."""

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path

from sitegen.engine.built_site import FolderState, LastBuild, Site
from sitegen.engine.cached_kinds import decode, encode
from sitegen.engine.memo import PageRow, stored
from sitegen.engine.output_folder import files_not_in_memo, folder_times, number_and_first, remove, shorten_list
from sitegen.engine.writer import Writer, WrittenFiles
from sitegen.errors import Notice


class SiteFiles:
    """Writes and records the files of one output folder."""

    def __init__(self, last: LastBuild) -> None:
        """``last``: the last build of the folder."""
        self._project = last.project
        self._force = last.project.options.force
        self._into = last.project.out
        self._memo = last.memo
        self._site = last.project.site
        self.last = last
        if last.is_trusted and last.state is not None:  # nothing was added to the folder since
            self._foreign, self._unlisted = last.state.foreign, tuple[str, ...]()
        else:
            paths = (row.path for row in self._memo.each_page(self._site))
            self._foreign, self._unlisted = files_not_in_memo(self._into, paths, name_each=self._force)
        self._records: dict[str, list[bytes]] = {}
        """The recorded files by owner, each record encoded: as values they would take two and a half times the memory.
        A later record of a path counts."""
        self._whole: set[str] = set()
        """Owners whose files were all recorded."""
        self._written = 0

    @property
    def foreign(self) -> tuple[str, ...]:
        """The files of the folder that no build wrote and that no build may replace; none with ``--force``."""
        return () if self._force else self._foreign

    def files(self, *, complete: bool) -> Iterator[PageRow]:
        """Yield the files that are recorded, and unless the build is ``complete`` those that stay from earlier ones."""
        if complete:
            return self._recorded()
        owners, recorded = set(map(stored, self._whole)), {row.path for row in self._recorded()}
        listed = self._memo.each_page(self._site)
        earlier = (row for row in listed if row.owner not in owners and row.path not in recorded)
        return chain(self._recorded(), earlier)

    def present_files(self, owner: str) -> tuple[PageRow, ...]:
        """Return the files of an owner that are known to be in the folder; none if it cannot be trusted."""
        return tuple(self._memo.each_page(self._site, owner)) if self.last.is_trusted else ()

    def writer(self, owner: str) -> Writer:
        """Return a writer for the files of one owner."""
        return Writer(self._into, owner, self.present_files(owner), self.foreign)

    def record(self, owner: str, files: WrittenFiles, *, whole: bool = True) -> None:
        """Record files of an owner. Files that were made on another machine are written.

        ``whole``: this build records every file of the owner, so that any other one of an earlier build is stale.
        """
        self._records.setdefault(owner, []).append(encode(files.rows))
        if whole:
            self._whole.add(owner)
        self._written += files.written
        if files.contents:
            self._written += Writer(self._into, foreign=self.foreign).write_contents(files)

    def drop(self, owner: str) -> None:
        """Record that an owner has no files any more."""
        self._whole.add(owner)

    def reserve(self, paths: Iterable[str], make: Callable[[], bytes]) -> None:
        """Write a placeholder for pages that this build is still to write, where nothing is in their place."""
        Writer(self._into, foreign=self.foreign).reserve(paths, make)

    def close(self, site: Site, head: str, *, complete: bool) -> Site:
        """Delete the files that the site no longer has, and store the list of files, in the build's transaction.

        ``complete``: every file of the site was recorded, so any other file of an earlier build is stale. If a part
        of the site failed, the built commit is not stored, so that the next build makes the whole site again.
        """
        memo, name, folder = self._memo, self._site, self._into
        unrecorded = 0
        if site.must_be_made_again:  # files that a failed part wrote, according to the list in the folder
            _, left = files_not_in_memo(folder, (row.path for row in self.files(complete=complete)))
            unrecorded, _ = remove(folder, dict.fromkeys(left))
        paths = {row.path for row in self._recorded()}
        added, outdated = self._changes(complete)
        stale = {row.path: row.size for row in outdated if row.path not in paths}
        lost = [path for path in self._unlisted if path not in paths]  # by a killed build, and in no memo
        removed, changed = remove(folder, {**dict.fromkeys(lost), **stale})
        memo.forget_pages(name, outdated)
        memo.keep_pages(name, added)
        foreign = self._warn_of_foreign(changed, paths)
        before = self.last.state.list_size if self.last.state and self.last.is_trusted else None
        list_size = 0 if site.must_be_made_again else shorten_list(folder, lambda: memo.each_page(name), before)
        memo.keep_folders(name, folder_times(folder, memo.folders(name), paths))
        outcome = self._with_counts(site, removed + unrecorded, len(paths))
        if not site.must_be_made_again:
            state = FolderState(
                fingerprint=self._project.fingerprint,
                head=head,
                revision=self._project.revision,
                foreign=foreign,
                list_size=list_size,
                site=outcome,
                refs=self._project.refs,
            )
            memo.keep_site(name, state.encode())
        return outcome

    def _with_counts(self, site: Site, removed: int, recorded: int) -> Site:
        unchanged = max(0, recorded - self._written)
        return site._replace(written=self._written, unchanged=unchanged, removed=removed)

    def _warn_of_foreign(self, changed: tuple[str, ...], recorded: Collection[str]) -> tuple[str, ...]:
        """Warn once about every file of the folder that no build wrote. Returns the files that stay."""
        warned = set(self.last.state.foreign) if self.last.state else set()
        foreign = sorted({*self._foreign, *changed})
        replaced = tuple(path for path in foreign if path in recorded)
        staying = tuple(path for path in foreign if path not in recorded)
        for fate, paths in (("stays", staying), ("was replaced by a page", replaced)):
            if new := tuple(path for path in paths if path not in warned):
                text = f"{self._into} holds what no build wrote, and it {fate}: {number_and_first(new)}"
                warnings.warn(text, Notice, stacklevel=1)
        return staying

    def _changes(self, complete: bool) -> tuple[list[PageRow], list[PageRow]]:
        """Compare the recorded files with the memo: with all files of the last build, if this one is ``complete``.

        Otherwise with the files of the owners that were recorded whole. Returns the recorded files that the memo does
        not list as they are now, and the listed ones that are not recorded so.
        """
        owners = (None,) if complete else sorted(self._whole)
        listed = chain.from_iterable(self._memo.each_page(self._site, owner) for owner in owners)
        added: list[PageRow] = []
        outdated: list[PageRow] = []
        others = dict.fromkeys(self._records)
        for owner, rows in groupby(listed, key=attrgetter("owner")):  # in the order of their owners
            before, now = set(rows), self._recorded_of(owner)
            added.extend(row for row in now if row not in before)
            outdated.extend(sorted(before.difference(now)))
            others.pop(owner, None)
        added.extend(chain.from_iterable(map(self._recorded_of, others)))
        return added, outdated

    def _recorded(self) -> Iterator[PageRow]:
        return chain.from_iterable(map(self._recorded_of, self._records))

    def _recorded_of(self, owner: str) -> tuple[PageRow, ...]:
        rows = chain.from_iterable(decode(record, tuple[PageRow, ...]) for record in self._records.get(owner, ()))
        return tuple({row.path: row for row in rows}.values())


class LayerFiles(SiteFiles):
    """Records a build on top of an existing site: only files that differ are written, to another folder.

    The site below is neither written nor read, and the memo is not changed. After the build the folder has the files
    that the site below lacks or has with other contents; ``gone`` lists the files that only the site below has.
    """

    def __init__(self, below: LastBuild, into: Path) -> None:
        super().__init__(below)
        self._into = into
        self._foreign, self._unlisted = files_not_in_memo(into, ())
        self.gone: frozenset[str] = frozenset()

    def reserve(self, paths: Iterable[str], make: Callable[[], bytes]) -> None:
        """Write no placeholders: the pages are shown when all of them are written."""

    def close(self, site: Site, head: str, *, complete: bool) -> Site:
        """Delete the files of this folder that the site below has as well, and those that the previous build left."""
        below = {row.path: row.key for row in self._memo.each_page(self._site)} if self.last.is_trusted else {}
        differ = [row for row in self._recorded() if below.get(row.path) != row.key]
        recorded = {row.path for row in self._recorded()}
        self.gone = frozenset(row.path for row in self._changes(complete)[1] if row.path not in recorded)
        _, left = files_not_in_memo(self._into, {row.path for row in differ})
        removed, _ = remove(self._into, dict.fromkeys(left))
        shorten_list(self._into, lambda: differ, None)
        return self._with_counts(site, removed, len(recorded))
