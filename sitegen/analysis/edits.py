"""Attributes each output to an edit of the instructions, and lists the edits beside each point.

This is the one answer to the question which instructions made an output. All pages show it, with the same doubt:

1. If the output records a commit, it was made with the newest edit up to that commit.
2. Else, if it records a time, it was made with the newest edit that was committed by then. But if the output was
   committed together with an edit, and its time is after the previous commit, the edit may have been in use already,
   as a draft: the output was made with the one or the other.
3. Else it was made with the newest edit up to the commit that added the output. If a commit edits nothing and puts an
   earlier output back, as by a revert, the output was made when it was there first.

Of two edits the newer one has the output among its points, and neither is credited with the change.

A re-scored output stays attributed to its edit. All of this is association in time: it does not show that an edit
caused anything about an output.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.timeline import Edit, InstructionHistory, Snapshot
from sitegen.text.plain import moment_of

if TYPE_CHECKING:
    from sitegen.model.gate import GateInstruction

_SHORTEST_ID: Final = 7  # fewest digits of a recorded commit id; a shorter id is ignored
BEFORE_ANY: Final = -1
"""Stands for the position of the edit of an output that was made before all edits."""
_POSITION: Final = attrgetter("position")
_REVERTS: Final = re.compile(r'^(?:Revert|Reapply) "|^This reverts commit ', re.MULTILINE)  # as git and hosts write


class OutputEdits(Frozen, gc=True, dict=True):
    """Which edits belong to each snapshot of an eval. Lists have one entry for each snapshot."""

    snapshots: Sequence[Snapshot]
    """In series order."""
    edits: Sequence[Edit]
    """All edits of the instructions that drive the eval, by commit."""

    @cached_property
    def made_with(self) -> list[tuple[Commit, ...]]:
        """The commits of the edits that the output can have been made with, oldest first.

        As a rule one; two if it is open which of them; none if it was made before all edits or the edit is unknown.
        """
        return [*map(self._instructions_of, self._made)]

    @cached_property
    def _made(self) -> list[Snapshot]:
        """The snapshot that first had each output, if a commit without an edit put it back; otherwise its own snapshot.

        An output is put back if nothing else was in the place of its iteration since, or if the commit is a revert.
        """
        latest: dict[int | tuple[str, ...], Snapshot] = {}  # by iteration, and by the contents of the output
        edited, made = {*self._positions}, list[Snapshot]()
        for snapshot in self.snapshots:
            contents, commit = tuple(snapshot.output_contents), snapshot.commit
            first = latest.get(snapshot.iteration, snapshot)
            if "outputs" in snapshot.cause:
                is_revert = _REVERTS.search(f"{commit.subject}\n{commit.body}")
                same = latest.get(contents, snapshot) if is_revert else first
                is_told = commit.position in edited or snapshot.made_at or snapshot.recorded_at
                first = same if contents and not is_told and tuple(same.output_contents) == contents else snapshot
                latest[contents] = latest[snapshot.iteration] = first
            made.append(first)
        return made

    def _instructions_of(self, snapshot: Snapshot) -> tuple[Commit, ...]:
        """Return the commits of the edits that one output can have been made with."""
        end = bisect_right(self._positions, snapshot.commit.position)
        made_at = snapshot.made_at or ""  # fewer than ``_SHORTEST_ID`` digits name no commit
        candidates = self._by_prefix.get(made_at[:_SHORTEST_ID], ()) if made_at else ()
        if recorded := next((commit for commit in candidates if commit.sha.startswith(made_at)), None):
            end = bisect_right(self._positions, recorded.position)
            return (self.edits[end - 1].commit,) if end else ()
        # A commit that neither edited these instructions nor added a point is not indexed. The output may have a time.
        newest = (self.edits[end - 1].commit,) if end else ()
        if snapshot.recorded_at is None:
            return newest
        stated = moment_of(snapshot.recorded_at)
        times = ((edit.commit, moment_of(edit.commit.committed_at)) for edit in reversed(self.edits[:end]))
        earlier = next(((commit,) for commit, time in times if stated and time and time <= stated), ())
        at = bisect_left(self._commits, snapshot.commit.position, key=_POSITION)
        draft = newest if newest and newest[0].position == snapshot.commit.position and newest != earlier else ()
        committed_at = moment_of(self._commits[at - 1].committed_at if at else "")
        is_after_previous = stated is not None and committed_at is not None and stated >= committed_at
        return (*earlier, *draft) if is_after_previous and not snapshot.made_at else earlier

    @cached_property
    def since_previous(self) -> list[tuple[Edit, ...]]:
        """The edits after the commit of the previous snapshot, up to its own: each belongs to exactly one snapshot."""
        starts = [0, *accumulate(self._ends, max)]
        return [tuple(self.edits[start:end]) for start, end in pairwise(starts)]

    @cached_property
    def beside(self) -> list[tuple[Edit, ...]]:
        """The edits since the previous output; for a re-scored snapshot, since the previous one. By time alone.

        History does not show which of several outputs of one commit were made before an edit. So all of them get
        the edits since the last output of an earlier commit, and the edits of their own commit. Recorded times and
        commits narrow this down: edits after this output, and edits that the previous output was already made with,
        are excluded. If an output is a byte-for-byte copy of the previous one, the next output gets its edits too,
        because possibly no output was made with them yet.
        """
        beside = []
        previous = BEFORE_ANY  # position of the previous point's commit
        earlier = newest = BEFORE_ANY  # positions of the last two commits that added outputs
        made_before: int | None = None  # edit of the previous output, if that records a time or a commit
        contents: list[str] = []  # blob ids of the previous output
        for snapshot, made, edit in zip(self.snapshots, self._made, map(attributed_to, self.made_with), strict=True):
            here = snapshot.commit.position
            start, end = previous, here
            if "outputs" in snapshot.cause:
                records = snapshot.made_at or snapshot.recorded_at or made is not snapshot
                made_here = edit if records and edit != BEFORE_ANY else None
                since = earlier if here == newest else newest
                start = since if made_before is None else made_before
                end = here if made_here is None else made_here
                oids = [blob.oid for blob in snapshot.outputs]
                if not oids or oids != contents:
                    earlier, newest, made_before, contents = since, here, made_here, oids
            linked = self.edits[bisect_right(self._positions, start) : bisect_right(self._positions, end)]
            if start >= here == end:  # both outputs were made with this edit, the first possibly with a draft
                linked = self.edits[bisect_right(self._positions, here - 1) : bisect_right(self._positions, here)]
            beside.append(tuple(linked))
            previous = here
        return beside

    @cached_property
    def stale(self) -> list[bool]:
        """Whether instructions were edited after the output was made, and it was not made again.

        Only the newest point and re-scored points can be stale. An edit that was committed together with the
        output, and was in use when the output was made, does not count. Neither do edits that were taken back.
        """
        stale = []
        moves = (hash(edit.new and edit.new.oid) - hash(edit.old and edit.old.oid) for edit in self.edits)
        contents = [*accumulate(moves, initial=0)]  # after each number of edits; equal sums are the same files
        for snapshot, made, commits, until in zip(self.snapshots, self._made, self.made_with, self._ends, strict=True):
            used = contents[bisect_right(self._positions, (commits[-1] if commits else made.commit).position)]
            stale.append("outputs" not in snapshot.cause and contents[until] != used)
        if stale:
            stale[-1] = contents[-1] != used
        return stale

    @cached_property
    def _positions(self) -> list[int]:
        return [edit.commit.position for edit in self.edits]

    @cached_property
    def _ends(self) -> list[int]:
        """Number of edits up to the commit of each snapshot."""
        return [bisect_right(self._positions, snapshot.commit.position) for snapshot in self.snapshots]

    @cached_property
    def _commits(self) -> list[Commit]:
        return sorted((*(edit.commit for edit in self.edits), *(at.commit for at in self.snapshots)), key=_POSITION)

    @cached_property
    def _by_prefix(self) -> dict[str, list[Commit]]:
        """All commits in their order, by the first digits of their ids. Few evals have outputs that record a commit."""
        return grouped((commit.sha[:_SHORTEST_ID], commit) for commit in self._commits)


def attributed_to(made_with: Sequence[Commit]) -> int:
    """Return the position of the edit that an output is attributed to: the newest that it can have been made with.

    ``BEFORE_ANY`` if there is none.
    """
    return made_with[-1].position if made_with else BEFORE_ANY


def other_edit(made_with: Sequence[Commit]) -> Commit | None:
    """Return the commit of the earlier edit that an output may have been made with instead; None if that is certain."""
    return made_with[0] if len(made_with) > 1 else None


def changed_files(before: Sequence[InstructionHistory], after: Sequence[InstructionHistory]) -> list[GateInstruction]:
    """Return the instruction files whose contents differ between two revisions, by path; a rename alone does not count.

    Each file has the commits of its edits that ``before`` does not have; none if history was rewritten.
    """
    from sitegen.model.gate import GateInstruction  # only the gate needs its types

    contents = {file.path: _newest_blob_id(file) for file in before}
    earlier_commits = {edit.commit.sha for file in before for edit in file.edits}
    changes = []
    for file in after:
        names = [file.path, *(edit.path for edit in reversed(file.edits))]
        earlier = next((contents[name] for name in names if name in contents), None)
        if earlier != _newest_blob_id(file):
            commits = (edit.commit.sha for edit in file.edits if edit.commit.sha not in earlier_commits)
            changes.append(GateInstruction(file.path, tuple(dict.fromkeys(commits))))
    return sorted(changes, key=lambda change: change.path)


def _newest_blob_id(file: InstructionHistory) -> str | None:
    newest = file.edits[-1].new
    return newest.oid if newest and not file.deleted else None
