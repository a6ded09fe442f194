"""Keeps the HTML of rows, because most rows of a page also stand on the page before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

ROWS: Final = 4_096
"""Rows after which those that were not used since are on their way out: many times those of an ordinary page."""

LONGEST: Final = 2_000
"""Characters of a row that is kept, which also bounds the value that is kept with it."""

V = TypeVar("V")


class RowCache(Generic[V]):
    """Writes the row of a value, unless the very same value was written lately.

    A value is recognised by identity, because scoring gives the judgements of the output before again for whatever did
    not change. To compare values would cost more than to write most rows, and 1 equals ``True``.
    """

    def __init__(self, write: Callable[[V], str]) -> None:
        """``write``: a function of the value alone."""
        self._write = write
        self._rows: dict[int, tuple[V, str]] = {}
        self._older: dict[int, tuple[V, str]] = {}

    def __call__(self, value: V) -> str:
        """The row as ``write`` gives it."""
        entry = self._rows.get(id(value)) or self._older.get(id(value))
        if entry is None:
            entry = value, self._write(value)
            if len(entry[1]) > LONGEST:
                return entry[1]
        if len(self._rows) >= ROWS:
            self._older, self._rows = self._rows, {}
        self._rows[id(value)] = entry  # the value is held as well, so that no other one gets its id
        return entry[1]
