"""Numbers, names and tables as Markdown, which terminals show as it is. Everything from a project is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from sitegen.text.plain import encodable, line
from sitegen.text.values import amount, metric_text

NIL: Final = "—"
"""Undefined."""

LONGEST: Final = 200
"""Characters of a name."""

_MARKUP: Final = re.compile(r"[\\`*\[\]<>|~&#!]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.")
"""What Markdown, or GitHub's links, would take for something else than text."""


def name(text: str, longest: int = LONGEST) -> str:
    """A text of a project: one visible line, bounded, without any markup."""
    return _MARKUP.sub(r"\\\g<0>", encodable(line(text, longest)))


def prose(text: str) -> str:
    """A sentence of ours that has names of a project in it."""
    return name(text, 10 * LONGEST)


def number(value: float | None, digits: int = 3, unit: str = "") -> str:
    """A metric, as ``metric_text`` writes it."""
    return NIL if value is None else metric_text(value, digits, unit)


def signed(value: float | None, unit: str = "") -> str:
    """A change."""
    if value is None:
        return NIL
    if unit:
        return f"{'+' * (value > 0)}{amount(value, unit)}"
    return f"{value:+.3f}" if value else "0.000"


def points(value: float | None) -> str:
    """A change in points; a small one with a digit more."""
    if not value:
        return NIL if value is None else "0.0"
    return f"{value:+.{1 if abs(value) >= 0.05 else 2}f}"


def code(text: str, longest: int = LONGEST) -> str:
    """A text of a project as inline code, where GitHub links no names, numbers or commits and calls nobody.

    Bars are shown broken: one would end the cell of a table, and cannot be escaped there without a doubt.
    """
    shown = encodable(line(text, longest)).replace("|", "¦").replace("\t", " ") or " "
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def probability(value: float | None) -> str:
    """A p value: three digits, and never called zero."""
    if value is None:
        return NIL
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def count(value: int | None) -> str:
    """A number of things."""
    return NIL if value is None else f"{value:,}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> list[str]:
    """A table of cells that are escaped already, its columns aligned; ``numbers``: the columns that hold numbers."""
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
