"""Makes the document of a result of any kind, which ``--json`` prints, ``--save`` writes and data files hold."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import structs

from sitegen.model.frozen import FrozenObject
from sitegen.model.metrics import Counts, Nouns
from sitegen.model.scorecards import DocumentStatus, Kappa, Mark, MarkedText, Result, SpansPanel
from sitegen.scoring import results_file
from sitegen.scoring.kinds import nouns_of, specs_of_results
from sitegen.scoring.responses.document import responses_document
from sitegen.stats import counts as stats
from sitegen.text.values import as_text, json_value


class HighlightNumbers(FrozenObject):
    """Highlights counted; undefined is None."""

    expected: int
    found: int
    """Number of highlights that the output gives, right or wrong."""
    correct: int
    accuracy: float | None
    precision: float | None
    f1: float | None


class ParagraphRow(FrozenObject):
    """One annotated paragraph."""

    id: str
    status: DocumentStatus
    """``unreadable``: it is missing from the output."""
    numbers: HighlightNumbers
    text: str
    marks: tuple[Mark, ...]
    """(start, end, outcome, category) of each highlight that is in the text, in characters."""


class HighlightsDocument(results_file.ResultsDocument):
    """The results of kind ``highlights``, starting with the numbers of all paragraphs together."""

    form: ClassVar = "sitegen/highlights-results/1"

    expected: int
    found: int
    """Number of highlights that the output gives, right or wrong."""
    correct: int
    accuracy: float | None
    precision: float | None
    f1: float | None
    missed: tuple[tuple[str, str, str], ...]
    """(paragraph, category, text)."""
    wrong: tuple[tuple[str, str, str], ...]
    by_category: dict[str, HighlightNumbers]
    paragraphs: tuple[ParagraphRow, ...]
    not_annotated: tuple[str, ...]
    """Paragraphs in scope without gold: not scored (rule 27)."""
    run_id: str | None
    """Id of the run that counts; None if the output names no run."""


def highlights_document(result: Result, shared: Mapping[str, Any]) -> HighlightsDocument:
    """Make the document of one result. ``shared``: what the documents of all kinds have."""
    card = result.scorecard
    data = result.data if isinstance(result.data, dict) else {}
    names, run = data.get("not_annotated"), data.get("run_id")
    shown = {text.id: text for panel in result.panels if isinstance(panel, SpansPanel) for text in panel.texts}
    # There are no texts where they are redacted.
    texts = [shown.get(document.name, MarkedText(document.name, "", ())) for document in card.documents]
    return HighlightsDocument(
        **shared,
        schema=HighlightsDocument.form,
        **structs.asdict(_highlight_numbers(card.counts)),
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
                id=document.name,
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


class CaseRow(results_file.OfAnswer):
    """One case, as one variant and model answered it."""

    id: str
    score: float | None
    tp: int
    fp: int | None
    fn: int | None
    tn: int
    judges: tuple[dict[str, Any], ...]
    """The name and the complete details of each judge."""


class JudgedDocument(results_file.ResultsDocument):
    """The results of kind ``judged``; a count or ratio that is the same number as another one is null."""

    form: ClassVar = "sitegen/judged-results/1"

    metrics: dict[str, float | None]
    totals: results_file.FieldCounts
    by_attribute: dict[str, results_file.FieldCounts]
    cases: tuple[CaseRow, ...]
    agreement_with_people: Kappa | None
    """Over the cases that both judged; None if there are fewer than two, or if all have one verdict."""


def judged_document(result: Result, shared: Mapping[str, Any], same: Collection[str]) -> JudgedDocument:
    """Make the document of one result. ``shared``: what the documents of all kinds have; ``same``: as in ``Nouns``."""
    card = result.scorecard
    judges: Any = {case["id"]: tuple(case["judges"]) for case in json_value(result.data)}
    return JudgedDocument(
        **shared,
        schema=JudgedDocument.form,
        metrics={metric.name: metric.value for metric in card.metrics if metric.name not in same},
        totals=results_file.field_row(card.counts, same),
        by_attribute={field.attribute: results_file.field_row(field.counts, same) for field in card.fields},
        cases=tuple(
            CaseRow(
                id=document.name,
                score=dict(document.metrics)["score"],
                **stats.cells(document.counts, same),
                judges=judges.get(document.name, ()),
                **results_file.of_answer(document),
            )
            for document in card.documents
        ),
        agreement_with_people=result.agreement,
    )


class NumberRow(FrozenObject):
    """One recorded number, and whether higher is better."""

    name: str
    value: float | None
    higher_is_better: bool


class RecordedDocument(results_file.ResultsDocument):
    """The results of kind ``recorded``."""

    form: ClassVar = "sitegen/recorded-results/1"

    numbers: tuple[NumberRow, ...]
    """Of all outputs of the eval, with the headline of its series first; null if this run wrote none of that name."""


def results_document(
    result: Result,
    *,
    eval_id: str,
    metadata: results_file.Metadata,
    thresholds: Mapping[str, float] = {},
    methods: Sequence[str] = (),
    nouns: Nouns | None = None,
) -> results_file.ResultsDocument:
    """Return the document of one result.

    ``nouns``: those of its series, if it is a point of one. ``methods``: the scoring methods that a result of kind
    ``responses`` reports; empty for all. Raises ConfigurationError if there is no such method.
    """
    card = result.scorecard
    problems = tuple(
        results_file.ProblemRow(severity=each.severity, what=each.text, fix=each.fix, line=each.line, about=each.about)
        for each in card.findings
    )
    shared: dict[str, Any] = {
        "eval_id": eval_id,
        "status": card.status,
        "usage": card.usage,
        "problems": problems,
        "metadata": metadata,
    }
    if card.kind == "responses":
        return responses_document(result, shared, thresholds, methods)
    if card.kind == "judged":
        return judged_document(result, shared, (nouns or nouns_of(card.kind, specs_of_results(result))).same)
    if card.kind == "highlights":
        return highlights_document(result, shared)
    if card.kind == "recorded":
        numbers = (NumberRow(spec.name, card.metric(spec.name), spec.higher_is_better) for spec in card.specs)
        return RecordedDocument(**shared, schema=RecordedDocument.form, numbers=tuple(numbers))
    return results_file.fields_document(result, shared)
