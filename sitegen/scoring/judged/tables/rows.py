"""Reads the rows of a table in CSV, JSON Lines, JSON or Parquet, with bounds. Values keep their types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from typing import Final

from sitegen.data_files.csv_reader import csv_table
from sitegen.data_files.json_reader import json_lines, read_json
from sitegen.data_files.reading import UnreadableError
from sitegen.model.frozen import Frozen
from sitegen.model.problems import Finding
from sitegen.model.usage import stated_judge
from sitegen.model.values import Value
from sitegen.scoring.case_lists import list_of_cases
from sitegen.scoring.judged import PACKAGES
from sitegen.scoring.judged.tables.columns import value_at
from sitegen.scoring.judged.tables.usual_columns import with_named_checks
from sitegen.scoring.mapping import CaseKeys
from sitegen.scoring.values import items, members

MOST_ROWS: Final = 100_000
_MOST_COLUMNS: Final = 1_000
_FIX: Final = "Write the table again."


class ResultTable(Frozen):
    """The rows of a file."""

    columns: tuple[str, ...]
    """In the order of the file, without duplicates."""
    rows: tuple[Mapping[str, Value], ...]
    judge: str = ""
    """The model that graded all rows, if the file names it beside them."""
    findings: tuple[Finding, ...] = ()


def read_rows(ending: str, content: bytes, list_at: str = "") -> ResultTable:
    """Read a table in the format that belongs to the ending of its file name. Raises UnreadableError.

    *list_at*: the key, or path of keys, of the list of rows in a JSON object.
    """
    reader = _READERS.get(ending)
    if reader is None:
        endings = ", ".join(_READERS)
        raise UnreadableError(f"it is not a table: its name ends in {ending[:20]!r}", f"Write one of: {endings}.")
    table = _json_table(content, list_at) if ending == "json" else reader(content)
    if len(table.rows) > MOST_ROWS:
        raise UnreadableError(f"it has more than {MOST_ROWS:,} rows", "Split it into several evals.")
    if len(table.columns) > _MOST_COLUMNS:
        raise UnreadableError(f"it has more than {_MOST_COLUMNS:,} columns", "Leave out those that are not needed.")
    return table


def _csv_table(content: bytes) -> ResultTable:
    names, lines = csv_table(content)
    rows = [dict(zip(names, line, strict=False)) for line in lines]
    return ResultTable(tuple(filter(None, names)), tuple(rows))


def _json_lines_table(content: bytes) -> ResultTable:
    rows: list[Value] = []
    findings: list[Finding] = []
    for number, value in json_lines(content, findings, "Write valid JSON."):
        if isinstance(value, dict):
            rows.append(value)
        else:
            findings.append(Finding(severity="error", message=f"Line {number} is not an object", fix=_FIX, line=number))
    if not rows:
        raise UnreadableError("it has no rows", "Write one JSON object a line.")
    return _table_of_objects(rows, findings)


def _json_table(content: bytes, list_at: str = "") -> ResultTable:
    """A list of objects, which may be below a key, or ``columns`` and ``data`` as pandas and MLflow write them."""
    value, findings = read_json(content)
    judge = stated_judge(value)
    if list_at:
        value = value_at(members(value), list_at)
    elif isinstance(value, dict):
        names = [str(name) for name in items(value.get("columns"))]
        in_columns: list[Value] = [dict(zip(names, items(row), strict=False)) for row in items(value.get("data"))]
        # The cases with an expected side and an output, else the longest list of objects below a key.
        lists = [below for below in value.values() if isinstance(below, list) and any(map(members, below))]
        value = in_columns or [*(list_of_cases(value, CaseKeys()) or max(lists, key=len, default=[]))]
    rows = [row for row in items(value) if isinstance(row, dict)]
    if not rows:
        fix = 'Write a list of objects, or {"columns": [...], "data": [[...]]}; or name its key: `list: results`.'
        raise UnreadableError("it has no rows", fix)
    return _table_of_objects(rows, findings, judge)


def _table_of_objects(rows: Iterable[Value], findings: Iterable[Finding], judge: str = "") -> ResultTable:
    objects = tuple(with_named_checks(members(row)) for row in rows)
    names = dict.fromkeys(name for row in objects for name in row)
    return ResultTable(tuple(names), objects, judge=judge, findings=tuple(findings))


def _parquet_table(content: bytes) -> ResultTable:
    if find_spec(PACKAGES["parquet"]) is None:
        raise UnreadableError(
            "it is Parquet, which needs a package that is not installed", "pip install 'sitegen-evals[parquet]'"
        )
    from sitegen.scoring.judged.tables.parquet_process import read_parquet

    return _table_of_objects(read_parquet(content, MOST_ROWS), ())


_READERS: Final[dict[str, Callable[[bytes], ResultTable]]] = {
    "csv": _csv_table,
    "jsonl": _json_lines_table,
    "ndjson": _json_lines_table,
    "json": _json_table,
    "parquet": _parquet_table,
}
"""By the ending of the file name."""
