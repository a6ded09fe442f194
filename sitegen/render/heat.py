"""The heat map as paths: the share of wrong answers of each attribute at each point.

A cell is a stroke one row high, and each begins where the last one ended: with hundreds of points there are tens of
thousands of cells, which take a third of the bytes that boxes would.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final, TypeAlias

LEVELS: Final = (0.0, 0.03, 0.08, 0.16, 0.28, 0.42, 0.60)
"""Share of wrong answers that starts each level; level 0 is not painted."""

Cell: TypeAlias = tuple[int, int, int]
"""(row, first column, columns)."""


def painted(matrix: Iterable[Sequence[float | None]]) -> tuple[str, ...]:
    """One path for each level above 0, lightest first; equal neighbours of a row are one cell."""
    cells: list[list[Cell]] = [[] for _ in LEVELS]
    for row, shares in enumerate(matrix):
        column = 0
        for one, run in groupby(map(level, shares)):
            columns = len(list(run))
            cells[one].append((row, column, columns))
            column += columns
    return tuple(map(_strokes, cells[1:]))


def unjudged(matrix: Iterable[Sequence[float | None]]) -> str:
    """The cells that nothing was judged in, which are not the same as those without an error."""
    cells: list[Cell] = []
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


@lru_cache(maxsize=4096)
def level(share: float | None) -> int:
    """Which level a share belongs to; undefined is not painted."""
    return 0 if share is None else bisect_right(LEVELS, share) - 1


def _strokes(cells: Sequence[Cell]) -> str:
    """A path through the middle of each row."""
    path = []
    row = column = 0
    for at, first, columns in cells:
        path.append(f"m{first - column} {at - row}h{columns}")
        row, column = at, first + columns
    return f"M-.5 .5{''.join(path)}" if path else ""
