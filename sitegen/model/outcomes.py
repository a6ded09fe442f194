"""Values of outputs and of the ground truth, and the outcomes of their comparison."""

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from sitegen.model.frozen import Frozen


class Unusable(Frozen):
    """A single value that JSON allows but no comparison can use: NaN, Infinity, a 5,000-digit integer.

    It is judged as a format error at its own path, and does not affect other values.
    """

    literal: str
    """The value as it was written, cut to 80 characters."""
    reason: str


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


ErrorType: TypeAlias = Literal["omission", "hallucination", "wrong_value", "format_error"]
Outcome: TypeAlias = Literal["correct", "true_negative", "omission", "hallucination", "wrong_value", "format_error"]

ERROR_TYPES: Final[tuple[ErrorType, ...]] = ("omission", "hallucination", "wrong_value", "format_error")
"""In the order in which pages list and stack them."""

CellKey: TypeAlias = tuple[str, str, bool]
"""(document, path, whether the cell belongs to an extra item, whose path has the index in the output)."""

EXTRA_ITEM: Final = "extra item"
"""The note of a hallucination in a list item that was not expected."""

MISSING_ITEM: Final = "missing item"
"""The note of an omission in a list item that has no partner in the output."""


class Judgement(Frozen):
    """One attribute of one document, judged. An error among them is called a *discrepancy*."""

    document: str
    """Id of the document; empty if the eval has only one."""
    path: str
    """Field path, ``walls[0].area``; for an unmatched item of the output with its index in the output."""
    attribute: str
    """The field path without indices, ``walls[].area``, by which numbers are grouped."""
    outcome: Outcome
    expected: Value
    actual: Value
    note: str = ""
    """The reason, if values alone do not show it: ``expected blank``, ``not in ground truth``, ``extra item`` ..."""
    named_path: str = ""
    """The path with names of list items instead of indices, ``walls[E Wall].area``; empty if it is the same, or if a
    redaction hides names."""
    evidence: str = ""
    """The page, the confidence and the quote that the output states for the value, in words; empty if it states none,
    and in an eval with redacted values."""

    @property
    def label(self) -> str:
        """The path as pages show it."""
        return self.named_path or self.path

    @property
    def key(self) -> CellKey:
        """The key that identifies the cell in every output, whatever the name of its list item."""
        return self.document, self.path, self.note == EXTRA_ITEM


def changed_judgements(
    before: Sequence[Judgement], after: Sequence[Judgement]
) -> tuple[list[Judgement], list[Judgement]]:
    """Return the judgements that are new in an output, and those that are gone, each in the order of its output.

    They are compared as objects: equal values of two outputs have the very same judgement.
    """
    if len(before) == len(after):  # as a rule; then most stand at the same place
        pairs = [(first, last) for first, last in zip(before, after, strict=True) if first is not last]
        before, after = [first for first, _ in pairs], [last for _, last in pairs]
    gone = {id(judgement): judgement for judgement in before}
    new = [judgement for judgement in after if gone.pop(id(judgement), None) is None]
    return new, list(gone.values())
