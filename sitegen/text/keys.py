"""Keys that people write into files: the place of one as messages show it, and the known key that was meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import product
from typing import Final

_CLOSE: Final = 0.7
"""Similarity (of difflib) from which a known name is offered for one that is not known."""
_SHORT: Final = 4
"""Letters up to which two words that differ in one letter are more often two words than one that is misspelt."""
_MIDDLE: Final = 6
"""Letters up to which this is so of two."""


def key_path(location: Iterable[str | int]) -> str:
    """Keys and indices, outermost first, as one path: ``regressions.mute[0].commit``."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name to offer for one that is not known; None if none is like it."""
    by_spelling = {_bare(each): each for each in known}
    found = get_close_matches(_bare(name), by_spelling, 1, _CLOSE)
    return by_spelling[found[0]] if found else None


def misspelt(name: str, known: Iterable[str]) -> str | None:
    """The known name that a name is a slip of, where it may as well be one of its own; None if it is not that near.

    Upper case, hyphens and underscores do not count. One letter may be wrong, missing, added or swapped with the next,
    two in words of seven letters and more; in a word of at most four letters two may be swapped, and no more: ``names``
    is no slip of ``name``.
    """
    bare = _bare(name)
    for each in known:
        wanted = _bare(each)
        if bare == wanted:
            return each
        slips = _allowed(bare, wanted)
        if slips and abs(len(bare) - len(wanted)) <= slips and _slips(bare, wanted) <= slips:
            return each
    return None


def _allowed(one: str, other: str) -> int:
    """How many letters may differ, one of them the known name."""
    if len(other) > _SHORT:
        return 2 if len(other) > _MIDDLE else 1
    return 1 if sorted(one) == sorted(other) else 0


def _bare(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "").replace(" ", "")


def _slips(one: str, other: str) -> int:
    """The optimal string alignment distance: letters that are wrong, missing, added or swapped with the next."""
    distance = {(row, 0): row for row in range(len(one) + 1)} | {
        (0, column): column for column in range(len(other) + 1)
    }
    for row, column in product(range(1, len(one) + 1), range(1, len(other) + 1)):
        same = one[row - 1] == other[column - 1]
        distance[row, column] = min(
            distance[row - 1, column] + 1,
            distance[row, column - 1] + 1,
            distance[row - 1, column - 1] + (not same),
        )
        if row > 1 and column > 1 and one[row - 2 : row] == other[column - 1] + other[column - 2]:
            distance[row, column] = min(distance[row, column], distance[row - 2, column - 2] + 1)
    return distance[len(one), len(other)]
