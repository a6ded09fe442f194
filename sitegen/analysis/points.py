"""The points of a series: each with both clocks, what changed since the one before, and whether it is out of date."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from sitegen.analysis.attribution import under_rules_of
from sitegen.analysis.deltas import MetricsFor, ScoredPoint, delta
from sitegen.analysis.edits import OutputEdits
from sitegen.analysis.flips import flips_between
from sitegen.analysis.noise.intervals import interval_of
from sitegen.model.cells import CellMap, Flips
from sitegen.model.deltas import Delta
from sitegen.model.noise import Interval
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point
from sitegen.model.timeline import Snapshot


class SeriesInputs(NamedTuple):
    """What the points of an eval are made from."""

    edits: OutputEdits
    """Its snapshots, and the edits of the instructions that drive it."""
    metrics_for: MetricsFor
    kind: str

    @property
    def snapshots(self) -> Sequence[Snapshot]:
        """Of the eval, in series order."""
        return self.edits.snapshots


class Derived(NamedTuple):
    """What is computed of a point, from its numbers and from those before it: nothing that comes later changes it."""

    delta: Delta | None
    flips: Flips | None
    interval: Interval | None


def points(
    inputs: SeriesInputs, card: Callable[[Snapshot], Scorecard], cells: CellMap, known: Sequence[Derived] = ()
) -> tuple[Point, ...]:
    """All points, oldest first.

    ``card``: the scorecard of a snapshot, or of a mixture of two. ``known``: of the first points.
    """
    snapshots = inputs.snapshots
    if not snapshots:
        return ()
    sides = [ScoredPoint(snapshot, card(snapshot)) for snapshot in snapshots]
    columns = zip(
        snapshots,
        [side.scorecard for side in sides],
        inputs.edits.since_previous,
        [card(under_rules_of(snapshot, snapshots[-1])) for snapshot in snapshots],
        (*known, *_derived(inputs, sides, len(known), card, cells)),
        inputs.edits.stale,
        strict=True,
    )
    return tuple(
        Point(
            snapshot=snapshot,
            scorecard=scorecard,
            edits=edits,
            now=now,
            delta=derived.delta,
            flips=derived.flips,
            stale=stale,
            interval=derived.interval,
        )
        for snapshot, scorecard, edits, now, derived, stale in columns
    )


def _derived(
    inputs: SeriesInputs,
    sides: Sequence[ScoredPoint],
    first: int,
    card: Callable[[Snapshot], Scorecard],
    cells: CellMap,
) -> Iterator[Derived]:
    """Of the points from the ``first`` on."""
    intervals = (interval_of(side.scorecard, inputs.kind) for side in sides[first:])
    if not first:
        yield Derived(None, None, next(intervals))
    start = max(0, first - 1)
    flips = flips_between(cells, list(pairwise(range(start, len(sides)))))
    for (before, after), flipped, interval in zip(pairwise(sides[start:]), flips, intervals, strict=True):
        yield Derived(delta(inputs.metrics_for, before, after, card), flipped, interval)
