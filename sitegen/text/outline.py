"""Which sections of a Markdown text an edit touched: headings found line by line, without rendering the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Final, NamedTuple

from sitegen.text.patch import Hunk
from sitegen.text.plain import line
from sitegen.text.sections import VERSION_LINES, stated_version

LONGEST_TITLE: Final = 60
MOST_SECTIONS: Final = 40
"""Sections that are kept of one edit, those that come first."""

_MARK = re.compile(rb"^ {0,3}(?:(#{1,6})(?:[ \t]+([^\n]*))?(?=\r?\n|\r?\Z)|(`{3,}|~{3,}))", re.MULTILINE)
_CLOSING = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")


class Outline(NamedTuple):
    """The sections of a text: each begins at a line and lasts until the next."""

    starts: tuple[int, ...]
    """Lines, from 1; ascending."""
    paths: tuple[str, ...]
    """``Rules › Walls``: the titles from the outermost heading down."""

    def at(self, number: int) -> str:
        """The section of a line; empty before the first heading."""
        here = bisect_right(self.starts, number)
        return self.paths[here - 1] if here else ""


NO_TEXT: Final = Outline((), ())


def outline(content: bytes) -> Outline:
    """The headings that begin with ``#``, outside of fenced code."""
    starts, paths = [], []
    above: list[tuple[int, str]] = []
    fence = b""
    number, position = 1, 0
    for mark in _MARK.finditer(content):
        hashes, title, ticks = mark.groups()
        if ticks:
            if not fence:
                fence = ticks
            elif ticks.startswith(fence):
                fence = b""
        elif not fence:
            number += content.count(b"\n", position, mark.start())
            position = mark.start()
            above = [one for one in above if one[0] < len(hashes)]
            above.append((len(hashes), _title(title or b"")))
            starts.append(number)
            paths.append(" › ".join(name for _, name in above))
    return Outline(tuple(starts), tuple(paths))


def touched(hunks: Iterable[Hunk], old: Outline, new: Outline) -> tuple[str, ...]:
    """The sections of the lines that a patch removed from the old text or added to the new one, in their order.

    Blank lines touch nothing, and neither does the line in which a file states its version.
    """
    found: dict[str, None] = {}
    for hunk in hunks:
        for kind, text, before, after in hunk.lines:
            number, side = (before, old) if kind == "removed" else (after, new)
            if kind not in ("removed", "added") or number is None or not text.strip():
                continue
            if number > VERSION_LINES or stated_version(text) is None:
                found.setdefault(side.at(number))
    return tuple(found)[:MOST_SECTIONS]


def _title(raw: bytes) -> str:
    text = _CLOSING.sub("", raw.decode("utf-8", "replace").strip())
    return line(text, LONGEST_TITLE) or "(untitled)"
