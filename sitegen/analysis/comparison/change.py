"""One result of an eval against a later one: metrics, what was fixed and what broke, and whether it can be chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sitegen.analysis.comparison.cases import ORDER, flipped
from sitegen.analysis.comparison.chance import Chance, chance_of
from sitegen.analysis.comparison.values import Flipped
from sitegen.analysis.deltas import exchanges
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import CellKey, Judgement, Outcome
from sitegen.model.scorecards import DocumentScore, Result
from sitegen.model.usage import Exchange, regraded
from sitegen.stats.counts import f1
from sitegen.stats.significance import Significance, mcnemar, paired_t_test
from sitegen.text.values import as_text

LONGEST: Final = 200
"""Characters of a value."""

_RIGHT: Final = ("correct", "true_negative")


@dataclass(frozen=True, slots=True)
class MetricChange:
    """One metric on both sides."""

    name: str
    label: str
    before: float | None
    after: float | None
    change: float | None
    """After minus before; None unless both are defined, or if two judges gave them."""
    higher_is_better: bool


@dataclass(frozen=True, slots=True)
class Flip:
    """A judgement that was wrong on at least one side."""

    document: str
    path: str
    change: Flipped
    before: Outcome | None
    """None: nothing was expected there, and nothing given."""
    after: Outcome | None
    value: str = ""
    """What was expected, as text; where nothing was, what was given. Cut to 200 characters."""
    named_path: str = ""
    """The path with list items by their names, `walls[E Wall].area`; empty where it is the same."""


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """The headline metric of one document on both sides."""

    id: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class Origin:
    """A change of the headline by where it came from; the three sum to the whole."""

    outputs: float
    ground_truth: float
    rules: float
    """Mapping, schema and settings."""


@dataclass(frozen=True, slots=True)
class ResultChange:
    """A result against a later one."""

    eval_id: str
    before: str
    """What the sides are called: ``iteration-011``, a revision."""
    after: str
    metrics: tuple[MetricChange, ...]
    fixed: int
    broken: int
    still_wrong: int
    still_right: int
    unpaired: int
    """Judgements that only one side has, because the ground truth is not the same."""
    judgements: Significance
    """McNemar over the judgements that flipped and may be independent, which ``chance`` counts."""
    documents: tuple[DocumentChange, ...]
    """Those of both sides."""
    by_document: Significance
    """Paired t-test over the documents' headline metric."""
    flips: tuple[Flip, ...]
    """Broken first, then fixed, then still wrong; in each by document and path."""
    origin: Origin | None = None
    """Of two iterations, over the documents of both; None if the headline is undefined on a side, and for revisions."""
    chance: Chance | None = None
    """Whether the headline moved by more than chance."""
    warnings: tuple[str, ...] = ()
    """Sentences on another judge and another model."""


class _Paired(NamedTuple):
    before: Judgement | None
    after: Judgement | None

    @property
    def newest(self) -> Judgement:
        """That of the later side, if it has one."""
        return next(each for each in (self.after, self.before) if each is not None)


def change_of(
    eval_id: str,
    specs: Sequence[MetricSpec],
    before: tuple[str, Result],
    after: tuple[str, Result],
    kind: str = "fields",
) -> ResultChange:
    """Compare two results, each with the name of its side, that the scorer of this kind gave."""
    (first_name, first), (second_name, second) = before, after
    paired, unpaired = _pair(first.judgements, second.judgements)
    flips, attributes = [], defaultdict[Flipped, list[str]](list)
    for pair in paired.values():
        if not (_is_right(pair.before) and _is_right(pair.after)):
            flips.append(flip := _flip(pair))
            attributes[flip.change].append(pair.newest.attribute)
    chance = (
        None
        if traits_of(kind).is_recorded
        else chance_of(
            first.scorecard,
            second.scorecard,
            kind,
            fixed=attributes["fixed"],
            broken=attributes["broken"],
            higher_is_better=specs[0].higher_is_better,
        )
    )
    model, judge = exchanges(first.scorecard, second.scorecard)
    anew = regraded(judge, specs[0].name)
    documents = () if chance is None else tuple(_documents(specs[0].name, first, second))
    both = [
        (each.before, each.after)
        for each in documents
        if each.before is not None and each.after is not None and not anew
    ]
    return ResultChange(
        eval_id=eval_id,
        before=first_name,
        after=second_name,
        metrics=tuple(_metric(spec, first, second, judge) for spec in specs),
        fixed=len(attributes["fixed"]),
        broken=len(attributes["broken"]),
        still_wrong=len(attributes["still_wrong"]),
        still_right=len(paired) - len(flips),
        unpaired=unpaired,
        judgements=mcnemar(0, 0, 0) if chance is None or anew else mcnemar(chance.broken, chance.fixed, len(paired)),
        documents=documents,
        by_document=paired_t_test([one for one, _ in both], [other for _, other in both]),
        flips=tuple(sorted(flips, key=lambda flip: (ORDER.index(flip.change), flip.document, flip.path))),
        chance=chance,
        warnings=tuple(_warnings((first_name, second_name), specs, model, judge)),
    )


def _warnings(
    names: tuple[str, str], specs: Sequence[MetricSpec], model: Exchange | None, judge: Exchange | None
) -> Iterator[str]:
    def by(found: Exchange) -> str:
        sides = zip(names, found[:2], strict=True)
        return ", ".join(f"{name} by {' and '.join(who)}" for name, who in sides)

    if judge:
        labels = ", ".join(spec.label for spec in specs if regraded(judge, spec.name))
        yield f"Graded were {by(judge)}: not compared is what grades are part of ({labels})."
    if model:
        yield f"Made were {by(model)}: what of the change is the doing of the model, nothing tells."


def _pair(first: Iterable[Judgement], second: Iterable[Judgement]) -> tuple[dict[CellKey, _Paired], int]:
    """Judgements of the same thing, and how many have no partner.

    A value that nobody expected is judged only where it was given: its absence on the other side is right.
    """
    before, after = _by_cell(first), _by_cell(second)
    paired, unpaired = {}, 0
    for key in before | after:
        pair = _Paired(before.get(key), after.get(key))
        if all(each is None or each.outcome == "hallucination" for each in pair) or None not in pair:
            paired[key] = pair
        else:
            unpaired += 1
    return paired, unpaired


def _by_cell(judgements: Iterable[Judgement]) -> dict[CellKey, Judgement]:
    """By the keys by which cells are followed; of two judgements of one cell the error counts."""
    found: dict[CellKey, Judgement] = {}
    for one in judgements:
        key = one.key
        if key not in found or not _is_right(one):
            found[key] = one
    return found


def _is_right(one: Judgement | None) -> bool:
    return one is None or one.outcome in _RIGHT


def _flip(pair: _Paired) -> Flip:
    before, after = (None if one is None else one.outcome for one in pair)
    change = flipped(_is_right(pair.before), _is_right(pair.after))
    at = pair.newest
    return Flip(at.document, at.path, change, before, after, _value(pair), at.named_path)


def _value(pair: _Paired) -> str:
    """What the pair is about."""
    sides = [each for each in (pair.after, pair.before) if each is not None]
    expected = next((each.expected for each in sides if each.expected is not None), None)
    return as_text(sides[0].actual if expected is None else expected)[:LONGEST]


def _metric(spec: MetricSpec, first: Result, second: Result, judge: Exchange | None) -> MetricChange:
    before, after = first.scorecard.metric(spec.name), second.scorecard.metric(spec.name)
    change = None if before is None or after is None or regraded(judge, spec.name) else after - before
    return MetricChange(spec.name, spec.label, before, after, change, spec.higher_is_better)


def _documents(headline: str, first: Result, second: Result) -> Iterable[DocumentChange]:
    after = {each.id: each for each in second.scorecard.documents}
    for each in first.scorecard.documents:
        if each.id in after:
            yield DocumentChange(each.id, _headline(headline, each), _headline(headline, after[each.id]))


def _headline(name: str, document: DocumentScore) -> float | None:
    """The headline metric of one document; F1 where the kind gives documents no metrics of their own."""
    return next((metric.value for metric in document.metrics if metric.name == name), f1(document.counts))
