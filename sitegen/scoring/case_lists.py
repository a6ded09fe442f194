"""Finds the list of cases in a parsed file, and the keys under which a case holds its two sides.

Keys are recognised by their usual names, unless the eval's settings state them (``CaseKeys``). The values at the keys
become text in the same way for test cases and responses.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, cast

from sitegen.model.outcomes import Unusable, Value
from sitegen.scoring.mapping import CaseKeys
from sitegen.scoring.paths import PathError, follow, parse_path
from sitegen.text.keys import plain_key
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


EXPECTED: Final = (
    "expected",
    "expected_output",
    "expected_answer",
    "expected_response",
    "expected_result",
    "expected_value",
    "ground_truth",
    "target",
    "gold",
    "reference",
    "reference_answer",
    "ideal",
    "label",
    "answer_key",
)
OUTPUT: Final = (
    "output",
    "actual",
    "actual_output",
    "model_output",
    "extracted",
    "prediction",
    "predicted",
    "response",
    "model_response",
    "answer",
    "result",
    "completion",
)
"""Usual names of each side, the most certain first. Letter case, ``_``, ``-`` and spaces do not count."""
_PARTIAL_LISTS: Final = frozenset(
    ("errors", "discrepancies", "mismatches", "failures", "differences", "diffs", "missed", "wrong", "regressions")
)
"""Keys of lists in which a report repeats only some of its cases."""
_MAX_DEPTH: Final = 3
"""Number of levels below the root that are searched for a list of cases."""
_OWN_SCHEMA: Final = "sitegen/"
"""The beginning of ``schema`` in files that sitegen itself writes about an output."""


def list_of_cases(root: Value, keys: CaseKeys) -> Sequence[Value]:
    """Return the list of cases: at the stated path, else the list nearest to the root whose members have both sides."""
    if keys.list:
        stated = value_at_key(root, keys.list)
        return stated if isinstance(stated, list) else list(stated.values()) if isinstance(stated, dict) else ()
    if isinstance(root, dict) and str(root.get("schema", "")).startswith(_OWN_SCHEMA):
        return ()
    level: list[Value] = [root]
    for _ in range(_MAX_DEPTH):
        below: list[Value] = []
        for container in level:
            if isinstance(container, list) and is_two_sided(container, keys):
                return container
            if isinstance(container, dict):
                if is_two_sided([container], keys):
                    return [container]
                if container and all(is_two_sided([case], keys) for case in container.values()):
                    return [{"id": name, **case} for name, case in container.items() if isinstance(case, dict)]
                below += [value for key, value in container.items() if plain_key(key) not in _PARTIAL_LISTS]
        level = below
    return ()


def is_two_sided(members: Sequence[Value], keys: CaseKeys) -> bool:
    """Whether any member has both an expected side and an output."""
    sides = ((keys.expected, EXPECTED), (keys.output, OUTPUT))
    return any(
        all(value_at_key(case, stated) is not None if stated else usual_key([case], names) for stated, names in sides)
        for case in members
        if isinstance(case, dict)
    )


def usual_key(members: Sequence[dict[str, Value]], names: Sequence[str]) -> str:
    """Return the key, as written, of the first of these names that any member has; empty if there is none."""
    written: dict[str, str] = {}
    for member in members:
        for key in member:
            written.setdefault(plain_key(key), key)
    return next((written[plain] for name in names if (plain := plain_key(name)) in written), "")


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
