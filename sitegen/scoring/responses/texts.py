"""What stands for a text: expected and given texts are read alike."""

from __future__ import annotations

import json
from decimal import Decimal

from sitegen.model.values import Unusable, Value
from sitegen.text.values import json_value


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
    return json.dumps(json_value(value), ensure_ascii=False, sort_keys=True, default=str)


def id_text(value: Value) -> str:
    """An id or a category: a text or a whole number, trimmed; anything else is none."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def first_names(names: list[str]) -> str:
    """The first of many names, for a sentence."""
    shown = ", ".join(name[:60] for name in names[:10])
    return f"{shown}, ..." if len(names) > 10 else shown
