"""Converts values of test cases and responses to text, in the same way for both."""

from __future__ import annotations

import json
from decimal import Decimal

from sitegen.model.values import Unusable, Value
from sitegen.text.values import json_value


def text_of_value(value: Value) -> str:
    """Return a text as it is, an empty text for null, and any other value as JSON with sorted keys."""
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
    """Return an id or a category, which is a text or a whole number, trimmed. Empty for any other value."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def first_names(names: list[str]) -> str:
    """List the first ten names for a message."""
    listed = ", ".join(name[:60] for name in names[:10])
    return f"{listed}, ..." if len(names) > 10 else listed
