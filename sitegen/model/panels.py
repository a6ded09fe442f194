"""Panels: the small tagged union that scorers emit and templates know. A new eval kind needs no HTML.

Each panel has one template, ``site_templates/panels/<kind>.html``.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from sitegen.model.problems import Severity

PairedBy: TypeAlias = Literal["key", "position", "agreement"]
"""How a pair of list items was found: by what names the items, by their index, or by the values they agree in."""


class PanelColumn(NamedTuple):
    """A column of a table panel."""

    label: str
    align: Literal["text", "number", "code"] = "text"


class TablePanel(NamedTuple):
    """A plain table: every cell is text already, in the order of the columns."""

    title: str
    note: str
    columns: tuple[PanelColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    kind: Literal["table"] = "table"


class AlignmentRow(NamedTuple):
    """One pair, or one item that found no partner (the other index is None)."""

    expected: int | None
    actual: int | None
    similarity: float | None
    by: PairedBy | None
    label: str
    """The text that the items are named by, of the expected side if there is one."""


class AlignmentPanel(NamedTuple):
    """The pairing of one list of line items."""

    title: str
    algorithm: str
    threshold: float
    rows: tuple[AlignmentRow, ...]
    kind: Literal["alignment"] = "alignment"
    left_out: int = 0
    """Further rows, where a page bounds them."""


class NotePanel(NamedTuple):
    """A remark on the whole result."""

    severity: Severity
    text: str
    kind: Literal["note"] = "note"


class Mark(NamedTuple):
    """A stretch of a text and what became of it."""

    start: int
    """In characters."""
    end: int
    outcome: Literal["correct", "missed", "wrong"]
    category: str


class MarkedText(NamedTuple):
    """A text with its marks, which may overlap."""

    id: str
    text: str
    """Empty if nobody recorded it: then every mark is in ``elsewhere``."""
    marks: tuple[Mark, ...]
    """By start, then by end."""
    elsewhere: tuple[tuple[str, str, str], ...] = ()
    """(outcome, category, text) of what does not stand in the text literally."""


class SpansPanel(NamedTuple):
    """Texts with marked stretches: correct, missed, wrong, by category."""

    title: str
    note: str
    categories: tuple[str, ...]
    texts: tuple[MarkedText, ...]
    kind: Literal["spans"] = "spans"
    left_out: int = 0
    """Further texts, where a page bounds them."""


Panel: TypeAlias = TablePanel | AlignmentPanel | SpansPanel | NotePanel
