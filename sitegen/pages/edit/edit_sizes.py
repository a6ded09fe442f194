"""HTML of what an edit did to the size of its file, and to the version that the file states."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from sitegen.html.cells import text
from sitegen.text.patch import PatchCounts
from sitegen.text.sections import TextStats

_ARROW: Final = ' <span aria-hidden="true">→</span><span class="vh"> then </span> '


def plus_minus(counts: PatchCounts | None) -> Markup:
    """How many lines an edit adds and removes; an em dash if that is unknown."""
    if counts is None:
        return Markup('<span class="nil">—</span>')
    return Markup(
        f'<span class="pm nowrap"><span class="delta up">+{counts.added:,}</span> '
        f'<span class="delta dn">−{counts.removed:,}</span><span class="vh"> lines</span></span>'
    )


def version(counts: PatchCounts, before: TextStats | None, after: TextStats | None) -> Markup:
    """The version that the file states before and after the edit, by the patch or else by the text."""
    old = counts.version_before or (before.version if before else None)
    new = counts.version_after or (after.version if after else None)
    if old and new and old != new:
        return Markup(f"<span>version {text(old)}{_ARROW}{text(new)}</span>")
    stated = new or old
    return Markup(f"<span>version {text(stated)}</span>" if stated else "")


def size(before: TextStats | None, after: TextStats | None) -> Markup:
    """How many lines and words the file has before and after the edit, if that is known."""
    old, new = before or TextStats(), after or TextStats()
    return Markup(_amounts(old.lines, new.lines, "lines") + _amounts(old.words, new.words, "words"))


def _amounts(before: int | None, after: int | None, unit: str) -> str:
    if before is None or after is None or before == after:
        amount = before if after is None else after
        return "" if amount is None else f"<span>{amount:,}\n{unit}</span>"
    return f"<span>{before:,}{_ARROW}{after:,} {unit}</span>"
