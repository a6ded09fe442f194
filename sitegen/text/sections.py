"""Describes Markdown files: their size, stated version, headings and sections."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from sitegen.model.frozen import Frozen
from sitegen.text.plain import line

VERSION_LINES: Final = 40
"""Number of lines at the start of a file that are searched for its version."""

# Patterns are compiled when they are first used: most builds read no instructions.
_STATED: Final = r"(?i)\W{0,8}version\W{1,8}v?(\d+(?:\.\d+){0,3}(?:[-+][\w.+-]{1,20})?)(?![\w.])"
_IN_HEADING: Final = r"(?i)#{1,3} .{0,200}\bv(\d+(?:\.\d+){1,3}(?:[-+][\w.+-]{1,20})?)(?![\w.])"
_WORD: Final = r"\w++(?:['’.\-/_]\w++)*+"


class TextStats(Frozen):
    """The size and the version of a text; None for unknown values."""

    lines: int | None = None
    words: int | None = None
    version: str | None = None
    """The version that the first lines of the file state, without a leading ``v``."""


class Heading(Frozen):
    """A heading of a Markdown text."""

    level: int
    """1 to 6."""
    title: str
    line: int
    anchor: str
    """Id of its element, unique in the text."""


class Section(Frozen):
    """A heading with the lines down to the next heading of any level."""

    heading: Heading
    last_line: int
    lines: int
    """Number of lines that are not blank, including the heading."""
    words: int


def text_stats(content: bytes) -> TextStats:
    """Return the lines, words and stated version of a file's content."""
    lines = split_lines(content.decode("utf-8", "replace"))
    version = next(filter(None, map(stated_version, lines[:VERSION_LINES])), None)
    return TextStats(len(lines), sum(map(count_words, lines)), version)


def split_lines(text: str) -> list[str]:
    """Split a text into lines as git does, only at line feeds. A carriage return before a line feed is dropped."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def count_words(line: str) -> int:
    """Count the words of a line; Markdown marks do not count."""
    return len(re.findall(_WORD, line))


def stated_version(line: str) -> str | None:
    """Return the version in ``**Version:** v1.2.0``, ``version: 1.2`` or ``# Extractor v1.2.0``, or None."""
    match = re.match(_STATED, line) or re.match(_IN_HEADING, line)
    return match[1] if match else None


def without_version(line: str) -> str:
    """Return the line without the version that it states; the line itself if it states none."""
    match = re.match(_STATED, line) or re.match(_IN_HEADING, line)
    return line[: match.start(1)] + line[match.end(1) :] if match else line


def sections(lines: Sequence[str], headings: Sequence[Heading]) -> tuple[Section, ...]:
    """Return the sections of a text, in order; lines before the first heading belong to none."""
    rows = []
    for index, heading in enumerate(headings):
        last = headings[index + 1].line - 1 if index + 1 < len(headings) else len(lines)
        body = lines[heading.line - 1 : last]
        filled = sum(1 for line in body if line.strip())
        rows.append(Section(heading=heading, last_line=last, lines=filled, words=sum(map(count_words, body))))
    return tuple(rows)


_LONGEST_TITLE: Final = 60  # characters
MOST_SECTIONS: Final = 40
"""The most sections that are stored for an edit; only the first ones are."""

# Begins with the line feed before a line, because regular expressions find a literal much faster than a ``^``.
_MARK: Final = rb"\n {0,3}(?=[#`~])(?:(#{1,6})(?:[ \t]+([^\n]*))?(?=\r?\n|\r?\Z)|(`{3,}|~{3,}))"
_CLOSING: Final = r"(?:^|[ \t]+)#+[ \t]*$"


class Outline(Frozen):
    """The sections of a text: each begins at a line and ends where the next begins."""

    starts: tuple[int, ...]
    """Numbers of the first lines, from 1, ascending."""
    paths: tuple[str, ...]
    """``Rules › Walls``: the titles from the outermost heading down."""

    def at(self, number: int) -> str:
        """Return the section of a line; empty before the first heading."""
        here = bisect_right(self.starts, number)
        return self.paths[here - 1] if here else ""


NO_TEXT: Final = Outline((), ())


def outline(content: bytes) -> Outline:
    """Return the headings that begin with ``#``, outside fenced code."""
    starts, paths = [], []
    above: list[tuple[int, str]] = []
    fence = b""
    number, position = 0, 0
    content = b"\n" + content
    for mark in re.finditer(_MARK, content):
        hashes, title, ticks = mark.groups()
        if ticks:
            if not fence:
                fence = ticks
            elif ticks.startswith(fence):
                fence = b""
        elif not fence:
            number += content.count(b"\n", position, mark.end())
            position = mark.end()
            while above and above[-1][0] >= len(hashes):
                above.pop()
            words = (title or b"").decode("utf-8", "replace").strip()
            words = re.sub(_CLOSING, "", words) if words.endswith("#") else words
            name = line(words, _LONGEST_TITLE) or "(untitled)"
            path = f"{above[-1][1]} › {name}" if above else name
            above.append((len(hashes), path))
            starts.append(number)
            paths.append(path)
    return Outline(tuple(starts), tuple(paths))
