"""What an eval's ``settings`` say of its results: the columns of a table, or the preset that knows them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from sitegen.model.problems import Finding
from sitegen.model.values import Value
from sitegen.scoring.judged.tables.columns import EVERY, PARTS, ColumnMap, ScoreColumns
from sitegen.scoring.judged.tables.presets import PRESETS
from sitegen.scoring.settings import read_keys, settings_finding, unknown_key

KEYS: Final = ("columns", "preset", "list", "range")
_KNOWN_PARTS: Final = (*PARTS, "scores")


class TableSettings(NamedTuple):
    """What is stated; nothing if the results are in a format that says itself what it holds."""

    columns: ColumnMap | None
    findings: tuple[Finding, ...]


@lru_cache(maxsize=64)
def read_settings(settings: str) -> TableSettings:
    """Read the canonical JSON of the settings. What does not fit is a finding and left out. Never raises."""
    stated, findings = read_keys(settings, KEYS, "setting")
    columns = stated.get("columns")
    preset = stated.get("preset")
    wanted: ColumnMap | None = None
    if preset is not None:
        wanted = PRESETS.get(preset) if isinstance(preset, str) else None
        if wanted is None:
            known = ", ".join(PRESETS)
            findings.append(
                settings_finding(f"There is no preset {str(preset)[:40]!r}", f"Use one of: {known}; or `columns`.")
            )
    if columns is not None:
        parts, scores = _columns(columns, findings)
        wanted = _over(wanted, parts, scores) if parts or scores else wanted
    if wanted is not None and (list_at := stated.get("list")) is not None:
        if isinstance(list_at, str) and list_at:
            wanted = wanted._replace(list_at=list_at)
        else:
            findings.append(settings_finding("'list' is no key", "Write the key of the list of rows, such as results."))
    if wanted is not None and (bounds := stated.get("range")) is not None:
        low_high = _range(bounds)
        if low_high is None:
            findings.append(
                settings_finding("'range' is no pair of numbers, the lower first", "Write one such as [1, 5].")
            )
        else:
            wanted = wanted._replace(low=low_high[0], high=low_high[1])
    return TableSettings(wanted, tuple(findings))


def _over(preset: ColumnMap | None, parts: dict[str, tuple[str, ...]], scores: tuple[ScoreColumns, ...]) -> ColumnMap:
    """The stated columns; those of the preset where they say nothing."""
    named = [*(name for names in parts.values() for name in names), *(score.pattern for score in scores)]
    over = preset or ColumnMap({})
    return over._replace(
        parts={**over.parts, **parts},
        scores=scores or over.scores,
        names_of_scores="" if scores else over.names_of_scores,
        required=tuple(dict.fromkeys(name for name in named if name != EVERY)),
    )


def _columns(value: Value, findings: list[Finding]) -> tuple[dict[str, tuple[str, ...]], tuple[ScoreColumns, ...]]:
    if not isinstance(value, dict):
        findings.append(
            settings_finding("'columns' is no object", "Write parts of a case and columns: `score: rating`.")
        )
        return {}, ()
    parts: dict[str, tuple[str, ...]] = {}
    for part, stated in value.items():
        if part not in _KNOWN_PARTS:
            findings.append(unknown_key("part of a case", part, _KNOWN_PARTS))
        elif part != "scores":
            names = tuple(_names(stated))
            if names:
                parts[part] = names
            else:
                findings.append(
                    settings_finding(f"'columns.{part}' names no column", "Write a name, or a list of names.")
                )
    return parts, tuple(_scores(value.get("scores")))


def _names(value: Value) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str) and each:
            yield each


def _scores(value: Value) -> Iterator[ScoreColumns]:
    """A list of columns, or an object of names and columns."""
    if isinstance(value, dict):
        yield from (ScoreColumns(each, name) for name, each in value.items() if isinstance(each, str) and each)
    else:
        yield from map(ScoreColumns, _names(value))


def _range(value: Value) -> tuple[float, float] | None:
    if not isinstance(value, list) or len(value) != 2:
        return None
    low, high = (
        float(each) if isinstance(each, int | Decimal) and not isinstance(each, bool) else None for each in value
    )
    return (low, high) if low is not None and high is not None and low < high else None
