"""YAML as data: the JSON types of YAML 1.2, built from the events of PyYAML's parser.

PyYAML's own loader would turn ``no`` into false, ``012`` into 10 and ``2024-01-02`` into a date, and its C composer
crashes the process on deep nesting. Tags are never executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from sitegen.model.problems import Finding
from sitegen.model.values import Value
from sitegen.scoring.reading import DUPLICATE_KEY, MAX_DEPTH, UnreadableError, text_of
from sitegen.scoring.values import constant, fraction, integer

_MAX_VALUES: Final = 1_000_000
_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]*)")
_FRACTION: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_CONSTANTS: Final = {"null": None, "~": None, "": None, "true": True, "false": False}
_NOT_NUMBERS: Final = (".nan", ".inf", "-.inf", "+.inf")
_TAG_HANDLE: Final = re.compile(r"(tag handle) '.*'")
"""The one text of a file that the parser quotes; what is said of a broken file holds none."""
_QUOTED: Final = ("'", '"', "|", ">")
_TEXT: Final = "tag:yaml.org,2002:str"


class ParsedYaml(NamedTuple):
    """The documents of a YAML file."""

    values: tuple[Value, ...]
    lines: dict[tuple[str | int, ...], int]
    """The line of each key and item of the first document, from 1, by its path."""
    findings: tuple[Finding, ...]


def read_yaml(content: bytes) -> ParsedYaml:
    """Parse every document of a YAML file. Raises UnreadableError, never anything else."""
    import yaml

    text = text_of(content)
    builder = _Builder(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), yaml)
    try:
        values = tuple(builder.documents())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "a character that YAML does not allow"
        line = mark.line + 1 if mark is not None else None
        where = f" at line {line}" if line else ""
        what = _TAG_HANDLE.sub(r"\1", what)
        raise UnreadableError(f"it is no valid YAML: {what}{where}", "Write valid YAML.", line) from None
    return ParsedYaml(values, builder.lines, tuple(builder.findings))


class _Builder:
    """Builds values out of events, counting them, so that aliases of aliases cannot blow up."""

    def __init__(self, events: Iterator[Any], yaml: Any) -> None:
        self._events = events
        self._yaml = yaml
        self._count = 0
        self._anchors: dict[str, tuple[Value, int]] = {}
        self._first = True
        self.lines: dict[tuple[str | int, ...], int] = {}
        self.findings: list[Finding] = []

    def documents(self) -> Iterator[Value]:
        for event in self._events:
            if isinstance(event, self._yaml.DocumentStartEvent):
                self._anchors.clear()
                yield self._value(next(self._events), ())
                self._first = False

    def _value(self, event: Any, path: tuple[str | int, ...]) -> Value:
        line = event.start_mark.line + 1
        if len(path) > MAX_DEPTH:
            raise UnreadableError(f"it is nested deeper than {MAX_DEPTH} levels", "Write it flatter.", line)
        before = self._count
        self._count += 1
        if isinstance(event, self._yaml.AliasEvent):
            # An anchor is known when its value is complete, so that none can contain itself.
            if event.anchor not in self._anchors:
                raise UnreadableError("an alias stands for nothing", "Write it out.", line)
            value, size = self._anchors[event.anchor]
            self._count += size
        elif isinstance(event, self._yaml.MappingStartEvent):
            value = self._members(path)
        elif isinstance(event, self._yaml.SequenceStartEvent):
            value = self._items(path)
        else:
            value = _scalar(event)
        if self._count > _MAX_VALUES:
            raise UnreadableError("it grows beyond a million values", "Write it without aliases of aliases.", line)
        if event.anchor is not None:
            self._anchors[event.anchor] = value, self._count - before
        return value

    def _items(self, path: tuple[str | int, ...]) -> list[Value]:
        items: list[Value] = []
        while not isinstance(event := next(self._events), self._yaml.SequenceEndEvent):
            below = (*path, len(items))
            self._note(event, below)
            items.append(self._value(event, below))
        return items

    def _members(self, path: tuple[str | int, ...]) -> dict[str, Value]:
        merged: dict[str, Value] = {}
        members: dict[str, Value] = {}
        while not isinstance(event := next(self._events), self._yaml.MappingEndEvent):
            plain = isinstance(event, self._yaml.ScalarEvent)
            key = event.value if plain else "?"
            if not plain:
                self._value(event, (*path, key))
            below = (*path, key)
            value = self._value(next(self._events), below)
            if key == "<<" and plain and event.style not in _QUOTED:
                for each in value if isinstance(value, list) else [value]:
                    merged |= each if isinstance(each, dict) else {}
                continue
            if key in members and len(self.findings) < 20:
                line = event.start_mark.line + 1
                self.findings.append(Finding("warning", DUPLICATE_KEY, "Remove one.", line, value=repr(key[:80])))
            self._note(event, below)
            members[key] = value
        return {**merged, **members}

    def _note(self, event: Any, path: tuple[str | int, ...]) -> None:
        if self._first:
            self.lines[path] = event.start_mark.line + 1


def _scalar(event: Any) -> Value:
    text: str = event.value
    if event.style in _QUOTED or event.tag == _TEXT:
        return text
    lower = text.lower()
    if lower in _CONSTANTS:
        return _CONSTANTS[lower]
    if lower in _NOT_NUMBERS:
        return constant(text)
    if _INTEGER.fullmatch(text):
        return integer(text)
    return fraction(text) if _FRACTION.fullmatch(text) else text
