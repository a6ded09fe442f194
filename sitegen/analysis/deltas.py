"""Deltas: a point held against the one before it, over what both can be compared by, and split by where it came from.

A delta is never silent about documents that only one side has: it is *bridged* over those that both have, or *refused*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sitegen.analysis.attribution import Taken, attribute, differing, mixture, subsets
from sitegen.model.deltas import Delta, DeltaParts, MetricDelta, Overlap
from sitegen.model.metrics import Metric
from sitegen.model.scorecards import DocumentScore, Scorecard
from sitegen.model.timeline import Snapshot
from sitegen.model.usage import Exchange, RunUsage, exchanged, regraded
from sitegen.scoring.usage import TOTALS, USAGE
from sitegen.text.values import short_digest

MetricsFor = Callable[[Sequence[DocumentScore]], tuple[Metric, ...]]
"""The metrics of some documents alone: a scorer's own ``metrics_for``."""


class ScoredPoint(NamedTuple):
    """A point of a series."""

    snapshot: Snapshot
    scorecard: Scorecard


def overlap(before: Scorecard, after: Scorecard) -> Overlap:
    """Which documents two results have in common."""
    return overlap_of([document.id for document in before.documents], [document.id for document in after.documents])


def overlap_of(earlier: Sequence[str], later: Sequence[str]) -> Overlap:
    """Which ids two sides have in common."""
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
    metrics_for: MetricsFor,
    before: ScoredPoint,
    after: ScoredPoint,
    crossed: Callable[[Snapshot], Scorecard],
) -> Delta:
    """What became of an eval between two points: of every metric that either of their scorecards has.

    ``crossed``: the scorecards of what ``attribution.mixtures`` names.
    """
    shared = overlap(before.scorecard, after.scorecard)
    names = dict.fromkeys(name for side in (before, after) for name, _ in side.scorecard.metrics)
    model, judge = exchanges(before.scorecard, after.scorecard)
    if shared.verdict == "refused":
        return Delta(shared, tuple(MetricDelta(name, None, None) for name in names), model, judge)
    roles = differing(before.snapshot, after.snapshot)
    cards = {taken: crossed(mixture(before.snapshot, after.snapshot, taken)) for taken in tuple(subsets(roles))[1:-1]}
    cards |= {(): before.scorecard, roles: after.scorecard}
    left_out = frozenset((*shared.only_before, *shared.only_after))
    return Delta(
        shared,
        tuple(
            MetricDelta(name, None, None)
            if regraded(judge, name)
            else _usage(name, before.scorecard, after.scorecard, left_out)
            if name in USAGE
            else _metric(
                name, roles, {taken: _value(card, name, metrics_for, left_out) for taken, card in cards.items()}
            )
            for name in names
        ),
        model,
        judge,
    )


def exchanges(before: Scorecard, after: Scorecard) -> tuple[Exchange | None, Exchange | None]:
    """(model, judge) that is another one; None where it is the same, or where a side does not state it.

    A judge that is asked something else of a document that both have is another one.
    """
    earlier, later = before.usage or RunUsage(), after.usage or RunUsage()
    graded = tuple(dict.fromkeys((*earlier.graded, *later.graded)))
    judge = exchanged(earlier.judges, later.judges) or (_other_rubrics(before, after) if graded else None)
    return exchanged(earlier.models, later.models), judge._replace(metrics=graded) if judge else None


def graded_since(cards: Sequence[Scorecard], metric: str) -> list[int]:
    """Of each point the index of the first one since which no other judge gave the metric.

    Every point is held against the newest one before it that states who graded it.
    """
    found: list[int] = []
    stated: Scorecard | None = None
    for index, card in enumerate(cards):
        judge = exchanges(stated, card)[1] if stated else None
        found.append(index if regraded(judge, metric) else found[-1] if found else 0)
        if card.usage and (card.usage.judges or (card.usage.graded and not stated)):
            stated = card
    return found


def _other_rubrics(before: Scorecard, after: Scorecard) -> Exchange | None:
    """The judges of both, each with a digest of what they were asked of the documents where that is not the same."""
    earlier = {document.id: document.rubric for document in before.documents if document.rubric}
    others = [
        (earlier[document.id], document.rubric)
        for document in after.documents
        if document.rubric and earlier.get(document.id, document.rubric) != document.rubric
    ]
    if not others:
        return None
    asked = (f"rubrics {short_digest(' '.join(rubrics))}" for rubrics in zip(*others, strict=True))
    judges = ((card.usage or RunUsage()).judges for card in (before, after))
    return Exchange(*((*names, rubrics) for names, rubrics in zip(judges, asked, strict=True)))


def _metric(name: str, roles: Taken, values: dict[Taken, float | None]) -> MetricDelta:
    earlier, later = values[()], values[roles]
    if earlier is None or later is None:
        return MetricDelta(name, None, None)
    return MetricDelta(name, later - earlier, attribute(roles, values.__getitem__))


def _usage(name: str, before: Scorecard, after: Scorecard, left_out: frozenset[str]) -> MetricDelta:
    """What outputs took is theirs alone, whatever they are scored by; totals of other answers are not compared."""
    earlier, later = before.metric(name), after.metric(name)
    answers = [card.usage.answers if card.usage else 0 for card in (before, after)]
    if earlier is None or later is None or (name in TOTALS and (left_out or answers[0] != answers[1])):
        return MetricDelta(name, None, None)
    return MetricDelta(name, later - earlier, DeltaParts(later - earlier, 0.0, 0.0))


def _value(scorecard: Scorecard, name: str, metrics_for: MetricsFor, left_out: frozenset[str]) -> float | None:
    if not left_out:
        return scorecard.metric(name)
    kept = [document for document in scorecard.documents if document.id not in left_out]
    return next((metric.value for metric in metrics_for(kept) if metric.name == name), None)
