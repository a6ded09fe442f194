"""The bases of values with named fields, and groups of values."""

from collections.abc import Iterable
from typing import TypeVar, dataclass_transform

import msgspec
from msgspec import field as field
from msgspec.structs import asdict as asdict
from msgspec.structs import replace as replace

_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Frozen(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A value with named fields that never change: equal if its type and fields are equal.

    Making a value by keyword takes a ninth of the time that it takes to make a named tuple. The garbage collector does
    not track these values, so they must not form cycles. JSON writes the fields in order, without their names.
    """


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class FrozenObject(msgspec.Struct, frozen=True, gc=False):
    """A value like ``Frozen`` whose JSON is an object with the names of the fields."""


def grouped(pairs: Iterable[tuple[_K, _V]]) -> dict[_K, list[_V]]:
    """Return the values of each key, in their order; the keys are in the order of their first values."""
    groups: dict[_K, list[_V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
