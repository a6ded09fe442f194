"""Splits the change of a metric from one point to another into what caused it.

Two points differ in up to three roles: outputs, ground truth, rules. The part of the outputs is the change as the later
ground truth and rules judge both, by which verdicts and flips go; the rest is what these two made of the earlier
output. If both of them changed, each has its Shapley value (L. S. Shapley, *A value for n-person games*, 1953): the
mean of its effects before and after the other. The parts sum to the whole exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations
from math import factorial, fsum
from operator import attrgetter, ne
from typing import Final, TypeVar

from msgspec.structs import replace

from sitegen.model.changes import Overlap
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.metrics import LIFT, ROUNDING, Counts, MetricSpec
from sitegen.model.scorecards import DocumentScore, Scorecard
from sitegen.model.timeline import Snapshot
from sitegen.model.usage import Exchange, RunUsage, exchanged, regraded
from sitegen.scoring.kinds import scorer
from sitegen.stats.counts import PASSED, drawn_alike, judged, mean, total
from sitegen.text.values import short_digest

NO_COUNTS: Final = Counts()
_ATTRIBUTE: Final = attrgetter("attribute")
_COUNTS: Final = attrgetter("counts")

_MOST_REGRADED: Final = 0.1
"""The greatest share of documents with other judges or rubrics on two sides if the others are compared."""


class Compared(Frozen, dict=True, gc=True):
    """Two scorecards of an eval, over what both have."""

    before: Scorecard
    after: Scorecard

    @cached_property
    def overlap(self) -> Overlap:
        """Which documents both judge, and how many cases these answer."""
        left_out, earlier = self._regraded[1], judged_documents(self.before)
        later = [each for each in judged_documents(self.after) if each.name not in left_out]
        first, last = [each.name for each in earlier], [each.name for each in later]
        if unasked := {each.name for each in self.after.documents if each.status == "not_asked"}:
            last += sorted(unasked.difference(each.name for each in self.before.documents))
        removed, added = ({*first} - {*last}, {*last} - {*first}) if first != last else (set[str](), set[str]())
        return Overlap(
            common=len({each.case for each in later if each.name not in added}),
            only_before=tuple(name for name in first if name in removed),
            only_after=tuple(name for name in last if name in added),
        )

    @cached_property
    def exchanges(self) -> tuple[Exchange | None, Exchange | None]:
        """How the model and the judge changed; None if not, or if a side does not state it.

        A judge with another rubric for a document that both sides have counts as another judge. So do scores in place
        of verdicts, beside verdicts of which the score was another form, and means of the grades of others.
        """
        earlier, later = self.before.usage or RunUsage(), self.after.usage or RunUsage()
        graded = tuple(dict.fromkeys((*earlier.graded, *later.graded)))
        judge = exchanged(earlier.judges, later.judges)
        cards = (self.before, self.after)
        stated, passed = {card.states for card in cards}, [card.metric(PASSED.name) for card in cards]
        are_replaced = "verdicts" in stated or ("verdicts as scores" in stated and None in passed)
        if not judge and "scores" in stated and are_replaced:
            of_scores = ("scores",) if None in passed else ("verdicts", "scores")
            judge = Exchange(*(("verdicts",) if card.states.startswith("verdicts") else of_scores for card in cards))
            graded = ("score",)
        if not judge:
            judge, graded = self._regraded[0], graded or ("score", LIFT)
        model = exchanged(earlier.models, later.models)
        if model or (not earlier.models and any("model" in each.axes for each in self.before.documents[:1])):
            # The model that gave the answers that both have: beside these, others may have come or gone.
            by, by_later = ({each.name: each.axes.get("model", "") for each in side} for side in self.documents)
            names = [tuple(sorted({*side.values()} - {""})) for side in (by, by_later)]
            # The same name may stand for another model, which the files state as well.
            is_same = by == by_later and 0 < len(names[0]) <= len({*earlier.models} & {*later.models})
            model = None if is_same else model or exchanged(*names)
        return model, replace(judge, metrics=graded) if judge else None

    @cached_property
    def _regraded(self) -> tuple[Exchange | None, set[str]]:
        """The judges of both sides, if more documents have other ones or rubrics than are left out; else these few."""
        if not self.after.states:  # of other kinds there may be very many
            return None, set()
        cards = self.before, self.after
        sides = [{each.name: each.rubric for each in card.documents if each.rubric} for card in cards]
        common = [id for id in sides[0] if id in sides[1]]
        # Each has a part for the judges, and perhaps one for their rubric, which a side need not state.
        differing = [id for id in common if any(map(ne, sides[0][id].split(), sides[1][id].split()))]
        if len(differing) in range(1, len(common)) and len(differing) <= max(1, _MOST_REGRADED * len(common)):
            return None, {*differing}
        these = f"judges or rubrics of {len(differing)} of {len(common)} cases"
        digests = (f"{these} ({short_digest(' '.join([side[id] for id in differing]))})" for side in sides)
        judges = ((card.usage or RunUsage()).judges for card in cards)
        both = ((*names, digest) for names, digest in zip(judges, digests, strict=True))
        return Exchange(*both) if differing else None, set()

    def difference(self, name: str) -> float | None:
        """Return the change of a metric; None if it is not defined. It is that of ``change``, without the snapshots."""
        if self.overlap.verdict == "refused" or regraded(self.exchanges[1], name):
            return None
        first, last = values_in_common((self.before, self.after), name, self.overlap)
        return None if first is None or last is None else last - first

    def is_gain(self, spec: MetricSpec) -> bool:
        """Whether the later output is better than the best one before it, over the documents or cases that both have.

        If it is as good there and has others besides, it is better: it was asked for more. If nothing is in common, it
        is the best of what can be compared with it.
        """
        sign, shared = 1 if spec.higher_is_better else -1, self.overlap
        if self.before.documents and self.after.documents and shared.verdict == "refused":
            return True
        moved = self.difference(spec.name) if shared.verdict == "bridged" else None
        if moved is None:
            return sign * ((self.after.metric(spec.name) or 0.0) - (self.before.metric(spec.name) or 0.0)) > 0
        has_more = bool(shared.only_after) and not shared.only_before
        return sign * moved > (-ROUNDING if has_more else ROUNDING)

    @cached_property
    def documents(self) -> tuple[list[DocumentScore], list[DocumentScore]]:
        """The documents that both have, of each side."""
        sides = self.before.documents, self.after.documents
        first, last = ({each.name for each in side if each.status != "not_asked"} for side in sides)
        both = (first & last) - self._regraded[1]
        earlier, later = ([each for each in side if each.name in both] for side in sides)
        return earlier, later

    @cached_property
    def field_counts(self) -> Counter[tuple[Counts, Counts]]:
        """The counts of all fields, before and after; none if the documents are not the same."""
        if [*map(len, self.documents)] != [len(self.before.documents), len(self.after.documents)]:
            return Counter()
        earlier, later = self.before.fields, self.after.fields
        if [*map(_ATTRIBUTE, earlier)] == [*map(_ATTRIBUTE, later)]:  # as a rule; much faster
            return Counter(zip(map(_COUNTS, earlier), map(_COUNTS, later), strict=True))
        first = {field.attribute: field.counts for field in earlier}
        last = {field.attribute: field.counts for field in later}
        return Counter((first.get(name, NO_COUNTS), last.get(name, NO_COUNTS)) for name in first | last)


def judged_documents(card: Scorecard) -> Sequence[DocumentScore]:
    """Return the documents of a scorecard that its output was asked for, without test cases that nothing judges."""
    asked = [document for document in card.documents if document.status != "not_asked"]
    if not card.traits.answers_cases:
        return asked
    return [of for of in asked if judged(of.counts) or any(value is not None for _, value in of.metrics)]


def as_asked(snapshots: Iterable[Snapshot], card_of: Callable[[Snapshot], Scorecard]) -> Iterator[Scorecard]:
    """Yield the scorecards of consecutive snapshots, with the documents marked that their outputs were not asked for.

    They came into the ground truth after the output was made, which lacks them. They count against it, and are no part
    of a change to another output, which was asked for more.
    """
    asked: set[str] | None = None
    for snapshot in snapshots:
        card = card_of(snapshot)
        if asked is not None and "ground_truth" in snapshot.cause and "outputs" not in snapshot.cause:
            new = {each.name for each in card.documents if not each.counts.tp + each.counts.fp} - asked
            marked = (replace(each, status="not_asked") if each.name in new else each for each in card.documents)
            card = replace(card, documents=tuple(marked))
        yield card
        asked = {each.name for each in judged_documents(card)}


def values_in_common(cards: Sequence[Scorecard], name: str, shared: Overlap) -> Iterator[float | None]:
    """Yield a metric of each scorecard over the documents that all have; None if it cannot be computed from these.

    A document that defines the metric by itself on one side only is left out as well (rule 44).
    """
    left_out = {*shared.only_before, *shared.only_after}
    left_out.update(each.name for card in cards for each in card.documents if each.status == "not_asked")
    defined = [{*card.names_by_metric.get(name, ())} for card in cards]
    left_out |= set.union(*defined) - set.intersection(*defined)
    sides = [[each for each in of.documents if each.name not in left_out] if left_out else of.documents for of in cards]
    for card, common in zip(cards, drawn_alike(sides, name), strict=True):
        if common is card.documents:
            yield card.metric(name)
            continue
        known = dict(scorer(card.kind).metrics_for(common))  # but for metrics of packages, which are means of documents
        yield known[name] if name in known else mean(dict(each.metrics).get(name) for each in common)


def counts_by_case(documents: Iterable[DocumentScore]) -> dict[str, Counts]:
    """Sum the counts of the answers to one case."""
    by_case = grouped((document.case, document.counts) for document in documents)
    return {case: total(several) if len(several) > 1 else several[0] for case, several in by_case.items()}


def comparable_since(cards: Sequence[Scorecard], metrics: Iterable[str]) -> dict[str, list[int]]:
    """Return by metric, for each point, the index of the first since which each can be compared with the one before.

    It can if both have a document in common and the same judge graded the metric. A point that has no
    documents, or does not state its judge, is skipped: the next one is compared with the newest earlier one that does.
    """
    starts: dict[str, list[int]] = {metric: [] for metric in metrics}
    stated: Scorecard | None = None
    counted: Scorecard | None = None
    for index, card in enumerate(cards):
        judge = Compared(stated, card).exchanges[1] if stated and card.usage else None
        both = Compared(counted, card) if counted and card.documents else None
        is_new = both and both.before.documents[0].name != card.documents[0].name and both.overlap.verdict == "refused"
        judges = judge, both.exchanges[1] if both else None
        for metric, of in starts.items():
            begins = not of or is_new or any(regraded(each, metric) for each in judges)
            of.append(index if begins else of[-1])
        if card.usage and (card.usage.judges or (card.usage.graded and not stated)):
            stated = card
        counted = card if card.documents else counted
    return starts


R = TypeVar("R", bound=str)


def mixtures(before: Snapshot, after: Snapshot) -> tuple[Snapshot, ...]:
    """Return the snapshots that a delta needs scored besides the two; none if they differ in one role only."""
    roles = before.roles_changed_in(after)
    others = [*subsets([role for role in roles if role != "outputs"])]
    return tuple(before.with_roles_of(after, subset) for subset in others[1:] if subset != roles)


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
        """Yield the role's effect after each subset of the others, weighted by the share of orders that begin so."""
        for subset in subsets([name for name in roles if name != role]):
            weight = factorial(len(subset)) * factorial(len(roles) - len(subset) - 1) / factorial(len(roles))
            joined = tuple(name for name in roles if name in subset or name == role)
            yield weight * (values[joined] - values[subset])

    return {role: fsum(shares(role)) for role in roles}


def subsets(roles: Sequence[R]) -> Iterator[tuple[R, ...]]:
    """Yield every subset of the roles by size, from the empty subset to all roles."""
    return (subset for size in range(len(roles) + 1) for subset in combinations(roles, size))
