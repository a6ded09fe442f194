"""The base of values with named fields."""

from __future__ import annotations

from typing import dataclass_transform

import msgspec


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Frozen(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A value with named fields that never change: equal if its type and fields are equal.

    Compared with a NamedTuple, defining a class takes a fourteenth of the time, and making a value by keyword a ninth.
    The garbage collector does not track these values, so they must not form cycles. JSON writes the fields in
    order, without their names.
    """
