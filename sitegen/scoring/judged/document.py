"""The results of kind ``judged`` as a document that other programs read (``sitegen/judged-results/1``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sitegen.model.scorecards import DocumentScore, Result, Status
from sitegen.scoring.results_file import (
    AgreementRow,
    FieldCounts,
    Metadata,
    ProblemRow,
    UsageRow,
    agreement_row,
    field_row,
    plain,
    problem_rows,
    usage_row,
)

SCHEMA: Final = "sitegen/judged-results/1"


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case."""

    id: str
    score: float | None
    tp: int
    fp: int
    fn: int
    tn: int
    judges: tuple[dict[str, Any], ...]
    """name, details: whole, as the judge wrote them."""


@dataclass(frozen=True, slots=True)
class JudgedDocument:
    """The whole file, in the order in which it is written."""

    schema: str
    eval_id: str
    status: Status
    metrics: dict[str, float | None]
    totals: FieldCounts
    by_attribute: dict[str, FieldCounts]
    cases: tuple[CaseRow, ...]
    agreement_with_people: AgreementRow | None
    """Over the cases that both judged; None if there are fewer than two, or if all have one verdict."""
    usage: UsageRow | None
    """None: no file states any of it."""
    problems: tuple[ProblemRow, ...]
    metadata: Metadata


def judged_document(result: Result, *, eval_id: str, metadata: Metadata) -> JudgedDocument:
    """The document of one result of kind ``judged``."""
    card = result.scorecard
    details: Any = {each["id"]: tuple(each["judges"]) for each in plain(result.data)}
    return JudgedDocument(
        schema=SCHEMA,
        eval_id=eval_id,
        status=card.status,
        metrics=dict(card.metrics),
        totals=field_row(card.counts),
        by_attribute={each.attribute: field_row(each.counts) for each in card.fields},
        cases=tuple(_case(each, details.get(each.id, ())) for each in card.documents),
        agreement_with_people=agreement_row(result.agreement),
        usage=usage_row(card.usage),
        problems=problem_rows(card.findings),
        metadata=metadata,
    )


def _case(document: DocumentScore, judges: tuple[dict[str, Any], ...]) -> CaseRow:
    counts = document.counts
    score = next(metric.value for metric in document.metrics if metric.name == "score")
    return CaseRow(document.id, score, counts.tp, counts.fp, counts.fn, counts.tn, judges)
