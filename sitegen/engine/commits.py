"""Writes the page of every new commit that changed a file that sitegen reads, the list of commits, and the search log.

The page of a commit without any output shows the effects of its edits. It is written again when new outputs change
these. A new entry of a list changes its newest part, and full parts never change.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from operator import attrgetter, itemgetter
from typing import Final, TypeAlias, get_args

from msgspec.structs import asdict, replace

from sitegen.analysis.effects import EffectIndex
from sitegen.analysis.series import first_points_with_output
from sitegen.engine.cached_kinds import COMMITS_WITHOUT_OUTPUT, END_OF_WALK, EndOfWalk, decode
from sitegen.engine.evals import Evals
from sitegen.engine.failures import attempt
from sitegen.engine.memo import PageRow
from sitegen.engine.timeline import Build
from sitegen.engine.worker_context import WorkerContext
from sitegen.engine.writer import Writer, WrittenFiles, digest_of_inputs
from sitegen.history.patches import read_patches
from sitegen.model.commits import WORKTREE
from sitegen.model.frozen import Frozen
from sitegen.model.problems import Problem
from sitegen.model.timeline import Cause
from sitegen.pages import links
from sitegen.pages.commit import CommitEffect, CommitView, EvalMove, ListedCommit, commits_page, older_than_page
from sitegen.pages.data.search import SHARD, SearchEntry, edit_entry, iteration_entry, shards
from sitegen.pages.edit import FILES, draw_few
from sitegen.pages.effects import sort_out
from sitegen.pages.instruction import apart_since, thickens
from sitegen.pages.instructions import edits_by_commit
from sitegen.pages.other_pages import failed_page

_COMMIT_LIST: Final = "list of commits"  # owner of its pages
_SEARCH_LOG: Final = "search"  # owner of its files


class CommitList:
    """Takes the new commits, newest first, and writes each page as soon as it has all commits of the page.

    The memo holds the commits of the newest page and of the page before it, which links to it. One more commit
    therefore reads and writes only the newest page; when that page is too long, its older half becomes another page.
    """

    def __init__(self, build: Build) -> None:
        timeline, site_files = build.timeline, build.files
        self._listed = timeline.listed
        self._commits = len(timeline.records)
        self._end = self._commits
        """Number of commits up to the newest one that is not on a page yet."""
        self._rows: list[ListedCommit] = []
        """Commits that are not on a page yet, newest first."""
        self._tail: tuple[ListedCommit, ...] = ()
        self._context = timeline.context
        self._whole = timeline.is_complete
        self._site_files = site_files
        self._writer = site_files.writer(_COMMIT_LIST)

    def add(self, rows: Sequence[ListedCommit]) -> None:
        """Add commits, and write the pages that they complete, so that few commits are held in memory."""
        self._rows += rows
        while self._rows and len(self._rows) >= self._end - older_than_page(self._end, self._commits):
            self._write_page()

    def finish(self) -> tuple[ListedCommit, ...]:
        """Write the pages whose commits, or whose link to a newer page, differ from those of the previous build.

        Returns the end of the list, to which the next build adds.
        """
        self.add(self._listed[::-1])
        if not self._commits:
            self._write_page()
        self._site_files.record(_COMMIT_LIST, self._writer.files, whole=self._whole)
        return self._tail

    def _write_page(self) -> None:
        first = older_than_page(self._end, self._commits)
        rows, self._rows = self._rows[: self._end - first], self._rows[self._end - first :]
        page = commits_page(rows, self._end, self._commits)
        key = digest_of_inputs("list", "page of commits", look=self._context.look, commits=page.view)
        if not self._writer.is_fresh(page.path, key):
            self._writer.write(page.path, self._context.renderer().render(page), key)
        if self._end >= older_than_page(self._commits, self._commits):
            self._tail = (*reversed(rows), *self._tail)
        self._end = first


def write_search_log(evals: Evals) -> int:
    """Write the shards of the log with entries of new commits, and those after it. Returns the number of all entries.

    The log has points and edits by commit; in a commit, points by eval before edits by path. Evals that sitegen failed
    to make are skipped, because they have no reports.
    """
    build, timeline = evals.build, evals.build.timeline
    log: list[_Entry] = []
    for history in timeline.evals:
        if history.id in evals.records:
            info, originals = timeline.info(history), first_points_with_output(history.snapshots, history.kind)
            for at, original in zip(history.snapshots, originals, strict=True):
                copied = None if original is None or "outputs" not in at.cause else history.snapshots[original].label
                log.append((at.commit.position, partial(iteration_entry, info, at, copied)))
    edits = sorted(chain.from_iterable(file.edits for file in timeline.instructions), key=attrgetter("path"))
    log += [(edit.commit.position, partial(edit_entry, edit)) for edit in edits]
    log.sort(key=itemgetter(0))
    number = bisect_left(log, timeline.first_new, key=itemgetter(0)) // SHARD
    writer = build.files.writer(_SEARCH_LOG)
    for file in shards([entry() for _, entry in log[number * SHARD :]], number):
        writer.write(file.path, file.content)
    build.files.record(_SEARCH_LOG, writer.files, whole=timeline.is_complete)
    return len(log)


_Entry: TypeAlias = tuple[int, Callable[[], SearchEntry]]
"""The position of a commit, and what makes an entry of it."""


OWNER: Final = "commits"
AT_ONCE: Final = 100
"""Number of commits in one task."""


class CommitsTask(Frozen):
    """Several commits whose pages one process writes."""

    context: WorkerContext
    commits: tuple[CommitView, ...]
    pages: tuple[PageRow, ...]
    """The pages of these commits that are known to be in the output folder."""


class CommitsDone(Frozen):
    """The result of a ``CommitsTask``."""

    files: WrittenFiles
    rows: tuple[ListedCommit, ...]
    failures: tuple[Problem, ...] = ()
    """One for each commit whose page could not be made, in their order."""


def write_commits(evals: Evals, effects: EffectIndex) -> tuple[CommitView | None, tuple[Problem, ...]]:
    """Write the pages of new commits, of older commits whose edits have other effects now, and the list of commits.

    Returns the view of the page of uncommitted changes, if there is such a page, and a problem for each commit whose
    page could not be made, oldest first.
    """
    build = evals.build
    timeline, site_files = build.timeline, build.files
    uncommitted: CommitView | None = None
    failures: list[Problem] = []
    new = {record.commit.position for record in timeline.new_records}
    # Older commits without any output, if their edits have other effects now. The newest comes first.
    again = tuple(
        replace(past, around_edits=effects.effects_of(position))
        for position in sorted(evals.measured - new, reverse=True)
        if (past := COMMITS_WITHOUT_OUTPUT.get(build.memo, str(position)))
    )
    present = {row.path: row for row in site_files.present_files(OWNER)} if timeline.is_complete or again else {}
    commits = chain(_new_commits(evals, effects), again)
    tasks = (
        CommitsTask(
            context=timeline.context,
            commits=batch,
            pages=tuple(present[path] for view in batch if (path := links.commit(view.commit.sha)) in present),
        )
        for batch in iter(lambda: tuple(islice(commits, AT_ONCE)), ())
    )
    commit_list = CommitList(build)
    for task, done in build.pool.map(write_commit_pages, tasks):
        site_files.record(OWNER, done.files, whole=timeline.is_complete)
        commit_list.add([row for row in done.rows if row.commit.position in new])
        failures += done.failures
        if task.commits[0].commit.sha == WORKTREE and not any(each.commit == WORKTREE for each in failures):
            uncommitted = task.commits[0]
    END_OF_WALK.keep(build.memo, "", EndOfWalk(**asdict(timeline.end), listed=commit_list.finish()))
    return uncommitted, tuple(reversed(failures))


def _new_commits(evals: Evals, effects: EffectIndex) -> Iterator[CommitView]:
    timeline = evals.build.timeline
    layout = timeline.layout
    summaries = {summary.info.id: summary for summary in evals.summaries}
    histories = {history.id: history for history in timeline.evals}
    layouts = {history.id: history.layout for history in timeline.evals}
    edits_of = edits_by_commit(timeline.instructions)
    apart = apart_since(timeline.instructions)
    earlier = (None, *(record.commit.sha for record in timeline.records[:-1]))
    for record, before in zip(reversed(timeline.new_records), reversed(earlier), strict=False):
        position = record.commit.position
        own = edits_of.get(position, ())
        edits = [file_edit.edit for file_edit in own]
        moves = []  # of each eval that has points of the commit, except evals that sitegen failed to make
        for eval_id in sorted({eval_id for eval_id, _ in record.snapshots} & summaries.keys()):
            headlines = summaries[eval_id].headlines
            start = bisect_left(headlines, position, key=attrgetter("commit_position"))
            end = bisect_right(headlines, position, key=attrgetter("commit_position"))
            effect = evals.commit_effects.get(eval_id, {}).get(record.commit.sha)
            causes = {cause for snapshot in histories[eval_id].snapshots[start:end] for cause in snapshot.cause}
            moves.append(
                EvalMove(
                    info=summaries[eval_id].info,
                    specs=summaries[eval_id].specs,
                    before=headlines[start - 1] if start else None,
                    points=headlines[start:end],
                    causes=tuple(cause for cause in get_args(Cause) if cause in causes),
                    effect=None if effect is None else decode(zlib.decompress(effect), CommitEffect),
                    originals=tuple(
                        None if point.first_with_output is None else headlines[point.first_with_output].label
                        for point in headlines[start:end]
                    ),
                )
            )
        changed = sort_out(record, layout, timeline.renamed, layouts)
        view = CommitView(
            record=record,
            moves=tuple(moves),
            changed=changed,
            names={  # of evals that had a page when the commit was the newest: later evals change nothing
                item.eval_id: summary.info.name
                for item in changed
                if (summary := summaries.get(item.eval_id))
                and (item.role == "ground_truth" or any(at.commit_position <= position for at in summary.headlines[:1]))
            },
            earlier=before,
            thickened=tuple(edit.path for edit in edits if thickens(edit, apart)),
            edits=own,
        )
        if edits and not any(None in move.originals for move in moves):
            COMMITS_WITHOUT_OUTPUT.keep(evals.build.memo, str(position), view)
            view = replace(view, around_edits=effects.effects_of(position))
        yield view


def write_commit_pages(task: CommitsTask) -> CommitsDone:
    """Write the pages that are out of date. The page of uncommitted changes is always made."""
    writer = Writer(task.context.out, OWNER, task.pages, task.context.foreign)
    renderer = task.context.renderer()
    rows: list[ListedCommit] = []
    failures: list[Problem] = []
    for view in task.commits:
        sha = view.commit.sha
        path = links.commit(sha)
        key = digest_of_inputs("hundred commits", "commit", look=task.context.look, commit=view)
        fresh = sha != WORKTREE and writer.is_fresh(path, key)
        result = attempt("the page of this commit", partial(_listed_page, task, view, fresh=fresh), commit=sha)
        if isinstance(result, Problem):
            failures.append(result)
            rows.append(ListedCommit(commit=replace(view.commit, body="")))
            writer.write(path, renderer.render(failed_page(path, result)))
            continue
        row, content = result
        rows.append(row)
        if content is not None:
            writer.write(path, content, key)
    return CommitsDone(files=writer.files, rows=tuple(rows), failures=tuple(failures))


def _listed_page(task: CommitsTask, view: CommitView, *, fresh: bool) -> tuple[ListedCommit, bytes | None]:
    """Return a commit as the list has it, and the bytes of its page unless the output folder already has them."""
    if fresh:
        return view.listed, None
    rewritten = (edit for edit, _ in view.edits if edit.old and edit.new and edit.old.oid != edit.new.oid)
    edits = tuple(islice(rewritten, FILES))
    patches = draw_few(edits, read_patches(task.context.open(), edits, task.context.instructions)) if edits else {}
    return view.listed, task.context.renderer().render(replace(view, patches=patches).page)
