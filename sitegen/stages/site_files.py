"""Writes and records the files of an output folder while a build brings them up to date."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from sitegen.analysis.memo import Memo, PageRow
from sitegen.errors import Notice
from sitegen.history.fold_state import decode, encode
from sitegen.project import Project
from sitegen.render.below import read_file, remove
from sitegen.render.output_folder import (
    Claim,
    FilesNotInMemo,
    content_digest,
    files_not_in_memo,
    folder_times,
    number_and_first,
    shorten_list,
)
from sitegen.render.writer import HeldPagesWriter, Writer, WrittenFiles
from sitegen.stages.built_site import FolderState, LastBuild, Site
from sitegen.stages.recorded_files import ListChanges, RecordedFiles

SAVED_AT_ONCE: Final = 500
"""Number of recorded files after which the memo is saved, with the scores that were stored meanwhile."""


class SiteFiles:
    """Writes and records the files of one output folder."""

    def __init__(self, project: Project, claim: Claim, memo: Memo, last: LastBuild) -> None:
        """``last``: the last build of the folder."""
        self._project = project
        self._claim = claim
        self._into = claim.folder
        self._memo = memo
        self._site = project.site
        self._last = last
        self._not_in_memo = self._files_not_in_memo()
        self.recorded = RecordedFiles()
        self._found: dict[str, tuple[PageRow, ...]] = {}
        """The files of earlier builds that an untrusted folder still has, by owner."""
        self._saves = False
        self._unsaved: list[PageRow] = []
        self._written = 0
        self._held: dict[str, None] | None = None
        """Recorded pages that are not in their places yet; None: each page is put into its place at once."""
        self._reserved: list[bytes] = []
        """The paths that got a placeholder, encoded and compressed: as texts they would take ten times the memory."""

    def _files_not_in_memo(self) -> FilesNotInMemo:
        """List the foreign files of the folder; the list of the last build is used until something is added to it."""
        if self._last.is_trusted and self._last.state is not None and not self._claim.force:
            return FilesNotInMemo(self._last.state.foreign)
        paths = (row.path for row in self._memo.each_page(self._site))
        return files_not_in_memo(self._claim.folder, paths, name_each=self._claim.force)

    @property
    def foreign(self) -> tuple[str, ...]:
        """Return the files of the folder that no build wrote and that no build may replace; none with ``--force``."""
        return () if self._claim.force else self._not_in_memo.foreign

    @property
    def head(self) -> str | None:
        """Return the commit from which the build goes on; None to begin at the root, as ``LastBuild.head``."""
        return self._last.head

    def most_bytes(self) -> int:
        """Return at least the bytes of all files: those that this build replaces count twice, but none is read."""
        return self._memo.bytes_of_pages(self._site) + sum(row.size for row in self.recorded.all())

    def files(self, *, complete: bool) -> Iterator[PageRow]:
        """Yield the files that are recorded, and unless the build is ``complete`` those that stay from earlier ones."""
        earlier = () if complete else self.recorded.not_replaced(self._memo.each_page(self._site))
        return chain(self.recorded.all(), earlier)

    def present_files(self, owner: str) -> tuple[PageRow, ...]:
        """Return the files of an owner that are known to be in the folder; none with ``--verify``.

        If the folder cannot be trusted, because the last build was stopped or the folder was changed, each file is read
        and has to have the content that was written. If one lacks it, neither does any other that was made from the
        same inputs count: a page and the files beside it are made together.
        """
        if self.recorded.is_whole(owner):
            return self.recorded.of(owner)
        if self._last.is_trusted:
            return self._memo.pages(self._site, owner)
        if owner not in self._found:
            rows = () if self._project.options.verify else self._memo.pages(self._site, owner)
            lost = {row.key for row in rows if not self._has(row)}
            self._found[owner] = tuple(row for row in rows if row.key not in lost)
        return self._found[owner]

    def _has(self, row: PageRow) -> bool:
        content = read_file(self._claim.folder, row.path, at_most=row.size)
        return content is not None and content_digest(content) == row.content

    def begin(self, *, complete: bool, hold: bool) -> None:
        """Begin to record a build. ``complete``: it makes all history, and saves every few hundred files what it wrote.

        The next build can use what was saved, even if this one is stopped. Then the memo lists more files than the last
        finished site has. An incremental build needs the list of that site until it ends, and has little to save.

        ``hold``: put no page into its place until ``put_held``.
        """
        self._saves = complete
        if hold:
            self._held = {}

    @property
    def holds_pages(self) -> bool:
        """Whether pages wait beside their places for ``put_held``."""
        return self._held is not None

    @property
    def held(self) -> tuple[str, ...]:
        """Return the paths of the pages that wait."""
        return tuple(self._held or ())

    def put_held(self) -> None:
        """Put the pages that wait into their places, and from now on each page at once."""
        if self._held is not None:
            held, self._held = self.held, None
            self.writer("", new=True).put_held(held)

    def writer(self, owner: str, *, new: bool = False) -> Writer:
        """Return a writer for the files of one owner. ``new``: for files that the owner does not have yet."""
        kind = HeldPagesWriter if self.holds_pages else Writer
        return kind(self._into, () if new else self.present_files(owner), self.foreign)

    def record(self, owner: str, files: WrittenFiles, *, whole: bool = True) -> None:
        """Record all files of an owner or, if not ``whole``, files that are added to the ones it already has.

        Files that were made on another machine are written first.
        """
        self.recorded.add(owner, files.rows, whole=whole)
        self._write_contents(owner, files)
        self._save(files.rows)

    def replace(self, owner: str, files: WrittenFiles) -> None:
        """Record all files of an owner in place of any earlier record of it."""
        new = self.recorded.replace(owner, files.rows)
        self._write_contents(owner, files)
        self._save(new)  # the others were saved or wait for it

    def _write_contents(self, owner: str, files: WrittenFiles) -> None:
        """Write the files whose contents another machine sent, and count all files that were written."""
        self._written += files.written
        held = files.held
        if files.contents:
            writer = self.writer(owner, new=True)
            self._written += writer.write_contents(files)
            held += writer.files.held
        if self._held is not None:
            self._held.update(dict.fromkeys(held))
        elif held:
            self.writer(owner, new=True).put_held(held)

    def _save(self, rows: Sequence[PageRow]) -> None:
        if self._saves:
            self._unsaved += rows
            if len(self._unsaved) >= SAVED_AT_ONCE:
                self._memo.keep_pages(self._site, self._unsaved)
                self._memo.save()
                self._unsaved.clear()

    def reserve(self, paths: Iterable[str], make: Callable[[], bytes]) -> None:
        """Write a placeholder for pages that this build is still to write, where nothing is in their place."""
        reserved = Writer(self._into, foreign=self.foreign).reserve(paths, make)
        if reserved:
            self._reserved.append(zlib.compress(encode(reserved), 1))

    def _unfinished(self) -> Iterator[str]:
        """Yield the paths that have a placeholder and no page."""
        recorded = set(self._paths()) if self._reserved else set()
        for paths in self._reserved:
            yield from (path for path in decode(zlib.decompress(paths), list[str]) if path not in recorded)

    def close(self, site: Site, head: str, *, complete: bool) -> Site:
        """Delete the files that the site no longer has, and store the list of files, in the build's transaction.

        ``complete``: every file of the site was recorded, so any other file of an earlier build is stale. If a part
        of the site failed, the built commit is not stored, so that the next build makes the whole site again.
        """
        memo, name, folder = self._memo, self._site, self._claim.folder
        changes = self._changes(complete)
        stale = {row.path: row.size for row in self.recorded.stale(changes.outdated)}
        removed, changed = remove(folder, {**dict.fromkeys(self._unlisted()), **stale})
        remove(folder, dict.fromkeys(self._unfinished()))
        memo.forget_pages(name, changes.outdated)
        memo.keep_pages(name, changes.added)
        if site.must_be_made_again and complete:  # files of a failed part were written but not recorded
            removed += self._remove_unrecorded()
        foreign = self._warn_of_foreign(changed)
        list_size = 0 if site.must_be_made_again else self._shorten_list()
        memo.keep_folders(name, folder_times(folder, memo.folders(name), self._paths()))
        outcome = self._with_counts(site, removed)
        if not site.must_be_made_again:
            state = FolderState(
                fingerprint=self._project.fingerprint,
                head=head,
                revision=self._project.revision,
                foreign=foreign,
                list_size=list_size,
                site=outcome,
            )
            memo.keep_site(name, state.encode())
        return outcome

    def _with_counts(self, site: Site, removed: int) -> Site:
        recorded = sum(1 for _ in self.recorded.all())
        unchanged = max(0, recorded - self._written)
        return site._replace(written=self._written, unchanged=unchanged, removed=removed)

    def _unlisted(self) -> list[str]:
        """Return files that a killed build wrote: no memo lists them, and they are not part of the site."""
        left = dict.fromkeys(self._not_in_memo.unlisted)
        for path in self._paths() if left else ():
            left.pop(path, None)
        return list(left)

    def _remove_unrecorded(self) -> int:
        """Delete files that this build wrote, according to the list in the folder, but did not record."""
        left = files_not_in_memo(self._claim.folder, self._paths()).unlisted
        return remove(self._claim.folder, dict.fromkeys(left)).removed

    def _warn_of_foreign(self, changed: tuple[str, ...]) -> tuple[str, ...]:
        """Warn once about every file of the folder that no build wrote. Returns the files that stay."""
        warned = set(self._last.state.foreign) if self._last.state else set()
        foreign = sorted({*self._not_in_memo.foreign, *changed})
        recorded = set(self._paths()) if foreign else set()
        replaced = tuple(path for path in foreign if path in recorded)
        staying = tuple(path for path in foreign if path not in recorded)
        for fate, paths in (("stays", staying), ("was replaced by a page", replaced)):
            if new := tuple(path for path in paths if path not in warned):
                text = f"{self._into} holds what no build wrote, and it {fate}: {number_and_first(new)}"
                warnings.warn(text, Notice, stacklevel=1)
        return staying

    def _shorten_list(self) -> int:
        before = self._last.state.list_size if self._last.state and self._last.is_trusted else None
        return shorten_list(self._claim.folder, lambda: self._memo.each_page(self._site), before)

    def _changes(self, complete: bool) -> ListChanges:
        """Compare the recorded files with the memo: with all files of the last build, if this one is ``complete``.

        Otherwise with the files of the owners that were recorded whole.
        """
        owners = (None,) if complete else self.recorded.whole_owners()
        return self.recorded.compare(chain.from_iterable(self._memo.each_page(self._site, owner) for owner in owners))

    def _paths(self) -> Iterator[str]:
        """Yield the paths of all recorded files."""
        return (row.path for row in self.recorded.all())
