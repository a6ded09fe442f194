"""Maps the columns of a table to parts of a case, as settings or a preset state them, else by their usual names.

The settings are those of an eval of kind ``judged``. The presets are the columns of the tables that tools write,
according to their documentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import inf
from typing import Final, TypeAlias

from msgspec.structs import replace

from sitegen.config.findings import read_keys, settings_finding, unknown_setting
from sitegen.importers.case import is_no_score, is_number, is_verdict
from sitegen.importers.recorded_layouts import headline_place, lower_is_better
from sitegen.importers.tool_values import as_float, as_number, lone_item
from sitegen.importers.usual_names import (
    COMPARED,
    GRADING,
    JUDGED,
    NAMED_VERDICT,
    NAMES,
    OF_PERSON,
    OF_SCORES,
    PARTS,
    PERSON,
    PREDICTED_LABELS,
    RUBRIC,
    RUN_COLUMNS,
    SCORES,
    STATED_MEASURE,
    TRUE_LABELS,
    VERDICT,
    VERDICTS,
    WEAK_VERDICTS,
    by_plain_name,
    called,
)
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding, Parsed
from sitegen.model.recorded import GRADES
from sitegen.text.keys import plain_key

_KNOWN_PARTS: Final = (
    *("id", "variant", "passed", "human", "score", "input", "expected", "output", "error", "reasoning", "judge"),
    *("rubric", "model", "tokens_in", "tokens_out", "cost", "latency", "confidence"),
    "scores",
)
"""The parts of a case that a column may hold, and ``scores``, which are any number of columns."""

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
    reasons: tuple[str, ...] = OF_SCORES
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
        explained = (match for pattern in self.reasons for match in _matches(pattern, names))
        return parts, scores, {title: name for name, title in explained if title in scores}

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


def columns_in(text: str) -> ColumnMap:
    """Return the columns that a text describes: ``id=case input=question|prompt scores=checks.* list=results``."""
    stated = {part: tuple(patterns.split("|")) for part, _, patterns in (word.partition("=") for word in text.split())}
    scores, list_at, reasons = (stated.pop(word, ()) for word in ("scores", "list", "reasons"))
    return ColumnMap(stated, tuple((name, "") for name in scores), list_at=list_at, reasons=reasons or OF_SCORES)


PRESETS: Final[dict[str, ColumnMap]] = {
    "langsmith": columns_in("""
        id=example_id input=inputs.* expected=reference.* output=outputs.* error=error latency=execution_time
        scores=feedback.*"""),
    "lm-eval": replace(
        columns_in(f"""
            id=doc_id variant=filter input=arguments.gen_args_0.arg_0|arguments.0.0 expected=target
            output=filtered_resps scores={EVERY}"""),
        names_of_scores="metrics",
    ),
    "mlflow": columns_in("""
        id=request_id input=inputs|request output=outputs|response|predictions error=error_message|*/error_message
        expected=expectations|ground_truth|targets|expected_response/value|expected_facts/value
        scores=*/value|*/v1/score|*/score reasons=*/rationale|*/v1/justification|*/justification"""),
    "ragas": columns_in(f"""
        input=user_input|question expected=reference|ground_truth output=response|answer scores={EVERY}"""),
}
"""By the name in the manifest: LangSmith's ``ExperimentResults.to_pandas``, lm-eval's ``samples_<task>_<time>.jsonl``,
whose rows name their metrics since 0.4.7, MLflow's tables of ``mlflow.evaluate`` and ``mlflow.genai.evaluate``, whose
``trace_id`` differs between runs so that the question identifies a case, ragas' ``EvaluationResult.to_pandas``."""


AUTO: Final = "auto"  # the range of scores that show their scale themselves
KEYS: Final = ("columns", "preset", "list", "range", GRADES)


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


SCALES: Final = (1, 5, 10, 100)  # the upper ends of usual scales
Rows: TypeAlias = Sequence[Mapping[str, Value]]


def scale_of(highest: float) -> int:
    """Return the least usual scale that a highest score fits."""
    return next(scale for scale in SCALES if highest <= scale)


def usual_columns(rows: Rows) -> ColumnMap | None:
    """Return the meaning of columns by their names; None if none of them has a score or a verdict."""
    named = _NamedColumns(rows)
    variant, verdict, scores = named.variant, named.verdict, named.of_judges
    score = next(filter(named.has_a_number, called(named.by_name, SCORES)), "")
    parts = usual_parts(named.by_name, lambda part, name: part != "variant" or name == variant)
    if variant and variant not in parts.values():
        parts["variant"] = variant
    if not scores and (verdict or score or (len(named.rubric) > 1 and {"input", "output"} & parts.keys())):
        scores = named.rubric
    if not (verdict or score or scores):
        beside = named.beside(parts) if {"expected", "output"} <= parts.keys() else ("", [])
        verdict, scores = next(filter(any, (named.of_graders, beside)), named.of_people)
    expected, output = (plain_key(parts.get(side, "")) for side in ("expected", "output"))
    is_classified = expected in TRUE_LABELS and output in PREDICTED_LABELS
    if not (verdict or score or scores or is_classified):
        return None
    people = (name for name in named.by_name.values() if name not in (verdict, score) and PERSON.fullmatch(name))
    person, *others = [*filter(named.states_verdicts, people)] or [""]
    # Of several people, nobody says whose verdict counts.
    stated = {"passed": verdict, "score": score, "human": "" if others else person}
    parts |= {part: column for part, column in stated.items() if column}
    return ColumnMap({part: (column,) for part, column in parts.items()}, scores=tuple((name, "") for name in scores))


def usual_parts(by_name: Mapping[str, str], fits: Callable[[str, str], bool]) -> dict[str, str]:
    """Return the column of each part that one with a usual name can be.

    ``by_name``: the columns by their plain names. ``fits``: whether a column can be a part.
    """
    parts: dict[str, str] = {}
    unnamed = ("id", "name", "key") if any(called(by_name, NAMES["span"])) else ()
    for part, names in PARTS.items():
        if part == "expected" and not {"predicted", "prediction", "pred"}.isdisjoint(by_name):
            names = (*names, "actual")  # as a confusion matrix calls it; beside what is expected it is the output
        columns = called(by_name, (name for name in names if name not in unnamed))
        free = (column for column in columns if column not in parts.values())
        if column := next((column for column in free if fits(part, column)), None):
            parts[part] = column
    return parts


class _NamedColumns:
    """The columns of rows, of which names and cells show the meaning."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.by_name = by_plain_name(chain.from_iterable(rows))
        qualities = (name for plain, name in self.by_name.items() if RUBRIC.fullmatch(plain))
        self.rubric = rubric_columns({name: [row.get(name) for row in rows] for name in qualities})

    @property
    def variant(self) -> str:
        """The column with the names of variants: texts, at least one in several rows. Empty without one.

        It may have one text alone, if what its name says is nothing else: other outputs have other texts.
        """
        # What is called a run and has no number is a variant.
        runs = called(self.by_name, (name for name in RUN_COLUMNS if name not in NAMES["time"]))
        named = (name for name in runs if not any(re.search("[0-9]$", str(row.get(name))) for row in self._rows))
        variant = next(chain(called(self.by_name, PARTS["variant"]), named), "")
        texts = [cell for row in self._rows if isinstance(cell := row.get(variant), str)]
        is_clear = len({*texts}) > 1 or {plain_key(variant)}.isdisjoint((*PARTS["input"], *PARTS["expected"]))
        repeat = is_clear and len({*texts}) < len(texts)
        asked = next(called(self.by_name, PARTS["input"]), "")
        is_variant = repeat and (plain_key(variant) != "prompt" or names_prompts(self._rows, variant, asked))
        return variant if is_variant else ""

    @property
    def verdict(self) -> str:
        """The column with the verdict on a case; it may be in an object of a tool. Empty without one."""
        usual = [name for name in called(self.by_name, (*VERDICTS, *WEAK_VERDICTS)) if name not in self.rubric]
        usual += (name for name in called(self.by_name, SCORES) if not self.has_a_number(name))  # a grade may be a word
        verdict = next(filter(self.states_verdicts, usual), "")
        if plain_key(verdict) in VERDICTS:
            return verdict
        in_objects = (  # ``{"ok": true, "scoring": {"passed": false}}``
            f"{name}.{key}"
            for row in self._rows
            for name, inner in row.items()
            if isinstance(inner, dict) and GRADING.fullmatch(plain_key(name))
            for key, cell in inner.items()
            if plain_key(key) in VERDICTS and is_verdict(cell)
        )
        return next(in_objects, verdict)

    @property
    def of_judges(self) -> list[str]:
        """A pattern for each object of checks; in a table of spans, else the columns with lists of one number."""
        above = dict.fromkeys(
            name.partition(".")[0] for row in self._rows for name in row if "." in name or isinstance(row[name], dict)
        )
        objects = [f"{name}.*" for plain in NAMES["checks"] for name in above if plain_key(name) == plain]
        if objects or not any(called(self.by_name, NAMES["span"])):
            return objects
        # A trace may have several scores of a name.
        lists = (name for name in self.by_name.values() if any(isinstance(row.get(name), list) for row in self._rows))
        return [name for name in lists if any(is_number(lone_item(row.get(name))) for row in self._rows)]

    @property
    def of_graders(self) -> tuple[str, list[str]]:
        """The verdict, or else the scores, by names that only a grader gives to a column."""
        names = self.by_name.items()
        if measures := [name for plain, name in names if STATED_MEASURE.fullmatch(plain) and self.has_a_number(name)]:
            return "", list(dict.fromkeys((*measures, *self.rubric)))
        compared = (name for plain, name in names if COMPARED.fullmatch(plain) and NAMED_VERDICT.search(name))
        return _one_or_all([*filter(self.states_verdicts, compared)])

    @property
    def of_people(self) -> tuple[str, list[str]]:
        """The verdict, or else the scores, of people, which count where nobody else judged."""
        columns = [*filter(OF_PERSON.fullmatch, self.by_name.values())]
        return _one_or_all([*filter(self.states_verdicts, columns)] or [*filter(self.has_a_number, columns)])

    def beside(self, parts: Mapping[str, str]) -> tuple[str, list[str]]:
        """Return the verdict, or else the scores, beside both sides: words of judges, or numbers of metrics."""
        names = (name for name in self.by_name.values() if not (PERSON.fullmatch(name) or OF_PERSON.fullmatch(name)))
        cells = {name: [row.get(name) for row in self._rows] for name in names}
        said = [name for name in cells if all(isinstance(cell, str) and JUDGED.fullmatch(cell) for cell in cells[name])]
        if said and not {parts["expected"], parts["output"]}.intersection(said):  # else the words are answers
            return _one_or_all(said)
        metrics = (name for name in cells if (headline_place(name) or (1,))[0] == 0 and not lower_is_better(name))
        return "", [name for name in metrics if name not in parts.values() and self.has_a_number(name)]

    def has_a_number(self, column: str) -> bool:
        return any(is_number(row.get(column)) for row in self._rows)

    def states_verdicts(self, column: str) -> bool:
        """Whether most cells of a column that are not empty state a verdict; in one of that name, any of them."""
        cells = [row[column] for row in self._rows if column in row and not is_no_score(row[column])]
        stated = sum(map(is_verdict, cells))
        return stated * 2 > len(cells) or (plain_key(column) == VERDICT and bool(cells))


def _one_or_all(columns: list[str]) -> tuple[str, list[str]]:
    """Return the only column as the verdict, or several as scores."""
    return (columns[0], []) if len(columns) == 1 else ("", columns)


def rubric_columns(columns: Mapping[str, Sequence[Value]]) -> list[str]:
    """Return the columns of grades that are called after qualities of an answer: ``helpfulness``, ``tone``.

    A column of only 0 and 1 holds verdicts. One of only 1, or without any grade, is graded too if another one is.
    """
    numbers = {
        name: {number for cell in cells if (number := as_number(cell)) is not None}
        for name, cells in columns.items()
        if RUBRIC.fullmatch(plain_key(name))
    }
    are_graded = any(not of <= {0, 1} for of in numbers.values())
    return [
        name
        for name, of in numbers.items()
        if are_graded and (all(map(is_no_score, columns[name])) or (of and (0 not in of or not of <= {0, 1})))
    ]


def names_prompts(rows: Rows, column: str, asked: str) -> bool:
    """Whether a column names the prompts for the inputs in another one, and holds no texts with these in them."""
    prompts, inputs = ({str(row.get(name)) for row in rows} for name in (column, asked))
    return column != asked and 1 < len(prompts) < len(inputs)
