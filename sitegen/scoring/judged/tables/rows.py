"""Files of tables as rows: CSV, JSON Lines, JSON and Parquet, bounded. Values keep the types that the file has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from importlib.util import find_spec
from io import BytesIO
from itertools import islice
from typing import Any, Final, NamedTuple

from sitegen.model.problems import Finding
from sitegen.model.values import Unusable, Value
from sitegen.scoring.ground_truth.reader import csv_rows
from sitegen.scoring.json_reader import parse, read_json
from sitegen.scoring.judged.formats.json_values import items, members
from sitegen.scoring.judged.formats.result_format import PACKAGES
from sitegen.scoring.judged.tables.columns import value_at
from sitegen.scoring.reading import MAX_DEPTH, UnreadableError, text_of

MOST_ROWS: Final = 100_000
MOST_COLUMNS: Final = 1_000
MOST_BYTES: Final = 200_000_000
"""Of a Parquet file as it is in memory: a small file can hold one value many times."""
_AT_ONCE: Final = 32
"""Rows of a Parquet file that are unpacked before their size is looked at."""
_FIX: Final = "Write the table again."


class ResultTable(NamedTuple):
    """The rows of a file."""

    columns: tuple[str, ...]
    """In the order of the file; of JSON, in which they appear."""
    rows: tuple[Mapping[str, Value], ...]
    findings: tuple[Finding, ...] = ()


def read_rows(ending: str, content: bytes, list_at: str = "") -> ResultTable:
    """Read a table by the ending of its file's name. Raises UnreadableError.

    *list_at*: the key, or path of keys, of the list of rows in a JSON object.
    """
    reader = _READERS.get(ending)
    if reader is None:
        known = ", ".join(_READERS)
        raise UnreadableError(f"it is no table: its name ends in {ending[:20]!r}", f"Write one of: {known}.")
    table = _json(content, list_at) if ending == "json" else reader(content)
    if len(table.rows) > MOST_ROWS:
        raise UnreadableError(f"it has more than {MOST_ROWS:,} rows", "Split it into several evals.")
    if len(table.columns) > MOST_COLUMNS:
        raise UnreadableError(f"it has more than {MOST_COLUMNS:,} columns", "Leave out those that are not needed.")
    return table


def _csv(content: bytes) -> ResultTable:
    header, *lines = (row for row in csv_rows(content) if any(row))
    names = [name.strip() for name in header]
    if double := [name for place, name in enumerate(names) if name and name in names[:place]]:
        raise UnreadableError(f"the column {double[0][:80]!r} stands twice", "Rename one.")
    rows = [dict(zip(names, line, strict=False)) for line in lines]
    return ResultTable(tuple(name for name in names if name), tuple(rows))


def _json_lines(content: bytes) -> ResultTable:
    rows: list[Value] = []
    findings: list[Finding] = []
    for place, line in enumerate(text_of(content).split("\n"), 1):
        if not line.strip():
            continue
        try:
            value, said = parse(line, place)
        except UnreadableError as error:
            findings.append(Finding("error", f"Line {place} cannot be read: {error.what}", error.fix, place))
            continue
        findings += said
        if isinstance(value, dict):
            rows.append(value)
        else:
            findings.append(Finding("error", f"Line {place} is no object", _FIX, place))
    if not rows:
        raise UnreadableError("it has no rows", "Write one JSON object a line.")
    return _of_objects(rows, findings)


def _json(content: bytes, list_at: str = "") -> ResultTable:
    """A list of objects, also at a key; or ``columns`` and ``data`` as pandas and MLflow write them."""
    value, findings = read_json(content)
    if list_at:
        value = value_at(members(value), list_at)
    elif isinstance(value, dict):
        names = [str(name) for name in items(value.get("columns"))]
        value = [dict(zip(names, items(row), strict=False)) for row in items(value.get("data"))]
    rows = [row for row in items(value) if isinstance(row, dict)]
    if not rows:
        fix = 'Write a list of objects, or {"columns": [...], "data": [[...]]}; or name its key: `list: results`.'
        raise UnreadableError("it has no rows", fix)
    return _of_objects(rows, findings)


def _of_objects(rows: Iterable[Value], findings: Iterable[Finding]) -> ResultTable:
    objects = tuple(map(members, rows))
    names = dict.fromkeys(name for row in objects for name in row)
    return ResultTable(tuple(names), objects, tuple(findings))


def _parquet(content: bytes) -> ResultTable:
    if find_spec(PACKAGES["parquet"]) is None:
        raise UnreadableError(
            "it is Parquet, which needs a package that is not installed", "pip install 'sitegen-evals[parquet]'"
        )
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    rows: list[Value] = []
    size = 0
    try:
        file = ParquetFile(BytesIO(content))
        if file.metadata.num_rows > MOST_ROWS or file.metadata.num_columns > MOST_COLUMNS:
            raise UnreadableError(
                f"it has more than {MOST_ROWS:,} rows or {MOST_COLUMNS:,} columns", "Leave out what is not needed."
            )
        for batch in islice(file.iter_batches(batch_size=_AT_ONCE, use_threads=False), MOST_ROWS):
            size += batch.nbytes
            if size > MOST_BYTES:
                raise UnreadableError("it takes too much memory", "Leave out the columns that are not needed.")
            rows += [{str(name): _plain(each) for name, each in row.items()} for row in batch.to_pylist()]
    except (ArrowException, OSError, ValueError, TypeError, NotImplementedError, OverflowError):
        raise UnreadableError("it is no valid Parquet file", _FIX) from None
    return _of_objects(rows, ())


def _plain(value: Any, depth: int = 0) -> Value:
    """A value as the reader of JSON would give it."""
    if value is None or isinstance(value, bool | int | str | Decimal):
        return value
    if isinstance(value, float):
        return Decimal(repr(value)) if value - value == 0 else Unusable(repr(value), "no finite number")
    if isinstance(value, date | datetime):
        return value.isoformat()
    if depth < MAX_DEPTH and isinstance(value, dict):
        return {str(key): _plain(each, depth + 1) for key, each in value.items()}
    if depth < MAX_DEPTH and isinstance(value, list | tuple):
        return [_plain(each, depth + 1) for each in value]
    return None


_READERS: Final[dict[str, Callable[[bytes], ResultTable]]] = {
    "csv": _csv,
    "jsonl": _json_lines,
    "ndjson": _json_lines,
    "json": _json,
    "parquet": _parquet,
}
"""By the ending of the file's name."""
