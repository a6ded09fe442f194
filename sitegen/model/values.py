"""Values of an output or of the ground truth, after reading and before comparing."""

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from sitegen.model.frozen import Frozen
from sitegen.model.named_tuple import NamedTuple


class Unusable(Frozen):
    """A single value that JSON allows but no comparison can use: NaN, Infinity, a 5,000-digit integer.

    It is judged as a format error at its own path, and does not affect other values.
    """

    literal: str
    """The value as it was written, cut to 80 characters."""
    reason: str


class MetadataEntry(NamedTuple):
    """A key that the project states without a meaning to sitegen, and its value as text."""

    key: str
    text: str


LARGEST_NUMBER: Final = 1e30
"""The greatest size of a number that statistics and charts use: squares and quotients of greater ones are infinite."""

REDACTED: Final = Unusable("redacted", "hidden by the configuration")
"""Replaces a value that no page may show. No value of a file equals it, because its JSON has no quotation marks."""

Scalar: TypeAlias = "bool | int | Decimal | str | Unusable | None"
"""Numbers with a fraction or an exponent are Decimals, so that they stay exact."""

if TYPE_CHECKING:
    Value: TypeAlias = "Scalar | list[Value] | dict[str, Value]"
else:
    Value = Any  # what is kept is decoded as the JSON that it is
