"""Makes the document of a result of any kind, which ``--json`` prints, ``--save`` writes and data files hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Final, TypeAlias, cast

from sitegen.model.metrics import Threshold
from sitegen.model.scorecards import DocumentScore, Result
from sitegen.scoring.fields_document import fields_part
from sitegen.scoring.highlights.document import highlights_part
from sitegen.scoring.responses.document import responses_part
from sitegen.scoring.results_file import (
    AgreementRow,
    FieldCounts,
    Metadata,
    ResultsHead,
    ResultsTail,
    agreement_row,
    field_row,
    problem_rows,
    usage_row,
)
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


Document: TypeAlias = ResultsTail
"""A document of any kind; ``document_type`` makes the classes."""


@dataclass(frozen=True, slots=True)
class NumberRow:
    """One recorded number, and whether higher is better."""

    name: str
    value: float | None
    higher_is_better: bool


@dataclass(frozen=True, kw_only=True)
class RecordedPart:
    """The part of a document that only kind ``recorded`` has."""

    form: ClassVar = "sitegen/recorded-results/1"

    numbers: tuple[NumberRow, ...]
    """As the run wrote them, with the headline first."""


def _recorded_part(result: Result) -> RecordedPart:
    card = result.scorecard
    return RecordedPart(
        numbers=tuple(NumberRow(spec.name, card.metric(spec.name), spec.higher_is_better) for spec in card.specs)
    )


_PARTS: Final[dict[str, Callable[[Result], Any]]] = {
    "fields": fields_part,
    "highlights": highlights_part,
    "judged": judged_part,
    "recorded": _recorded_part,
}
"""By kind. Kinds of installed packages use the part of ``fields``."""


def results_document(
    kind: str,
    result: Result,
    *,
    eval_id: str,
    metadata: Metadata,
    thresholds: Iterable[Threshold] = (),
    methods: Sequence[str] = (),
) -> Document:
    """The document of one result.

    ``methods`` limits the scoring methods that a result of kind ``responses`` reports; empty for all. Raises
    ConfigurationError if there is no such method.
    """
    card = result.scorecard
    if kind == "responses":
        part: Any = responses_part(result, thresholds, methods)
    else:
        part = _PARTS.get(kind, fields_part)(result)
    document: Document = document_type(cast("Any", type(part)))(
        schema=part.form,
        eval_id=eval_id,
        status=card.status,
        **{field.name: getattr(part, field.name) for field in fields(part)},
        usage=usage_row(card.usage),
        problems=problem_rows(card.findings),
        metadata=metadata,
    )
    return document


@cache
def document_type(part: Any) -> type[Any]:
    """The class of a whole document: the part of one kind between the head and the tail that all documents share.

    A dataclass orders its fields from the last base class to the first.
    """
    document = type(f"{part.__name__}Document", (ResultsTail, part, ResultsHead), {"__doc__": "The whole file."})
    return dataclass(frozen=True, kw_only=True)(document)
