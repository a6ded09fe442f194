"""Deltas: a point held against the one before it, over what both can be compared by, and split by where it came from.

A delta is never silent about documents that only one side has: it is *bridged* over those that both have, or *refused*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sitegen.analysis.attribution import Taken, attribute, differing, mixture, subsets
from sitegen.model.deltas import Delta, MetricDelta, Overlap
from sitegen.model.metrics import Metric, MetricSpec
from sitegen.model.scorecards import DocumentScore, Scorecard
from sitegen.model.timeline import Snapshot

Over = Callable[[Sequence[DocumentScore]], tuple[Metric, ...]]
"""The metrics of some documents alone: a scorer's own ``over``."""


class Side(NamedTuple):
    """A point of a series."""

    snapshot: Snapshot
    scorecard: Scorecard


def overlap(before: Scorecard, after: Scorecard) -> Overlap:
    """Which documents two results have in common."""
    earlier = [document.id for document in before.documents]
    later = [document.id for document in after.documents]
    if earlier == later and earlier:
        return Overlap("comparable", len(later))
    gone, come = set(earlier) - set(later), set(later) - set(earlier)
    common = len(set(later)) - len(come)
    return Overlap(
        "refused" if not common else "bridged" if gone or come else "comparable",
        common,
        tuple(name for name in earlier if name in gone),
        tuple(name for name in later if name in come),
    )


def delta(
    specs: Sequence[MetricSpec],
    over: Over,
    before: Side,
    after: Side,
    crossed: Callable[[Snapshot], Scorecard],
) -> Delta:
    """What became of an eval between two points. ``crossed``: the scorecards of what ``attribution.mixtures`` names."""
    shared = overlap(before.scorecard, after.scorecard)
    if shared.verdict == "refused":
        return Delta(shared, tuple(MetricDelta(spec.name, None, None) for spec in specs))
    roles = differing(before.snapshot, after.snapshot)
    cards = {taken: crossed(mixture(before.snapshot, after.snapshot, taken)) for taken in tuple(subsets(roles))[1:-1]}
    cards |= {(): before.scorecard, roles: after.scorecard}
    left_out = frozenset((*shared.only_before, *shared.only_after))
    return Delta(
        shared,
        tuple(
            _metric(spec.name, roles, {taken: _value(card, spec.name, over, left_out) for taken, card in cards.items()})
            for spec in specs
        ),
    )


def _metric(name: str, roles: Taken, values: dict[Taken, float | None]) -> MetricDelta:
    earlier, later = values[()], values[roles]
    if earlier is None or later is None:
        return MetricDelta(name, None, None)
    return MetricDelta(name, later - earlier, attribute(roles, values.__getitem__))


def _value(scorecard: Scorecard, name: str, over: Over, left_out: frozenset[str]) -> float | None:
    if not left_out:
        return scorecard.metric(name)
    kept = [document for document in scorecard.documents if document.id not in left_out]
    return next((metric.value for metric in over(kept) if metric.name == name), None)
