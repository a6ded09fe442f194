"""Files of tables as rows: CSV, JSON Lines, JSON and Parquet, bounded. Values keep the types that the file has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from typing import Final, NamedTuple

from sitegen.data_files.csv_reader import csv_rows
from sitegen.data_files.json_reader import parse_json, read_json
from sitegen.data_files.reading import UnreadableError, text_of
from sitegen.model.problems import Finding
from sitegen.model.values import Value
from sitegen.scoring.judged.formats.json_values import items, members
from sitegen.scoring.judged.formats.result_format import PACKAGES
from sitegen.scoring.judged.tables.columns import value_at

MOST_ROWS: Final = 100_000
MOST_COLUMNS: Final = 1_000
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
            value, said = parse_json(line, place)
        except UnreadableError as error:
            findings.append(
                Finding(severity="error", what=f"Line {place} cannot be read: {error.what}", fix=error.fix, line=place)
            )
            continue
        findings += said
        if isinstance(value, dict):
            rows.append(value)
        else:
            findings.append(Finding(severity="error", what=f"Line {place} is no object", fix=_FIX, line=place))
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
    from sitegen.scoring.judged.tables.parquet import read_parquet

    return _of_objects(read_parquet(content, MOST_ROWS), ())


_READERS: Final[dict[str, Callable[[bytes], ResultTable]]] = {
    "csv": _csv,
    "jsonl": _json_lines,
    "ndjson": _json_lines,
    "json": _json,
    "parquet": _parquet,
}
"""By the ending of the file's name."""
