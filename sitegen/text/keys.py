"""Keys that people write into files: the path of a key as messages show it, and the known key that was meant."""

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
    """Joins keys and indices, outermost first, into one path: ``regressions.mute[0].commit``."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The known name to suggest for an unknown one; None if no known name is similar."""
    by_spelling = {plain_key(candidate): candidate for candidate in names}
    matches = get_close_matches(plain_key(name), by_spelling, 1, _CLOSE)
    return by_spelling[matches[0]] if matches else None


def misspelt(name: str, names: Iterable[str]) -> str | None:
    """The known name that an unknown one probably misspells; None if it may well be a name of its own.

    Upper case, hyphens and underscores do not count. One letter may be wrong, missing, added or swapped with the next;
    in words of seven letters and more, two. In a word of at most four letters only a swap of two letters counts:
    ``names`` does not misspell ``name``.
    """
    bare = plain_key(name)
    for candidate in names:
        target = plain_key(candidate)
        if bare == target:
            return candidate
        slips = _allowed(bare, target)
        if slips and abs(len(bare) - len(target)) <= slips and _slips(bare, target) <= slips:
            return candidate
    return None


def _allowed(word: str, target: str) -> int:
    """How many letters may differ from a known name."""
    if len(target) > _SHORT:
        return 2 if len(target) > _MIDDLE else 1
    return 1 if sorted(word) == sorted(target) else 0


def plain_key(name: str) -> str:
    """A key without letter case, ``_``, ``-`` and spaces."""
    return name.casefold().replace("-", "").replace("_", "").replace(" ", "")


def _slips(word: str, target: str) -> int:
    """The optimal string alignment distance: how many letters are wrong, missing, added or swapped with the next."""
    distance = {(row, 0): row for row in range(len(word) + 1)} | {
        (0, column): column for column in range(len(target) + 1)
    }
    for row, column in product(range(1, len(word) + 1), range(1, len(target) + 1)):
        same = word[row - 1] == target[column - 1]
        distance[row, column] = min(
            distance[row - 1, column] + 1,
            distance[row, column - 1] + 1,
            distance[row - 1, column - 1] + (not same),
        )
        if row > 1 and column > 1 and word[row - 2 : row] == target[column - 1] + target[column - 2]:
            distance[row, column] = min(distance[row, column], distance[row - 2, column - 2] + 1)
    return distance[len(word), len(target)]
