"""Markdown of what broke, was fixed, or is still wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sitegen.analysis.comparison.values import Flipped
from sitegen.text.markdown_cells import count, table

SHOWN: Final = 50
"""Rows that a report lists; the JSON has all of them."""

WORDS: Final[dict[Flipped, str]] = {"fixed": "fixed", "broken": "broken", "still_wrong": "still wrong"}


def flip_lines(title: str, heads: Sequence[str], flips: Iterable[tuple[Flipped, tuple[str, ...]]]) -> Iterator[str]:
    """The counts, then a table of (kind of flip, cells of the row). Cells are escaped already."""
    rows = list(flips)
    counts = Counter(change for change, _ in rows)
    yield f"### {title}"
    yield ""
    yield ", ".join(f"{count(counts[kind])} {word}" for kind, word in WORDS.items()) + "."
    yield ""
    if rows:
        yield from table((*heads, "Change"), ((*cells, WORDS[change]) for change, cells in rows[:SHOWN]))
        yield ""
    if len(rows) > SHOWN:
        yield f"{count(len(rows) - SHOWN)} more are in the JSON."
        yield ""
