"""What table cells hold in every table: texts that are escaped, values with the words that differ marked."""

from __future__ import annotations

from functools import lru_cache

from sitegen.pages.values import DisplayValue
from sitegen.render.escaping import escape
from sitegen.render.formats import bounded, breakable, printable

LONGEST = 200
"""Characters of a path or of the id of a document."""


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
