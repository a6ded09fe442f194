"""Compares one result of an eval with a later one: metrics, fixed and broken cells, and whether it may be chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from sitegen.analysis.cells import compare_results
from sitegen.analysis.comparison.chance import Chance, chance_of
from sitegen.analysis.comparison.pairs import ORDER
from sitegen.analysis.comparison.values import PairedFate
from sitegen.analysis.deltas import exchanges
from sitegen.analysis.flips import count_flips
from sitegen.model.cells import WRONG, CellFlip, Fate, Period
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import CellKey, Judgement, Outcome
from sitegen.model.scorecards import DocumentScore, Result
from sitegen.model.usage import Exchange, regraded
from sitegen.named_tuple import NamedTuple
from sitegen.stats.counts import f1
from sitegen.stats.significance import Significance, mcnemar, paired_t_test
from sitegen.text.values import as_text

LONGEST: Final = 200
"""Largest number of characters of a value."""

_ON_ONE_SIDE: Final[Mapping[Fate, Fate]] = {"appeared": "broken", "vanished": "fixed"}
"""The fate of a hallucination that only one side has: the other side, without it, is right."""


@dataclass(frozen=True, slots=True)
class MetricChange:
    """One metric on both sides."""

    name: str
    label: str
    before: float | None
    after: float | None
    change: float | None
    """After minus before; None if a value is undefined, or if two judges graded the sides."""
    higher_is_better: bool


@dataclass(frozen=True, slots=True)
class Flip:
    """A judgement that was wrong on at least one side."""

    document: str
    path: str
    change: PairedFate
    before: Outcome | None
    """None if no value was expected, and the output gave none."""
    after: Outcome | None
    value: str = ""
    """The expected value as text, or the actual value if none was expected; cut to 200 characters."""
    named_path: str = ""
    """The path with list items by name, `walls[E Wall].area`; empty if it is the same."""


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """The headline metric of one document on both sides."""

    id: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class Origin:
    """The parts of a change of the headline, by cause; they sum to the whole change."""

    outputs: float
    ground_truth: float
    rules: float
    """The part of mapping, schema and settings."""


@dataclass(frozen=True, slots=True)
class ResultChange:
    """A result compared with a later one."""

    eval_id: str
    before: str
    """The name of the earlier side: ``iteration-011``, or a revision."""
    after: str
    metrics: tuple[MetricChange, ...]
    fixed: int
    broken: int
    still_wrong: int
    still_right: int
    unpaired: int
    """Number of judgements that only one side has, because the ground truth differs."""
    judgements: Significance
    """McNemar's test over list items and judgements outside of lists that flipped; their numbers are in ``chance``."""
    documents: tuple[DocumentChange, ...]
    """The documents that both sides have."""
    by_document: Significance
    """Paired t-test over the documents' headline metric."""
    flips: tuple[Flip, ...]
    """Broken, then fixed, then still wrong; each group sorted by document and path."""
    origin: Origin | None = None
    """Over common documents of two iterations; None if the headline is undefined on a side, and for two revisions."""
    chance: Chance | None = None
    """Whether the headline moved by more than chance."""
    warnings: tuple[str, ...] = ()
    """Sentences about a changed judge or model."""


class NamedResult(NamedTuple):
    """A result, with the name of its side."""

    name: str
    result: Result


def change_of(
    eval_id: str,
    specs: Sequence[MetricSpec],
    before: NamedResult,
    after: NamedResult,
    kind: str = "fields",
) -> ResultChange:
    """Compare two results of an eval of this kind."""
    (first_name, first), (second_name, second) = before, after
    compared = compare_results(first, second)
    paired = [_paired(cell) for cell in compared.flipped if _is_paired(cell)]
    fates = Counter(cell.fate for cell in paired)
    chance = (
        None
        if traits_of(kind).is_recorded
        else chance_of(
            first.scorecard,
            second.scorecard,
            kind,
            count_flips(paired),
            higher_is_better=specs[0].higher_is_better,
        )
    )
    model, judge = exchanges(first.scorecard, second.scorecard)
    headline_regraded = regraded(judge, specs[0].name)
    documents = () if chance is None else tuple(_document_changes(specs[0].name, first, second))
    both = [
        (document.before, document.after)
        for document in documents
        if document.before is not None and document.after is not None and not headline_regraded
    ]
    return ResultChange(
        eval_id=eval_id,
        before=first_name,
        after=second_name,
        metrics=tuple(_metric_change(spec, first, second, judge) for spec in specs),
        fixed=fates["fixed"],
        broken=fates["broken"],
        still_wrong=fates["still_wrong"],
        still_right=compared.still_right,
        unpaired=compared.right_on_one_side + len(compared.flipped) - len(paired),
        judgements=mcnemar(0, 0, 0)
        if chance is None or headline_regraded
        else mcnemar(chance.broken, chance.fixed, compared.still_right + len(paired)),
        documents=documents,
        by_document=paired_t_test([before for before, _ in both], [after for _, after in both]),
        flips=_listed_flips(paired, first.judgements, second.judgements),
        chance=chance,
        warnings=tuple(_exchange_warnings((first_name, second_name), specs, model, judge)),
    )


def _exchange_warnings(
    names: tuple[str, str], specs: Sequence[MetricSpec], model: Exchange | None, judge: Exchange | None
) -> Iterator[str]:
    def by(exchange: Exchange) -> str:
        sides = zip(names, exchange[:2], strict=True)
        return ", ".join(f"{name} by {' and '.join(who)}" for name, who in sides)

    if judge:
        labels = ", ".join(spec.label for spec in specs if regraded(judge, spec.name))
        yield f"Different judges graded the outputs ({by(judge)}). Metrics with grades are not compared: {labels}."
    if model:
        yield f"Different models made the outputs ({by(model)}): how much of the change is due to the model is unknown."


def _is_paired(cell: CellFlip) -> bool:
    """Decide whether a cell can be compared: both sides judged it, or it is a hallucination of one side.

    A side without the hallucination counts as right, even if it lacks the document.
    """
    return cell.fate not in _ON_ONE_SIDE or "hallucination" in (
        _period_outcome(cell.before),
        _period_outcome(cell.after),
    )


def _paired(cell: CellFlip) -> CellFlip:
    return cell._replace(fate=_ON_ONE_SIDE.get(cell.fate, cell.fate))


def _period_outcome(period: Period | None) -> Outcome | None:
    return None if period is None or period.state == "absent" else period.state


def _listed_flips(
    cells: Iterable[CellFlip], before: Iterable[Judgement], after: Iterable[Judgement]
) -> tuple[Flip, ...]:
    """Return the listed flips, with values taken from the judgements, because cells cut values shorter."""
    sides = _judgements_of_cells(after), _judgements_of_cells(before)
    flips = [
        Flip(
            document=flip.cell.document,
            path=flip.cell.path,
            change=cast("PairedFate", flip.fate),
            before=_period_outcome(flip.before),
            after=_period_outcome(flip.after),
            value=_compared_value([side[flip.cell.key] for side in sides if flip.cell.key in side]),
            named_path=flip.cell.named_path,
        )
        for flip in cells
    ]
    return tuple(sorted(flips, key=lambda flip: (ORDER.index(flip.change), flip.document, flip.path)))


def _judgements_of_cells(judgements: Iterable[Judgement]) -> dict[CellKey, Judgement]:
    """Map each cell to its judgement; of two judgements of one cell the error counts, as in ``CellTracker``."""
    by_cell: dict[CellKey, Judgement] = {}
    for judgement in judgements:
        if judgement.key not in by_cell or judgement.outcome in WRONG:
            by_cell[judgement.key] = judgement
    return by_cell


def _compared_value(judgements: Sequence[Judgement]) -> str:
    """Return the expected value of a cell, or else its actual value. *judgements* begin with the later side."""
    expected = next((judgement.expected for judgement in judgements if judgement.expected is not None), None)
    return as_text(judgements[0].actual if expected is None else expected)[:LONGEST]


def _metric_change(spec: MetricSpec, first: Result, second: Result, judge: Exchange | None) -> MetricChange:
    before, after = first.scorecard.metric(spec.name), second.scorecard.metric(spec.name)
    change = None if before is None or after is None or regraded(judge, spec.name) else after - before
    return MetricChange(
        name=spec.name,
        label=spec.label,
        before=before,
        after=after,
        change=change,
        higher_is_better=spec.higher_is_better,
    )


def _document_changes(headline: str, first: Result, second: Result) -> Iterable[DocumentChange]:
    after = {document.id: document for document in second.scorecard.documents}
    for document in first.scorecard.documents:
        if document.id in after:
            yield DocumentChange(
                id=document.id,
                before=_document_headline(headline, document),
                after=_document_headline(headline, after[document.id]),
            )


def _document_headline(name: str, document: DocumentScore) -> float | None:
    """Return the headline metric of one document; F1 if the kind does not define metrics of documents."""
    return next((metric.value for metric in document.metrics if metric.name == name), f1(document.counts))
