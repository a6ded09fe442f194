"""sitegen as a judge inside another tool's test runner: reads one payload, and answers with one judgement.

The payload is an object with ``expected``, ``candidate`` and ``config``, or with the names that AgentV uses for these.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from sitegen.data_files.reading import UnreadableError, read_json
from sitegen.errors import ConfigurationError
from sitegen.model.frozen import FrozenObject
from sitegen.model.outcomes import ERROR_TYPES, Value
from sitegen.model.scorecards import Result
from sitegen.scoring.fields import SCORER
from sitegen.scoring.kinds import File, ScoringInputs
from sitegen.scoring.paths import PathError, Pattern, follow, parse_path, pattern
from sitegen.scoring.results_file import alignments, field_row
from sitegen.stats import counts as stats
from sitegen.text.plain import counted
from sitegen.text.values import json_value, metric_text, to_json_bytes

Subject: TypeAlias = Literal["fields", "line-items"]

PAYLOAD_BYTES: Final = 20_000_000
"""The size of the largest payload, in bytes."""

LISTED_HITS: Final = 100
"""The most hits and misses that are listed; the counts include all of them."""

_EXPECTED: Final = ("expected", "expected_output", "reference_answer")
_CANDIDATE: Final = ("candidate", "output", "candidate_answer", "answer")
_LIST_RULES: Final = ("match_fields", "score_fields", "threshold", "algorithm")
_LIST: Final = "line_items"
_WHERE: Final = "standard input"
_LONGEST: Final = 80  # characters


class CodeJudgement(FrozenObject):
    """The answer, with its keys in the order in which they are written."""

    score: float | None
    """Macro F1 over fields; None if neither side has a value."""
    hits: tuple[str, ...]
    misses: tuple[str, ...]
    reasoning: str
    details: dict[str, Any]
    """The numbers behind the score: ``metrics`` (``FieldCounts`` by attribute), ``summary``, ``alignment`` (list ->
    [expected index, index in the candidate, similarity], null for a missing partner), ``errors_by_type``, ``problems``.
    """


def opinion(subject: Subject, payload: bytes) -> CodeJudgement:
    """Judge a candidate. Raises ConfigurationError if the payload is invalid.

    An unreadable candidate does not make the payload invalid: it counts as missing every value.
    """
    if len(payload) > PAYLOAD_BYTES:
        raise ConfigurationError(f"The payload is larger than {PAYLOAD_BYTES:,} bytes.", where=_WHERE)
    body = _read_object(payload, "The payload")
    expected = _expected(body)
    config = {} if body.get("config") is None else body["config"]
    if not isinstance(config, dict):
        raise _payload_error("'config' is not an object")
    scope, settings = _fields_config(config) if subject == "fields" else _list_config(config, expected)
    candidate = _content_of_messages(_member(body, _CANDIDATE))
    content = candidate.encode("utf-8", "replace") if isinstance(candidate, str) else _as_json(candidate)
    output = File("candidate.json", content)
    if candidate is None:
        output = File("candidate.json", None, "the candidate is empty")
    result = SCORER.score(
        ScoringInputs(
            outputs=(output,),
            ground_truth=File("expected.json", _as_json(expected)),
            settings=_as_json(settings).decode(),
        )
    )
    for finding in result.scorecard.findings:
        if finding.severity == "error" and finding.about != "output":
            raise ConfigurationError(f"The payload is wrong: {finding.message}.", where=_WHERE, fix=finding.fix)
    return _code_judgement(result, scope)


def _code_judgement(result: Result, scope: tuple[Pattern, ...]) -> CodeJudgement:
    judged = [judgement for judgement in result.judgements if _is_within(judgement.path, scope)]
    counts = {attribute: stats.tally(judgements) for attribute, judgements in stats.by_attribute(judged).items()}
    total = stats.total(counts.values())
    score = stats.mean(map(stats.f1, counts.values()))
    problems = tuple(finding.text for finding in result.scorecard.findings)
    tally = f"TP {total.tp}, FP {total.fp}, FN {total.fn}, TN {total.tn} over {counted(len(counts), 'attribute')}"
    sentence = (
        "nothing was expected or given, the score is undefined" if score is None else f"macro F1 {metric_text(score)}"
    )
    hits, misses = [], []
    for judgement in judged:
        outcome, path, expected = judgement.outcome, judgement.path, _short_json(judgement.expected)
        if outcome in ERROR_TYPES:
            note = f" ({judgement.note})" if judgement.note else ""
            error = f"{outcome.replace('_', ' ')}{note}"
            misses.append(f"{path}: {error}, expected {expected}, found {_short_json(judgement.actual)}")
        else:
            hits.append(f"{path}: {'nothing, as expected' if outcome == 'true_negative' else expected}")
    return CodeJudgement(
        score=score,
        hits=_first_lines(hits),
        misses=_first_lines(misses),
        reasoning=". ".join([f"{tally}; {sentence}", *problems[:3]]) + ".",
        details={
            "metrics": {attribute: field_row(attribute_counts) for attribute, attribute_counts in counts.items()},
            "summary": {
                **{f"total_{name}": getattr(total, name) for name in stats.CELLS},
                **stats.ratios(total),
                "macro_f1": score,
            },
            "alignment": {
                name: [list(row[:3]) for row in rows]
                for name, rows in alignments(result).items()
                if _is_within(name, scope)
            },
            "errors_by_type": stats.errors_by_type(total),
            "problems": problems,
        },
    )


def _fields_config(config: Mapping[str, Value]) -> tuple[tuple[Pattern, ...], dict[str, Value]]:
    """Return the paths that are judged (all if empty), and the rules, which have the keys of a field mapping.

    ``fields`` may be a list of paths, or of objects with a ``path``, instead of rules by path.
    """
    settings = dict(config)
    fields = settings.get("fields")
    if not isinstance(fields, list):
        return (), settings
    del settings["fields"]
    paths = [field.get("path") if isinstance(field, dict) and len(field) == 1 else field for field in fields]
    return tuple(_pattern(path, "fields") for path in paths), settings


def _list_config(
    config: Mapping[str, Value], expected: dict[str, Value]
) -> tuple[tuple[Pattern, ...], dict[str, Value]]:
    """Return the path of the judged list, and the rules; those of that list are at the top of the configuration."""
    settings = dict(config)
    paths = [settings.pop(name) for name in ("path", "line_items_path") if name in settings]
    path = paths[0] if paths else _LIST
    judged_path = _pattern(path, "path")
    if not isinstance(follow(expected, parse_path(str(path))), list):
        raise _payload_error(
            f"there is no list at {path!r} in what is expected", "Name its path as 'path' in 'config'."
        )
    rules: dict[str, Value] = {name: settings.pop(name) for name in _LIST_RULES if name in settings}
    # With an explicit algorithm items that have a key are paired by it alone, never by agreement.
    rules["algorithm"] = rules.get("algorithm") or "greedy"
    lists = settings.get("lists")
    return (judged_path,), {**settings, "lists": {**(lists if isinstance(lists, dict) else {}), str(path): rules}}


def _pattern(text: object, key: str) -> Pattern:
    if not isinstance(text, str):
        raise _payload_error(f"{key!r} in 'config' does not name a path", "Write paths such as 'supplier.name'.")
    try:
        return pattern(text)
    except PathError as error:
        raise _payload_error(str(error), "Write paths such as 'supplier.name'.") from None


def _is_within(path: str, scope: tuple[Pattern, ...]) -> bool:
    steps = parse_path(path)
    return not scope or any(pattern.matches(steps[:length]) for pattern in scope for length in range(1, len(steps) + 1))


def _expected(body: Mapping[str, Value]) -> dict[str, Value]:
    value = _content_of_messages(_member(body, _EXPECTED))
    if isinstance(value, str):
        return _read_object(value.encode("utf-8", "replace"), "What is expected")
    if not isinstance(value, dict):
        raise _payload_error("what is expected is not an object")
    return value


def _member(body: Mapping[str, Value], names: tuple[str, ...]) -> Value:
    for name in names:
        if name in body:
            return body[name]
    raise _payload_error(f"there is no {names[0]!r}", f"Write it as one of: {', '.join(names)}.")


def _content_of_messages(value: Value) -> Value:
    """Return the content of the last message if the value is a list of messages; else the value itself."""
    messages: list[Any] = value if isinstance(value, list) else []
    if not messages or not all(isinstance(message, dict) and "role" in message for message in messages):
        return value
    content: Value = messages[-1].get("content")
    if isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content):
        return "".join(str(part.get("text", part.get("value", ""))) for part in content if isinstance(part, dict))
    return content


def _read_object(content: bytes, label: str) -> dict[str, Value]:
    try:
        value = read_json(content).value
    except UnreadableError as error:
        raise ConfigurationError(f"{label} cannot be read: {error.message}.", where=_WHERE, fix=error.fix) from None
    if not isinstance(value, dict):
        raise ConfigurationError(f"{label} is not an object.", where=_WHERE, fix="Write one JSON object.")
    return value


def _payload_error(message: str, fix: str = "Write {expected, candidate, config}.") -> ConfigurationError:
    return ConfigurationError(f"The payload is wrong: {message}.", where=_WHERE, fix=fix)


def _as_json(value: Value) -> bytes:
    return to_json_bytes(json_value(value), None)


def _first_lines(lines: list[str]) -> tuple[str, ...]:
    more = [f"and {len(lines) - LISTED_HITS} more"] if len(lines) > LISTED_HITS else []
    return (*lines[:LISTED_HITS], *more)


def _short_json(value: Value) -> str:
    if value is None:
        return "nothing"
    text = _as_json(value).decode().rstrip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
