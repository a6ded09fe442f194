"""What the columns of a table of results probably mean: the settings of an eval of kind ``judged``, as a guess."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final

from sitegen.discovery.contents import FoundTable
from sitegen.model.values import Value

_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "id": (
        *("id", "caseid", "testid", "testcaseid", "questionid", "exampleid", "sampleid", "itemid", "taskid", "docid"),
        *("documentid", "scenarioid", "evalid", "test", "testcase", "case", "eval", "scenario", "task", "name", "key"),
    ),
    "input": ("input", "question", "query", "prompt", "userinput", "instruction", "text"),
    "variant": (
        *("variant", "providerid", "provider", "promptid", "experiment", "experimentname", "arm", "condition", "agent"),
        *("model", "modelid", "modelname", "target", "system"),
    ),
    "model": ("model", "modelid", "modelname"),
    "expected": (
        *("expected", "expectedoutput", "expectedanswer", "groundtruth", "target", "gold", "reference"),
        *("referenceanswer", "ideal", "label"),
    ),
    "output": (
        *("output", "actual", "actualoutput", "modeloutput", "prediction", "predicted", "response", "modelresponse"),
        *("agentresponse", "answer", "result", "completion"),
    ),
    "error": ("error", "errormessage"),
    "reasoning": ("reasoning", "reason", "explanation", "rationale", "justification"),
    "cost": ("cost", "costusd", "totalcost"),
}
"""Part of a case -> names that columns of it have, the surest first, without case and separators."""

_VERDICTS: Final = ("passed", "pass", "ispassed", "correct", "iscorrect", "gatepass", "verdict")
_ENDINGS: Final = ("success", "status", "outcome")
"""Words for a verdict that often only say whether a call came through: they count if both verdicts occur."""

_SCORES: Final = ("score", "overallscore", "totalscore", "finalscore", "weightedscore", "rating", "grade")
_WORDS: Final = frozenset({"true", "false", "yes", "no", "pass", "passed", "fail", "failed", "correct", "incorrect"})
_NAMED_SCORE = re.compile(
    r"(?:score|accuracy|precision|recall|f1|correctness|relevan\w*|faithful\w*|match)$", re.IGNORECASE
)
_SPELLED = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,18})?")
_TOO_LARGE: Final = 10**12
_SEPARATORS = re.compile(r"[^a-z0-9]")
_SCALES: Final = (1, 5, 10, 100)
_MOST_SCORES: Final = 12


def guessed_columns(table: FoundTable) -> dict[str, Any] | None:
    """Settings that say what the columns mean; None if no column says how good a row is, or what it is about."""
    columns = _flat(table)
    by_name: dict[str, str] = {}
    for name in (*table.columns, *(name for name in columns if "." in name)):
        by_name.setdefault(_plain(name), name)
    parts: dict[str, Any] = {}
    for part, names in _NAMES.items():
        own = [by_name[name] for name in names if name in by_name and by_name[name] not in parts.values()]
        if (found := next((name for name in own if _fits(part, columns[name])), None)) is not None:
            parts[part] = found
    for name in table.columns:
        by_name[_plain(name)] = name
    for name in columns:  # a verdict may stand in an object of the judge: ``judgment.verdict``
        by_name.setdefault(_plain(name.rpartition(".")[2]), name)
    verdict = _verdict(columns, by_name)
    scores, highest = _scores(columns, by_name)
    says_more = {"input", "expected", "output"} & parts.keys()
    if not ({"id", "input"} & parts.keys()) or (verdict is None and not (scores and says_more)):
        return None  # an id with a score alone may be what a search found
    if verdict is not None:
        parts["passed"] = verdict
    if len(scores) == 1:
        parts["score"] = scores[0]
    elif scores:
        parts["scores"] = scores
    scale = _scale(highest)
    settings: dict[str, Any] = {"columns": parts}
    return settings if scale == 1 or not scores else {**settings, "range": [0, scale]}


def _flat(table: FoundTable) -> dict[str, list[Value]]:
    """Values by column; those of objects in cells under both names: ``judgment.verdict``."""
    columns = {name: [row.get(name) for row in table.rows] for name in table.columns}
    for name, values in tuple(columns.items()):
        inside = [value for value in values if isinstance(value, dict)]
        keys = dict.fromkeys(key for row in inside for key in row) if len(inside) * 2 > len(values) else ()
        for key in keys:
            if "." not in key:
                columns[f"{name}.{key}"] = [value.get(key) if isinstance(value, dict) else None for value in values]
    return columns


def _verdict(columns: dict[str, list[Value]], by_name: dict[str, str]) -> str | None:
    own = [by_name[name] for name in _VERDICTS if name in by_name]
    weak = [by_name[name] for name in _ENDINGS if name in by_name]
    found = next((name for name in own if _is_verdict(columns[name])), None)
    return found or next(
        (name for name in weak if _is_verdict(columns[name]) and len(_different(columns[name])) > 1), None
    )


def _different(values: Iterable[Value]) -> frozenset[str]:
    """The different values of a column, as text."""
    return frozenset(str(value) for value in values if value is not None)


def _fits(part: str, values: list[Value]) -> bool:
    """Whether a column says enough to be this part: an id tells rows apart, a variant is there more than once."""
    known = [str(value) for value in values if value is not None and not isinstance(value, dict | list)]
    different = len(set(known))
    if part in ("id", "input"):
        return len(known) * 10 >= len(values) * 9 and (different > 1 or len(values) == 1)
    return 1 < different < len(known) if part == "variant" else bool(values)


def _is_verdict(values: Iterable[Value]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(
        isinstance(value, bool) or (isinstance(value, str) and value.strip().casefold() in _WORDS)
        or (isinstance(value, int | Decimal) and value in (0, 1))
        for value in known
    )  # fmt: skip


def _scores(columns: dict[str, list[Value]], by_name: dict[str, str]) -> tuple[list[str], float]:
    """The columns with scores and the highest of them, all of one scale; of an overall score, it alone."""
    of_judges = [name for name in columns if name.endswith(".score")]
    overall = [by_name[name] for name in _SCORES if name in by_name and _numbers(columns[by_name[name]])]
    named = [name for name in columns if _NAMED_SCORE.search(name) and "." not in name]
    scores: list[str] = []
    highest = 0.0
    for name in of_judges or overall[:1] or named:
        numbers = _numbers(columns[name])
        if not numbers or min(numbers) < 0 or max(numbers) > _SCALES[-1]:
            continue
        if not scores or _scale(max(numbers)) == _scale(highest):
            scores.append(name)
            highest = max(highest, *numbers)
    return scores[:_MOST_SCORES], highest


def _scale(highest: float) -> int:
    return next(scale for scale in _SCALES if highest <= scale)


def _numbers(values: Iterable[Value]) -> list[float]:
    """The numbers of a column; none if it holds anything else."""
    numbers = []
    for value in values:
        if value is None or value == "":
            continue
        number = _number(value)
        if number is None:
            return []
        numbers.append(number)
    return numbers


def _number(value: Value) -> float | None:
    if isinstance(value, str):
        return float(value) if _SPELLED.fullmatch(value.strip()) else None
    if isinstance(value, Decimal):
        return float(value) if abs(value) < _TOO_LARGE else None
    return float(value) if isinstance(value, int) and abs(value) < _TOO_LARGE else None


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", name.casefold())
