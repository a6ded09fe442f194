"""The results of kind ``highlights`` as a document that other programs read (``sitegen/highlights-results/1``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sitegen.model.metrics import Counts
from sitegen.model.panels import MarkedText, SpansPanel
from sitegen.model.scorecards import Result, Status
from sitegen.scoring.results_file import Metadata, ProblemRow, UsageRow, problem_rows, usage_row
from sitegen.stats import counts as stats
from sitegen.text.values import as_text

SCHEMA: Final = "sitegen/highlights-results/1"


@dataclass(frozen=True, slots=True)
class Numbers:
    """Highlights counted; undefined is None."""

    expected: int
    found: int
    """Given by the output, right or wrong."""
    correct: int
    accuracy: float | None
    precision: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class ParagraphRow:
    """One annotated paragraph."""

    id: str
    status: Status
    """``unreadable``: it is missing from the output."""
    numbers: Numbers
    text: str
    marks: tuple[tuple[int, int, str, str], ...]
    """(start, end, outcome, category) of what stands in the text, in characters."""


@dataclass(frozen=True, slots=True)
class HighlightsDocument:
    """The whole file, in the order in which it is written."""

    schema: str
    eval_id: str
    status: Status
    expected: int
    found: int
    correct: int
    accuracy: float | None
    precision: float | None
    f1: float | None
    missed: tuple[tuple[str, str, str], ...]
    """(paragraph, category, text)."""
    wrong: tuple[tuple[str, str, str], ...]
    by_category: dict[str, Numbers]
    paragraphs: tuple[ParagraphRow, ...]
    not_annotated: tuple[str, ...]
    """Paragraphs in scope without gold: not scored (rule 27)."""
    run_id: str | None
    """Of the run that counts; None if the output names none."""
    usage: UsageRow | None
    """None: no file states any of it."""
    problems: tuple[ProblemRow, ...]
    metadata: Metadata


def highlights_document(result: Result, *, eval_id: str, metadata: Metadata) -> HighlightsDocument:
    """The document of one result of kind ``highlights``."""
    card = result.scorecard
    total = _numbers(card.counts)
    data = result.data if isinstance(result.data, dict) else {}
    names, run = data.get("not_annotated"), data.get("run_id")
    return HighlightsDocument(
        schema=SCHEMA,
        eval_id=eval_id,
        status=card.status,
        expected=total.expected,
        found=total.found,
        correct=total.correct,
        accuracy=total.accuracy,
        precision=total.precision,
        f1=total.f1,
        missed=tuple(
            (each.document, each.attribute, as_text(each.expected))
            for each in result.judgements
            if each.outcome == "omission"
        ),
        wrong=tuple(
            (each.document, each.attribute, as_text(each.actual))
            for each in result.judgements
            if each.outcome == "hallucination"
        ),
        by_category={each.attribute: _numbers(each.counts) for each in card.fields},
        paragraphs=_paragraphs(result),
        not_annotated=tuple(map(str, names)) if isinstance(names, list) else (),
        run_id=run if isinstance(run, str) else None,
        usage=usage_row(card.usage),
        problems=problem_rows(card.findings),
        metadata=metadata,
    )


def _paragraphs(result: Result) -> tuple[ParagraphRow, ...]:
    texts = {text.id: text for panel in result.panels if isinstance(panel, SpansPanel) for text in panel.texts}
    rows = []
    for each in result.scorecard.documents:
        text = texts.get(each.id, MarkedText(each.id, "", ()))  # none where texts are redacted
        marks = tuple((mark.start, mark.end, mark.outcome, mark.category) for mark in text.marks)
        rows.append(ParagraphRow(each.id, each.status, _numbers(each.counts), text.text, marks))
    return tuple(rows)


def _numbers(counts: Counts) -> Numbers:
    return Numbers(
        expected=counts.tp + counts.fn,
        found=counts.tp + counts.fp,
        correct=counts.tp,
        accuracy=stats.recall(counts),
        precision=stats.precision(counts),
        f1=stats.f1(counts),
    )
