"""Writes the results of kind ``judged`` for other programs (``sitegen/judged-results/1``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sitegen.model.scorecards import DocumentScore, Result
from sitegen.scoring.results_file import AgreementRow, FieldCounts, agreement_row, field_row
from sitegen.text.values import json_value


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """One case."""

    id: str
    score: float | None
    tp: int
    fp: int
    fn: int
    tn: int
    judges: tuple[dict[str, Any], ...]
    """The name and the complete details of each judge."""


@dataclass(frozen=True, kw_only=True)
class JudgedPart:
    """The part that only kind ``judged`` has."""

    form: ClassVar = "sitegen/judged-results/1"

    metrics: dict[str, float | None]
    totals: FieldCounts
    by_attribute: dict[str, FieldCounts]
    cases: tuple[CaseRow, ...]
    agreement_with_people: AgreementRow | None
    """Over the cases that both judged; None if there are fewer than two, or if all have one verdict."""


def judged_part(result: Result) -> JudgedPart:
    """Make the part of one result."""
    card = result.scorecard
    judges: Any = {case["id"]: tuple(case["judges"]) for case in json_value(result.data)}
    return JudgedPart(
        metrics=dict(card.metrics),
        totals=field_row(card.counts),
        by_attribute={field.attribute: field_row(field.counts) for field in card.fields},
        cases=tuple(_case_row(document, judges.get(document.id, ())) for document in card.documents),
        agreement_with_people=agreement_row(result.agreement),
    )


def _case_row(document: DocumentScore, judges: tuple[dict[str, Any], ...]) -> CaseRow:
    counts = document.counts
    score = next(metric.value for metric in document.metrics if metric.name == "score")
    return CaseRow(id=document.id, score=score, tp=counts.tp, fp=counts.fp, fn=counts.fn, tn=counts.tn, judges=judges)
