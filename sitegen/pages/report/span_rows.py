"""HTML of texts with marks. Outcomes differ in line style and letter as well as in colour."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from markupsafe import Markup

from sitegen.html.cells import escape
from sitegen.html.formats import bounded, printable
from sitegen.pages.report.spans import Piece, ShownText

_LETTERS: Final = {"correct": "C", "missed": "M", "wrong": "W"}
_SHORT: Final = 200
"""Largest number of characters of a highlight that is listed beside its text."""

_CATEGORY: Final = 40


def texts(paragraphs: Iterable[ShownText]) -> Markup:
    """One list item for each text: its id and counts, the text with its marks, and the highlights beside it."""
    return Markup("".join(map(_paragraph_item, paragraphs)))


def key(outcome: str) -> Markup:
    """An outcome in the legend."""
    return Markup(f'<span class="hl {outcome}">{outcome}{_tag(outcome, "")}</span>')


def _paragraph_item(paragraph: ShownText) -> str:
    body = "".join(map(_piece, paragraph.pieces))
    if paragraph.cut:
        body += f'<span class="cut"> … {paragraph.cut:,} more characters</span>'
    text = f'<p class="marked" dir="auto">{body}</p>' if body else ""
    head = f'<div class="by"><b class="mono wrap">{bounded(paragraph.id, _SHORT)}</b> {_mark_counts(paragraph)}</div>'
    return f"<li>{head}{text}{_paragraph_notes(paragraph)}</li>\n"


def _mark_counts(paragraph: ShownText) -> str:
    counts = [(paragraph.correct, "correct"), (paragraph.missed, "missed"), (paragraph.wrong, "wrong")]
    summary = ", ".join(f"{count:,} {name}" for count, name in counts if count)
    return f"<span>{summary or 'nothing expected, nothing given'}</span>"


def _piece(piece: Piece) -> str:
    inside = escape(printable(piece.text))
    for mark in reversed(piece.marks):
        tag = _tag(mark.outcome, mark.category) if mark in piece.ending else ""
        inside = _span_mark(mark.outcome, mark.category, f"{inside}{tag}")
    return inside


def _span_mark(outcome: str, category: str, inside: str) -> str:
    """A mark; the filter of the page reads its class and its ``data-c``."""
    return f'<mark class="hl {outcome}" data-c="{escape(printable(category))}">{inside}</mark>'


def _tag(outcome: str, category: str) -> str:
    name = f" {bounded(category, _CATEGORY)}" if category else ""
    return f'<small><b aria-hidden="true">{_LETTERS[outcome]}</b><span class="vh"> {outcome}</span>{name}</small>'


def _paragraph_notes(paragraph: ShownText) -> str:
    if not paragraph.beside:
        return ""
    items = "".join(
        f"<li>{_span_mark(outcome, category, f'{bounded(text, _SHORT)}{_tag(outcome, category)}')}</li>"
        for outcome, category, text in paragraph.beside
    )
    more = f"<li>{paragraph.more_beside:,} more</li>" if paragraph.more_beside else ""
    why = "Not marked in the text" if paragraph.pieces else "No text is recorded"
    return f'<p class="by">{why}:</p><ul class="beside" dir="auto">{items}{more}</ul>'
