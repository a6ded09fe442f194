"""Expected and actual values as pages show them: bounded, and with the words that differ marked."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from sitegen.model.cells import Run
from sitegen.model.outcomes import Judgement
from sitegen.model.values import Value
from sitegen.text.values import as_text, told_apart, written
from sitegen.text.words import WordSpan, mark

BOUND: Final = 2_000
"""Largest number of characters of a value on a page."""

MISSING: Final = "missing"
BLANK: Final = "blank"


class DisplayValue(NamedTuple):
    """One value as a page shows it."""

    spans: tuple[WordSpan, ...]
    absent: str = ""
    """In place of a value: ``missing``, ``blank``, ``expected blank``, ``not in ground truth``."""
    cut: int = 0
    """Number of characters omitted at the end."""


class ShownPair(NamedTuple):
    """The expected and the actual value of a cell, as a page shows them."""

    expected: DisplayValue
    actual: DisplayValue


def shown_pair(judgement: Judgement) -> ShownPair:
    """Expected and actual value of a discrepancy; in a wrong text only the words that differ are marked."""
    expected, actual = judgement.expected, judgement.actual
    if judgement.outcome == "wrong_value" and isinstance(expected, str) and isinstance(actual, str):
        old, new = _marked(expected[:BOUND], actual[:BOUND])
        more = max(0, len(expected) - BOUND), max(0, len(actual) - BOUND)
        return ShownPair(DisplayValue(old, "", more[0]), DisplayValue(new, "", more[1]))
    if judgement.outcome == "hallucination":
        return ShownPair(DisplayValue((), judgement.note or "expected blank"), _display_value(actual))
    if judgement.outcome == "format_error" and (typed := told_apart(expected, actual)):
        return ShownPair(_display_value(typed.expected), _display_value(typed.actual))
    return ShownPair(_display_value(expected), _display_value(actual))


def shown_run(run: Run) -> ShownPair:
    """Expected and actual value of a cell, which has them as bounded JSON; marked as by ``shown_pair``."""
    expected, actual = written(run.expected), written(run.actual)
    if run.state == "wrong_value" and expected and actual and run.expected[0] == run.actual[0] == '"':
        old, new = _marked(expected, actual)
        return ShownPair(DisplayValue(old), DisplayValue(new))
    if run.state == "hallucination":
        return ShownPair(DisplayValue((), "expected blank"), _display_value(actual))
    if run.state == "format_error" and expected == actual:
        return ShownPair(
            _display_value(run.expected), _display_value(run.actual)
        )  # they differ only in the quotation marks
    return ShownPair(_display_value(expected), _display_value(actual))


def shown_value(text: str) -> DisplayValue:
    """One side of a cell that is not an error."""
    return _display_value(written(text))


_marked = lru_cache(maxsize=1024)(mark)
"""Cached, because a wrong value usually stays wrong until the next edit: the next report compares the same texts."""


def _display_value(value: Value) -> DisplayValue:
    if value is None:
        return DisplayValue((), MISSING)
    text = as_text(value)
    if not text.strip():
        return DisplayValue((), BLANK)
    if len(text) > BOUND:
        return DisplayValue((WordSpan(text[:BOUND], False),), "", len(text) - BOUND)
    return DisplayValue((WordSpan(text, False),))
