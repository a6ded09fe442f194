"""Reads JSON (rules 12 and 20). Numbers keep their spelling, and one bad value does not make the file unreadable."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from sitegen.data_files.reading import (
    DUPLICATE_KEY,
    FRACTIONS,
    INTEGERS,
    MAX_DEPTH,
    UnreadableError,
    check_depth,
    constant,
    text_of,
    too_deep,
)
from sitegen.model.named_tuple import NamedTuple
from sitegen.model.outcomes import Unusable, Value
from sitegen.model.problems import Finding, Parsed


def read_json(content: bytes) -> Parsed[Value]:
    """Parse one JSON value. Raises UnreadableError, never anything else.

    A byte order mark is accepted. Of duplicate keys the last wins, and each is reported. NaN, Infinity, numbers beyond
    every range and texts with lone surrogates become ``Unusable`` in their place.
    """
    return parse_json(text_of(content))


def parse_json(text: str, line: int = 1) -> Parsed[Value]:
    """Parse a text whose first line is *line* of its file. Raises UnreadableError."""
    if not text.strip():
        raise UnreadableError("it is empty", "Write a JSON object.", line)
    duplicates: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(items)
        if len(members) != len(items):
            counts = Counter(key for key, _ in items)
            duplicates.extend(key for key, number in counts.items() if number > 1 and key not in duplicates)
        return members

    try:
        value: Value = json.loads(
            text,
            parse_int=INTEGERS.__getitem__,
            parse_float=FRACTIONS.__getitem__,
            parse_constant=constant,
            object_pairs_hook=pairs,
        )
    except json.JSONDecodeError as error:
        where = line + error.lineno - 1
        raise UnreadableError(
            f"it is not valid JSON: {error.msg.removesuffix(' at')} at line {where}, column {error.colno}",
            "Write valid JSON.",
            where,
        ) from None
    except RecursionError:
        raise too_deep(line) from None
    if text.count("{") + text.count("[") > MAX_DEPTH:
        check_depth(value)
    if "\\" in text and ("\\ud" in text or "\\uD" in text):  # two longer searches take a tenth of the parsing
        value = _without_surrogates(value)
        duplicates = [_escaped(key) for key in duplicates]
    findings = tuple(Finding("warning", DUPLICATE_KEY, "Remove one.", value=repr(key[:80])) for key in duplicates[:20])
    return Parsed(value, findings)


class JsonLine(NamedTuple):
    """A line of JSON Lines that is not empty."""

    number: int
    parsed: Parsed[Value]
    """The value with its findings; without a value if the line cannot be read."""
    error: UnreadableError | None = None
    """Why it cannot be read."""

    def read(self) -> Parsed[Value]:
        """The value with its findings. Raises UnreadableError if the line cannot be read."""
        if self.error is not None:
            raise self.error
        return self.parsed


def each_line(content: bytes) -> Iterator[JsonLine]:
    """Parse JSON Lines line by line. Raises UnreadableError if the file is not UTF-8."""
    for number, line in enumerate(text_of(content).split("\n"), 1):
        if line.strip():
            try:
                yield JsonLine(number, parse_json(line, number))
            except UnreadableError as error:
                yield JsonLine(number, Parsed(None), error)


def json_lines(content: bytes, findings: list[Finding], fix: str, of: str = "") -> Iterator[tuple[int, Value]]:
    """Yield the number and the value of each line of JSON Lines. Raises UnreadableError if it is not UTF-8.

    Lines that cannot be read are left out and reported in *findings* with their number, as are duplicate keys. *fix*
    says what to do about an unreadable line, and *of* whose line it is: `` of 'short'``.
    """
    for number, parsed, error in each_line(content):
        if error is not None:
            findings.append(replace(error.finding(f"Line {number}{of}"), fix=fix, line=number))
        else:
            findings += (replace(finding, line=number) for finding in parsed.findings)
            yield number, parsed.value


def _without_surrogates(value: Value) -> Value:
    if isinstance(value, dict):
        return {_escaped(key): _without_surrogates(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, str) and _escaped(value) != value:
        return Unusable(_escaped(value)[:80], "half of a surrogate pair")
    return value


def _escaped(text: str) -> str:
    """The text with lone surrogates as escapes, so that it can be stored and displayed."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
