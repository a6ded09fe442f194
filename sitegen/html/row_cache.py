"""Caches the HTML of rows, because most rows of a page are also on the previous page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

ROWS: Final = 4_096
"""Number of rows after which unused ones are discarded: many times the rows of an ordinary page."""

LONGEST: Final = 2_000
"""Largest number of characters of a cached row, which also limits the size of the value."""

V = TypeVar("V")


class RowCache(Generic[V]):
    """Writes the row of a value, unless the same object was written recently.

    Values are recognised by identity, because scoring reuses the judgement objects of unchanged values. Comparing
    values would cost more than writing most rows, and 1 equals ``True``.
    """

    def __init__(self, write: Callable[[V], str]) -> None:
        """``write``: a function of the value alone."""
        self._write = write
        self._rows: dict[int, tuple[V, str]] = {}
        self._older: dict[int, tuple[V, str]] = {}

    def __call__(self, value: V) -> str:
        """Return the row that ``write`` makes, from the cache if possible."""
        entry = self._rows.get(id(value)) or self._older.get(id(value))
        if entry is None:
            entry = value, self._write(value)
            if len(entry[1]) > LONGEST:
                return entry[1]
        if len(self._rows) >= ROWS:
            self._older, self._rows = self._rows, {}
        self._rows[id(value)] = entry  # the entry holds the value, so that no other value gets its id
        return entry[1]
