"""Prepares marked texts for a page: limits their length, and cuts them into pieces where marks begin and end."""

from itertools import pairwise
from typing import Final, TypeAlias

from markupsafe import Markup

from sitegen.model.frozen import Frozen
from sitegen.model.scorecards import Highlight, Mark, MarkedText, SpansPanel
from sitegen.pages.html.cells import escape
from sitegen.pages.html.formats import bounded, printable

TEXTS: Final = 100
"""Number of texts in a report; if there are more, the ones with the most errors."""

LONGEST_TEXT: Final = 2_000
"""Largest number of characters of a text in a report."""

DEPTH: Final = 4
"""Number of nested marks that are drawn; further ones are listed beside the text."""

LISTED_HIGHLIGHTS: Final = 50
"""Largest number of highlights that are listed beside one text."""


Piece: TypeAlias = tuple[str, tuple[Mark, ...], tuple[Mark, ...]]
"""A part of a text in which no mark begins or ends, the marks that cover it, the outermost first, and those that end
with it, the innermost first."""


class ShownText(Frozen):
    """A text cut into pieces."""

    id: str
    pieces: tuple[Piece, ...]
    cut: int
    """Number of characters that are not shown."""
    correct: int
    missed: int
    wrong: int
    beside: tuple[Highlight, ...]
    """Highlights that are not marked in the text, of which the page lists the first ``LISTED_HIGHLIGHTS``."""

    @property
    def item(self) -> Markup:
        """Its item of the list: its id and counts, the text with its marks, and the highlights beside it."""
        counts = [(self.correct, "correct"), (self.missed, "missed"), (self.wrong, "wrong")]
        summary = ", ".join(f"{count:,} {name}" for count, name in counts if count)
        body = "".join(map(_piece, self.pieces))
        if self.cut:
            body += f'<span class="cut"> … {self.cut:,} more characters</span>'
        marked = f'<p class="marked" dir="auto">{body}</p>' if body else ""
        return Markup(
            f'<li><div class="by"><b class="mono wrap">{bounded(self.id, _SHORT)}</b> '
            f"<span>{summary or 'nothing expected, nothing given'}</span></div>"
            f"{marked}{self.notes}</li>\n"
        )

    @property
    def notes(self) -> str:
        """The highlights beside it."""
        if not self.beside:
            return ""
        items = "".join(
            f"<li>{_span_mark(outcome, category, f'{bounded(text, _SHORT)}{_tag(outcome, category)}')}</li>"
            for outcome, category, text in self.beside[:LISTED_HIGHLIGHTS]
        )
        left = len(self.beside) - LISTED_HIGHLIGHTS
        more = f"<li>{left:,} more</li>" if left > 0 else ""
        why = "Not marked in the text" if self.pieces else "No text is recorded"
        return f'<p class="by">{why}:</p><ul class="beside" dir="auto">{items}{more}</ul>'


def is_bounded(panel: SpansPanel) -> bool:
    """Whether a page omits parts of a panel."""
    return len(panel.texts) > TEXTS or any(
        len(text.text) > LONGEST_TEXT or len(_layered(text)[1]) > LISTED_HIGHLIGHTS for text in panel.texts
    )


def shown_texts(panel: SpansPanel) -> tuple[ShownText, ...]:
    """The texts of a panel that a page shows, in the panel's order."""
    texts = panel.texts
    if len(texts) > TEXTS:
        worst = sorted(range(len(texts)), key=lambda index: -texts[index].errors)[:TEXTS]
        texts = tuple(texts[index] for index in sorted(worst))
    return tuple(map(shown_text, texts))


def shown_text(text: MarkedText) -> ShownText:
    """One text, cut into pieces."""
    drawn, beside = _layered(text)
    outcomes = [mark.outcome for mark in text.marks] + [outcome for outcome, _, _ in text.elsewhere]
    return ShownText(
        id=text.id,
        pieces=_pieces(text.text[:LONGEST_TEXT], drawn),
        cut=max(0, len(text.text) - LONGEST_TEXT),
        correct=outcomes.count("correct"),
        missed=outcomes.count("missed"),
        wrong=outcomes.count("wrong"),
        beside=tuple(beside),
    )


def _layered(text: MarkedText) -> tuple[list[Mark], list[Highlight]]:
    """The marks to draw, nested at most ``DEPTH`` deep, and the highlights to list beside the text instead."""
    drawn: list[Mark] = []
    beside = list(text.elsewhere)
    covering: list[Mark] = []
    for mark in sorted(text.marks, key=lambda mark: (mark.start, -mark.end)):
        covering = [outer for outer in covering if outer.end > mark.start]
        if len(covering) < DEPTH and mark.start < mark.end <= min(LONGEST_TEXT, len(text.text)):
            covering.append(mark)
            drawn.append(mark)
        else:
            beside.append((mark.outcome, mark.category, text.text[mark.start : mark.end]))
    return drawn, beside


def _pieces(text: str, marks: list[Mark]) -> tuple[Piece, ...]:
    edges = sorted({0, len(text), *(mark.start for mark in marks), *(mark.end for mark in marks)})
    pieces = []
    following = 0
    covering: list[Mark] = []
    for start, end in pairwise(edges):
        covering = [mark for mark in covering if mark.end > start]
        while following < len(marks) and marks[following].start == start:
            covering.append(marks[following])
            following += 1
        ending = tuple(mark for mark in reversed(covering) if mark.end == end)
        pieces.append((text[start:end], tuple(covering), ending))
    return tuple(pieces)


_LETTERS: Final = {"correct": "C", "missed": "M", "wrong": "W"}
_SHORT: Final = 200  # largest number of characters of a highlight that is listed beside its text

_CATEGORY: Final = 40  # characters


def key(outcome: str) -> Markup:
    """An outcome in the legend."""
    return Markup(f'<span class="hl {outcome}">{outcome}{_tag(outcome, "")}</span>')


def _piece(piece: Piece) -> str:
    text, marks, ending = piece
    inside = escape(printable(text))
    for mark in reversed(marks):
        tag = _tag(mark.outcome, mark.category) if mark in ending else ""
        inside = _span_mark(mark.outcome, mark.category, f"{inside}{tag}")
    return inside


def _span_mark(outcome: str, category: str, inside: str) -> str:
    """A mark; the filter of the page reads its class and its ``data-c``."""
    return f'<mark class="hl {outcome}" data-c="{escape(printable(category))}">{inside}</mark>'


def _tag(outcome: str, category: str) -> str:
    name = f" {bounded(category, _CATEGORY)}" if category else ""
    return f'<small><b aria-hidden="true">{_LETTERS[outcome]}</b><span class="vh"> {outcome}</span>{name}</small>'
