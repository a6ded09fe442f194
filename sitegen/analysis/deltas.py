"""Deltas: a point held against the one before it, over what both can be compared by, and split by where it came from.

A delta is never silent about documents that only one side has: it is *bridged* over those that both have, or *refused*.

Two points differ in up to three roles: outputs, ground truth, rules. Scoring the mixtures (the outputs of one with the
ground truth of the other, and so on) says what each role does after any set of others; the mean over all orders is the
Shapley value (L. S. Shapley, *A value for n-person games*, 1953), whose parts sum to the whole exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import factorial, fsum
from typing import Final, Literal, NamedTuple, TypeAlias

from sitegen.model.deltas import Delta, DeltaParts, MetricDelta, Overlap
from sitegen.model.metrics import Metric
from sitegen.model.scorecards import DocumentScore, Scorecard
from sitegen.model.timeline import Blob, Snapshot
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
        verdict="refused" if not common else "bridged" if gone or come else "comparable",
        common=common,
        only_before=tuple(name for name in earlier if name in gone),
        only_after=tuple(name for name in later if name in come),
    )


def delta(
    metrics_for: MetricsFor,
    before: ScoredPoint,
    after: ScoredPoint,
    crossed: Callable[[Snapshot], Scorecard],
) -> Delta:
    """What became of an eval between two points: of every metric that either of their scorecards has.

    ``crossed``: the scorecards of what ``mixtures`` names.
    """
    shared = overlap(before.scorecard, after.scorecard)
    names = dict.fromkeys(name for side in (before, after) for name, _ in side.scorecard.metrics)
    model, judge = exchanges(before.scorecard, after.scorecard)
    if shared.verdict == "refused":
        return Delta(
            overlap=shared, metrics=tuple(MetricDelta(name, None, None) for name in names), model=model, judge=judge
        )
    roles = differing_roles(before.snapshot, after.snapshot)
    cards = {taken: crossed(mixture(before.snapshot, after.snapshot, taken)) for taken in tuple(subsets(roles))[1:-1]}
    cards |= {(): before.scorecard, roles: after.scorecard}
    left_out = frozenset((*shared.only_before, *shared.only_after))
    return Delta(
        overlap=shared,
        metrics=tuple(
            MetricDelta(name, None, None)
            if regraded(judge, name)
            else _usage_delta(name, before.scorecard, after.scorecard, left_out)
            if name in USAGE
            else _metric_delta(
                name, roles, {taken: _common_value(card, name, metrics_for, left_out) for taken, card in cards.items()}
            )
            for name in names
        ),
        model=model,
        judge=judge,
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


def _metric_delta(name: str, roles: Taken, values: dict[Taken, float | None]) -> MetricDelta:
    earlier, later = values[()], values[roles]
    if earlier is None or later is None:
        return MetricDelta(name, None, None)
    return MetricDelta(name, later - earlier, attribute(roles, values.__getitem__))


def _usage_delta(name: str, before: Scorecard, after: Scorecard, left_out: frozenset[str]) -> MetricDelta:
    """What outputs took is theirs alone, whatever they are scored by; totals of other answers are not compared."""
    earlier, later = before.metric(name), after.metric(name)
    answers = [card.usage.answers if card.usage else 0 for card in (before, after)]
    if earlier is None or later is None or (name in TOTALS and (left_out or answers[0] != answers[1])):
        return MetricDelta(name, None, None)
    return MetricDelta(name, later - earlier, DeltaParts(later - earlier, 0.0, 0.0))


def _common_value(scorecard: Scorecard, name: str, metrics_for: MetricsFor, left_out: frozenset[str]) -> float | None:
    if not left_out:
        return scorecard.metric(name)
    kept = [document for document in scorecard.documents if document.id not in left_out]
    return next((metric.value for metric in metrics_for(kept) if metric.name == name), None)


Role: TypeAlias = Literal["outputs", "ground_truth", "rules"]

Taken: TypeAlias = tuple[Role, ...]
"""A set of roles, in the order of ``ROLES``."""

ROLES: Final[tuple[Role, ...]] = ("outputs", "ground_truth", "rules")


def differing_roles(before: Snapshot, after: Snapshot) -> tuple[Role, ...]:
    """The roles whose contents are not the same; where a file stands does not matter."""
    return tuple(role for role in ROLES if _role_contents(before, role) != _role_contents(after, role))


def under_rules_of(snapshot: Snapshot, other: Snapshot) -> Snapshot:
    """The outputs of a snapshot with the ground truth and the rules of another: the second clock."""
    return mixture(snapshot, other, ("ground_truth", "rules"))


def mixtures(before: Snapshot, after: Snapshot) -> tuple[Snapshot, ...]:
    """What has to be scored besides the two themselves; nothing if they differ in one role only."""
    return tuple(mixture(before, after, taken) for taken in tuple(subsets(differing_roles(before, after)))[1:-1])


def mixture(before: Snapshot, after: Snapshot, taken: Taken) -> Snapshot:
    """*before* with the taken roles of *after*."""
    mixed = before
    if "outputs" in taken:
        mixed = mixed._replace(outputs=after.outputs, usage=after.usage)
    if "ground_truth" in taken:
        mixed = mixed._replace(ground_truth=after.ground_truth)
    if "rules" in taken:
        mixed = mixed._replace(mapping=after.mapping, schema=after.schema, settings=after.settings)
    return mixed


def attribute(roles: Sequence[Role], value: Callable[[Taken], float | None]) -> DeltaParts | None:
    """Split ``value(roles) - value(())``; None if any value is undefined.

    *roles* are those that differ between two points, *value* is the metric of the earlier one with some roles taken
    from the later one.
    """
    values: dict[Taken, float] = {}
    for taken in subsets(roles):
        found = value(taken)
        if found is None:
            return None
        values[taken] = found
    parts = {role: fsum(_shapley_shares(role, roles, values)) for role in roles}
    return DeltaParts(*(parts.get(role, 0.0) for role in ROLES))


def subsets(roles: Sequence[Role]) -> Iterator[Taken]:
    """Every set of roles, in their order, the empty one first and the whole last."""
    return (taken for size in range(len(roles) + 1) for taken in combinations(roles, size))


def _shapley_shares(role: Role, roles: Sequence[Role], values: dict[Taken, float]) -> Iterator[float]:
    """What the role adds to each set of the others, weighted by how many orders begin so."""
    others = tuple(one for one in roles if one != role)
    for size in range(len(roles)):
        weight = factorial(size) * factorial(len(roles) - size - 1) / factorial(len(roles))
        for taken in combinations(others, size):
            joined = tuple(one for one in roles if one in taken or one == role)
            yield weight * (values[joined] - values[taken])


def _role_contents(snapshot: Snapshot, role: Role) -> tuple[str | None, ...]:
    match role:
        case "outputs":
            names = [blob.path.rpartition("/")[2] for blob in snapshot.outputs]
            told_apart = names if len(names) > 1 else []
            return (*told_apart, *(blob.oid for blob in snapshot.outputs))
        case "ground_truth":
            return (_oid(snapshot.ground_truth),)
        case "rules":
            return (_oid(snapshot.mapping), _oid(snapshot.schema), snapshot.settings)


def _oid(blob: Blob | None) -> str | None:
    return blob.oid if blob else None
