"""Windows: which points of an eval speak for which edit of its instructions.

A point speaks for the newest edit that its output can have been made with: by the commit or the time that the output
records, else by the commit that brought it. An output that came in one commit with an edit, and was recorded after the
commit before that, was made while the edit was at work: it speaks for it. One that is scored again speaks for the edit
of its output, whenever the rules changed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence
from typing import Final

from sitegen.analysis.deltas import exchanges
from sitegen.analysis.noise.intervals import interval_of
from sitegen.analysis.points import instructions_of, recorded_after
from sitegen.model.commits import Commit
from sitegen.model.deltas import Delta
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import Peak, Point, Window
from sitegen.model.timeline import Edit, Snapshot

SHORTEST_ID: Final = 7
"""Digits of a recorded commit id, below which it names none."""
BEFORE_ANY: Final = -1
"""Stands for the position of an edit, where an output was made before all of them."""


def edits_of_outputs(
    snapshots: Sequence[Snapshot], edits: Sequence[Edit], made_with: Sequence[Commit | None]
) -> list[int]:
    """Of each point the position of the edit that it speaks for, or ``BEFORE_ANY``, also if that is unknown.

    Args:
        snapshots: of an eval, in series order.
        edits: of the instructions that drive it, by commit.
        made_with: of each snapshot what ``instructions_of`` says.

    """
    by_position = {edit.commit.position: edit.commit for edit in edits}
    by_position |= {snapshot.commit.position: snapshot.commit for snapshot in snapshots}
    commits = [by_position[position] for position in sorted(by_position)]
    edited = sorted({edit.commit.position for edit in edits})
    of_iteration: dict[int, int] = {}
    found = []
    for snapshot, commit in zip(snapshots, made_with, strict=True):
        if "outputs" in snapshot.cause or snapshot.iteration not in of_iteration:
            made = _made_at(snapshot, edits, commits, commit)
            of_iteration[snapshot.iteration] = _last(edited, made.position) if made else BEFORE_ANY
        found.append(of_iteration[snapshot.iteration])
    return found


def windows(points: Sequence[Point], speaks: Sequence[int]) -> tuple[Window, ...]:
    """The windows of an eval, by edit: each with its last output, and the last point before that of an earlier edit.

    Args:
        points: of the eval, with what changed since the one before.
        speaks: what ``edits_of_outputs`` says of them.

    """
    last = {
        position: index
        for index, (point, position) in enumerate(zip(points, speaks, strict=True))
        if position != BEFORE_ANY and "outputs" in point.snapshot.cause
    }
    newest: dict[int, int] = {}
    positions: list[int] = []
    found = []
    for index, position in enumerate(speaks):
        if position not in newest:
            insort(positions, position)
        newest[position] = index
        if last.get(position) == index:
            earlier = bisect_left(positions, position)
            before = newest[positions[earlier - 1]] if earlier else None
            deltas = [] if before is None else [point.delta for point in points[before + 1 : index + 1]]
            model, judge = (
                (None, None) if before is None else exchanges(points[before].scorecard, points[index].scorecard)
            )
            found.append(Window(position, before, index, _by_rules(deltas), _comparable(deltas), model, judge))
    return tuple(sorted(found))


def peak(points: Sequence[Point], speaks: Sequence[int], spec: MetricSpec, kind: str, since: int = 0) -> Peak | None:
    """The best output by the newest ground truth and rules; None if none has a headline.

    ``since``: index of the first point whose headline no other judge gave than that of the newest.
    """
    best: Peak | None = None
    sign = 1 if spec.higher_is_better else -1
    for index, (point, edit) in enumerate(zip(points, speaks, strict=True)):
        counts = index >= since and "outputs" in point.snapshot.cause
        value = (point.now or point.scorecard).metric(spec.name) if counts else None
        if value is not None and (best is None or sign * value >= sign * best.value):
            best = Peak(index, value, edit)
    if best is None:
        return None
    point = points[best.at]
    return best._replace(interval=interval_of(point.now or point.scorecard, kind, spec.name))


def _made_at(
    snapshot: Snapshot, edits: Sequence[Edit], commits: Sequence[Commit], made_with: Commit | None
) -> Commit | None:
    """A commit with the instructions that the output was made with. ``commits``: all that are known, in their order."""
    if snapshot.made_at is None:
        here = bisect_left(commits, snapshot.commit.position, key=_position)
        at_work = here > 0 and recorded_after(snapshot, commits[here - 1])
        return snapshot.commit if at_work else made_with
    if len(snapshot.made_at) >= SHORTEST_ID:
        for commit in commits:
            if commit.sha.startswith(snapshot.made_at):
                return commit
    # A commit that neither edited these instructions nor brought a point: its place is not known here, its time may be.
    return instructions_of(snapshot._replace(made_at=None), edits)


def _last(positions: Sequence[int], until: int) -> int:
    """The last of the positions that is not after another one."""
    end = bisect_right(positions, until)
    return positions[end - 1] if end else BEFORE_ANY


def _by_rules(deltas: Iterable[Delta | None]) -> float | None:
    total = 0.0
    for delta in deltas:
        parts = delta.metrics[0].parts if delta and delta.metrics else None
        if parts is None:
            return None
        total += parts.ground_truth + parts.rules
    return total


def _comparable(deltas: Iterable[Delta | None]) -> bool:
    return all(delta is not None and delta.overlap.verdict == "comparable" for delta in deltas)


def _position(commit: Commit) -> int:
    return commit.position
