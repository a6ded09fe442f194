"""Values of JSON as a format needs them: bounded, of one type, and nothing where the file has something else."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Final

from sitegen.model.values import Value

LONGEST: Final = 10_000
"""Characters of a text that are kept."""


def text(value: Value) -> str:
    """A text, or nothing."""
    return value[:LONGEST] if isinstance(value, str) else ""


def written(value: Value) -> str:
    """A text as it is, anything else as JSON; nothing for null."""
    if value is None or isinstance(value, str):
        return text(value)
    return json.dumps(value, default=str, ensure_ascii=False)[:LONGEST]


def name_of(value: Value) -> str:
    """A text or a whole number that names something, or nothing."""
    return str(value).strip()[:LONGEST] if isinstance(value, str | int) and not isinstance(value, bool) else ""


def items(value: Value) -> list[Value]:
    """A list, or an empty one."""
    return value if isinstance(value, list) else []


def members(value: Value) -> dict[str, Value]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def number(value: Value) -> float | None:
    """A number from 0 up, or None."""
    found = float(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else math.nan
    return found if 0 <= found < math.inf else None


def whole(value: Value) -> int | None:
    """A whole number from 0 up, or None."""
    found = number(value)
    return int(found) if found is not None and found == int(found) else None


def share(value: Value) -> float | None:
    """A number from 0 to 1, or None."""
    found = number(value)
    return found if found is not None and found <= 1 else None


def truth(value: Value) -> bool | None:
    """True, false, or None."""
    return value if isinstance(value, bool) else None
