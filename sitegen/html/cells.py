"""Content of table cells: escaped texts, field paths, and values whose differing words are marked.

Everything is escaped like by markupsafe, but into plain strings: joining ``Markup`` costs three times as much.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, Generic, TypeVar

from markupsafe import Markup
from markupsafe import escape as as_markup

from sitegen.html.formats import bounded, breakable, printable
from sitegen.html.values import DisplayValue, shown_pair
from sitegen.model.outcomes import Judgement

CACHED_ROWS: Final = 4_096
"""Number of rows after which unused ones are discarded: many times the rows of an ordinary page."""

LONGEST_ROW: Final = 2_000
"""Largest number of characters of a cached row, which also limits the size of the value."""

V = TypeVar("V")


class RowCache(Generic[V]):
    """Writes the row of a value, unless the same object was written recently.

    Values are recognised by identity, because scoring reuses the judgement objects of unchanged values. Comparing
    values would cost more than writing most rows, and 1 equals ``True``.
    """

    def __init__(self, write: Callable[[V], str]) -> None:
        """``write``: a function of the value alone."""
        self._write = write
        self._rows: dict[int, tuple[V, str]] = {}
        self._older: dict[int, tuple[V, str]] = {}

    def __call__(self, value: V) -> str:
        """Return the row that ``write`` makes, from the cache if possible."""
        entry = self._rows.get(id(value)) or self._older.get(id(value))
        if entry is None:
            entry = value, self._write(value)
            if len(entry[1]) > LONGEST_ROW:
                return entry[1]
        if len(self._rows) >= CACHED_ROWS:
            self._older, self._rows = self._rows, {}
        self._rows[id(value)] = entry  # the entry holds the value, so that no other value gets its id
        return entry[1]


LONGEST = 200
"""Largest number of written characters of a field path or a document id."""

_PLAIN: Final = re.compile(r"[^&<>'\"]*").fullmatch


def value(display: DisplayValue) -> str:
    """One side of a discrepancy: the value with its differing words marked, or the reason why there is no value."""
    spans, absent, cut = display
    if not spans:
        return f"<i>{text(absent)}</i>"
    inside = "".join([f"<mark>{text(piece)}</mark>" if changed else text(piece) for piece, changed in spans])
    return f"{inside}<i> … {cut:,} more characters</i>" if cut else inside


def value_cell(display: DisplayValue) -> str:
    """A table cell with a value; only a value that is not ASCII can be written from right to left."""
    content = value(display)
    return f"<td>{content}" if content.isascii() else f"<td dir=auto>{content}"


def _value_cells(judgement: Judgement) -> str:
    expected, actual = shown_pair(judgement)
    return value_cell(expected) + value_cell(actual)


value_cells: Final = RowCache(_value_cells)
"""Two table cells: the expected and the actual value of a judgement."""


def where(path: str, document: str, *, extra: bool, file: str = "") -> str:
    """The place of a cell: its field path, linked to ``file`` if given, and its document if there are several."""
    name = code(path)
    if file:
        name = f'<a href="{text(file)}">{name}</a>'
    if document:
        name += f' <span class="doc">{bounded(document, LONGEST)}</span>'
    return f'{name} <span class="pill">extra item</span>' if extra else name


def code(path: str) -> str:
    """A field path that may wrap after its separators, cut at ``LONGEST`` characters."""
    rest = len(path) - LONGEST
    cut = f'<i class="cut"> … {rest:,} more characters</i>' if rest > 0 else ""
    return f"<code>{breakable(text(path[:LONGEST]))}{cut}</code>"


@lru_cache(maxsize=8192)
def text(content: str) -> str:
    """The text, printable and escaped. Cached, because most texts of a report are also in the previous report."""
    return escape(printable(content))


def escape(text: str) -> str:
    """The text, safe in HTML and in quoted attributes; unchanged if no character needs escaping."""
    return text if _PLAIN(text) else str.__str__(as_markup(text))


def output(value: Any) -> str:
    """What a template writes for a value: markup unchanged, everything else escaped."""
    kind = type(value)
    if kind is Markup:
        return value  # type: ignore[no-any-return]
    if kind is int:
        return str(value)
    return value if kind is str and _PLAIN(value) else as_markup(value)
