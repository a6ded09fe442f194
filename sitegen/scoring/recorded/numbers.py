"""Lists the numbers of a parsed file by name, whatever its shape.

A name is the path of keys, joined by dots. Items of lists contribute their name or, without one, their index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from sitegen.frozen import Frozen
from sitegen.model.values import Unusable, Value
from sitegen.scoring.values import as_float

LONGEST: Final = 200
"""Characters of a name. Numbers with longer names are left out."""

_NAMES: Final = ("name", "metric", "task", "id", "label")
"""Keys that name an item of a list. The first with a text counts."""


class RecordedNumber(Frozen):
    """One number of a file."""

    name: str
    """Its path: ``retail.f1``."""
    value: float | None
    """None for NaN, Infinity, and numbers too large for a float."""
    higher_is_better: bool | None = None
    """None if the file does not state it."""
    is_sample: bool = False
    """Whether it is an item of a plain list of numbers. Such lists mostly hold the values of single cases."""


def numbers_in(value: Value, start: str = "") -> Iterator[RecordedNumber]:
    """Yield every number in file order. Booleans, and numbers written as text, do not count."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from numbers_in(member, joined_name(start, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _numbers_of_item(item, start, index)
    elif isinstance(value, Unusable | int | Decimal) and not isinstance(value, bool) and 0 < len(start) <= LONGEST:
        yield RecordedNumber(start, as_float(value))


def joined_name(*names: str) -> str:
    """Join names into one path. Empty names are skipped."""
    return ".".join(name for name in names if name)


def first_of_each_name(numbers: Iterable[RecordedNumber]) -> list[RecordedNumber]:
    """Keep the first number of each name: the key ``a.b`` has the same name as the key ``b`` below ``a``."""
    by_name: dict[str, RecordedNumber] = {}
    for number in numbers:
        by_name.setdefault(number.name, number)
    return list(by_name.values())


def _numbers_of_item(item: Value, start: str, index: int) -> Iterator[RecordedNumber]:
    """The numbers of an item of a list: ``{"name": "f1", "value": 0.9}`` is the number ``f1``."""
    if not isinstance(item, dict):
        is_sample = not isinstance(item, list)
        numbers = numbers_in(item, joined_name(start, str(index)))
        yield from (replace(number, is_sample=is_sample) for number in numbers)
        return
    name_key = next((key for key in _NAMES if isinstance(item.get(key), str) and item[key]), None)
    name = joined_name(start, str(item[name_key]) if name_key else str(index))
    members = {key: member for key, member in item.items() if key != name_key}
    first = next((key for key, member in members.items() if as_float(member) is not None), None)
    if name_key and first in ("value", "score"):
        yield from numbers_in(members.pop(first), name)
    yield from numbers_in(members, name)
