"""Panels: blocks of a report that scorers emit and templates render, so that a new eval kind needs no HTML.

Each panel has one template, ``site_templates/panels/<kind>.html``.
"""

from typing import Literal, TypeAlias

from sitegen.model.frozen import Frozen
from sitegen.model.named_tuple import NamedTuple
from sitegen.model.problems import Severity

PairedBy: TypeAlias = Literal["key", "position", "agreement"]
"""How a pair of list items was matched: by the items' keys, by their index, or by the values in which they agree."""


PanelColumn: TypeAlias = tuple[str, Literal["text", "number", "code"]]
"""The heading of a column of a table panel, and how its cells are aligned."""


class TablePanel(Frozen, tag="table"):
    """A plain table. Each row has a text for each column."""

    title: str
    note: str
    columns: tuple[PanelColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    kind: Literal["table"] = "table"


class AlignmentRow(NamedTuple):
    """A pair of list items, or one item without a partner (the other index is None)."""

    expected: int | None = None
    """Its index in the ground truth."""
    actual: int | None = None
    """Its index in the output."""
    similarity: float | None = None
    """The similarity of their keys, 0..1, however they were paired."""
    paired_by: PairedBy | None = None
    label: str = ""
    """The name of the items, from the expected side if there is one."""


class AlignmentPanel(Frozen, tag="alignment"):
    """The pairing of the items of one list."""

    document: str
    path: str
    algorithm: str
    threshold: float
    rows: tuple[AlignmentRow, ...]
    """The pairs by expected index, then the items that only the expected list has, then those of the output alone."""
    kind: Literal["alignment"] = "alignment"
    left_out: int = 0
    """Number of further rows, if a page limits them."""

    @property
    def title(self) -> str:
        """The path of the list, after the document if it has a name."""
        return f"{self.document}: {self.path}" if self.document else self.path

    @property
    def pairs(self) -> tuple[AlignmentRow, ...]:
        """The rows that have an item on both sides."""
        return tuple(row for row in self.rows if row.expected is not None and row.actual is not None)


class NotePanel(Frozen, tag="note"):
    """A remark on the whole result."""

    severity: Severity
    text: str
    kind: Literal["note"] = "note"


class Mark(Frozen):
    """A marked part of a text, and its outcome."""

    start: int
    """Offset in characters."""
    end: int
    outcome: Literal["correct", "missed", "wrong"]
    category: str


Highlight: TypeAlias = tuple[Literal["correct", "missed", "wrong"], str, str]
"""The outcome, the category and the text of a highlight of the ground truth or of the output."""


class MarkedText(Frozen):
    """A text with its marks, which may overlap."""

    id: str
    text: str
    """Empty if it was not recorded; then every mark is in ``elsewhere``."""
    marks: tuple[Mark, ...]
    """By start, then by end."""
    elsewhere: tuple[Highlight, ...] = ()
    """Highlights that do not occur literally in the text."""


class SpansPanel(Frozen, tag="spans"):
    """Texts with marked parts: correct, missed or wrong, by category."""

    title: str
    note: str
    categories: tuple[str, ...]
    texts: tuple[MarkedText, ...]
    kind: Literal["spans"] = "spans"
    left_out: int = 0
    """Number of further texts, if a page limits them."""


Panel: TypeAlias = TablePanel | AlignmentPanel | SpansPanel | NotePanel
