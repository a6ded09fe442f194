"""Maps the columns of a table to parts of a case: patterns of column names, and the columns that match them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Value

PARTS: Final = (
    "id",
    "variant",
    "passed",
    "human",
    "score",
    "input",
    "expected",
    "output",
    "error",
    "reasoning",
    "judge",
    "rubric",
    "model",
    "tokens_in",
    "tokens_out",
    "cost",
    "latency",
)
"""The parts of a case that a column may hold. A map may also have ``scores``, which are any number of columns."""

EVERY: Final = "*"
"""The pattern of scores that matches every column of numbers that holds no other part."""


class ScoreColumns(Frozen):
    """Columns that hold scores."""

    pattern: str
    """The name of a column. One ``*`` matches any text, in columns that hold no other part or score."""
    name: str = ""
    """The name of the score. If empty, the text that ``*`` matches, else the name of the column."""


class ColumnMap(Frozen):
    """The meaning of columns by patterns of their names, for any table."""

    parts: Mapping[str, tuple[str, ...]]
    """Part -> patterns of its columns. If several columns match, their values are shown together."""
    scores: tuple[ScoreColumns, ...] = ()
    reasons: tuple[str, ...] = ()
    """Patterns of columns that explain scores: a score is explained by the column whose ``*`` matches the same text."""
    names_of_scores: str = ""
    """A column that lists for each row which columns hold scores."""
    required: tuple[str, ...] = ()
    """Patterns that must each match a column. Patterns of presets need not, because they cover several versions of a
    tool."""
    list_at: str = ""
    """Key, or path of keys, of the list of rows in a JSON object. Empty if the file is the list."""
    low: float = 0.0
    high: float = 1.0
    """The range of the scores, which are scaled to 0..1."""


class Columns(Frozen):
    """The columns of one table."""

    parts: Mapping[str, tuple[str, ...]]
    scores: Mapping[str, str]
    """Name of the score -> column."""
    reasons: Mapping[str, str]
    """Name of the score -> column."""
    missing: tuple[str, ...]
    """Required patterns that match no column."""


def columns_of(column_map: ColumnMap, names: Sequence[str], numeric: Iterable[str]) -> Columns:
    """Match the columns of a table, of which *numeric* hold only numbers."""
    parts = {
        part: tuple(dict.fromkeys(name for pattern in patterns for name, _ in _matches(pattern, names)))
        for part, patterns in column_map.parts.items()
    }
    used = {name for columns in parts.values() for name in columns}
    scores: dict[str, str] = {}
    for score in column_map.scores:
        matches = [(name, name) for name in numeric] if score.pattern == EVERY else _matches(score.pattern, names)
        if "*" in score.pattern:
            matches = [(name, title) for name, title in matches if name not in used and name not in scores.values()]
        scores |= {score.name or title: name for name, title in matches}
    reasons = {title: name for pattern in column_map.reasons for name, title in _matches(pattern, names)}
    missing = tuple(pattern for pattern in column_map.required if not _matches(pattern, names))
    return Columns(parts=parts, scores=scores, reasons=reasons, missing=missing)


def value_at(row: Mapping[str, Value], column: str) -> Value:
    """The value of a column, or of a path into its objects and lists (``arguments.0.0``). None if there is none."""
    if column in row or "." not in column:
        return row.get(column)
    value: Value = dict(row)
    steps = column.split(".")
    for place, step in enumerate(steps):
        if isinstance(value, dict):
            if (rest := ".".join(steps[place:])) in value:
                return value[rest]
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step[:9]) < len(value):
            value = value[int(step[:9])]
        else:
            return None
    return value


def _matches(pattern: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """(name, text that ``*`` matches, else the name) of each matching column. A path matches if its column exists."""
    if pattern in names:
        return [(pattern, pattern)]
    if "*" in pattern:
        before, _, after = pattern.partition("*")
        regex = re.compile(f"{re.escape(before)}(.+){re.escape(after)}", re.DOTALL)
        return [(name, match[1]) for name in names if (match := regex.fullmatch(name))]
    return [(pattern, pattern)] if "." in pattern and pattern.partition(".")[0] in names else []
