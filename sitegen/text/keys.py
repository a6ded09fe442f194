"""Handles keys that people write into files: their paths in messages, and the known keys that were probably meant."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from types import UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

_CLOSE: Final = 0.7  # the least similarity (of difflib) at which a known name is suggested for an unknown one
_SHORT: Final = 4
"""The greatest length of words that, if they differ in one letter, are more often two words than a misspelling."""
_MIDDLE: Final = 6  # the same for words that differ in two letters
_hints: Final[Callable[[Any], dict[str, Any]]] = cache(get_type_hints)  # of few classes, for many wrong keys


def key_path(location: Iterable[str | int]) -> str:
    """Join keys and indices, outermost first, into one path: ``regressions.mute[0].commit``."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def keys_at(table: type, location: Sequence[str | int]) -> tuple[str, ...] | None:
    """Return the keys that fit in place of the last one of a location in a file; None if any key does.

    ``table``: the class that the file is read into, from whose annotations the keys follow.
    """
    hint: Any = table
    for step in location[:-1]:
        below = None
        if is_dataclass(hint):
            below = _hints(hint).get(str(step))
        elif get_origin(hint) is dict:
            below = get_args(hint)[1]
        elif get_origin(hint) is tuple:
            below = get_args(hint)[0]
        hint = get_args(below)[0] if isinstance(below, UnionType) else below
    if get_origin(hint) is dict:
        return get_args(get_args(hint)[0]) or None  # the names of a Literal
    return names_of(hint) if is_dataclass(hint) else None


def names_of(table: Any) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass."""
    return tuple(field.name for field in fields(table))


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the known name to suggest for an unknown one; None if no known name is similar."""
    from difflib import get_close_matches

    by_spelling = {plain_key(candidate): candidate for candidate in names}
    matches = get_close_matches(plain_key(name), by_spelling, 1, _CLOSE)
    return by_spelling[matches[0]] if matches else None


def misspelt(name: str, names: Iterable[str]) -> str | None:
    """Return the known name that an unknown one probably misspells; None if it may be another name.

    Letter case, hyphens and underscores are ignored. One letter may be wrong, missing, added or swapped with the next;
    two in words of at least seven letters. In a word of at most four letters only a swap of two letters counts:
    ``names`` does not misspell ``name``.
    """
    bare = plain_key(name)
    for candidate in names:
        target = plain_key(candidate)
        if bare == target:
            return candidate
        slips = 2 if len(target) > _MIDDLE else 1
        if len(target) <= _SHORT and sorted(bare) != sorted(target):
            slips = 0
        if slips and abs(len(bare) - len(target)) <= slips:
            from rapidfuzz.distance import OSA  # with swaps of two letters that stand side by side

            if OSA.distance(bare, target) <= slips:
                return candidate
    return None


@lru_cache(1024)
def plain_key(name: str) -> str:
    """Return a key or the name of a column in lower case, its letters and digits alone."""
    return re.sub(r"[\W_]", "", name.casefold())
