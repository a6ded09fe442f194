"""The numbers of a file by name, whatever its shape: nested keys joined by dots, items of lists by what names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from math import isfinite
from typing import Final, NamedTuple

from sitegen.model.values import Unusable, Value

LONGEST: Final = 200
"""Characters of a name; a number with a longer one is left out."""

_NAMES: Final = ("name", "metric", "task", "id", "label")
"""Keys of an item of a list that name it, the first that is a text."""


class RecordedNumber(NamedTuple):
    """One number of a file."""

    name: str
    """Where it stands: ``retail.f1``."""
    value: float | None
    """None: NaN, Infinity, or a number beyond every range."""
    higher_is_better: bool | None = None
    """None: the file does not say."""
    is_sample: bool = False
    """An item of a plain list of numbers, which are mostly the values of single cases."""


def numbers_in(value: Value, start: str = "") -> Iterator[RecordedNumber]:
    """Every number, in the order of the file. True and false are none, nor is a number that is written as a text."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from numbers_in(each, joined_name(start, key))
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from _numbers_of_item(each, start, place)
    elif isinstance(value, Unusable | int | Decimal) and not isinstance(value, bool) and 0 < len(start) <= LONGEST:
        yield RecordedNumber(start, as_float(value))


def joined_name(*names: str) -> str:
    """Names as one path."""
    return ".".join(name for name in names if name)


def as_float(value: Value) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if isfinite(found) else None


def first_of_each_name(numbers: Iterable[RecordedNumber]) -> list[RecordedNumber]:
    """The first of each name: a key with a dot may be spelled as two keys are."""
    found: dict[str, RecordedNumber] = {}
    for number in numbers:
        found.setdefault(number.name, number)
    return list(found.values())


def _numbers_of_item(value: Value, start: str, place: int) -> Iterator[RecordedNumber]:
    """An item of a list: ``{"name": "f1", "value": 0.9}`` is the number ``f1``."""
    if not isinstance(value, dict):
        is_sample = not isinstance(value, list)
        yield from (each._replace(is_sample=is_sample) for each in numbers_in(value, joined_name(start, str(place))))
        return
    key = next((key for key in _NAMES if isinstance(value.get(key), str) and value[key]), None)
    named = joined_name(start, str(value[key]) if key else str(place))
    rest = {other: each for other, each in value.items() if other != key}
    alone = [other for other, each in rest.items() if as_float(each) is not None]
    if key and alone and alone[0] in ("value", "score"):
        yield from numbers_in(rest.pop(alone[0]), named)
    yield from numbers_in(rest, named)
