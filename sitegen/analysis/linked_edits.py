"""Which edits of instructions stand beside a point: those that its output may owe its change to, by time alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from sitegen.analysis.windows import BEFORE_ANY
from sitegen.model.timeline import Edit, Snapshot


def linked_edits(snapshots: Sequence[Snapshot], edits: Sequence[Edit], speaks: Sequence[int]) -> list[tuple[Edit, ...]]:
    """For each snapshot the edits since the outputs before; of one that is only scored again, since the point before.

    History does not say which of several outputs of one commit came before an edit: all of them have the edits since
    the last output of an earlier commit, and those of their own commit. What outputs record says more: the edits that
    came after this output, and those that the output before was made with already, are left out. A copy of the output
    before, byte for byte, leaves its edits to the next one as well: perhaps nothing was made with them yet.

    Args:
        snapshots: of an eval, in series order.
        edits: of the instructions that drive it, by commit.
        speaks: of each snapshot the position of the edit that it speaks for, as ``edits_of_outputs`` says.

    """
    positions = [edit.commit.position for edit in edits]
    found = []
    previous = BEFORE_ANY  # position of the point before
    earlier = newest = BEFORE_ANY  # of the commits that brought outputs: of the last but one, and of the last
    made_with: int | None = None  # what the output before was made with, if it records that
    contents: list[str] = []  # of that output
    for snapshot, spoken in zip(snapshots, speaks, strict=True):
        here = snapshot.commit.position
        start, end = previous, here
        if "outputs" in snapshot.cause:
            made = spoken if _records(snapshot) and spoken != BEFORE_ANY else None
            since = earlier if here == newest else newest
            start = since if made_with is None else made_with
            end = here if made is None else made
            oids = [blob.oid for blob in snapshot.outputs]
            if not oids or oids != contents:
                earlier, newest, made_with, contents = since, here, made, oids
        linked = edits[bisect_right(positions, start) : bisect_right(positions, end)]
        if start >= here == end:  # the edit was at work in both outputs, and may have been a draft in the first
            linked = edits[bisect_right(positions, here - 1) : bisect_right(positions, here)]
        found.append(tuple(linked))
        previous = here
    return found


def _records(snapshot: Snapshot) -> bool:
    return bool(snapshot.made_at or snapshot.recorded_at)
