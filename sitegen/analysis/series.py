"""Series: the points of an eval by both clocks, keys and forms of their scorecards, and what is kept of each point."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Final, NamedTuple

from sitegen.analysis.cells import flips_between
from sitegen.analysis.deltas import MetricsFor, ScoredPoint, delta, under_rules_of
from sitegen.analysis.edits import OutputEdits
from sitegen.analysis.noise.intervals import interval_of
from sitegen.model.cells import CellMap, Flips
from sitegen.model.deltas import Delta
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Interval
from sitegen.model.problems import Problem
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Headline, Point
from sitegen.model.timeline import Blob, Snapshot

HEADLINES: Final = 3
"""Metrics of a kind that are kept of every point at once: the headline and what is drawn beside it."""


def scorecard_key(kind: str, version: int, snapshot: Snapshot, model: str = "") -> str:
    """The digest of everything that decides a scorecard: scorer, its version, settings, blob ids and file formats.

    What a record beside the output says that it took decides too, for that is among the metrics; so do the *model*
    that makes vectors, if there is one, and the packages that unpack results of other tools: what is installed later
    scores again.

    Where a file stands does not count, so that renames and reverts cost nothing; but its ending does, for it says
    how the file is read, and with several output files their names, which tell the documents apart.
    """
    single = len(snapshot.outputs) == 1

    def named(blob: Blob | None, *, whole: bool = False) -> list[str] | None:
        if blob is None:
            return None
        name = blob.path.rpartition("/")[2]
        return [name if whole else name.rpartition(".")[2].lower(), blob.oid]

    decisive = [
        kind,
        version,
        snapshot.settings,
        [named(blob, whole=not single) for blob in snapshot.outputs],
        named(snapshot.ground_truth),
        named(snapshot.mapping),
        named(snapshot.schema),
        *([model] if model else []),
        *([snapshot.usage] if snapshot.usage else []),
    ]
    return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()


def headline(point: Point, specs: tuple[MetricSpec, ...], graded_since: int = 0) -> Headline:
    """A point as a few numbers: the first metrics, the interval of the headline, and the errors by type."""
    snapshot, scorecard, counts = point.snapshot, point.scorecard, point.scorecard.counts
    return Headline(
        commit_position=snapshot.commit.position,
        sha=snapshot.commit.sha,
        slug=snapshot.slug,
        label=snapshot.label,
        status=scorecard.status,
        values=tuple(scorecard.metric(spec.name) for spec in specs[:HEADLINES]),
        errors=(counts.omission, counts.hallucination, counts.wrong_value, counts.format_error),
        committed_at=snapshot.commit.committed_at,
        interval=point.interval,
        graded_since=graded_since,
    )


def problems_of_point(eval_id: str, snapshot: Snapshot, scorecard: Scorecard) -> tuple[Problem, ...]:
    """The findings of a scorecard, each placed at the file that it concerns."""
    files = {
        "output": snapshot.outputs[0] if snapshot.outputs else None,
        "ground_truth": snapshot.ground_truth,
        "mapping": snapshot.mapping,
        "schema": snapshot.schema,
        "settings": None,
    }
    return tuple(
        Problem(
            severity=finding.severity,
            what=finding.text,
            fix=finding.fix,
            path=blob.path if (blob := files[finding.about]) else None,
            line=finding.line,
            commit=snapshot.commit.sha,
            eval_id=eval_id,
            field=finding.path,
        )
        for finding in scorecard.findings
    )


def standing_problems(points: Sequence[tuple[Problem, ...]], *, deleted: bool) -> tuple[Problem, ...]:
    """The problems of all points, each once with the first commit that had it: a truth is wrong once, not once a run.

    Those that the newest point does not have any more are past; all of them, if the eval is deleted.
    """
    newest = {problem._replace(commit=None) for problem in points[-1]} if points and not deleted else set()
    first: dict[Problem, Problem] = {}
    for problem in chain.from_iterable(points):
        bare = problem._replace(commit=None)
        first.setdefault(bare, problem._replace(past=bare not in newest))
    return tuple(first.values())


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
