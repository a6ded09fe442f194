"""The ledger: which files a site has, who they belong to, and whether the folder can be trusted to hold them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from sitegen.analysis.memo import Memo, PageRow
from sitegen.errors import Notice
from sitegen.history.fold_state import stored
from sitegen.project import Project
from sitegen.render.below import remove
from sitegen.render.output_folder import Claim, Standing, counted, look_into, shorten_list
from sitegen.render.writer import Writer, folder_times, same_times


class Site(NamedTuple):
    """What a build left behind."""

    page: str
    """The first page, as a path."""
    head: str
    commits: int
    evals: int
    iterations: int
    errors: int
    warnings: int
    notes: int
    past: int
    """Problems of earlier commits that the newest points do not have any more."""
    written: int = 0
    kept: int = 0
    removed: int = 0
    thinned: int = 0
    """Reports that are short so that the site fits into ``limits.site_bytes``."""
    failed: int = 0
    """Parts that sitegen failed to make: evals, instruction files, single pages. They are among the errors."""
    unmatched_redactions: tuple[str, ...] = ()
    """Globs under ``redact`` that fit no field: the site may show what they should hide."""
    extensions: tuple[tuple[str, str, int], ...] = ()
    """(group of entry points, name, version) of what installed packages added to its evals."""

    @property
    def problems(self) -> int:
        """What ``--strict`` counts; notes are only worth knowing."""
        return self.errors + self.warnings


def _still_installed(extensions: list[tuple[str, str, int]]) -> bool:
    """Whether packages that added something to the last site are as they were. Most sites have none: no import."""
    if not extensions:
        return True
    from sitegen.scoring.own import still_installed

    return still_installed(extensions)


class Ledger:
    """The files of one output folder, while a build brings them up to date."""

    def __init__(self, project: Project, claim: Claim, memo: Memo) -> None:
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
        """The last build was finished, nobody touched the folders since, and nobody asks for a look at each file."""
        self._standing = self._look()
        self._owners: set[str] = set()
        self._files: dict[str, list[PageRow]] = {}
        """What was recorded, by owner."""
        self._gone: list[PageRow] = []
        """What was recorded and is a file of the site no more."""
        self._written = 0
        self._kept = 0
        self.bound: int | None = self._state.get("bound") if self._state else None
        """What the files of the site have at most, in bytes, were no report short; None if nobody counted."""

    def _look(self) -> Standing:
        """What stands in the folder. While nothing was added to it, that is what the last build saw."""
        if self.trusted and self._state is not None and not self._claim.force:
            return Standing(tuple(self._state["foreign"]))
        known = (row.path for row in self._memo.pages(self._site))
        return look_into(self._claim.folder, known, each=self._claim.force)

    @property
    def foreign(self) -> tuple[str, ...]:
        """The files of the folder that no build wrote, and that none may replace."""
        return () if self._claim.force else self._standing.foreign

    @property
    def head(self) -> str | None:
        """The commit that the folder shows; None if it cannot be trusted, or if more than history has changed since."""
        if self._state and self.trusted and self._state["fingerprint"] == self._project.fingerprint:
            return str(self._state["head"]) if _still_installed(self._state["site"]["extensions"]) else None
        return None

    def unchanged(self) -> Site:
        """What the last build left behind, with nothing written."""
        assert self._state is not None
        site = Site(**self._state["site"])
        return site._replace(
            written=0,
            removed=0,
            kept=self._memo.count_pages(self._site),
            unmatched_redactions=tuple(site.unmatched_redactions),
            extensions=tuple((group, name, version) for group, name, version in site.extensions),
        )

    def known(self, owner: str) -> tuple[PageRow, ...]:
        """The files of an owner that surely stand in the folder."""
        if owner in self._owners:
            return tuple(self._files.get(owner, ()))
        return self._memo.pages(self._site, owner) if self.trusted else ()

    def writer(self, owner: str, *, new: bool = False) -> Writer:
        """A writer for the files of one owner, in this process. ``new``: for files that the owner does not have yet."""
        return Writer(self._into, () if new else self.known(owner), self.foreign)

    def record(self, owner: str, rows: Iterable[PageRow], written: int, kept: int, *, whole: bool = True) -> None:
        """The files that an owner has now; not ``whole``: those besides what it had."""
        self._files.setdefault(owner, []).extend(rows)
        self._written += written
        self._kept += kept
        if whole:
            self._owners.add(owner)

    def replace(self, owner: str, rows: Sequence[PageRow], written: int) -> None:
        """The files of an owner that was written a second time, or was not touched so far."""
        before, now = self._files.get(owner, []), {row.path for row in rows}
        self._gone += [row for row in before if row.path not in now]
        self._files[owner] = list(rows)
        self._written += written
        self._kept += len(rows) - len(before) - written
        self._owners.add(owner)

    def recorded(self) -> Iterator[PageRow]:
        """The files that were recorded so far."""
        return chain.from_iterable(self._files.values())

    def owners(self) -> tuple[str, ...]:
        """Those of whose files any were recorded or dropped."""
        return tuple(sorted(self._owners | self._files.keys()))

    def is_whole(self, owner: str) -> bool:
        """Whether what was recorded is all that the owner has."""
        return owner in self._owners

    def recorded_of(self, owner: str) -> tuple[PageRow, ...]:
        """The files of an owner that were recorded so far."""
        return tuple(self._files.get(owner, ()))

    def others(self) -> Iterator[PageRow]:
        """The files that the site has from earlier builds, where this one is not complete."""
        owners, recorded = set(map(stored, self._owners)), {row.path for row in self.recorded()}
        rows = self._memo.pages(self._site)
        return (row for row in rows if row.owner not in owners and row.path not in recorded)

    def drop(self, owner: str) -> None:
        """An owner is no more."""
        self._owners.add(owner)

    def close(self, site: Site, head: str, *, complete: bool) -> Site:
        """Delete what the site no longer has, and remember what it has. Inside the build's transaction.

        ``complete``: every file of the site was recorded, so whatever else is known or found is stale. What the folder
        shows is not remembered of a site of which a part failed, so that the next build makes it again.
        """
        memo, name, folder = self._memo, self._site, self._claim.folder
        before, rows = self._before(complete), list(self.recorded())
        stale = {row.path: row.size for row in self._stale((*before, *self._gone))}
        removed, changed = remove(folder, [*stale.items(), *((path, None) for path in self._unlisted())])
        known = set(before)
        memo.forget_pages(name, known.difference(rows))
        memo.keep_pages(name, (row for row in rows if row not in known))
        if site.failed and complete:  # what was written of a part that failed is recorded nowhere
            removed += self._remove_unrecorded(rows)
        foreign = self._name_foreign(changed)
        listed = 0 if site.failed else self._shorten_list()
        folders = (path for path, _ in memo.folders(name))
        memo.keep_folders(name, folder_times(folder, folders, (row.path for row in rows)))
        done = site._replace(written=self._written, kept=max(0, self._kept), removed=removed)
        state = {
            "fingerprint": self._project.fingerprint,
            "head": head,
            "bound": self.bound,
            "foreign": foreign,
            "list": listed,
            "site": done._asdict(),
        }
        if not site.failed:
            memo.keep_site(name, json.dumps(state).encode())
        return done

    def _unlisted(self) -> list[str]:
        """What former builds wrote, the memo does not know, and the site does not have: left by a build that died."""
        now = {row.path for row in self.recorded()}
        return [path for path in self._standing.unlisted if path not in now]

    def _remove_unrecorded(self, rows: list[PageRow]) -> int:
        """Delete what this build wrote by the list, and did not record."""
        left = look_into(self._claim.folder, (row.path for row in rows)).unlisted
        return remove(self._claim.folder, ((path, None) for path in left))[0]

    def _name_foreign(self, changed: tuple[str, ...]) -> tuple[str, ...]:
        """Say once which files of the folder are not of any build. Returns those that stay."""
        before = set(self._state["foreign"]) if self._state else set()
        seen = sorted({*self._standing.foreign, *changed})
        now = {row.path for row in self.recorded()} if seen else set()
        replaced = tuple(path for path in seen if path in now)
        kept = tuple(path for path in seen if path not in now)
        for what, paths in (("stays", kept), ("was replaced by a page", replaced)):
            if new := tuple(path for path in paths if path not in before):
                text = f"{self._into} holds what no build wrote, and it {what}: {counted(new)}"
                warnings.warn(text, Notice, stacklevel=1)
        return kept

    def _shorten_list(self) -> int:
        before = self._state["list"] if self._state and self.trusted else None
        paths = (row.path for row in self._memo.pages(self._site))
        return shorten_list(self._claim.folder, paths, before)

    def _before(self, complete: bool) -> tuple[PageRow, ...]:
        """What is known of all files, or of those of the owners that were recorded whole."""
        if complete:
            return self._memo.pages(self._site)
        return tuple(row for owner in sorted(self._owners) for row in self._memo.pages(self._site, owner))

    def _stale(self, before: Iterable[PageRow]) -> list[PageRow]:
        """Of these, the files that the site no longer has."""
        now = {row.path for row in self.recorded()}
        return [row for row in before if row.path not in now]


class Overlay(Ledger):
    """The ledger of a build on top of a site that stands: what differs goes into a folder of its own.

    Nothing is remembered of it. To the stages it is one more commit's; the site below is neither written nor read.

    The folder then holds the files that the site below does not have, or has otherwise; ``gone`` are those that only
    the site below has.
    """

    def __init__(self, below: Project, claim_below: Claim, claim: Claim, memo: Memo) -> None:
        super().__init__(below, claim_below, memo)
        self._into = claim.folder
        self._standing = look_into(claim.folder, ())
        self.gone: frozenset[str] = frozenset()

    def close(self, site: Site, head: str, *, complete: bool) -> Site:
        """Delete what the build before left in the folder and this one did not write. The memo stays as it is."""
        below = {row.path: row.key for row in self._memo.pages(self._site)} if self.trusted else {}
        differ = [row for row in self.recorded() if below.get(row.path) != row.key]
        self.gone = frozenset(row.path for row in self._stale(self._before(complete)))
        paths = {row.path for row in differ}
        removed, _ = remove(self._into, ((path, None) for path in self._standing.unlisted if path not in paths))
        shorten_list(self._into, paths, None)
        return site._replace(written=self._written, kept=max(0, self._kept), removed=removed)
