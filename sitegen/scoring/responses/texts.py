"""What stands for a text: expected and given texts are read alike."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from sitegen.model.values import Unusable, Value


def text_of_value(value: Value) -> str:
    """The text itself, nothing for null, and of any other value its JSON with sorted keys."""
    if isinstance(value, str):
        return value
    if isinstance(value, Unusable):
        return value.literal
    if value is None:
        return ""
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(_plain(value), ensure_ascii=False, sort_keys=True, default=str)


def _plain(value: Value) -> Any:
    if isinstance(value, Unusable):
        return value.literal
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def name_of(value: Value) -> str:
    """An id or a category: a text or a whole number, trimmed; anything else is none."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def listed(names: list[str]) -> str:
    """The first of many names, for a sentence."""
    shown = ", ".join(name[:60] for name in names[:10])
    return f"{shown}, ..." if len(names) > 10 else shown
