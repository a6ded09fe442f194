"""Finds the list of cases in a parsed file, and the keys under which a case holds its two sides.

Keys are recognised by their usual names, unless the eval's settings state them (``CaseKeys``). The values at the keys
become text in the same way for test cases and responses.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import cast

from sitegen.importers.usual_names import EXPECTED, OUTPUT, nearest_cases, usual_key
from sitegen.model.outcomes import Unusable, Value
from sitegen.scoring.mapping import CaseKeys
from sitegen.scoring.paths import PathError, follow, parse_path
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


def list_of_cases(root: Value, keys: CaseKeys) -> Sequence[Value]:
    """Return the list of cases: at the stated path, else the list nearest to the root whose members have both sides."""
    if keys.list:
        stated = value_at_key(root, keys.list)
        return stated if isinstance(stated, list) else list(stated.values()) if isinstance(stated, dict) else ()
    return nearest_cases(root, lambda case: is_two_sided(case, keys))


def is_two_sided(case: dict[str, Value], keys: CaseKeys) -> bool:
    """Whether a case has both an expected side and an output."""
    sides = ((keys.expected, EXPECTED), (keys.output, OUTPUT))
    return all(
        value_at_key(case, stated) is not None if stated else usual_key([case], names) for stated, names in sides
    )


def value_at_key(value: Value, path: str) -> Value:
    """The value at a key, or at a path of keys; None if there is none."""
    if not isinstance(value, dict) or path in value:
        return value[path] if isinstance(value, dict) else None
    try:
        return cast("Value", follow(value, parse_path(path)))
    except PathError:
        return None


def has_key(member: dict[str, Value], path: str) -> bool:
    """Whether a case has a value at a path; a plain key may hold null."""
    return path in member or value_at_key(member, path) is not None
