"""Writes the list of commits and the search log: a new entry changes the newest part, and full ones never change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from heapq import merge
from itertools import chain, islice
from operator import itemgetter
from typing import Final, TypeAlias

from sitegen.analysis.series import first_points_with_output
from sitegen.engine.cached_kinds import CommitListTail, SearchTail
from sitegen.engine.evals import Evals
from sitegen.engine.site_files import SiteFiles
from sitegen.engine.timeline import Timeline
from sitegen.engine.writer import digest
from sitegen.history.fold_state import encode
from sitegen.model.series import EvalInfo
from sitegen.model.timeline import Edit, EvalHistory
from sitegen.pages.commit import ListedCommit, commits_page, older_than_page
from sitegen.pages.data.search import SHARD, SearchEntry, edit_entry, iteration_entry, shard, shard_of

_COMMIT_LIST: Final = "list of commits"
_SEARCH_LOG: Final = "search"
"""Owners of the files."""


class CommitList:
    """Takes the new commits, newest first, and writes each page as soon as it has all commits of the page.

    The memo holds the commits of the newest page and of the page before it, which links to it. One more commit
    therefore reads and writes only the newest page; when that page is too long, its older half becomes another page.
    """

    def __init__(self, timeline: Timeline, site_files: SiteFiles) -> None:
        self._before = timeline.before.commits if timeline.before else CommitListTail(older=0, rows=())
        self._commits = self._before.older + len(self._before.rows) + len(timeline.update.records)
        self._end = self._commits
        """Number of commits up to the newest one that is not on a page yet."""
        self._rows: list[ListedCommit] = []
        """Commits that are not on a page yet, newest first."""
        self._tail = CommitListTail(older=0, rows=())
        self._context = timeline.context
        self._whole = timeline.update.complete
        self._site_files = site_files
        self._writer = site_files.writer(_COMMIT_LIST)

    def add(self, rows: Sequence[ListedCommit]) -> None:
        """Add commits, and write the pages that they complete, so that few commits are held in memory."""
        self._rows += rows
        while self._rows and len(self._rows) >= self._end - older_than_page(self._end, self._commits):
            self._write_page()

    def finish(self) -> CommitListTail:
        """Write the pages whose commits, or whose link to a newer page, differ from those of the previous build.

        Returns the end of the list, to which the next build adds.
        """
        self.add(self._before.rows[::-1])
        if not self._commits:
            self._write_page()
        self._site_files.record(_COMMIT_LIST, self._writer.files, whole=self._whole)
        return self._tail

    def _write_page(self) -> None:
        first = older_than_page(self._end, self._commits)
        rows, self._rows = self._rows[: self._end - first], self._rows[self._end - first :]
        page = commits_page(rows, self._end, self._commits)
        key = digest(self._context.templates, encode(page.view))
        if not self._writer.is_fresh(_COMMIT_LIST, page.path, key):
            self._writer.write(_COMMIT_LIST, page.path, self._context.renderer().render(page), key)
        if self._end >= older_than_page(self._commits, self._commits):
            self._tail = CommitListTail(older=first, rows=(*reversed(rows), *self._tail.rows))
        self._end = first


def write_search_log(timeline: Timeline, evals: Evals, site_files: SiteFiles) -> SearchTail:
    """Append the entries of this build. Returns the end of the log.

    The memo holds the entries of the last shard, so that one more commit reads and writes nothing else.
    """
    tail = timeline.before.search if timeline.before else SearchTail(length=0, entries=())
    log = chain(tail.entries, _new_entries(timeline, evals))
    last: Sequence[SearchEntry] = tail.entries
    count = tail.length - len(last)
    writer = site_files.writer(_SEARCH_LOG)
    while entries := list(islice(log, SHARD)):
        file = shard(shard_of(count), entries)
        writer.write(_SEARCH_LOG, file.path, file.content)
        count += len(entries)
        last = entries if len(entries) < SHARD else ()
    site_files.record(_SEARCH_LOG, writer.files, whole=timeline.update.complete)
    return SearchTail(length=count, entries=tuple(last))


_Place: TypeAlias = tuple[int, bool, str, int]
"""The sort key of an entry: position of the commit, whether it is an edit, the eval or path, and the place in it."""


def _new_entries(timeline: Timeline, evals: Evals) -> Iterator[SearchEntry]:
    """Yield points and edits of the new commits, in order. They are merged: each eval or file is in order already.

    Evals that sitegen failed to make are skipped, because they have no reports.
    """
    update = timeline.update
    failed = {problem.eval_id for problem in evals.failures}
    # A new point, such as a deletion, can be of an older commit.
    new = {record.commit.position for record in update.records}
    points = (
        _points(timeline.info(changed.history), changed.history, changed.first_new)
        for changed in update.evals
        if changed.history.id not in failed
    )
    edits = (_edits(file.edits) for file in update.instructions)
    return (entry() for (position, *_), entry in merge(*points, *edits, key=itemgetter(0)) if position in new)


def _points(info: EvalInfo, history: EvalHistory, first_new: int) -> Iterator[tuple[_Place, Callable[[], SearchEntry]]]:
    originals = first_points_with_output(history.snapshots, history.kind)
    for index in range(first_new, len(history.snapshots)):
        at, original = history.snapshots[index], originals[index]
        copied = None if original is None or "outputs" not in at.cause else history.snapshots[original].label
        entry = partial(iteration_entry, info, at.label, at.slug, at.commit, copied)
        yield (at.commit.position, False, info.id, index), entry


def _edits(edits: Sequence[Edit]) -> Iterator[tuple[_Place, Callable[[], SearchEntry]]]:
    for index, edit in enumerate(edits):
        yield (edit.commit.position, True, edit.path, index), partial(edit_entry, edit)
