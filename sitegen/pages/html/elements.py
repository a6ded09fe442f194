"""Small parts of many pages, written without Jinja; ``macros/ui.html`` gives them to templates with its macros.

The paths of a heat map are in data coordinates: a column for each point, a row for each series of shares. Texts are
escaped, and ``Markup`` is written as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from math import ceil
from typing import Final, TypeAlias

from markupsafe import Markup

from sitegen.pages.html.cells import output

Text: TypeAlias = str | int
"""A text, markup or number that a template passes on."""


def crumbs(parts: Iterable[Sequence[Text | None]]) -> Markup:
    """The way to a page: pairs of a label and its address. The page itself is last and has no address."""
    links = [
        f'<a href="{output(href)}">{output(label)}</a>' if href else f'<span aria-current="page">{output(label)}</span>'
        for label, href in parts
    ]
    inside = '<span aria-hidden="true">/</span>'.join(links)
    return Markup(f'<nav class="crumbs" aria-label="Breadcrumb">{inside}</nav>')


def kpi(label: Text, value: Text, change: Text = "", note: Text = "", mark: Text = "") -> Markup:
    """A number with its label, its change, a note, and a mark before the label."""
    return Markup(
        f'<div class="kpi"><dt>{output(mark)}{output(label)}</dt><dd><span class="v">{output(value)}</span>'
        f'{output(change)}<span class="x">{output(note)}</span></dd></div>'
    )


LEVELS: Final = 5
"""Number of levels of a heat map above 0, of equal width: up to 20 %, 40 % ... 100 %; 0 itself is not painted."""

HeatCell: TypeAlias = tuple[int, int, int]
"""(row, first column, columns)."""


def painted(matrix: Iterable[Sequence[float | None]]) -> tuple[str, ...]:
    """One path for each level above 0, the lightest first; equal neighbours in a row are one cell."""
    cells: list[list[HeatCell]] = [[] for _ in range(LEVELS + 1)]
    for row, shares in enumerate(matrix):
        column = 0
        level_of = {share: level(share) for share in set(shares)}  # a long row has few different shares
        for shade, run in groupby(map(level_of.__getitem__, shares)):
            columns = len(list(run))
            cells[shade].append((row, column, columns))
            column += columns
    return tuple(map(_strokes, cells[1:]))


def unjudged(matrix: Iterable[Sequence[float | None]]) -> str:
    """The path of the cells in which nothing was judged, as opposed to cells without an error."""
    cells: list[HeatCell] = []
    for row, shares in enumerate(matrix):
        if None not in shares:
            continue
        column = 0
        for missing, run in groupby(share is None for share in shares):
            columns = len(list(run))
            if missing:
                cells.append((row, column, columns))
            column += columns
    return _strokes(cells)


def level(share: float | None) -> int:
    """The level of a share; an undefined share has level 0 and is not painted."""
    return 0 if share is None else ceil(share * LEVELS - 1e-9)


def _strokes(cells: Sequence[HeatCell]) -> str:
    """A path through the middle of each row."""
    path = []
    row = column = 0
    for at, first, columns in cells:
        path.append(f"m{first - column} {at - row}h{columns}")
        row, column = at, first + columns
    return f"M-.5 .5{''.join(path)}" if path else ""
