"""Values of outputs and ground truth as one line of text; amounts of money, tokens and seconds."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from math import floor, log10
from typing import Any, Final, NamedTuple

from sitegen.model.values import Unusable, Value

_DEEPEST: Final = 40


def as_text(value: Value) -> str:
    """Text unchanged, numbers as they were written, lists and objects as compact JSON."""
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


def json_value(value: Value) -> Any:
    """The value, with whatever JSON cannot express replaced by the text it was written as."""
    if isinstance(value, Unusable):
        return value.literal
    if isinstance(value, list):
        return [json_value(item) for item in value]
    if isinstance(value, dict):
        return {key: json_value(item) for key, item in value.items()}
    return value


class ValueTexts(NamedTuple):
    """The expected and the actual value of a judgement as texts."""

    expected: str
    actual: str


def told_apart(expected: Value, actual: Value) -> ValueTexts | None:
    """Both values with their types if only the types differ: ``12 (number)``, ``"12" (text)``; else None."""
    same = as_text(expected).strip().casefold() == as_text(actual).strip().casefold()
    kinds = _kind(expected), _kind(actual)
    if not same or kinds[0] == kinds[1]:
        return None
    return ValueTexts(f"{as_json(expected)} ({kinds[0]})", f"{as_json(actual)} ({kinds[1]})")


def _kind(value: Value) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, list):
        return "list"
    return "object" if isinstance(value, dict) else "nothing" if value is None else "number"


def as_json(value: Value) -> str:
    """Compact JSON with quoted texts, so that ``"12"`` and 12 differ."""
    return _compact(value)


def bounded_json(value: Value, longest: int) -> str:
    """``as_json`` with so many characters at most; two long values that differ anywhere stay different by a digest."""
    text = as_json(value)
    if len(text) <= longest:
        return text
    return f"{text[: longest - 10]}…#{short_digest(text)[:8]}"


def written(text: str) -> str | None:
    """Bounded JSON without the quotation marks of a string; None for an empty text, which stands for no value."""
    if not text.startswith('"'):
        return text or None
    try:
        return str(json.loads(text))
    except ValueError:  # the string was cut, and lacks its closing quotation mark
        return text[1:]


def short_digest(text: str) -> str:
    """Twelve hexadecimal digits that stand for a text: the beginning of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


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


COUNT: Final = "count"
"""The unit of a number of things, which is written without one."""

SMALL: Final = 0.0005
"""A number below it would be written as zero with three digits."""

LARGE: Final = 100.0
_VAST: Final = 1e12
"""A number from which on one digit after the point, or its first digits alone, are enough."""


def metric_text(value: float, digits: int = 3, unit: str = "") -> str:
    """The value of a metric as pages, files and the terminal write it: three digits after the point.

    An amount has its unit. Of a number so small that three digits were zeros, or so large that they say nothing, the
    digits that count. A number of things has none after the point, unless a run wrote some.
    """
    if unit and (unit != COUNT or is_whole(value)):
        return amount(value, unit)
    if digits == 3 and 0 < abs(value) < SMALL:
        return f"{value:.2g}"
    if abs(value) >= _VAST:
        return f"{value:.6g}"
    if digits == 3 and abs(value) >= LARGE:
        return f"{value:,.1f}".removesuffix(".0")
    return f"{value:.{digits}f}"


def is_whole(value: float) -> bool:
    """Whether a count is a whole number that is not too large to be exact."""
    return value == int(value) and abs(value) < _VAST


def amount(value: float, unit: str) -> str:
    """An amount with its unit, with as many digits as are worth reading: ``0.0123 USD``, ``12,345``, ``1.24 s``."""
    if unit in ("tokens", COUNT):
        return f"{value:,.0f}"
    small = 0 < abs(value) < 1  # a fraction of a cent is what most answers cost
    digits = min(8, 2 - floor(log10(abs(value)))) if small else 2
    whole, _, fraction = f"{value:,.{digits}f}".partition(".")
    return f"{whole}.{fraction.rstrip('0').ljust(2, '0')} {unit}"
