"""The points of a series: each with both clocks, what changed since the one before, and whether it is out of date."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from sitegen.analysis.attribution import under_rules_of
from sitegen.analysis.deltas import MetricsFor, ScoredPoint, delta
from sitegen.analysis.flips import flips_between
from sitegen.analysis.noise.intervals import interval_of
from sitegen.model.cells import CellMap, Flips
from sitegen.model.commits import Commit
from sitegen.model.deltas import Delta
from sitegen.model.noise import Interval
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point
from sitegen.model.timeline import Edit, Snapshot


class SeriesInputs(NamedTuple):
    """What the points of an eval are made from."""

    snapshots: Sequence[Snapshot]
    edits: Sequence[Edit]
    """All edits of the instructions that drive it, by commit."""
    made_with: Sequence[Commit | None]
    """For each snapshot the newest edit that its output can have been made with, if that is known."""
    metrics_for: MetricsFor
    kind: str
    speaks: Sequence[int]
    """Of each snapshot the position of the edit that it speaks for, negative if it is not known."""


class Derived(NamedTuple):
    """What is computed of a point, from its numbers and from those before it: nothing that comes later changes it."""

    delta: Delta | None
    flips: Flips | None
    interval: Interval | None


def points(
    told: SeriesInputs, card: Callable[[Snapshot], Scorecard], cells: CellMap, known: Sequence[Derived] = ()
) -> tuple[Point, ...]:
    """All points, oldest first.

    ``card``: the scorecard of a snapshot, or of a mixture of two. ``known``: of the first points.
    """
    snapshots = told.snapshots
    if not snapshots:
        return ()
    sides = [ScoredPoint(snapshot, card(snapshot)) for snapshot in snapshots]
    columns = zip(
        snapshots,
        [side.scorecard for side in sides],
        edits_of_points(snapshots, told.edits),
        [card(under_rules_of(snapshot, snapshots[-1])) for snapshot in snapshots],
        (*known, *_derived(told, sides, len(known), card, cells)),
        stale(told),
        strict=True,
    )
    return tuple(
        Point(snapshot, scorecard, edits, now, found.delta, found.flips, is_stale, found.interval)
        for snapshot, scorecard, edits, now, found, is_stale in columns
    )


def _derived(
    told: SeriesInputs, sides: Sequence[ScoredPoint], first: int, card: Callable[[Snapshot], Scorecard], cells: CellMap
) -> Iterator[Derived]:
    """Of the points from the ``first`` on."""
    intervals = (interval_of(side.scorecard, told.kind) for side in sides[first:])
    if not first:
        yield Derived(None, None, next(intervals))
    start = max(0, first - 1)
    flips = flips_between(cells, list(pairwise(range(start, len(sides)))))
    for (before, after), flipped, interval in zip(pairwise(sides[start:]), flips, intervals, strict=True):
        yield Derived(delta(told.metrics_for, before, after, card), flipped, interval)


def edits_of_points(snapshots: Sequence[Snapshot], edits: Sequence[Edit]) -> list[tuple[Edit, ...]]:
    """For each snapshot the edits after the commit of the one before it, and up to its own commit."""
    positions = [edit.commit.position for edit in edits]
    found = []
    start = 0
    for snapshot in snapshots:
        end = max(start, bisect_right(positions, snapshot.commit.position))
        found.append(tuple(edits[start:end]))
        start = end
    return found


def stale(told: SeriesInputs) -> list[bool]:
    """Of each point, whether instructions were edited after those its output speaks for, and it was not made again.

    That can be said of the newest point, and of points that were only scored again. An edit that came in one commit
    with the output, and was at work when it was made, is none of these edits.
    """
    positions = [edit.commit.position for edit in told.edits]
    found = []
    made = 0
    for snapshot, spoken in zip(told.snapshots, told.speaks, strict=True):
        rescored = "outputs" not in snapshot.cause
        if not rescored:
            made = spoken if spoken >= 0 else snapshot.commit.position
        found.append(rescored and _any_between(positions, made, snapshot.commit.position))
    if found:
        found[-1] = _any_between(positions, made, None)
    return found


def _any_between(positions: Sequence[int], after: int, until: int | None) -> bool:
    """Whether any position, of an ascending list, is later than one and, if there is another, not later than that."""
    end = len(positions) if until is None else bisect_right(positions, until)
    return end > bisect_right(positions, after)


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
    for index in range(bisect_right(edits, at.commit.position, key=_position), 0, -1):
        commit = edits[index - 1].commit
        made = _time(commit.committed_at) if recorded else None
        if recorded is None or (made is not None and made <= recorded):
            return commit
    return None


def recorded_after(at: Snapshot, commit: Commit) -> bool:
    """Whether the time that an output records is not before a commit's; False if either is no time."""
    recorded, committed = _time(at.recorded_at or ""), _time(commit.committed_at)
    return recorded is not None and committed is not None and recorded >= committed


def _position(edit: Edit) -> int:
    return edit.commit.position


def _time(iso: str) -> datetime | None:
    """A time without a zone is taken as UTC."""
    try:
        time = datetime.fromisoformat(iso)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
