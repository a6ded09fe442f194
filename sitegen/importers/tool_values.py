"""The base of what is read of tools' files, and the types that values of JSON should have, with bounds.

Values of other types become empty or None, so that a wrong value is lost alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cached_property
from typing import Final, TypeVar

from sitegen.model.outcomes import LARGEST_NUMBER, Value

T = TypeVar("T")

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


def lone_text(value: Value) -> str:
    """The item of a list of one, or the value itself, as text."""
    return written(lone_item(value))


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


def value_at(row: Mapping[str, Value], column: str) -> Value:
    """The value of a column, or of a path into its objects and lists (``arguments.0.0``). None if there is none."""
    if column in row or "." not in column:
        return row.get(column)
    value: Value = dict(row)
    steps = column.split(".")
    for place, step in enumerate(steps):
        if isinstance(value, dict):
            if (rest := ".".join(steps[place:])) in value:
                return value[rest]
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step[:9]) < len(value):
            value = value[int(step[:9])]
        else:
            return None
    return value


class ToolObject:
    """An object in a file of a tool, of which ``part`` declares what counts. Other keys are ignored."""

    def __init__(self, value: Value) -> None:
        self.members = members(value)


def part(read: Callable[[Value], T], path: str) -> cached_property[T]:
    """Declare a part of an object: the type that it should have, and the path of keys and indices to it."""
    return cached_property(lambda owner: read(value_at(owner.members, path)))


def list_of(read: Callable[[Value], T]) -> Callable[[Value], list[T]]:
    """The type of a list of objects. Items that are no objects are left out."""
    return lambda value: [read(item) for item in items(value) if isinstance(item, dict)]


def anything(value: Value) -> Value:
    """The type of a part that may be any value."""
    return value


def conversation(value: Value) -> str:
    """The input of a model as text. Each message of a conversation begins with its role."""
    said = list_of(members)(value)
    if not any("content" in message for message in said):
        return written(value)
    messages = [f"{name_of(message.get('role'))}: {content_of(message.get('content'))}" for message in said]
    return text("\n\n".join(messages))


def content_of(content: Value) -> str:
    """The text of a message, whose content may be a list of parts."""
    return text(content) or text("".join(text(item.get("text")) for item in list_of(members)(content)))


def unique(name: str, used: Counter[str]) -> str:
    """The name, with a number from its second use on."""
    used[name] += 1
    return name if used[name] == 1 else f"{name} ({used[name]})"
