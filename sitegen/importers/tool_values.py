"""Converts any JSON value to the type that a file of results should have, with bounds.

Values of other types become empty or None.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Final

from sitegen.model.outcomes import LARGEST_NUMBER, Value

LONGEST: Final = 10_000
"""The greatest length of a text, in characters. Longer texts are cut."""


def text(value: Value) -> str:
    """A text, else an empty one."""
    return value[:LONGEST] if isinstance(value, str) else ""


def written(value: Value) -> str:
    """Return a text unchanged, and other values as JSON. Empty for null."""
    if value is None or isinstance(value, str):
        return text(value)
    return json.dumps(value, default=str, ensure_ascii=False)[:LONGEST]


def name_of(value: Value) -> str:
    """A text or a whole number as a name, else an empty text."""
    return str(value).strip()[:LONGEST] if isinstance(value, str | int) and not isinstance(value, bool) else ""


def items(value: Value) -> list[Value]:
    """A list, or an empty one."""
    return value if isinstance(value, list) else []


def lone_item(value: Value) -> Value:
    """The item of a list of one, else the value itself."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def members(value: Value) -> dict[str, Value]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def number(value: Value) -> float | None:
    """A number from 0 up, else None."""
    size = as_float(value)
    return size if size is not None and size >= 0 else None


def whole(value: Value) -> int | None:
    """A whole number from 0 up, else None."""
    size = number(value)
    return int(size) if size is not None and size == int(size) else None


def share(value: Value) -> float | None:
    """A number from 0 to 1, else None."""
    size = number(value)
    return size if size is not None and size <= 1 else None


def truth(value: Value) -> bool | None:
    """A truth value, else None."""
    return value if isinstance(value, bool) else None


def as_float(value: Value) -> float | None:
    """Return a number up to ``LARGEST_NUMBER`` as a float, and None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if abs(number) <= LARGEST_NUMBER else None
