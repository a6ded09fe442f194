"""Reads data files of a history within bounds, and finds tables, field paths and ids in them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Final

from sitegen.data_files.json_reader import each_line, read_json
from sitegen.data_files.reading import UnreadableError, text_of
from sitegen.data_files.yaml_reader import read_yaml
from sitegen.frozen import Frozen
from sitegen.history.repository import Repository
from sitegen.model.values import Value

LARGEST: Final = 5_000_000
"""The size of the largest file that is parsed, in bytes."""

MOST_READ: Final = 300
"""The most files that are read."""

MOST_BYTES: Final = 60_000_000
"""The most bytes that are read from all files together."""

_ROWS: Final = 200
"""Number of rows of a list that determine its columns."""

_DEEPEST: Final = 6
_MOST_PATHS: Final = 400


class BlobReader:
    """Reads a bounded number of blobs of bounded size, and caches their contents."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._read: dict[str, bytes | None] = {}
        self._bytes = 0

    @property
    def full(self) -> bool:
        """Whether a limit is reached, so that no further blob is read."""
        return len(self._read) >= MOST_READ or self._bytes >= MOST_BYTES

    def content(self, oid: str) -> bytes | None:
        """Return the bytes of a blob; None if it is missing or larger than ``LARGEST``, or if the reader is full."""
        if oid in self._read:
            return self._read[oid]
        if self.full:
            return None
        content = self._repository.read_blob(oid).content or b""
        self._bytes += len(content)
        self._read[oid] = content if 0 < len(content) <= LARGEST else None
        return self._read[oid]


class FoundTable(Frozen):
    """A list of objects in a file."""

    key: str
    """The key of the list in the file's object; empty if the file is the list."""
    rows: tuple[dict[str, Value], ...]
    """The first rows."""
    size: int
    """Total number of rows."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The keys of the rows, in order of first appearance."""
        return tuple(dict.fromkeys(key for row in self.rows for key in row))


def value_of(ending: str, content: bytes) -> Value:
    """Return the value of a JSON, JSON Lines or YAML file, or the rows of a CSV file; None if it is malformed."""
    try:
        if ending == "json":
            return read_json(content).value
        if ending in ("jsonl", "ndjson"):
            return [line.read().value for line in each_line(content)]
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
    """Return the value itself if it is a list of objects, or the longest such list under one of its keys."""
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
    """Return field paths without indices, such as ``lines[].price``; only the first ones of a large object."""
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


def texts(values: Iterable[Value]) -> frozenset[str]:
    """Return the texts and integers among the values as text, since these can be ids of documents."""
    return frozenset(str(value) for value in values if isinstance(value, str | int) and not isinstance(value, bool))
