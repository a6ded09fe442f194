"""Values as they stand in an output or in the ground truth, after reading and before comparing."""

from __future__ import annotations

from decimal import Decimal
from typing import Final, NamedTuple, TypeAlias


class Unusable(NamedTuple):
    """A single value that JSON allows but no comparison can use: NaN, Infinity, a 5,000-digit integer.

    It is judged as a format error at its own path and never spoils its neighbours.
    """

    literal: str
    """The value as it was written, cut to 80 characters."""
    reason: str


REDACTED: Final = Unusable("redacted", "hidden by the configuration")
"""Stands for a value that no page may show. No text of a file is equal to it: as JSON it has no quotation marks."""

Scalar: TypeAlias = "bool | int | Decimal | str | Unusable | None"
"""Numbers with a fraction or an exponent are Decimals, so that their spelling and their boundaries survive."""

Value: TypeAlias = "Scalar | list[Value] | dict[str, Value]"
