"""Writes the results of kind ``highlights`` for other programs (``sitegen/highlights-results/1``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sitegen.frozen import Frozen
from sitegen.model.metrics import Counts
from sitegen.model.panels import Mark, MarkedText, SpansPanel
from sitegen.model.scorecards import Result, Status
from sitegen.stats import counts as stats
from sitegen.text.values import as_text


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


class HighlightRow(Frozen):
    """A highlight that only one side has; written as a list."""

    paragraph: str
    category: str
    text: str


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

    missed: tuple[HighlightRow, ...]
    """(paragraph, category, text)."""
    wrong: tuple[HighlightRow, ...]
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
    return HighlightsPart(
        **vars(_highlight_numbers(card.counts)),
        missed=tuple(
            HighlightRow(judgement.document, judgement.attribute, as_text(judgement.expected))
            for judgement in result.judgements
            if judgement.outcome == "omission"
        ),
        wrong=tuple(
            HighlightRow(judgement.document, judgement.attribute, as_text(judgement.actual))
            for judgement in result.judgements
            if judgement.outcome == "hallucination"
        ),
        by_category={category.attribute: _highlight_numbers(category.counts) for category in card.fields},
        paragraphs=_paragraph_rows(result),
        not_annotated=tuple(map(str, names)) if isinstance(names, list) else (),
        run_id=run if isinstance(run, str) else None,
    )


def _paragraph_rows(result: Result) -> tuple[ParagraphRow, ...]:
    texts = {text.id: text for panel in result.panels if isinstance(panel, SpansPanel) for text in panel.texts}
    rows = []
    for document in result.scorecard.documents:
        text = texts.get(document.id, MarkedText(document.id, "", ()))  # none where texts are redacted
        numbers = _highlight_numbers(document.counts)
        rows.append(
            ParagraphRow(id=document.id, status=document.status, numbers=numbers, text=text.text, marks=text.marks)
        )
    return tuple(rows)


def _highlight_numbers(counts: Counts) -> HighlightNumbers:
    return HighlightNumbers(
        expected=counts.tp + counts.fn,
        found=counts.tp + counts.fp,
        correct=counts.tp,
        accuracy=stats.ratio("accuracy", counts),
        precision=stats.ratio("precision", counts),
        f1=stats.ratio("f1", counts),
    )
