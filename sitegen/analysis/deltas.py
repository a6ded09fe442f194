"""Splits the change of a metric from one point to another into what caused it.

Two points differ in up to three roles: outputs, ground truth, rules. Scoring the mixtures (the outputs of one point
with the ground truth of the other, and so on) shows the effect of each role after any set of others. Its mean over all
orders is the Shapley value (L. S. Shapley, *A value for n-person games*, 1953); these sum to the whole exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import factorial, fsum
from typing import TypeVar

from msgspec.structs import replace

from sitegen.model.changes import DeltaParts, Overlap
from sitegen.model.metrics import Metric
from sitegen.model.scorecards import DocumentScore, Scorecard
from sitegen.model.timeline import ROLES, Role, RoleSet, Snapshot
from sitegen.model.usage import Exchange, RunUsage, exchanged, regraded
from sitegen.text.values import short_digest

MetricsFor = Callable[[Sequence[DocumentScore]], tuple[Metric, ...]]
"""Computes the metrics over a subset of the documents: the ``metrics_for`` of a scorer."""


def overlap(before: Scorecard, after: Scorecard) -> Overlap:
    """Determine which documents two results have in common, and how many cases these answer."""
    shared = overlap_of([each.id for each in before.documents], [each.id for each in after.documents])
    alone = frozenset(shared.only_after)
    return shared._replace(common=len({each.unit for each in after.documents if each.id not in alone}))


def overlap_of(earlier: Sequence[str], later: Sequence[str]) -> Overlap:
    """Determine which ids two sides have in common."""
    if earlier == later and earlier:
        return Overlap(len(later))
    removed, added = set(earlier) - set(later), set(later) - set(earlier)
    return Overlap(
        common=len(set(later)) - len(added),
        only_before=tuple(name for name in earlier if name in removed),
        only_after=tuple(name for name in later if name in added),
    )


def exchanges(before: Scorecard, after: Scorecard) -> tuple[Exchange | None, Exchange | None]:
    """Determine how the model and the judge changed between two points; None if not, or if a side does not state it.

    A judge with another rubric for a document that both sides have counts as another judge.
    """
    earlier, later = before.usage or RunUsage(), after.usage or RunUsage()
    graded = tuple(dict.fromkeys((*earlier.graded, *later.graded)))
    judge = exchanged(earlier.judges, later.judges) or (_other_rubrics(before, after) if graded else None)
    return exchanged(earlier.models, later.models), replace(judge, metrics=graded) if judge else None


def comparable_since(cards: Sequence[Scorecard], metric: str) -> list[int]:
    """Return for each point the index of the first point since which each point can be compared with the one before.

    It can if both have a document in common and the same judge graded the metric. A point that has no
    documents, or does not state its judge, is skipped: the next one is compared with the newest earlier one that does.
    """
    starts: list[int] = []
    stated: Scorecard | None = None
    counted: Scorecard | None = None
    for index, card in enumerate(cards):
        judge = exchanges(stated, card)[1] if stated and card.usage else None
        if regraded(judge, metric) or (counted and card.documents and not _shares_documents(counted, card)):
            starts.append(index)
        else:
            starts.append(starts[-1] if starts else 0)
        if card.usage and (card.usage.judges or (card.usage.graded and not stated)):
            stated = card
        counted = card if card.documents else counted
    return starts


def _shares_documents(before: Scorecard, after: Scorecard) -> bool:
    """Whether two outputs have a document in common."""
    if before.documents[0].id == after.documents[0].id:  # as a rule
        return True
    return not {document.id for document in before.documents}.isdisjoint(document.id for document in after.documents)


def _other_rubrics(before: Scorecard, after: Scorecard) -> Exchange | None:
    """Return the judges of both sides, each with a digest of the rubrics that differ; None if no rubric differs."""
    earlier = {document.id: document.rubric for document in before.documents if document.rubric}
    differing = [
        (earlier[document.id], document.rubric)
        for document in after.documents
        if document.rubric and earlier.get(document.id, document.rubric) != document.rubric
    ]
    if not differing:
        return None
    digests = (f"rubrics {short_digest(' '.join(rubrics))}" for rubrics in zip(*differing, strict=True))
    judges = ((card.usage or RunUsage()).judges for card in (before, after))
    return Exchange(*((*names, rubrics) for names, rubrics in zip(judges, digests, strict=True)))


R = TypeVar("R", bound=str)


def mixtures(before: Snapshot, after: Snapshot) -> tuple[Snapshot, ...]:
    """Return the snapshots that a delta needs scored besides the two; none if they differ in one role only."""
    return tuple(before.with_roles_of(after, subset) for subset in tuple(subsets(before.roles_changed_in(after)))[1:-1])


def shapley_parts(roles: Sequence[Role], metric_of: Callable[[RoleSet], float | None]) -> DeltaParts | None:
    """Split ``metric_of(roles) - metric_of(())`` into the part of each role; None if any value is undefined.

    ``roles`` differ between two points. ``metric_of`` returns the metric of the earlier point with a subset of these
    roles taken from the later point.
    """
    parts = shapley_values(roles, metric_of)
    return None if parts is None else DeltaParts(*[parts.get(role, 0.0) for role in ROLES])


def shapley_values(roles: Sequence[R], metric_of: Callable[[tuple[R, ...]], float | None]) -> dict[R, float] | None:
    """Return the part of each role, whatever the roles are; None if the metric is undefined for any subset of them."""
    values: dict[tuple[R, ...], float] = {}
    for subset in subsets(roles):
        value = metric_of(subset)
        if value is None:
            return None
        values[subset] = value
    if len(roles) == 1:  # as a rule; its part is the whole
        return {roles[0]: values[(roles[0],)] - values[()]}

    def shares(role: R) -> Iterator[float]:
        """The role's effect after each subset of the other roles, weighted by the share of orders that begin so."""
        for subset in subsets([name for name in roles if name != role]):
            weight = factorial(len(subset)) * factorial(len(roles) - len(subset) - 1) / factorial(len(roles))
            joined = tuple(name for name in roles if name in subset or name == role)
            yield weight * (values[joined] - values[subset])

    return {role: fsum(shares(role)) for role in roles}


def subsets(roles: Sequence[R]) -> Iterator[tuple[R, ...]]:
    """Yield every subset of the roles by size, from the empty subset to all roles."""
    return (subset for size in range(len(roles) + 1) for subset in combinations(roles, size))
