"""Where highlights stand in the text of their paragraph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

from sitegen.model.panels import Mark, MarkedText

MARKS: Final = 2_000
"""Highlights of one paragraph that are looked for in its text; further ones are listed beside it."""

SEARCHED: Final = 100_000
"""Characters of a paragraph in which they are looked for. Without both bounds an output could make this slow."""

_TRIES: Final = 50
"""Occurrences inside other words that are passed over."""

Outcome: TypeAlias = Literal["correct", "missed", "wrong"]


class Highlight(NamedTuple):
    """A highlight, and what became of it."""

    outcome: Outcome
    category: str
    text: str


def marked(name: str, text: str, highlights: Iterable[Highlight]) -> MarkedText:
    """The paragraph with its highlights, which may overlap; what is not in it literally stands beside it."""
    marks: list[Mark] = []
    elsewhere: list[tuple[str, str, str]] = []
    searched = text[:SEARCHED]
    for number, (outcome, category, said) in enumerate(highlights):
        start = place(searched, said) if number < MARKS else -1
        if start < 0:
            elsewhere.append((outcome, category, said))
        else:
            marks.append(Mark(start, start + len(said), outcome, category))
    marks.sort(key=lambda mark: (mark.start, mark.end))
    return MarkedText(name, text, tuple(marks), tuple(elsewhere))


def place(text: str, said: str) -> int:
    """Where the words stand first; inside other words only if they stand nowhere else. -1: nowhere."""
    first = start = text.find(said)
    for _ in range(_TRIES):
        if start < 0 or _is_apart(text, start, start + len(said)):
            break
        start = text.find(said, start + 1)
    else:
        return first
    return start if start >= 0 else first


def _is_apart(text: str, start: int, end: int) -> bool:
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    after = end < len(text) and text[end].isalnum() and text[end - 1].isalnum()
    return not before and not after
