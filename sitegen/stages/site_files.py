"""Records the files of a site: their paths, their owners, and whether the output folder still has them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, groupby, starmap
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from sitegen.analysis.memo import Memo, PageRow
from sitegen.errors import Notice
from sitegen.extensions import InstalledExtension
from sitegen.history.memo_rows import stored
from sitegen.named_tuple import NamedTuple
from sitegen.project import Project
from sitegen.render.below import read_file, remove
from sitegen.render.output_folder import (
    Claim,
    FilesNotInMemo,
    content_digest,
    files_not_in_memo,
    folder_times,
    number_and_first,
    same_times,
    shorten_list,
)

if TYPE_CHECKING:
    from sitegen.model.problems import Problem
    from sitegen.render.writer import Writer, WrittenFiles
    from sitegen.stages.archive_files import ArchiveFiles
    from sitegen.text.secrets import Detector

SAVED_AT_ONCE: Final = 500
"""Number of recorded files after which the memo is saved, with the scores that were stored meanwhile."""


class Site(NamedTuple):
    """The outcome of a build, which the command line and the API report."""

    page: str
    """Path of the first page on disk."""
    head: str
    commits: int
    evals: int
    iterations: int
    errors: int
    warnings: int
    notes: int
    past: int
    """Number of problems of earlier commits that the newest points no longer have."""
    written: int = 0
    unchanged: int = 0
    removed: int = 0
    thinned: int = 0
    """Number of pages that were shortened so that the site fits into ``limits.site_bytes``."""
    failed: int = 0
    """Number of evals, instruction files and single pages that sitegen failed to make. They count among the errors."""
    unmatched_redactions: tuple[str, ...] = ()
    """Globs under ``redact`` that match no field: the site may show what they should hide."""
    extensions: tuple[InstalledExtension, ...] = ()
    """The kinds and metrics that installed packages added to its evals."""
    archived: int = 0
    """Number of files that were written to the archive."""
    patterns: tuple[str, ...] = ()
    """A sentence on the most costly error pattern of an eval, for the few evals where it explains most errors."""

    @property
    def problems(self) -> int:
        """Number of causes of problems that ``--strict`` counts: errors and warnings, not notes."""
        return self.errors + self.warnings


def _extensions(stored_site: dict[str, Any]) -> tuple[InstalledExtension, ...]:
    return tuple(starmap(InstalledExtension, stored_site["extensions"]))


def _still_installed(extensions: Sequence[InstalledExtension]) -> bool:
    """Decide whether the packages that added kinds or metrics to the last site have the same versions now."""
    if not extensions:
        return True
    # Most sites use no extensions, and a build without changes should import as little as possible.
    from sitegen.scoring.own import still_installed

    return still_installed(extensions)


def _archive_files(project: Project, memo: Memo, detector: Detector | None) -> ArchiveFiles | None:
    if project.archive is None:
        return None
    from sitegen.stages.archive_files import ArchiveFiles

    return ArchiveFiles(project, project.archive, memo, detector)


class SiteFiles:
    """Records the files of one output folder while a build brings them up to date."""

    def __init__(self, project: Project, claim: Claim, memo: Memo, detector: Detector | None = None) -> None:
        """``detector``: as in ``ArchiveFiles``."""
        self._project = project
        self._claim = claim
        self._into = claim.folder
        self._memo = memo
        self._site = project.site
        body = memo.site(self._site)
        self._state = json.loads(body) if body else None
        self.trusted = (
            self._state is not None
            and not project.options.verify
            and same_times(claim.folder, memo.folders(self._site))
        )
        """The last build was finished, no folder changed since, and ``--verify`` does not ask to compare every file."""
        self._not_in_memo = self._files_not_in_memo()
        self._whole_owners: set[str] = set()
        """Owners whose files were all recorded."""
        self._files: dict[str, list[bytes]] = {}
        """The recorded files by owner, each record encoded: as values they would take two and a half times the memory.
        A later record of a path counts."""
        self._replaced: list[PageRow] = []
        """Recorded files that a second record of the same owner does not contain."""
        self._found: dict[str, tuple[PageRow, ...]] = {}
        """The files of earlier builds that an untrusted folder still has, by owner."""
        self._saves = False
        self._unsaved: list[PageRow] = []
        self._written = 0
        self._reserved: list[bytes] = []
        """The paths that got a placeholder, encoded and compressed: as texts they would take ten times the memory."""
        self.bound: int | None = self._state.get("bound") if self._state else None
        """Upper bound on the bytes of the site if no report were short; None if the sizes were never added up."""
        self.archive = _archive_files(project, memo, detector)
        """The archive of full reports, if the user named one."""

    def _files_not_in_memo(self) -> FilesNotInMemo:
        """List the foreign files of the folder; the list of the last build is used until something is added to it."""
        if self.trusted and self._state is not None and not self._claim.force:
            return FilesNotInMemo(tuple(self._state["foreign"]))
        paths = (row.path for row in self._memo.each_page(self._site))
        return files_not_in_memo(self._claim.folder, paths, name_each=self._claim.force)

    @property
    def foreign(self) -> tuple[str, ...]:
        """Return the files of the folder that no build wrote and that no build may replace; none with ``--force``."""
        return () if self._claim.force else self._not_in_memo.foreign

    @property
    def head(self) -> str | None:
        """Return the commit that the folder shows; None if the folder is not trusted or more than history changed."""
        if self.archive and self.archive.is_new:
            return None
        if self._state and self.trusted and self._state["fingerprint"] == self._project.fingerprint:
            return str(self._state["head"]) if _still_installed(_extensions(self._state["site"])) else None
        return None

    @property
    def is_up_to_date(self) -> bool:
        """Whether the folder shows the commit that is built, by the name that the user gave it this time."""
        if self._state is None or self.head is None:
            return False
        return (self.head, self._state["revision"]) == (self._project.head, self._project.revision)

    def unchanged(self) -> Site:
        """Return the outcome of a build that has nothing to do: the outcome of the last build, with nothing written."""
        assert self._state is not None
        site = Site(**self._state["site"])
        return site._replace(
            written=0,
            removed=0,
            archived=0,
            unchanged=self._memo.count_pages(self._site),
            unmatched_redactions=tuple(site.unmatched_redactions),
            patterns=tuple(site.patterns),
            extensions=_extensions(self._state["site"]),
        )

    def archived_files(self, owner: str) -> tuple[PageRow, ...] | None:
        """Return the files of an owner that the archive has; None without an archive."""
        return self.archive.standing_files(owner) if self.archive else None

    def record_archived(self, files: WrittenFiles) -> None:
        """Write files of reports, which a task made, into the archive."""
        if self.archive and files.rows:
            self.archive.record(files)

    @property
    def archive_failures(self) -> tuple[Problem, ...]:
        """Return the problem that the archive could not be written, if so."""
        return (self.archive.failure,) if self.archive and self.archive.failure else ()

    def standing_files(self, owner: str) -> tuple[PageRow, ...]:
        """Return the files of an owner that are known to be in the folder; none with ``--verify``.

        If the folder cannot be trusted, because the last build was stopped or the folder was changed, each file is read
        and has to have the content that was written. If one lacks it, neither does any other that was made from the
        same inputs count: a page and the files beside it are made together.
        """
        if owner in self._whole_owners:
            return self.recorded_of(owner)
        if self.trusted:
            return self._memo.pages(self._site, owner)
        if owner not in self._found:
            rows = () if self._project.options.verify else self._memo.pages(self._site, owner)
            lost = {row.key for row in rows if not self._has(row)}
            self._found[owner] = tuple(row for row in rows if row.key not in lost)
        return self._found[owner]

    def _has(self, row: PageRow) -> bool:
        content = read_file(self._claim.folder, row.path, at_most=row.size)
        return content is not None and content_digest(content) == row.content

    def begin(self, *, complete: bool) -> None:
        """Save from now on every few hundred files what a build of all history wrote, so that the next can use it.

        After such a build was stopped, the list of the folder is longer than the site that was finished last. Any other
        build needs the list of that site until it ends, and has little to save.
        """
        self._saves = complete

    def writer(self, owner: str, *, new: bool = False) -> Writer:
        """Return a writer for the files of one owner. ``new``: for files that the owner does not have yet."""
        from sitegen.render.writer import Writer

        return Writer(self._into, () if new else self.standing_files(owner), self.foreign)

    def record(self, owner: str, files: WrittenFiles, *, whole: bool = True) -> None:
        """Record all files of an owner or, if not ``whole``, files that are added to the ones it already has.

        Files that were made on another machine are written first.
        """
        self._record(owner, files)
        self._save(files.rows)
        if whole:
            self._whole_owners.add(owner)

    def _record(self, owner: str, files: WrittenFiles) -> None:
        from sitegen.history.fold_state import encode

        self._files.setdefault(owner, []).append(encode(files.rows))
        self._written += files.written
        if files.contents:
            self._written += self.writer(owner, new=True).write_contents(files)

    def _save(self, rows: Sequence[PageRow]) -> None:
        if self._saves:
            self._unsaved += rows
            if len(self._unsaved) >= SAVED_AT_ONCE:
                self._memo.keep_pages(self._site, self._unsaved)
                self._memo.save()
                self._unsaved.clear()

    def reserve(self, paths: Iterable[str], content: bytes) -> None:
        """Write a placeholder for pages that this build is still to write, where nothing is in their place."""
        import zlib

        from sitegen.history.fold_state import encode
        from sitegen.render.writer import Writer

        reserved = Writer(self._into, foreign=self.foreign).reserve(paths, content)
        self._reserved.append(zlib.compress(encode(reserved), 1))

    def _unfinished(self) -> Iterator[str]:
        """Yield the paths that have a placeholder and no page."""
        if not self._reserved:
            return
        import zlib

        from sitegen.history.fold_state import decode

        recorded = {row.path for row in self.recorded()}
        for paths in self._reserved:
            yield from (path for path in decode(zlib.decompress(paths), list[str]) if path not in recorded)

    def replace(self, owner: str, files: WrittenFiles) -> None:
        """Record all files of an owner in place of any earlier record of it."""
        before = {row.path: row for row in self.recorded_of(owner)}
        paths = {row.path for row in files.rows}
        self._replaced += [row for path, row in before.items() if path not in paths]
        self._files.pop(owner, None)
        self._record(owner, files)
        self._save([row for row in files.rows if before.get(row.path) != row])  # the others were saved or wait for it
        self._whole_owners.add(owner)

    def recorded(self) -> Iterator[PageRow]:
        """Yield all files that were recorded so far."""
        return chain.from_iterable(map(self.recorded_of, self._files))

    def owners(self) -> tuple[str, ...]:
        """Return every owner that was recorded or dropped."""
        return tuple(sorted(self._whole_owners | self._files.keys()))

    def is_whole(self, owner: str) -> bool:
        """Decide whether all files of an owner were recorded."""
        return owner in self._whole_owners

    def recorded_of(self, owner: str) -> tuple[PageRow, ...]:
        """Return the files of an owner that were recorded so far."""
        from sitegen.history.fold_state import decode

        rows = chain.from_iterable(decode(record, tuple[PageRow, ...]) for record in self._files.get(owner, ()))
        return tuple({row.path: row for row in rows}.values())

    def earlier_files(self) -> Iterator[PageRow]:
        """Yield the files of earlier builds that an incremental build leaves as they are."""
        owners, recorded = set(map(stored, self._whole_owners)), {row.path for row in self.recorded()}
        rows = self._memo.each_page(self._site)
        return (row for row in rows if row.owner not in owners and row.path not in recorded)

    def drop(self, owner: str) -> None:
        """Record that an owner has no files any more."""
        self._whole_owners.add(owner)

    def close(self, site: Site, head: str, *, complete: bool) -> Site:
        """Delete the files that the site no longer has, and store the list of files, in the build's transaction.

        ``complete``: every file of the site was recorded, so any other file of an earlier build is stale. If a part
        of the site failed, the built commit is not stored, so that the next build makes the whole site again.
        """
        memo, name, folder = self._memo, self._site, self._claim.folder
        unlisted, outdated = self._compared_with_list(complete)
        stale = {row.path: row.size for row in self._stale((*outdated, *self._replaced))}
        removed, changed = remove(folder, {**dict.fromkeys(self._unlisted()), **stale})
        remove(folder, dict.fromkeys(self._unfinished()))
        memo.forget_pages(name, outdated)
        memo.keep_pages(name, unlisted)
        if site.failed and complete:  # files of a failed part were written but not recorded
            removed += self._remove_unrecorded()
        foreign = self._name_foreign(changed)
        length = 0 if site.failed else self._shorten_list()
        memo.keep_folders(name, folder_times(folder, memo.folders(name), (row.path for row in self.recorded())))
        done = self._counted(site, removed)
        state = {
            "fingerprint": self._project.fingerprint,
            "head": head,
            "revision": self._project.revision,
            "bound": self.bound,
            "foreign": foreign,
            "list": length,
            "site": done._asdict(),
        }
        if self.archive:
            self.archive.close()
        if not site.failed:
            memo.keep_site(name, json.dumps(state).encode())
        return done

    def _counted(self, site: Site, removed: int) -> Site:
        recorded = sum(1 for _ in self.recorded())
        archived = self.archive.written if self.archive else 0
        unchanged = max(0, recorded - self._written)
        return site._replace(written=self._written, unchanged=unchanged, removed=removed, archived=archived)

    def _unlisted(self) -> list[str]:
        """Return files that a killed build wrote: no memo lists them, and they are not part of the site."""
        left = dict.fromkeys(self._not_in_memo.unlisted)
        for row in self.recorded() if left else ():
            left.pop(row.path, None)
        return list(left)

    def _remove_unrecorded(self) -> int:
        """Delete files that this build wrote, according to the list in the folder, but did not record."""
        left = files_not_in_memo(self._claim.folder, (row.path for row in self.recorded())).unlisted
        return remove(self._claim.folder, dict.fromkeys(left)).removed

    def _name_foreign(self, changed: tuple[str, ...]) -> tuple[str, ...]:
        """Warn once about every file of the folder that no build wrote. Returns the files that stay."""
        warned = set(self._state["foreign"]) if self._state else set()
        foreign = sorted({*self._not_in_memo.foreign, *changed})
        recorded = {row.path for row in self.recorded()} if foreign else set()
        replaced = tuple(path for path in foreign if path in recorded)
        staying = tuple(path for path in foreign if path not in recorded)
        for fate, paths in (("stays", staying), ("was replaced by a page", replaced)):
            if new := tuple(path for path in paths if path not in warned):
                text = f"{self._into} holds what no build wrote, and it {fate}: {number_and_first(new)}"
                warnings.warn(text, Notice, stacklevel=1)
        return staying

    def _shorten_list(self) -> int:
        before = self._state["list"] if self._state and self.trusted else None
        return shorten_list(self._claim.folder, lambda: self._memo.each_page(self._site), before)

    def _compared_with_list(self, complete: bool) -> tuple[list[PageRow], list[PageRow]]:
        """Return the recorded files that the memo does not list as they are now, and the files that it lists otherwise.

        ``complete``: compares all files of the last build, otherwise those of the owners that were recorded whole.
        """
        owners = (None,) if complete else sorted(self._whole_owners)
        listed = chain.from_iterable(self._memo.each_page(self._site, owner) for owner in owners)
        unlisted: list[PageRow] = []
        outdated: list[PageRow] = []
        others = dict.fromkeys(self._files)
        for owner, rows in groupby(listed, key=attrgetter("owner")):
            before, now = set(rows), self.recorded_of(owner)
            unlisted += (row for row in now if row not in before)
            outdated += sorted(before.difference(now))
            others.pop(owner, None)
        unlisted += chain.from_iterable(map(self.recorded_of, others))
        return unlisted, outdated

    def _stale(self, before: Collection[PageRow]) -> list[PageRow]:
        recorded = {row.path for row in self.recorded()} if before else ()
        return [row for row in before if row.path not in recorded]
