"""Writes the search log: new entries are appended to its last shard, and full shards never change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from heapq import merge
from itertools import chain, islice
from operator import itemgetter
from typing import Final, NamedTuple

from sitegen.analysis.copies import first_points_with_output
from sitegen.analysis.memo import Memo
from sitegen.model.series import EvalInfo
from sitegen.model.timeline import Edit, EvalHistory
from sitegen.pages.data.search import SHARD, SearchEntry, edit_entry, iteration_entry, shard, shard_of
from sitegen.stages.cached_kinds import SEARCH_TAIL, SearchTail
from sitegen.stages.evals import Evals
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.timeline import Timeline

OWNER: Final = "search"


def write_search_log(timeline: Timeline, evals: Evals, memo: Memo, site_files: SiteFiles) -> int:
    """Append the entries of this build. Returns how many entries the log has.

    The memo holds the entries of the last shard, so that one more commit reads and writes nothing else.
    """
    tail = SEARCH_TAIL.get(memo) or SearchTail(length=0, entries=())
    log = chain(tail.entries, _new_entries(timeline, evals))
    last: Sequence[SearchEntry] = tail.entries
    count = tail.length - len(last)
    writer = site_files.writer(OWNER)
    while entries := list(islice(log, SHARD)):
        file = shard(shard_of(count), entries)
        writer.write(OWNER, file.path, file.content)
        count += len(entries)
        last = entries if len(entries) < SHARD else ()
    site_files.record(OWNER, writer.files, whole=timeline.update.complete)
    SEARCH_TAIL.keep(memo, "", SearchTail(length=count, entries=tuple(last)))
    return count


class _At(NamedTuple):
    """The sort key of an entry: by commit, and within a commit points by eval, then edits by path."""

    position: int
    is_edit: bool
    name: str
    nth: int


def _new_entries(timeline: Timeline, evals: Evals) -> Iterator[SearchEntry]:
    """Yield points and edits of the new commits, in order. They are merged: each eval or file is in order already.

    Evals that sitegen failed to make are skipped, because they have no reports.
    """
    update = timeline.update
    failed = {problem.eval_id for problem in evals.failures}
    new = {
        record.commit.position for record in update.records
    }  # a new point, such as a deletion, can be of an older commit
    points = (
        _points(timeline.info(changed.history), changed.history, changed.first_new)
        for changed in update.evals
        if changed.history.id not in failed
    )
    edits = (_edits(file.edits) for file in update.instructions)
    return (entry() for at, entry in merge(*points, *edits, key=itemgetter(0)) if at.position in new)


def _points(info: EvalInfo, history: EvalHistory, first_new: int) -> Iterator[tuple[_At, Callable[[], SearchEntry]]]:
    originals = first_points_with_output(history.snapshots, history.kind)
    for index in range(first_new, len(history.snapshots)):
        at, original = history.snapshots[index], originals[index]
        copied = None if original is None or "outputs" not in at.cause else history.snapshots[original].label
        entry = partial(iteration_entry, info, at.label, at.slug, at.commit, copied)
        yield _At(position=at.commit.position, is_edit=False, name=info.id, nth=index), entry


def _edits(edits: Sequence[Edit]) -> Iterator[tuple[_At, Callable[[], SearchEntry]]]:
    for index, edit in enumerate(edits):
        yield _At(position=edit.commit.position, is_edit=True, name=edit.path, nth=index), partial(edit_entry, edit)
