"""What table cells hold in every table: texts that are escaped, values with the words that differ marked.

Texts are escaped as markupsafe does it, but into plain strings: joining ``Markup`` costs three times as much.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from markupsafe import Markup
from markupsafe import escape as as_markup

from sitegen.html.formats import bounded, breakable, printable
from sitegen.html.values import DisplayValue

LONGEST = 200
"""Characters of a path or of the id of a document."""

_PLAIN: Final = re.compile(r"[^&<>'\"]*").fullmatch


def value(shown: DisplayValue) -> str:
    """One side of a discrepancy."""
    spans, absent, cut = shown
    if not spans:
        return f"<i>{text(absent)}</i>"
    inside = "".join([f"<mark>{text(piece)}</mark>" if changed else text(piece) for piece, changed in spans])
    return f"{inside}<i> … {cut:,} more characters</i>" if cut else inside


def where(path: str, document: str, *, extra: bool, file: str = "") -> str:
    """Where a cell stands: its path, of several documents which one; ``file``: where the path leads."""
    name = code(path)
    if file:
        name = f'<a href="{text(file)}">{name}</a>'
    if document:
        name += f' <span class="doc">{bounded(document, LONGEST)}</span>'
    return f'{name} <span class="pill">extra item</span>' if extra else name


def code(path: str) -> str:
    """A field path that may break, and has an end."""
    rest = len(path) - LONGEST
    cut = f'<i class="cut"> … {rest:,} more characters</i>' if rest > 0 else ""
    return f"<code>{breakable(text(path[:LONGEST]))}{cut}</code>"


@lru_cache(maxsize=8192)
def text(content: str) -> str:
    """Most texts of a report stand in the one before it too, so that looking them up is faster than escaping them."""
    return escape(printable(content))


def escape(text: str) -> str:
    """The text, safe in HTML and in quoted attributes. Most texts have nothing to escape."""
    return text if _PLAIN(text) else str.__str__(as_markup(text))


def output(value: Any) -> str:
    """What a template writes for a value; markup stays as it is."""
    kind = type(value)
    if kind is Markup:
        return value  # type: ignore[no-any-return]
    if kind is int:
        return str(value)
    return value if kind is str and _PLAIN(value) else as_markup(value)
