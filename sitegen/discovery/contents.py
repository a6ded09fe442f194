"""What a data file holds, as far as it must be known to tell what an eval could make of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from sitegen.data_files.json_reader import parse_json, read_json
from sitegen.data_files.reading import UnreadableError, text_of
from sitegen.data_files.yaml_reader import read_yaml
from sitegen.history.repository import Repository
from sitegen.model.values import Value

LARGEST: Final = 5_000_000
"""Bytes of a file that is looked into."""

MOST_READ: Final = 300
"""Files that are looked into."""

MOST_BYTES: Final = 60_000_000
"""Bytes of all of them together."""

_ROWS: Final = 200
"""Rows of a list that its columns are told by."""

_DEEPEST: Final = 6
_MOST_PATHS: Final = 400


class Shelf:
    """Reads files of history, a bounded number of bounded files, and keeps what it read."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._read: dict[str, bytes | None] = {}
        self._bytes = 0

    @property
    def full(self) -> bool:
        """Whether nothing more is read."""
        return len(self._read) >= MOST_READ or self._bytes >= MOST_BYTES

    def content(self, oid: str) -> bytes | None:
        """The bytes of a blob; None if it cannot be had, is too large, or nothing more is read."""
        if oid in self._read:
            return self._read[oid]
        if self.full:
            return None
        content = self._repository.read_blob(oid).content
        self._bytes += len(content or b"")
        self._read[oid] = content
        return content


class FoundTable(NamedTuple):
    """A list of objects, wherever it stands in a file."""

    key: str
    """Under which key of an object; empty: the file is the list."""
    rows: tuple[dict[str, Value], ...]
    """The first ones."""
    size: int
    """Of the whole list."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The keys of the rows, in the order in which they come."""
        return tuple(dict.fromkeys(key for row in self.rows for key in row))


def value_of(ending: str, content: bytes) -> Value:
    """The value of a JSON, JSON Lines or YAML file, the rows of a CSV file; None if it is none of these."""
    try:
        if ending == "json":
            return read_json(content).value
        if ending in ("jsonl", "ndjson"):
            return [parse_json(line).value for line in text_of(content).split("\n") if line.strip()]
        if ending in ("yaml", "yml"):
            values = read_yaml(content).values
            return values[0] if len(values) == 1 else list(values)
        if ending == "csv":
            rows = csv.DictReader(io.StringIO(text_of(content), newline=""))
            return [{key: cell for key, cell in row.items() if key is not None} for row in rows]
    except (UnreadableError, csv.Error):
        return None
    return None


def table_of(value: Value) -> FoundTable | None:
    """The list of objects that a value is, or the longest one under a key of it."""
    if isinstance(value, list):
        return _table("", value)
    if not isinstance(value, dict):
        return None
    tables = [table for key, below in value.items() if isinstance(below, list) and (table := _table(key, below))]
    return max(tables, key=lambda table: table.size, default=None)


def _table(key: str, values: list[Value]) -> FoundTable | None:
    rows = [value for value in values if isinstance(value, dict) and value]
    return FoundTable(key, tuple(rows[:_ROWS]), len(rows)) if rows and len(rows) * 10 >= len(values) * 9 else None


def leaf_paths(value: Value) -> frozenset[str]:
    """Where values stand in an object, without indices: ``lines[].price``; the first ones of a large object."""
    return frozenset(path for path, _ in zip(_leaves(value, "", 0), range(_MOST_PATHS), strict=False))


def _leaves(value: Value, path: str, depth: int) -> Iterator[str]:
    if isinstance(value, dict) and depth < _DEEPEST:
        for key, below in value.items():
            yield from _leaves(below, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST:
        for below in value[:20]:
            yield from _leaves(below, f"{path}[]", depth + 1)
    elif path:
        yield path


def numbers_in(value: Value) -> int:
    """How many numbers an object holds."""
    from decimal import Decimal

    if isinstance(value, dict):
        return sum(map(numbers_in, value.values()))
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def texts(values: Iterable[Value]) -> frozenset[str]:
    """Values that can name a document, as text."""
    return frozenset(str(value) for value in values if isinstance(value, str | int) and not isinstance(value, bool))
