"""Values of outputs and ground truth as text: bounded, and with the part that differs marked."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from sitegen.model.outcomes import Judgement
from sitegen.model.values import Value
from sitegen.text.values import as_text
from sitegen.text.words import Span, mark

BOUND: Final = 2_000
"""Characters of one value that a page shows."""

MISSING: Final = "missing"
BLANK: Final = "blank"


class Shown(NamedTuple):
    """One value as a page shows it."""

    spans: tuple[Span, ...]
    absent: str = ""
    """In place of a value: ``missing``, ``blank``, ``expected blank``, ``not in ground truth``."""
    cut: int = 0
    """Characters left out at the end."""


def shown_pair(judgement: Judgement) -> tuple[Shown, Shown]:
    """Expected and actual of a discrepancy; of a wrong text, only the words that differ are marked."""
    expected, actual = judgement.expected, judgement.actual
    if judgement.outcome == "wrong_value" and isinstance(expected, str) and isinstance(actual, str):
        old, new = _marked(expected[:BOUND], actual[:BOUND])
        return Shown(old, "", max(0, len(expected) - BOUND)), Shown(new, "", max(0, len(actual) - BOUND))
    if judgement.outcome == "hallucination":
        return Shown((), judgement.note or "expected blank"), _shown(actual)
    return _shown(expected), _shown(actual)


_marked = lru_cache(maxsize=1024)(mark)
"""What is wrong mostly stays wrong until the next edit: the same two texts come again in the next report."""


def _shown(value: Value) -> Shown:
    if value is None:
        return Shown((), MISSING)
    text = as_text(value)
    if not text.strip():
        return Shown((), BLANK)
    if len(text) > BOUND:
        return Shown((Span(text[:BOUND], False),), "", len(text) - BOUND)
    return Shown((Span(text, False),))
