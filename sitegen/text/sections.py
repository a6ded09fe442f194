"""What a Markdown file states and holds: its size, its version, its headings with what stands below each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

VERSION_LINES: Final = 40
"""Lines at the start of a file among which its version is looked for."""

_STATED = re.compile(r"\W{0,8}version\W{1,8}v?(\d+(?:\.\d+){0,3}(?:[-+][\w.+-]{1,20})?)(?![\w.])", re.IGNORECASE)
_IN_HEADING = re.compile(r"#{1,3} .{0,200}\bv(\d+(?:\.\d+){1,3}(?:[-+][\w.+-]{1,20})?)(?![\w.])", re.IGNORECASE)
_WORD = re.compile(r"\w+(?:['’.\-/_]\w+)*")


class TextStats(NamedTuple):
    """The size of a text, as far as it is known. Undefined is None."""

    lines: int | None = None
    words: int | None = None
    version: str | None = None
    """As the file states it among its first lines, without a leading ``v``."""


class Heading(NamedTuple):
    """A heading of a Markdown text."""

    level: int
    """1 to 6."""
    title: str
    line: int
    """Its line, from 1."""
    anchor: str
    """Id of its element, unique in the text."""


class Section(NamedTuple):
    """A heading with the lines down to the next heading of any level."""

    heading: Heading
    last_line: int
    lines: int
    """Lines that are not blank, the heading's own among them."""
    words: int


def text_stats(content: bytes) -> TextStats:
    """Lines, words and stated version of a file's bytes."""
    lines = split_lines(content.decode("utf-8", "replace"))
    version = next(filter(None, map(stated_version, lines[:VERSION_LINES])), None)
    return TextStats(len(lines), sum(map(count_words, lines)), version)


def split_lines(text: str) -> list[str]:
    """Lines as git counts them: ended by a line feed and nothing else; a carriage return before it is dropped."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def count_words(line: str) -> int:
    """Words of a line; marks of Markdown are none."""
    return len(_WORD.findall(line))


def stated_version(line: str) -> str | None:
    """The version in a line such as ``**Version:** v1.2.0``, ``version: 1.2`` or ``# Extractor v1.2.0``; else None."""
    found = _STATED.match(line) or _IN_HEADING.match(line)
    return found[1] if found else None


def without_version(line: str) -> str:
    """The line with the version that it states cut out; the line itself if it states none."""
    found = _STATED.match(line) or _IN_HEADING.match(line)
    return line[: found.start(1)] + line[found.end(1) :] if found else line


def sections(lines: Sequence[str], headings: Sequence[Heading]) -> tuple[Section, ...]:
    """The sections of a text, in order; what stands before the first heading belongs to none."""
    found = []
    for index, heading in enumerate(headings):
        last = headings[index + 1].line - 1 if index + 1 < len(headings) else len(lines)
        body = lines[heading.line - 1 : last]
        filled = sum(1 for line in body if line.strip())
        found.append(Section(heading, last, filled, sum(map(count_words, body))))
    return tuple(found)
