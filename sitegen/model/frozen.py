"""The bases of values with named fields."""

from __future__ import annotations

from typing import dataclass_transform

import msgspec
from msgspec import field as field
from msgspec.structs import replace as replace


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Frozen(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A value with named fields that never change: equal if its type and fields are equal.

    Making a value by keyword takes a ninth of the time that it takes to make a named tuple. The garbage collector does
    not track these values, so they must not form cycles. JSON writes the fields in order, without their names.
    """


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class FrozenObject(msgspec.Struct, frozen=True, gc=False):
    """A value like ``Frozen`` whose JSON is an object with the names of the fields."""
