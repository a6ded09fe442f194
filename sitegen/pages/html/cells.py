"""Content of table cells: escaped texts, field paths, and values, bounded and with the words that differ marked.

Everything is escaped like by markupsafe, but into plain strings: joining ``Markup`` costs three times as much.
"""

import re
from collections.abc import Callable, Sequence, Sized
from functools import lru_cache
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from markupsafe import Markup
from markupsafe import escape as as_markup

from sitegen.model.outcomes import Judgement, State, Value
from sitegen.pages.html.formats import bounded, path, printable
from sitegen.text.plain import cut
from sitegen.text.values import as_text, texts_with_types, written
from sitegen.text.words import WordSpan, mark

BOUND: Final = 2_000
"""Largest number of characters of a value on a page."""

MISSING: Final = "missing"
BLANK: Final = "blank"


class DisplayValue(NamedTuple):
    """One value as a page shows it."""

    spans: tuple[WordSpan, ...]
    absent: str = ""
    """In place of a value: ``missing``, ``blank``, ``expected blank``, ``not in ground truth``."""
    cut: int = 0
    """Number of characters omitted at the end."""


def shown_pair(judgement: Judgement) -> tuple[DisplayValue, DisplayValue]:
    """Expected and actual value of an error; in a wrong text only the words that differ are marked."""
    expected, actual = judgement.expected, judgement.actual
    if judgement.outcome == "wrong_value" and isinstance(expected, str) and isinstance(actual, str):
        old, new = _marked(expected[:BOUND], actual[:BOUND])
        more = max(0, len(expected) - BOUND), max(0, len(actual) - BOUND)
        return DisplayValue(old, "", more[0]), DisplayValue(new, "", more[1])
    if judgement.outcome == "hallucination":
        return DisplayValue((), judgement.note or "expected blank"), _display_value(actual)
    if judgement.outcome == "format_error" and (typed := texts_with_types(expected, actual)):
        return _display_value(typed[0]), _display_value(typed[1])
    return _display_value(expected), _display_value(actual)


def shown_run(state: State, expected: str, actual: str) -> tuple[DisplayValue, DisplayValue]:
    """Expected and actual value of a cell, which has them as bounded JSON; marked as by ``shown_pair``."""
    if state == "hallucination":
        return DisplayValue((), "expected blank"), shown_value(actual)
    if state == "true_negative":
        return DisplayValue((), BLANK), shown_value(actual)
    before, after = written(expected), written(actual)
    if state == "wrong_value" and before and after and expected[0] == actual[0] == '"':
        old, new = _marked(before, after)
        return DisplayValue(old), DisplayValue(new)
    if state == "format_error" and before == after:
        before, after = expected, actual  # they differ only in the quotation marks
    return _display_value(before), _display_value(after)


def shown_value(text: str) -> DisplayValue:
    """One side of a cell that is not an error."""
    return _display_value(written(text))


_marked = lru_cache(maxsize=1024)(mark)
"""Cached, because a wrong value usually stays wrong until the next edit: the next report compares the same texts."""


def _display_value(value: Value) -> DisplayValue:
    if value is None:
        return DisplayValue((), MISSING)
    text = as_text(value)
    if not text.strip():
        return DisplayValue((), BLANK)
    if len(text) > BOUND:
        return DisplayValue((WordSpan(text[:BOUND], False),), "", len(text) - BOUND)
    return DisplayValue((WordSpan(text, False),))


CACHED_ROWS: Final = 4_096
"""Number of rows after which unused ones are discarded: many times the rows of an ordinary page."""

_LONGEST_ROW: Final = 2_000  # largest number of characters of a cached row, which also limits the size of the value

V = TypeVar("V")
R = TypeVar("R", bound=Sized)

RowKey: TypeAlias = int | tuple[int | str, ...]
"""The identity of a value, with the texts that its row depends on besides."""


class RowCache(Generic[V, R]):
    """Writes the row of a value, a text or whatever has its length, unless the same object was written recently.

    Values are compared by identity, because scoring reuses the objects of judgements, pairs and counts that did not
    change. Comparing them by content would cost more than writing most rows, and 1 equals ``True``.
    """

    def __init__(self, write: Callable[..., R]) -> None:
        """``write``: a function of the value and of texts, which are compared."""
        self.write = write
        self._rows: dict[RowKey, tuple[V, R]] = {}
        self._older: dict[RowKey, tuple[V, R]] = {}

    def __call__(self, value: V, *texts: str) -> R:
        """Return the row that ``write`` makes, from the cache if possible."""
        key: RowKey = (id(value), *texts) if texts else id(value)
        entry = self._rows.get(key)
        if entry is not None:
            return entry[1]
        entry = self._older.get(key)
        if entry is None:
            entry = value, self.write(value, *texts)
            if len(entry[1]) > _LONGEST_ROW:
                return entry[1]
        if len(self._rows) >= CACHED_ROWS:
            self._older, self._rows = self._rows, {}
        self._rows[key] = entry  # the entry holds the value, so that no other value gets its id
        return entry[1]

    def rows_of(self, values: Sequence[V]) -> list[R]:
        """Return the rows of several values that depend on no texts, in half the time of as many calls."""
        entries = map(self._rows.get, map(id, values))
        return [entry[1] if entry else self(value) for entry, value in zip(entries, values, strict=True)]


LONGEST_NAME = 200
"""Largest number of written characters of a field path or a document id."""

_PLAIN: Final = re.compile(r"[^&<>'\"]*").fullmatch


def value(display: DisplayValue) -> str:
    """One side of an error: the value with its differing words marked, or the reason why there is no value."""
    spans, absent, omitted = display
    if not spans:
        return f"<i>{text(absent)}</i>"
    inside = "".join([f"<mark>{text(piece)}</mark>" if changed else text(piece) for piece, changed in spans])
    return f"{inside}<i> … {omitted:,} more characters</i>" if omitted else inside


def value_cells(judgement: Judgement) -> str:
    """Two table cells: the expected and the actual value of a judgement."""
    expected, actual = map(value, shown_pair(judgement))
    return f"<td class=c-expected{direction(expected)}>{expected}<td class=c-actual{direction(actual)}>{actual}"


def direction(content: str) -> str:
    """An attribute of the cell of a value: only one that is not ASCII can be written from right to left."""
    return "" if content.isascii() else " dir=auto"


def where(path: str, document: str, *, extra: bool) -> str:
    """The place of a cell: its field path, and its document if there are several."""
    name = code(path)
    if document:
        name += f' <span class="doc">{bounded(document, LONGEST_NAME)}</span>'
    return f'{name} <span class="pill">extra item</span>' if extra else name


def code(name: str) -> str:
    """A field path that may wrap after its separators, cut at ``LONGEST_NAME`` characters."""
    return f"<code>{path(cut(name, LONGEST_NAME))}</code>"


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
