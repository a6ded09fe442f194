"""Outcomes: what became of one attribute when the output was held against the ground truth."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from sitegen.model.values import Value

ErrorType: TypeAlias = Literal["omission", "hallucination", "wrong_value", "format_error"]
Outcome: TypeAlias = Literal["correct", "true_negative", "omission", "hallucination", "wrong_value", "format_error"]

ERROR_TYPES: Final[tuple[ErrorType, ...]] = ("omission", "hallucination", "wrong_value", "format_error")
"""In the order in which pages list and stack them."""


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
