"""Which edit of the instructions made which output, and which edits stand beside a point.

The rule: an output was made with the newest edit that it can have been made with. That is

1. by the commit that it records, if it records one: the newest edit up to that commit;
2. else by the time that it records: the newest edit that was committed by then. But an output that came in one commit
   with an edit, and was recorded after the commit before that, was made while the edit was at work, and with it;
3. else by the commit that brought it: the newest edit up to that commit.

An output that is only scored again keeps the edit that made it, whenever the rules changed. All of this is association
in time; nothing tells that an edit caused what an output is like.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from sitegen.model.commits import Commit
from sitegen.model.gate import InstructionChange
from sitegen.model.timeline import Edit, InstructionHistory, Snapshot

SHORTEST_ID: Final = 7
"""Digits of a recorded commit id, below which it names none."""
BEFORE_ANY: Final = -1
"""Stands for the position of an edit, where an output was made before all of them."""


class OutputEdits(NamedTuple):
    """The snapshots of an eval and the edits of its instructions, by the rule above: one entry a snapshot."""

    snapshots: Sequence[Snapshot]
    edits: Sequence[Edit]
    """All edits of the instructions that drive the eval, by commit."""
    made_with: Sequence[Commit | None]
    """What ``instructions_of`` says of the output."""
    made_by: Sequence[int]
    """Position of the edit that made the output; ``BEFORE_ANY`` also if that is unknown."""
    since_previous: Sequence[tuple[Edit, ...]]
    """What ``edits_of_points`` says: each edit stands at one point."""
    beside: Sequence[tuple[Edit, ...]]
    """What ``_beside`` says: the edits that the output may owe its change to, by time alone."""
    stale: Sequence[bool]
    """Whether instructions were edited after the output was made, and it was not made again."""


def edits_of_outputs(snapshots: Sequence[Snapshot], edits: Sequence[Edit]) -> OutputEdits:
    """Tell for each snapshot of an eval which edit made its output, and which stand beside it.

    Args:
        snapshots: of the eval, in series order.
        edits: of the instructions that drive it, by commit.

    """
    made_with = [instructions_of(snapshot, edits) for snapshot in snapshots]
    made_by = _made_by(snapshots, edits, made_with)
    return OutputEdits(
        snapshots=snapshots,
        edits=edits,
        made_with=made_with,
        made_by=made_by,
        since_previous=edits_of_points(snapshots, edits),
        beside=_beside(snapshots, edits, made_by),
        stale=_stale(snapshots, edits, made_by),
    )


def instructions_of(at: Snapshot, edits: Sequence[Edit]) -> Commit | None:
    """The newest of the edits, which are in the order of commits, that the output can have been made with.

    Not after the time that the output records, else not after its commit. None if there is none, if a recorded time
    cannot be read, and if the output records a commit: that one is the answer.
    """
    if at.made_at:
        return None
    recorded = _time(at.recorded_at) if at.recorded_at else None
    if at.recorded_at and recorded is None:
        return None
    for index in range(bisect_right(edits, at.commit.position, key=_edit_position), 0, -1):
        commit = edits[index - 1].commit
        committed = _time(commit.committed_at) if recorded else None
        if recorded is None or (committed is not None and committed <= recorded):
            return commit
    return None


def edits_of_points(snapshots: Sequence[Snapshot], edits: Sequence[Edit]) -> list[tuple[Edit, ...]]:
    """For each snapshot the edits after the commit of the one before it, and up to its own commit."""
    positions = [edit.commit.position for edit in edits]
    since_previous = []
    start = 0
    for snapshot in snapshots:
        end = max(start, bisect_right(positions, snapshot.commit.position))
        since_previous.append(tuple(edits[start:end]))
        start = end
    return since_previous


def edited_since(before: Sequence[InstructionHistory], after: Sequence[InstructionHistory]) -> list[InstructionChange]:
    """The instruction files whose contents differ between two revisions, by path; a mere rename does not count.

    Each has its edits that *before* does not know. Those may be none, where history was written anew.
    """
    contents = {file.path: _newest_blob_id(file) for file in before}
    known = {edit.commit.sha for file in before for edit in file.edits}
    changes = []
    for file in after:
        names = [file.path, *(edit.path for edit in reversed(file.edits))]
        earlier = next((contents[name] for name in names if name in contents), None)
        if earlier != _newest_blob_id(file):
            commits = (edit.commit for edit in file.edits if edit.commit.sha not in known)
            changes.append(InstructionChange(file.path, tuple(dict.fromkeys(commits))))
    return sorted(changes, key=lambda change: change.path)


def _made_by(snapshots: Sequence[Snapshot], edits: Sequence[Edit], made_with: Sequence[Commit | None]) -> list[int]:
    commits = _KnownCommits(snapshots, edits)
    edited = sorted({edit.commit.position for edit in edits})
    by_iteration: dict[int, int] = {}
    made_by = []
    for snapshot, newest in zip(snapshots, made_with, strict=True):
        if "outputs" in snapshot.cause or snapshot.iteration not in by_iteration:
            commit = _instructions_at_work(snapshot, edits, commits, newest)
            end = bisect_right(edited, commit.position) if commit else 0
            by_iteration[snapshot.iteration] = edited[end - 1] if end else BEFORE_ANY
        made_by.append(by_iteration[snapshot.iteration])
    return made_by


def _instructions_at_work(
    snapshot: Snapshot, edits: Sequence[Edit], commits: _KnownCommits, newest: Commit | None
) -> Commit | None:
    """A commit with the instructions that the output was made with. ``newest``: what ``instructions_of`` says."""
    if snapshot.made_at is None:
        before = commits.before(snapshot.commit.position)
        return snapshot.commit if before and _recorded_after(snapshot, before) else newest
    recorded = commits.named(snapshot.made_at) if len(snapshot.made_at) >= SHORTEST_ID else None
    # A commit that neither edited these instructions nor brought a point: its place is not known here, its time may be.
    return recorded or instructions_of(snapshot._replace(made_at=None), edits)


class _KnownCommits:
    """The commits that brought outputs of an eval or edited its instructions, in their order."""

    def __init__(self, snapshots: Sequence[Snapshot], edits: Sequence[Edit]) -> None:
        by_position = {edit.commit.position: edit.commit for edit in edits}
        by_position |= {snapshot.commit.position: snapshot.commit for snapshot in snapshots}
        self._positions = sorted(by_position)
        self._by_position = by_position
        self._by_start: dict[str, list[Commit]] = {}
        for position in self._positions:
            commit = by_position[position]
            self._by_start.setdefault(commit.sha[:SHORTEST_ID], []).append(commit)

    def before(self, position: int) -> Commit | None:
        """The last one before a position on the first-parent line."""
        here = bisect_left(self._positions, position)
        return self._by_position[self._positions[here - 1]] if here else None

    def named(self, start: str) -> Commit | None:
        """The first one whose id starts so, of ``SHORTEST_ID`` digits or more."""
        alike = self._by_start.get(start[:SHORTEST_ID], ())
        return next((commit for commit in alike if commit.sha.startswith(start)), None)


def _beside(snapshots: Sequence[Snapshot], edits: Sequence[Edit], made_by: Sequence[int]) -> list[tuple[Edit, ...]]:
    """For each snapshot the edits since the outputs before; of one that is only scored again, since the point before.

    History does not say which of several outputs of one commit came before an edit: all of them have the edits since
    the last output of an earlier commit, and those of their own commit. What outputs record says more: the edits that
    came after this output, and those that the output before was made with already, are left out. A copy of the output
    before, byte for byte, leaves its edits to the next one as well: perhaps nothing was made with them yet.
    """
    positions = [edit.commit.position for edit in edits]
    beside = []
    previous = BEFORE_ANY  # position of the point before
    earlier = newest = BEFORE_ANY  # of the commits that brought outputs: of the last but one, and of the last
    made_before: int | None = None  # the edit that made the output before, if that records when or by which commit
    contents: list[str] = []  # of that output
    for snapshot, edit in zip(snapshots, made_by, strict=True):
        here = snapshot.commit.position
        start, end = previous, here
        if "outputs" in snapshot.cause:
            records = snapshot.made_at or snapshot.recorded_at
            made_here = edit if records and edit != BEFORE_ANY else None
            since = earlier if here == newest else newest
            start = since if made_before is None else made_before
            end = here if made_here is None else made_here
            oids = [blob.oid for blob in snapshot.outputs]
            if not oids or oids != contents:
                earlier, newest, made_before, contents = since, here, made_here, oids
        linked = edits[bisect_right(positions, start) : bisect_right(positions, end)]
        if start >= here == end:  # the edit was at work in both outputs, and may have been a draft in the first
            linked = edits[bisect_right(positions, here - 1) : bisect_right(positions, here)]
        beside.append(tuple(linked))
        previous = here
    return beside


def _stale(snapshots: Sequence[Snapshot], edits: Sequence[Edit], made_by: Sequence[int]) -> list[bool]:
    """Of each point, whether instructions were edited after those its output was made with, and it was not made again.

    That can be said of the newest point, and of points that were only scored again. An edit that came in one commit
    with the output, and was at work when it was made, is none of these edits.
    """
    positions = [edit.commit.position for edit in edits]
    stale = []
    made = 0
    for snapshot, edit in zip(snapshots, made_by, strict=True):
        rescored = "outputs" not in snapshot.cause
        if not rescored:
            made = edit if edit >= 0 else snapshot.commit.position
        until = bisect_right(positions, snapshot.commit.position)
        stale.append(rescored and until > bisect_right(positions, made))
    if stale:
        stale[-1] = len(positions) > bisect_right(positions, made)
    return stale


def _recorded_after(at: Snapshot, commit: Commit) -> bool:
    """Whether the time that an output records is not before a commit's; False if either is no time."""
    recorded, committed = _time(at.recorded_at or ""), _time(commit.committed_at)
    return recorded is not None and committed is not None and recorded >= committed


def _newest_blob_id(file: InstructionHistory) -> str | None:
    newest = file.edits[-1].new
    return newest.oid if newest and not file.deleted else None


def _edit_position(edit: Edit) -> int:
    return edit.commit.position


def _time(iso: str) -> datetime | None:
    """A time without a zone is taken as UTC."""
    try:
        time = datetime.fromisoformat(iso)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
