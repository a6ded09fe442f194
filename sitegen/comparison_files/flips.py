"""What broke, was fixed, or is still wrong, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sitegen.analysis.comparison.values import Flipped
from sitegen.text.markdown_cells import count, table

SHOWN: Final = 50
"""Rows that a report lists; all of them are in the JSON."""

WORDS: Final[dict[Flipped, str]] = {"fixed": "fixed", "broken": "broken", "still_wrong": "still wrong"}


def flip_lines(title: str, heads: Sequence[str], flips: Iterable[tuple[Flipped, tuple[str, ...]]]) -> Iterator[str]:
    """How many there are of each, then a row for each: its cells, escaped already, and what became of it."""
    every = list(flips)
    number = Counter(change for change, _ in every)
    yield f"### {title}"
    yield ""
    yield ", ".join(f"{count(number[kind])} {word}" for kind, word in WORDS.items()) + "."
    yield ""
    if every:
        yield from table((*heads, "Change"), ((*cells, WORDS[change]) for change, cells in every[:SHOWN]))
        yield ""
    if len(every) > SHOWN:
        yield f"{count(len(every) - SHOWN)} more are in the JSON."
        yield ""
