"""Texts with marked stretches, as escaped f-strings: outcomes are told apart by line, letter and colour."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from markupsafe import Markup

from sitegen.html.cells import escape
from sitegen.html.formats import bounded, printable
from sitegen.pages.report.spans import Piece, ShownText

_LETTERS: Final = {"correct": "C", "missed": "M", "wrong": "W"}
_SHORT: Final = 200
"""Characters of a highlight that is listed beside its text."""

_CATEGORY: Final = 40


def texts(shown: Iterable[ShownText]) -> Markup:
    """A list item a text: its id and counts, the text with its marks, and what is not marked in it."""
    return Markup("".join(map(_paragraph_item, shown)))


def key(outcome: str) -> Markup:
    """An outcome as the key of the marks shows it."""
    return Markup(f'<span class="hl {outcome}">{outcome}{_tag(outcome, "")}</span>')


def _paragraph_item(shown: ShownText) -> str:
    body = "".join(map(_piece, shown.pieces))
    if shown.cut:
        body += f'<span class="cut"> … {shown.cut:,} more characters</span>'
    text = f'<p class="marked" dir="auto">{body}</p>' if body else ""
    head = f'<div class="by"><b class="mono wrap">{bounded(shown.id, _SHORT)}</b> {_mark_counts(shown)}</div>'
    return f"<li>{head}{text}{_paragraph_notes(shown)}</li>\n"


def _mark_counts(shown: ShownText) -> str:
    counts = [(shown.correct, "correct"), (shown.missed, "missed"), (shown.wrong, "wrong")]
    said = ", ".join(f"{count:,} {name}" for count, name in counts if count)
    return f"<span>{said or 'nothing expected, nothing given'}</span>"


def _piece(piece: Piece) -> str:
    inside = escape(printable(piece.text))
    for mark in reversed(piece.marks):
        tag = _tag(mark.outcome, mark.category) if mark in piece.ending else ""
        inside = _span_mark(mark.outcome, mark.category, f"{inside}{tag}")
    return inside


def _span_mark(outcome: str, category: str, inside: str) -> str:
    """The filter looks at the class and at ``data-c``."""
    return f'<mark class="hl {outcome}" data-c="{escape(printable(category))}">{inside}</mark>'


def _tag(outcome: str, category: str) -> str:
    name = f" {bounded(category, _CATEGORY)}" if category else ""
    return f'<small><b aria-hidden="true">{_LETTERS[outcome]}</b><span class="vh"> {outcome}</span>{name}</small>'


def _paragraph_notes(shown: ShownText) -> str:
    if not shown.beside:
        return ""
    items = "".join(
        f"<li>{_span_mark(outcome, category, f'{bounded(text, _SHORT)}{_tag(outcome, category)}')}</li>"
        for outcome, category, text in shown.beside
    )
    more = f"<li>{shown.more_beside:,} more</li>" if shown.more_beside else ""
    why = "Not marked in the text" if shown.pieces else "No text is recorded"
    return f'<p class="by">{why}:</p><ul class="beside" dir="auto">{items}{more}</ul>'
