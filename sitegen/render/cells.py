"""What table cells hold in every table: texts that are escaped, values with the words that differ marked."""

from __future__ import annotations

from functools import lru_cache

from sitegen.pages.values import Shown
from sitegen.render.escaping import escape
from sitegen.render.formats import printable


def value(shown: Shown) -> str:
    """One side of a discrepancy."""
    spans, absent, cut = shown
    if not spans:
        return f"<i>{text(absent)}</i>"
    inside = "".join([f"<mark>{text(piece)}</mark>" if changed else text(piece) for piece, changed in spans])
    return f"{inside}<i> … {cut:,} more characters</i>" if cut else inside


@lru_cache(maxsize=8192)
def text(content: str) -> str:
    """Most texts of a report stand in the one before it too, so that looking them up is faster than escaping them."""
    return escape(printable(content))
