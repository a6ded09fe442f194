"""Writes numbers, names and tables as Markdown that is also readable on a terminal. Text of a project is escaped."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from sitegen.model.metrics import ROUNDING
from sitegen.text.plain import encodable, line
from sitegen.text.values import MINUS, NO_CHANGE, SMALL, metric_text

NIL: Final = "—"
"""The text for an undefined value."""

_LONGEST_NAME: Final = 200  # the greatest length of a name, in characters

_MARKUP: Final = (
    r"[\\`*<>|~&#!]|\[(?!\](?![(\[:]))|(?<!\[)\]|(?<=\[)\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\."
)
"""Characters that Markdown or GitHub's automatic links would interpret. Empty brackets, as in the path of a field of a
list, are text unless something follows that makes a link of them."""


def name(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return a text of a project as one visible, bounded line with its markup escaped."""
    return re.sub(_MARKUP, r"\\\g<0>", encodable(line(text, longest)))


def prose(text: str) -> str:
    """Escape a sentence of sitegen that contains names of a project."""
    return name(text, 10 * _LONGEST_NAME)


def number(value: float | None, unit: str = "") -> str:
    """Write a metric as ``metric_text`` does; an undefined one as ``NIL``."""
    return NIL if value is None else metric_text(value, unit)


def signed(value: float | None, unit: str = "") -> str:
    """Write a change in the unit of its metric, with its sign: ``+0.036``, ``−2.10 s``; zero is ``no change``.

    Small ones have no exponent, which is hard to compare with +0.036.
    """
    if value is None:
        return NIL
    size = abs(value)
    if size < ROUNDING:
        return NO_CHANGE
    digits = f"{float(f'{size:.2g}'):.9f}".rstrip("0") if size < SMALL and not unit else metric_text(size, unit)
    return f"{'+' if value > 0 else MINUS}{digits}"


def code(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return a text of a project as inline code, in which GitHub neither links anything nor notifies users.

    Vertical bars become broken bars: in inline code they cannot be escaped reliably, and would end a cell of a table.
    """
    content = encodable(line(text, longest)).replace("|", "¦").replace("\t", " ") or " "
    fence = "`" * (1 + max(map(len, re.findall("`+", content)), default=0))
    pad = " " if content.startswith("`") or content.endswith("`") else ""
    return f"{fence}{pad}{content}{pad}{fence}"


def count(value: int | None) -> str:
    """Write a whole number with thousands separators."""
    return NIL if value is None else f"{value:,}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> list[str]:
    """Return the lines of a table of escaped cells, with aligned columns; ``numbers``: those aligned right."""
    body = [[cell or " " for cell in row] for row in rows]
    right = set(numbers)
    widths = [max(3, *(len(row[k]) for row in (heads, *body))) for k in range(len(heads))]

    def written(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if k in right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    rule = [f"{'-' * (width - 1)}:" if k in right else "-" * width for k, width in enumerate(widths)]
    return [written(heads), written(rule), *map(written, body)]
