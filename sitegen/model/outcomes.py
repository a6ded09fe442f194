"""Outcomes: what became of one attribute when the output was held against the ground truth."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from sitegen.model.values import Value

ErrorType: TypeAlias = Literal["omission", "hallucination", "wrong_value", "format_error"]
Outcome: TypeAlias = Literal["correct", "true_negative", "omission", "hallucination", "wrong_value", "format_error"]

ERROR_TYPES: Final[tuple[ErrorType, ...]] = ("omission", "hallucination", "wrong_value", "format_error")
"""In the order in which pages list and stack them."""


CellKey: TypeAlias = tuple[str, str, bool]
"""Document, path, and whether it belongs to an extra item, whose path counts the items of the output."""

EXTRA_ITEM: Final = "extra item"
"""The note of a hallucination that belongs to a list item without an expected one."""


class Judgement(NamedTuple):
    """One attribute of one document, judged. An error among them is called a *discrepancy*."""

    document: str
    """Id of the document; empty if the eval has only one."""
    path: str
    """Concrete field path, ``walls[0].area``; of an unmatched item of the output, the output's own index."""
    attribute: str
    """The field path with indices removed, ``walls[].area``: what by-field numbers are grouped by."""
    outcome: Outcome
    expected: Value
    actual: Value
    note: str = ""
    """Why, where the values alone do not say it: ``expected blank``, ``not in ground truth``, ``extra item`` ..."""
    named_path: str = ""
    """The path with list items by their names, ``walls[E Wall].area``; empty where it is the same, and where a
    redaction hides names."""

    @property
    def label(self) -> str:
        """The path as it is shown."""
        return self.named_path or self.path

    @property
    def key(self) -> CellKey:
        """What it is followed by from output to output, whatever its item is called there."""
        return self.document, self.path, self.note == EXTRA_ITEM
