"""Makes the document of a result of any kind, which ``--json`` prints, ``--save`` writes and data files hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Final, TypeAlias, cast

from sitegen.model.metrics import Counts
from sitegen.model.scorecards import Kappa, Mark, MarkedText, Result, SpansPanel, Status
from sitegen.scoring.kinds import specs_of_results
from sitegen.scoring.responses.document import responses_part
from sitegen.scoring.results_file import (
    FieldCounts,
    Metadata,
    ProblemRow,
    ResultsHead,
    ResultsTail,
    field_row,
    fields_part,
)
from sitegen.stats import counts as stats
from sitegen.text.values import as_text, json_value


@dataclass(frozen=True, kw_only=True)
class HighlightNumbers:
    """Highlights counted; undefined is None."""

    expected: int
    found: int
    """Number of highlights that the output gives, right or wrong."""
    correct: int
    accuracy: float | None
    precision: float | None
    f1: float | None


@dataclass(frozen=True, kw_only=True)
class ParagraphRow:
    """One annotated paragraph."""

    id: str
    status: Status
    """``unreadable``: it is missing from the output."""
    numbers: HighlightNumbers
    text: str
    marks: tuple[Mark, ...]
    """(start, end, outcome, category) of each highlight that is in the text, in characters."""


@dataclass(frozen=True, kw_only=True)
class HighlightsPart(HighlightNumbers):
    """The part that only kind ``highlights`` has, starting with the numbers of all paragraphs together."""

    form: ClassVar = "sitegen/highlights-results/1"

    missed: tuple[tuple[str, str, str], ...]
    """(paragraph, category, text)."""
    wrong: tuple[tuple[str, str, str], ...]
    by_category: dict[str, HighlightNumbers]
    paragraphs: tuple[ParagraphRow, ...]
    not_annotated: tuple[str, ...]
    """Paragraphs in scope without gold: not scored (rule 27)."""
    run_id: str | None
    """Id of the run that counts; None if the output names no run."""


def highlights_part(result: Result) -> HighlightsPart:
    """Make the part of one result."""
    card = result.scorecard
    data = result.data if isinstance(result.data, dict) else {}
    names, run = data.get("not_annotated"), data.get("run_id")
    shown = {text.id: text for panel in result.panels if isinstance(panel, SpansPanel) for text in panel.texts}
    # There are no texts where they are redacted.
    texts = [shown.get(document.id, MarkedText(document.id, "", ())) for document in card.documents]
    return HighlightsPart(
        **vars(_highlight_numbers(card.counts)),
        missed=tuple(
            (judgement.document, judgement.attribute, as_text(judgement.expected))
            for judgement in result.judgements
            if judgement.outcome == "omission"
        ),
        wrong=tuple(
            (judgement.document, judgement.attribute, as_text(judgement.actual))
            for judgement in result.judgements
            if judgement.outcome == "hallucination"
        ),
        by_category={category.attribute: _highlight_numbers(category.counts) for category in card.fields},
        paragraphs=tuple(
            ParagraphRow(
                id=document.id,
                status=document.status,
                numbers=_highlight_numbers(document.counts),
                text=text.text,
                marks=text.marks,
            )
            for document, text in zip(card.documents, texts, strict=True)
        ),
        not_annotated=tuple(map(str, names)) if isinstance(names, list) else (),
        run_id=run if isinstance(run, str) else None,
    )


def _highlight_numbers(counts: Counts) -> HighlightNumbers:
    return HighlightNumbers(
        expected=counts.tp + counts.fn,
        found=counts.tp + counts.fp,
        correct=counts.tp,
        accuracy=stats.ACCURACY.of(counts),
        precision=stats.BY_NAME["precision"].of(counts),
        f1=stats.f1(counts),
    )


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
    """The part that only kind ``judged`` has; a ratio that is the same number as another metric is null."""

    form: ClassVar = "sitegen/judged-results/1"

    metrics: dict[str, float | None]
    totals: FieldCounts
    by_attribute: dict[str, FieldCounts]
    cases: tuple[CaseRow, ...]
    agreement_with_people: Kappa | None
    """Over the cases that both judged; None if there are fewer than two, or if all have one verdict."""


def judged_part(result: Result) -> JudgedPart:
    """Make the part of one result."""
    card = result.scorecard
    same = {name for spec in specs_of_results(result) for name in spec.equals}
    judges: Any = {case["id"]: tuple(case["judges"]) for case in json_value(result.data)}
    return JudgedPart(
        metrics={metric.name: metric.value for metric in card.metrics if metric.name not in same},
        totals=field_row(card.counts, same),
        by_attribute={field.attribute: field_row(field.counts, same) for field in card.fields},
        cases=tuple(
            CaseRow(
                id=document.id,
                score=dict(document.metrics)["score"],
                **dict(zip(stats.CELLS, document.counts, strict=False)),
                judges=judges.get(document.id, ()),
            )
            for document in card.documents
        ),
        agreement_with_people=result.agreement,
    )


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
    """Of all outputs of the eval, with the headline of its series first; null if this run wrote none of that name."""


_PARTS: Final[dict[str, Callable[[Result], Any]]] = {
    "fields": fields_part,
    "highlights": highlights_part,
    "judged": judged_part,
    "recorded": lambda result: RecordedPart(
        numbers=tuple(
            NumberRow(spec.name, result.scorecard.metric(spec.name), spec.higher_is_better)
            for spec in result.scorecard.specs
        )
    ),
}
"""By kind; ``fields`` has the part of all others."""


def results_document(
    result: Result,
    *,
    eval_id: str,
    metadata: Metadata,
    thresholds: Mapping[str, float] = {},
    methods: Sequence[str] = (),
) -> Document:
    """The document of one result.

    ``methods`` limits the scoring methods that a result of kind ``responses`` reports; empty for all. Raises
    ConfigurationError if there is no such method.
    """
    card = result.scorecard
    if card.kind == "responses":
        part: Any = responses_part(result, thresholds, methods)
    else:
        part = _PARTS.get(card.kind, fields_part)(result)
    made: Callable[..., Document] = document_type(cast("Any", type(part)))
    return made(
        schema=part.form,
        eval_id=eval_id,
        status=card.status,
        **{field.name: getattr(part, field.name) for field in fields(part)},
        usage=card.usage,
        problems=tuple(
            ProblemRow(
                severity=finding.severity, what=finding.text, fix=finding.fix, line=finding.line, about=finding.about
            )
            for finding in card.findings
        ),
        metadata=metadata,
    )


@cache
def document_type(part: Any) -> type[Any]:
    """The class of a whole document: the part of one kind between the head and the tail that all documents share.

    A dataclass orders its fields from the last base class to the first.
    """
    document = type(f"{part.__name__}Document", (ResultsTail, part, ResultsHead), {"__doc__": "The whole file."})
    return dataclass(frozen=True, kw_only=True)(document)
