"""Maps the columns of a table to parts of a case, as the settings of an eval of kind ``judged`` or a preset state them.

The presets are the columns of the tables that tools write, according to their documentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import inf
from typing import Final

from msgspec.structs import replace

from sitegen.config.findings import read_keys, settings_finding, unknown_setting
from sitegen.importers.tool_values import as_float
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.recorded import GRADES

PARTS: Final = (
    *("id", "variant", "passed", "human", "score", "input", "expected", "output", "error", "reasoning", "judge"),
    *("rubric", "model", "tokens_in", "tokens_out", "cost", "latency", "confidence"),
)
"""The parts of a case that a column may hold. A map may also have ``scores``, which are any number of columns."""

GROUP: Final = "group"
"""The column with the name of the group of rows that a row is in."""
EVERY: Final = "*"
"""The pattern of scores that matches every column of numbers that holds no other part."""


class ColumnMap(Frozen):
    """The meaning of columns by patterns of their names, for any table."""

    parts: Mapping[str, tuple[str, ...]]
    """Part -> patterns of its columns. If several columns match, their values are shown together."""
    scores: tuple[tuple[str, str], ...] = ()
    """(pattern of columns, name of the score). One ``*`` matches any text, in columns that hold no other part or score.
    If the name is empty, the score is named by the text that ``*`` matches, else by its column."""
    reasons: tuple[str, ...] = ()
    """Patterns of columns that explain scores: a score is explained by the column whose ``*`` matches the same text."""
    names_of_scores: str = ""
    """A column that lists for each row which columns hold scores."""
    required: tuple[str, ...] = ()
    """Patterns that must each match a column. Those of presets need not: they cover several versions of a tool."""
    list_at: tuple[str, ...] = ()
    """Key, or path of keys, of each list of rows in a JSON object. Empty if the file is the list. Before ``.*.`` is a
    list of groups of rows."""
    low: float = 0.0
    high: float = 1.0
    """The range of the scores, which are scaled to 0..1. ``high`` is infinite if the scores themselves show it."""

    def in_table(
        self, names: Sequence[str], numeric: Iterable[str]
    ) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, str], Mapping[str, str]]:
        """Return the columns of each part, of each score and of its reason in a table.

        ``numeric``: the columns that hold only numbers.
        """
        parts = {
            part: tuple(dict.fromkeys(name for pattern in patterns for name, _ in _matches(pattern, names)))
            for part, patterns in self.parts.items()
        }
        used = {name for columns in parts.values() for name in columns}
        scores: dict[str, str] = {}
        for pattern, score in self.scores:
            matches = [(name, name) for name in numeric] if pattern == EVERY else _matches(pattern, names)
            if "*" in pattern:
                matches = [(name, title) for name, title in matches if name not in used and name not in scores.values()]
            scores |= {score or title: name for name, title in matches}
        return parts, scores, {title: name for pattern in self.reasons for name, title in _matches(pattern, names)}

    def missing_in(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the required patterns that match no column of a table."""
        none_failed = self.parts.get("error", ())
        return tuple(one for one in self.required if one not in none_failed and not _matches(one, names))


def _matches(pattern: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """(name, text that ``*`` matches, else the name) of each matching column. A path matches if its column exists."""
    if pattern in names:
        return [(pattern, pattern)]
    if "*" in pattern:
        before, _, after = pattern.partition("*")
        regex = re.compile(f"{re.escape(before)}(.+){re.escape(after)}", re.DOTALL)
        return [(name, match[1]) for name in names if (match := regex.fullmatch(name))]
    return [(pattern, pattern)] if "." in pattern and pattern.partition(".")[0] in names else []


def parts_of(text: str) -> dict[str, tuple[str, ...]]:
    """Return the patterns of each part's columns, as in ``id=case input=question|prompt``. Lines may end with ``|``."""
    words = (word.partition("=") for word in re.sub(r"[|]\s+", "|", text).split())
    return {part: tuple(patterns.split("|")) for part, _, patterns in words}


PRESETS: Final[dict[str, ColumnMap]] = {
    "langsmith": ColumnMap(
        parts=parts_of("""
            id=example_id input=inputs.* expected=reference.* output=outputs.* error=error latency=execution_time"""),
        scores=(("feedback.*", ""),),
    ),
    "lm-eval": ColumnMap(
        parts=parts_of("""
            id=doc_id variant=filter input=arguments.gen_args_0.arg_0|arguments.0.0 expected=target
            output=filtered_resps"""),
        scores=((EVERY, ""),),
        names_of_scores="metrics",
    ),
    "mlflow": ColumnMap(
        parts=parts_of("""
            id=request_id input=inputs|request output=outputs|response|predictions error=error_message|*/error_message
            expected=expectations|ground_truth|targets|expected_response/value|expected_facts/value"""),
        scores=(("*/value", ""), ("*/v1/score", ""), ("*/score", "")),
        reasons=("*/rationale", "*/v1/justification", "*/justification"),
    ),
    "ragas": ColumnMap(
        parts=parts_of("input=user_input|question expected=reference|ground_truth output=response|answer"),
        scores=((EVERY, ""),),
    ),
}
"""By the name in the manifest: LangSmith's ``ExperimentResults.to_pandas``, lm-eval's ``samples_<task>_<time>.jsonl``,
whose rows name their metrics since 0.4.7, MLflow's tables of ``mlflow.evaluate`` and ``mlflow.genai.evaluate``, whose
``trace_id`` differs between runs so that the question identifies a case, ragas' ``EvaluationResult.to_pandas``."""


AUTO: Final = "auto"  # the range of scores that show their scale themselves
KEYS: Final = ("columns", "preset", "list", "range", GRADES)
_KNOWN_PARTS: Final = (*PARTS, "scores")


@lru_cache(maxsize=64)
def read_settings(settings: str) -> Parsed[ColumnMap | None]:
    """Read the canonical JSON of the settings. Whatever is invalid is left out and reported. Never raises.

    The value is None if the format of the results needs no columns. It has no columns if only a range is stated.
    """
    stated, unknown = read_keys(settings, KEYS)
    findings = [*unknown]
    columns, preset = stated.get("columns"), stated.get("preset")
    column_map = PRESETS.get(preset) if isinstance(preset, str) else None
    if preset is not None and column_map is None:
        fix = f"Use one of: {', '.join(PRESETS)}; or `columns`."
        findings.append(settings_finding(f"There is no preset {str(preset)[:40]!r}", fix, "preset"))
    if columns is not None:
        parts, scores = _stated_columns(columns, findings)
        if parts or scores:
            names = [*chain.from_iterable(parts.values()), *(pattern for pattern, _ in scores)]
            preset_map = column_map or ColumnMap({})
            column_map = replace(  # what is stated stands in place of the preset's own
                preset_map,
                parts={**preset_map.parts, **parts},
                scores=scores or preset_map.scores,
                names_of_scores="" if scores else preset_map.names_of_scores,
                required=tuple(dict.fromkeys(name for name in names if name != EVERY)),
            )
    if column_map is not None and (list_at := stated.get("list")) is not None:
        if isinstance(list_at, str) and list_at:
            column_map = replace(column_map, list_at=(list_at,))
        else:
            fix = "Write the key of the list of rows, such as results."
            findings.append(settings_finding("'list' is not a key", fix, "list"))
    if (bounds := stated.get("range")) is not None:
        numbers = [as_float(bound) for bound in bounds] if isinstance(bounds, list) else [0.0, inf] * (bounds == AUTO)
        low, high = numbers if len(numbers) == 2 else (None, None)
        if low is None or high is None or low >= high:
            message = "'range' is not a pair of numbers, the lower first"
            findings.append(settings_finding(message, "Write one such as [1, 5], or auto.", "range"))
        else:
            column_map = replace(column_map or ColumnMap({}), low=low, high=high)
    return Parsed(column_map, tuple(findings))


@lru_cache(maxsize=64)
def stated_grades(settings: str) -> tuple[str, ...]:
    """Return the named scores that are grades although a file may hold only 0 and 1; empty if none are stated."""
    stated, _ = read_keys(settings, KEYS)
    return _column_names(stated.get(GRADES, []))


def _stated_columns(
    value: Value, findings: list[Finding]
) -> tuple[dict[str, tuple[str, ...]], tuple[tuple[str, str], ...]]:
    if not isinstance(value, dict):
        fix = "Write parts of a case and columns: `score: rating`."
        findings.append(settings_finding("'columns' is not an object", fix, "columns"))
        return {}, ()
    parts: dict[str, tuple[str, ...]] = {}
    for part, stated in value.items():
        if part not in _KNOWN_PARTS:
            unknown = unknown_setting("part of a case", part, _KNOWN_PARTS)
            findings.append(replace(unknown, path=f"columns.{part}"))
        elif part != "scores":
            if names := _column_names(stated):
                parts[part] = names
            else:
                fix = "Write a name, or a list of names."
                findings.append(settings_finding(f"'columns.{part}' names no column", fix, f"columns.{part}"))
    stated = value.get("scores")
    if isinstance(stated, dict):  # by the name of the score
        pairs = [(pattern, name) for name, pattern in stated.items() if isinstance(pattern, str) and pattern]
    else:
        pairs = [(pattern, "") for pattern in _column_names(stated)]
    return parts, tuple(pairs)


def _column_names(value: Value) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [value]
    return tuple(name for name in names if isinstance(name, str) and name)
