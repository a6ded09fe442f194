"""What a reader of a data file gives back, or raises."""

from __future__ import annotations

from typing import Final, NamedTuple

from sitegen.model.problems import Finding
from sitegen.model.values import Value

MAX_DEPTH: Final = 100
"""Containers inside each other that are still read; the same on every version of Python."""


DUPLICATE_KEY: Final = "A key stands twice in one object; the last one counts"
"""What the readers of JSON and YAML say of it; the key itself is the value of the finding."""


class Document(NamedTuple):
    """One document of a file."""

    id: str
    root: dict[str, Value]


class Parsed(NamedTuple):
    """The value of a data file, and what was odd about it."""

    value: Value
    findings: tuple[Finding, ...] = ()


class UnreadableError(Exception):
    """A file cannot be read as what it should be. Becomes a status and a finding; never leaves scoring."""

    def __init__(self, what: str, fix: str, line: int | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix
        self.line = line

    def finding(self) -> Finding:
        """The error as the finding that the result carries."""
        return Finding("error", self.what, self.fix, self.line)


def text_of(content: bytes) -> str:
    """Decode UTF-8, with or without a byte order mark. Raises UnreadableError."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableError("it is not UTF-8 text", "Save the file as UTF-8.", line) from None


def check_depth(value: Value) -> None:
    """Refuse what is nested deeper than ``MAX_DEPTH``, level by level and without recursion."""
    level: list[Value] = [value]
    for _ in range(MAX_DEPTH + 1):
        following: list[Value] = []
        for each in level:
            if isinstance(each, dict):
                following.extend(each.values())
            elif isinstance(each, list):
                following.extend(each)
        if not following:
            return
        level = following
    raise UnreadableError(f"it is nested deeper than {MAX_DEPTH} levels", "Write it flatter.")
