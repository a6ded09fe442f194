"""Finds the fields that a passage of an instruction file names in its changed lines: association, not cause.

A field is named by the words of the last step of its path: ``windows[].exterior_shade`` by *exterior shade*, however
the words are joined. A single word, such as ``area``, is not specific enough: the step above it must occur in the same
line, in a heading of the passage, or in the path of the file. A plural *s* is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from sitegen.text.patch import Hunk

_STEPS = re.compile(r"[.\[\]]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")


def mentioned_fields(hunks: Iterable[Hunk], attributes: Sequence[str], path: str) -> tuple[tuple[str, ...], ...]:
    """Return for each passage the attributes, in their order, that its added and removed lines name.

    ``path``: the path of the file, in which a step above a field may occur.
    """
    return tuple(tuple(_named_in(hunk, attributes, _words(path))) for hunk in hunks)


def _named_in(hunk: Hunk, attributes: Sequence[str], path: str) -> Iterator[str]:
    changed = [_words(line.text) for line in hunk.lines if line.kind in ("removed", "added")]
    headings = [line.text for line in hunk.lines if line.text.startswith("#")]
    around = "".join([path, _words(hunk.section), *map(_words, headings)])
    everything = "".join(changed)
    for attribute in attributes:
        above, last = _names_of(attribute)
        if last not in everything:
            continue
        alone = not above or " " in last.strip() or above in around
        if any(last in words and (alone or above in words) for words in changed):
            yield attribute


@lru_cache(maxsize=1024)
def _names_of(attribute: str) -> tuple[str, str]:
    """Return the words of the second last step, empty if there is none, and the words of the last step."""
    steps = [words for step in _STEPS.split(attribute) if (words := _words(step)).strip()]
    return (steps[-2] if len(steps) > 1 else "", steps[-1]) if steps else ("", _words(attribute) + "\0")


def _words(text: str) -> str:
    """Return the words in lower case and singular, separated and surrounded by single spaces."""
    words = _WORD.findall(_CAMEL.sub(" ", text).casefold())
    singular = [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words]
    return f" {' '.join(singular)} "
