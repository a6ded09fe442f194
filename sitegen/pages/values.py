"""Values of outputs and ground truth as text: bounded, and with the part that differs marked."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from sitegen.model.outcomes import Judgement
from sitegen.model.values import Unusable, Value
from sitegen.text.words import Span, mark

BOUND: Final = 2_000
"""Characters of one value that a page shows."""

MISSING: Final = "missing"
BLANK: Final = "blank"
_DEEPEST: Final = 40


class Shown(NamedTuple):
    """One value as a page shows it."""

    spans: tuple[Span, ...]
    absent: str = ""
    """In place of a value: ``missing``, ``blank``, ``expected blank``, ``not in ground truth``."""
    cut: int = 0
    """Characters left out at the end."""


def as_text(value: Value) -> str:
    """Text as it is, numbers as they were written, lists and objects as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Unusable):
        return value.literal
    if isinstance(value, int | Decimal):
        return str(value)
    if value is None:
        return "null"
    return _compact(value)


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


def _compact(value: Value, depth: int = 0) -> str:
    """JSON on one line; numbers keep their spelling, which ``json.dumps`` would not leave them."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, list | dict):
        return as_text(value)
    if depth == _DEEPEST:
        return "…"
    if isinstance(value, list):
        return "[" + ", ".join(_compact(item, depth + 1) for item in value) + "]"
    pairs = (f"{json.dumps(key, ensure_ascii=False)}: {_compact(item, depth + 1)}" for key, item in value.items())
    return "{" + ", ".join(pairs) + "}"
