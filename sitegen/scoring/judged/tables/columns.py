"""What the columns of a table mean: patterns for each part of a case, and the columns of one table that fit them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from sitegen.model.values import Value

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
"""The parts of a case that a column may hold; ``scores`` besides, which names several."""

EVERY: Final = "*"
"""The pattern of scores that fits every column with nothing but numbers in it that holds no other part."""


class ScoreColumns(NamedTuple):
    """Columns that hold scores."""

    pattern: str
    """A column's name, where one ``*`` stands for any text; of columns that hold no other part and no score yet."""
    name: str = ""
    """What the score is called; empty: what the ``*`` stands for, else the column's name."""


class ColumnMap(NamedTuple):
    """What columns mean, before any table is seen."""

    parts: Mapping[str, tuple[str, ...]]
    """Part -> patterns of its columns; several columns are shown together."""
    scores: tuple[ScoreColumns, ...] = ()
    reasons: tuple[str, ...] = ()
    """Patterns of columns that explain the score that has the same text for its ``*``."""
    names_of_scores: str = ""
    """A column that lists, row by row, which columns hold scores."""
    required: tuple[str, ...] = ()
    """The patterns of which each has to fit a column; a preset knows those of several versions of a tool."""
    list_at: str = ""
    """Key, or path of keys, of the list of rows in a JSON object; empty: the file is the list."""
    low: float = 0.0
    high: float = 1.0
    """The range of the scores, which is brought to 0..1."""


class Columns(NamedTuple):
    """The columns of one table."""

    parts: Mapping[str, tuple[str, ...]]
    scores: Mapping[str, str]
    """Name of the score -> column."""
    reasons: Mapping[str, str]
    """Name of the score -> column."""
    missing: tuple[str, ...]
    """Names that the map states and no column has."""


def columns_of(wanted: ColumnMap, known: Iterable[str], numeric: Iterable[str]) -> Columns:
    """The columns of a table with the *known* names that fit; *numeric* are those with nothing but numbers in them."""
    names = list(dict.fromkeys(known))
    parts = {part: _fitting(patterns, names) for part, patterns in wanted.parts.items()}
    taken = {name for several in parts.values() for name in several}
    scores: dict[str, str] = {}
    for score in wanted.scores:
        fitting = [(name, name) for name in numeric] if score.pattern == EVERY else _matches(score.pattern, names)
        if "*" in score.pattern:
            fitting = [(name, title) for name, title in fitting if name not in taken and name not in scores.values()]
        scores |= {score.name or title: name for name, title in fitting}
    reasons = {stands_for: name for pattern in wanted.reasons for name, stands_for in _matches(pattern, names)}
    missing = tuple(pattern for pattern in wanted.required if not _fitting((pattern,), names))
    return Columns(parts=parts, scores=scores, reasons=reasons, missing=missing)


def value_at(row: Mapping[str, Value], column: str) -> Value:
    """The value of a column; dots lead into objects and lists: ``arguments.0.0``. None if there is none."""
    if column in row or "." not in column:
        return row.get(column)
    value: Value = dict(row)
    for step in column.split("."):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step[:9]) < len(value):
            value = value[int(step[:9])]
        else:
            return None
    return value


def _fitting(patterns: Iterable[str], names: list[str]) -> tuple[str, ...]:
    found = (name for pattern in patterns for name, _ in _matches(pattern, names))
    return tuple(dict.fromkeys(found))


def _matches(pattern: str, names: list[str]) -> list[tuple[str, str]]:
    """(name, what the ``*`` stands for, else the name) of each column that fits; of a path, the path itself."""
    if pattern in names:
        return [(pattern, pattern)]
    if "*" in pattern:
        before, _, after = pattern.partition("*")
        fits = re.compile(f"{re.escape(before)}(.+){re.escape(after)}", re.DOTALL)
        return [(name, match[1]) for name in names if (match := fits.fullmatch(name))]
    return [(pattern, pattern)] if "." in pattern and pattern.partition(".")[0] in names else []
