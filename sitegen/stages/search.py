"""The search log: what it grows by, appended to the last shard; full shards are never touched again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Final

from sitegen.analysis.memo import Memo
from sitegen.pages.search import SHARD, Entry, edit_entry, iteration_entry, shard, shard_of
from sitegen.stages.ledger import Ledger
from sitegen.stages.timeline import Timeline

OWNER: Final = "search"
_KIND, _TAIL = "search", "tail"


def write_search_log(timeline: Timeline, memo: Memo, ledger: Ledger) -> int:
    """Bring the log up to date. Returns how many entries it has.

    The memo keeps the entries of the last shard, so that one more commit reads and writes no more than that.
    """
    whole = timeline.update.complete
    body = None if whole else memo.get(_KIND, _TAIL)
    count: int
    count, last = json.loads(body) if body else (0, [])
    log = chain((Entry(*entry) for entry in last), _new_entries(timeline))
    count -= len(last)
    writer = ledger.writer(OWNER)
    while entries := list(islice(log, SHARD)):
        file = shard(shard_of(count), entries)
        writer.write(OWNER, file.path, file.content)
        count += len(entries)
        last = entries if len(entries) < SHARD else []
    ledger.record(OWNER, writer.rows, writer.written, writer.kept, whole=whole)
    memo.put(_KIND, _TAIL, json.dumps([count, last]).encode())
    return count


def _new_entries(timeline: Timeline) -> Iterator[Entry]:
    """Points and edits of the new commits, by commit; within a commit points by eval, then edits by path."""
    update = timeline.update
    entries: list[tuple[int, int, str, int, Callable[[], Entry]]] = []
    new = {record.commit.position for record in update.records}
    for one in update.evals:
        info = timeline.info(one.history)
        for index, snapshot in enumerate(one.history.snapshots[one.first_new :]):
            if snapshot.commit.position in new:  # else it is an older one that was deleted, say
                entry = partial(iteration_entry, info, snapshot.label, snapshot.slug, snapshot.commit.subject)
                entries.append((snapshot.commit.position, 0, info.id, index, entry))
    for file in update.instructions:
        for index, edit in enumerate(file.edits):
            if edit.commit.position in new:
                entries.append((edit.commit.position, 1, edit.path, index, partial(edit_entry, edit)))
    entries.sort(key=lambda entry: entry[:4])
    return (entry() for *_, entry in entries)
