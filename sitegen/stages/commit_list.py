"""Writes the list of commits: new ones are added to its newest page, and a full page is written for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sitegen.analysis.memo import Memo
from sitegen.history.fold_state import encode
from sitegen.model.site import Page
from sitegen.pages import commits
from sitegen.pages.commits import ListedCommit, commits_pages
from sitegen.render.writer import digest
from sitegen.stages.cached_kinds import COMMIT_LIST_TAIL, CommitListTail
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.timeline import Timeline

OWNER: Final = "list of commits"


class CommitList:
    """Takes the new commits, oldest first, and writes the pages that they change.

    The memo holds the commits of the newest page and of the page before it, which links to it. One more commit
    therefore reads and writes only the newest page; when that page is too long, its older half becomes another page.
    """

    def __init__(self, timeline: Timeline, memo: Memo, site_files: SiteFiles) -> None:
        tail = COMMIT_LIST_TAIL.get(memo) or CommitListTail(older=0, rows=())
        self._older = tail.older
        self._rows = list(tail.rows)
        self._context = timeline.context
        self._whole = timeline.update.complete
        self._memo = memo
        self._site_files = site_files
        self._writer = site_files.writer(OWNER)

    def add(self, rows: Sequence[ListedCommit]) -> None:
        """Add commits, and write the pages that no later commit can change, so that few commits are held in memory."""
        self._rows += rows
        while len(self._rows) >= 3 * commits.COMMITS:
            self._write(commits_pages(self._rows[: 3 * commits.COMMITS], self._older)[:1])
            del self._rows[: commits.COMMITS]
            self._older += commits.COMMITS

    def finish(self) -> None:
        """Write the newest page, and the page before it, whose link to the newer page may have changed."""
        self._write(commits_pages(self._rows, self._older))
        self._site_files.record(OWNER, self._writer.files, whole=self._whole)
        COMMIT_LIST_TAIL.keep(self._memo, "", CommitListTail(older=self._older, rows=tuple(self._rows)))

    def _write(self, pages: Sequence[Page]) -> None:
        for page in pages:
            key = digest(self._context.templates, encode(page.view))
            if not self._writer.is_fresh(OWNER, page.path, key):
                self._writer.write(OWNER, page.path, self._context.renderer().render(page), key)
