"""YAML as data: the JSON types of YAML 1.2, by PyYAML's parser and our own constructor.

PyYAML's loader would turn ``no`` into false, ``012`` into 10 and ``2024-01-02`` into a date; tags are never executed.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from sitegen.model.problems import Finding
from sitegen.model.values import Value
from sitegen.scoring.reading import MAX_DEPTH, UnreadableError, text_of
from sitegen.scoring.values import constant, fraction, integer

_MAX_NODES: Final = 1_000_000
_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]*)")
_FRACTION: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_CONSTANTS: Final = {"null": None, "~": None, "": None, "true": True, "false": False}
_QUOTED: Final = ("'", '"', "|", ">")
_NOT_NUMBERS: Final = (".nan", ".inf", "-.inf", "+.inf")


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
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    _check_brackets(text)
    loader = base(text)
    reader = _Reader(yaml)
    try:
        values = []
        while loader.check_node():
            values.append(reader.value(loader.get_node(), ()))
            reader.first = False
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "a character that YAML does not allow"
        line = mark.line + 1 if mark is not None else None
        raise UnreadableError(
            f"it is no valid YAML: {what}" + (f" at line {line}" if line else ""), "Write valid YAML.", line
        ) from None
    except RecursionError:
        raise UnreadableError(f"it is nested deeper than {MAX_DEPTH} levels", "Write it flatter.") from None
    finally:
        loader.dispose()
    return ParsedYaml(tuple(values), reader.lines, tuple(reader.findings))


def _check_brackets(text: str) -> None:
    """Refuse flow collections that would take the C parser deeper than it is safe to go."""
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", text) if text.count("[") + text.count("{") > MAX_DEPTH else ():
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            raise UnreadableError(f"it is nested deeper than {MAX_DEPTH} levels", "Write it flatter.")


class _Reader:
    """Turns nodes into values, counting them, so that aliases cannot blow up."""

    def __init__(self, yaml: Any) -> None:
        self._mapping, self._sequence = yaml.MappingNode, yaml.SequenceNode
        self._nodes = 0
        self.first = True
        self.lines: dict[tuple[str | int, ...], int] = {}
        self.findings: list[Finding] = []

    def value(self, node: Any, path: tuple[str | int, ...]) -> Value:
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            raise UnreadableError("it grows beyond a million values", "Write it without aliases of aliases.")
        if len(path) > MAX_DEPTH:
            raise UnreadableError(f"it is nested deeper than {MAX_DEPTH} levels", "Write it flatter.")
        if isinstance(node, self._mapping):
            return self._members(node, path)
        if isinstance(node, self._sequence):
            items = []
            for place, item in enumerate(node.value):
                self._note(item, (*path, place))
                items.append(self.value(item, (*path, place)))
            return items
        return _scalar(node)

    def _members(self, node: Any, path: tuple[str | int, ...]) -> dict[str, Value]:
        merged: dict[str, Value] = {}
        members: dict[str, Value] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node.value, str) else "?"
            value = self.value(value_node, (*path, key))
            if key == "<<" and key_node.style not in _QUOTED:
                for each in value if isinstance(value, list) else [value]:
                    merged |= each if isinstance(each, dict) else {}
                continue
            if key in members and len(self.findings) < 20:
                line = key_node.start_mark.line + 1
                what = f"the key {key[:80]!r} stands twice; the last one counts"
                self.findings.append(Finding("warning", what, "Remove one.", line))
            self._note(key_node, (*path, key))
            members[key] = value
        return {**merged, **members}

    def _note(self, node: Any, path: tuple[str | int, ...]) -> None:
        if self.first:
            self.lines[path] = node.start_mark.line + 1


def _scalar(node: Any) -> Value:
    text: str = node.value
    if node.style in _QUOTED or (node.tag == "tag:yaml.org,2002:str" and _is_plain_text(text)):
        return text
    lower = text.lower()
    if lower in _CONSTANTS:
        return _CONSTANTS[lower]
    if lower in _NOT_NUMBERS:
        return constant(text)
    if _INTEGER.fullmatch(text):
        return integer(text)
    if _FRACTION.fullmatch(text):
        return fraction(text)
    return text


def _is_plain_text(text: str) -> bool:
    """PyYAML's own resolver calls ``1e3`` text, which JSON reads as a number."""
    return not _FRACTION.fullmatch(text)
