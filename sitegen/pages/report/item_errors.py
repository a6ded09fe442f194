"""The errors of one output, grouped by the list item that they belong to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal

from sitegen.frozen import Frozen
from sitegen.model.outcomes import ERROR_TYPES, EXTRA_ITEM, MISSING_ITEM, Judgement

_ITEM: Final = re.compile(r"(.*\[\d+\])(\..+|\[\".+)?", re.DOTALL)
"""Matches the path of the innermost list item, and the rest of the path below it."""


class ErrorGroup(Frozen):
    """All errors of one list item, or a run of errors outside of lists."""

    first: int
    """The number of its first error, which identifies the group."""
    name: str
    """The name of the item in paths, ``windows[Front]``; empty for errors outside of lists."""
    document: str
    by_type: tuple[int, ...]
    """Number of errors of each of ``ERROR_TYPES``."""
    new: int
    """Number of errors that the previous output does not have."""
    whole: Literal["", "missing", "extra"]
    """Whether the item as a whole is missing from the output, or was not expected."""


def error_groups(wrong: Sequence[Judgement], new: Sequence[bool], sections: Mapping[str, str]) -> list[ErrorGroup]:
    """The group of each error. Errors outside of lists share one as long as they follow each other in one section.

    Args:
        wrong: all errors of the output.
        new: for each error, whether the previous output does not have it.
        sections: the section of each attribute, for the filter of the page.

    """
    members: dict[tuple[object, ...], list[int]] = {}
    keys: list[tuple[object, ...]] = []
    outside: tuple[object, ...] = ()
    for index, error in enumerate(wrong):
        if item := _item_path(error.path):
            key: tuple[object, ...] = (error.document, item, error.note == EXTRA_ITEM)
            outside = ()
        else:
            section = sections[error.attribute]
            outside = outside if outside and outside[1] == section else (index, section)
            key = outside
        members.setdefault(key, []).append(index)
        keys.append(key)
    groups = {key: _error_group(wrong, new, indices) for key, indices in members.items()}
    return [groups[key] for key in keys]


def _error_group(wrong: Sequence[Judgement], new: Sequence[bool], indices: list[int]) -> ErrorGroup:
    error = wrong[indices[0]]
    types = [wrong[index].outcome for index in indices]
    notes = {wrong[index].note for index in indices}
    item = _item_path(error.path)
    return ErrorGroup(
        first=indices[0] + 1,
        name=error.label.removesuffix(error.path[len(item) :]) if item else "",
        document=error.document,
        by_type=tuple(map(types.count, ERROR_TYPES)),
        new=[new[index] for index in indices].count(True),
        whole="" if not item else "missing" if MISSING_ITEM in notes else "extra" if EXTRA_ITEM in notes else "",
    )


@lru_cache(maxsize=8192)
def _item_path(path: str) -> str:
    """The path of the innermost list item above a value; empty outside of lists."""
    place = _ITEM.fullmatch(path)
    # An odd number of quotation marks: the brackets are part of a key.
    return place[1] if place and place[1].count('"') % 2 == 0 else ""
