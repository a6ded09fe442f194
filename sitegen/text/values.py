"""Writes values of outputs and ground truth as one line of text, amounts of money, tokens and seconds, and JSON."""

import hashlib
import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from math import floor, log10
from typing import Any, Final

import msgspec

from sitegen.model.outcomes import Unusable, Value

_DEEPEST: Final = 40  # levels
_in_quotes: Final = json.JSONEncoder(ensure_ascii=False).encode
"""A text as JSON. ``json.dumps`` would make an encoder for each."""


def as_text(value: Value) -> str:
    """Return a text unchanged, a number as it was written, and a list or object as compact JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return str(value)
    return value.literal if isinstance(value, Unusable) else as_json(value)


def json_value(value: Value) -> Any:
    """Return the value, with everything that JSON cannot express replaced by its original text."""
    if isinstance(value, Unusable):
        return value.literal
    if isinstance(value, list):
        return [json_value(item) for item in value]
    return {key: json_value(item) for key, item in value.items()} if isinstance(value, dict) else value


def texts_with_types(expected: Value, actual: Value) -> tuple[str, str] | None:
    """Return both values with their types if only the types differ: ``12 (number)``, ``"12" (text)``; else None."""
    same = as_text(expected).strip().casefold() == as_text(actual).strip().casefold()
    kinds = _kind(expected), _kind(actual)
    if not same or kinds[0] == kinds[1]:
        return None
    return f"{as_json(expected)} ({kinds[0]})", f"{as_json(actual)} ({kinds[1]})"


def _kind(value: Value) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, list):
        return "list"
    return "object" if isinstance(value, dict) else "nothing" if value is None else "number"


def bounded_json(value: Value, longest: int) -> str:
    """Return ``as_json`` with at most ``longest`` characters; a digest keeps different long values different."""
    text = as_json(value)
    if len(text) <= longest:
        return text
    return f"{text[: longest - 10]}…#{short_digest(text)[:8]}"


def written(text: str) -> str | None:
    """Return bounded JSON without the quotation marks of a string; None for an empty text, which means no value."""
    if not text.startswith('"'):
        return text or None
    try:
        return str(json.loads(text))
    except ValueError:  # the string was cut, and lacks its closing quotation mark
        return text[1:]


def short_digest(text: str) -> str:
    """Return the first twelve hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def as_json(value: Value, depth: int = 0) -> str:
    """Return JSON on one line, in which ``"12"`` and 12 differ, and numbers keep their spelling."""
    if isinstance(value, str):
        return _in_quotes(value)
    if not isinstance(value, list | dict):
        return as_text(value)
    if depth == _DEEPEST:
        return "…"
    if isinstance(value, list):
        return "[" + ", ".join(as_json(item, depth + 1) for item in value) + "]"
    pairs = (f"{_in_quotes(key)}: {as_json(item, depth + 1)}" for key, item in value.items())
    return "{" + ", ".join(pairs) + "}"


MINUS: Final = "\u2212"
"""The sign of negative numbers in all texts for people."""

NO_CHANGE: Final = "no change"
"""What pages, files and the terminal say of a change that is zero. What cannot be computed is an em dash instead."""

COUNT: Final = "count"
"""The unit of counts, which are written without a unit."""

SMALL: Final = 0.0005
"""Numbers below this would be written as zero with three digits."""

LARGE: Final = 100.0  # from this number on, fewer digits are written
_VAST: Final = 1e12  # the number from which one digit after the point, or only the first digits, are enough


def metric_text(value: float, unit: str = "") -> str:
    """Return the value of a metric for pages, files and the terminal, with three digits after the point.

    An amount has its unit. Numbers that are very small or very large have their significant digits instead, and those
    just below 1 as many as show it. Counts have no digits after the point, unless a run recorded some.
    """
    if value < 0:
        return MINUS + metric_text(-value, unit)
    if unit and (unit != COUNT or is_whole(value)):
        return amount(value, unit)
    if 0 < value < SMALL:
        return f"{value:.2g}"
    if value >= _VAST:
        return f"{value:.6g}"
    if value >= LARGE:
        return f"{value:,.1f}".removesuffix(".0")
    return f"{value:.{-floor(log10(1 - value)) if 1 - SMALL <= value < 1 else 3}f}"


def is_whole(value: float) -> bool:
    """Whether a count is a whole number that is not too large to be exact."""
    return value == int(value) and abs(value) < _VAST


def amount(value: float, unit: str) -> str:
    """Return an amount with its unit and its significant digits: ``0.0123 USD``, ``12,345``, ``1.24 s``."""
    if unit in ("tokens", COUNT):
        return f"{value:,.0f}"
    small = 0 < abs(value) < 1  # most answers cost a fraction of a cent
    digits = min(8, 2 - floor(log10(abs(value)))) if small else 2
    whole, _, fraction = f"{value:,.{digits}f}".partition(".")
    return f"{whole}.{fraction.rstrip('0').ljust(2, '0')} {unit}"


def to_json_bytes(document: object, indent: int | None = 2) -> bytes:
    """Return UTF-8 JSON, on one line without an indent. Numbers keep their spelling (``600.0``); undefined is null."""
    encoder = msgspec.json.Encoder(decimal_format="number")
    try:
        content = encoder.encode(document)
    except UnicodeEncodeError:  # a path or a value has bytes that are not UTF-8
        content = encoder.encode(_printable(msgspec.to_builtins(document, builtin_types=(Decimal,))))
    return (content if indent is None else msgspec.json.format(content, indent=indent)) + b"\n"


def schema_first(document: object) -> bytes:
    """Return a document that is read again as JSON that begins with its ``schema``, and keeps text that is no UTF-8."""
    body = msgspec.to_builtins(document)
    body = {"schema": body.pop("schema"), **body}
    text = json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _printable(body: Any) -> Any:
    if isinstance(body, str):
        return body.encode("utf-8", "backslashreplace").decode()
    if isinstance(body, list | tuple):
        return [_printable(item) for item in body]
    return {_printable(key): _printable(item) for key, item in body.items()} if isinstance(body, dict) else body


def text_of_value(value: Value) -> str:
    """Return a text as it is, an empty text for null, and any other value as JSON with sorted keys."""
    if isinstance(value, list | dict):
        return json.dumps(json_value(value), ensure_ascii=False, sort_keys=True, default=str)
    return "" if value is None else as_text(value)


def id_text(value: Value) -> str:
    """Return an id or a category, which is a text or a whole number, trimmed. Empty for any other value."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def first_names(names: Sequence[Any], most: int = 10, words: Callable[[Any], str] = lambda name: str(name)[:60]) -> str:
    """List the first names for a message, each in its words, and the number of the others, whose words are not made."""
    listed = ", ".join(map(words, names[:most]))
    return f"{listed} and {len(names) - most:,} more" if len(names) > most else listed
