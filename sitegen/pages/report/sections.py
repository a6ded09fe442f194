"""Groups the attributes of an output by the first step of their paths, the sections of its schema."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from sitegen.frozen import Frozen
from sitegen.model.scorecards import FieldScore
from sitegen.model.series import EvalInfo

TOP_LEVEL: Final = "(top level)"
"""The section of attributes that are directly at the root of the schema."""


class SchemaSection(Frozen):
    """The attributes below one first step of the schema."""

    name: str
    errors: tuple[int, ...]
    judged: int


@lru_cache(maxsize=4096)
def section(attribute: str) -> str:
    """The first step of an attribute that has more than one; ``TOP_LEVEL`` for the others."""
    if attribute.startswith('["'):
        end = attribute.find('"]') + 2
        return attribute[:end] if 1 < end < len(attribute) else TOP_LEVEL
    for index, character in enumerate(attribute):
        if character in ".[":
            return attribute[:index] or TOP_LEVEL
    return TOP_LEVEL


def grouping(info: EvalInfo, fields: tuple[FieldScore, ...]) -> Callable[[str], str]:
    """The function that groups attributes: by section of the schema, or each separately if there are no sections."""
    flat = not info.nouns.are_fields and all(section(field.attribute) == TOP_LEVEL for field in fields)
    return str if flat else section


def sections(fields: tuple[FieldScore, ...], group: Callable[[str], str]) -> tuple[SchemaSection, ...]:
    """The sections with their errors, in the order of their first attributes."""
    by_name: dict[str, list[int]] = {}
    for attribute, (tp, _, _, tn, omission, hallucination, wrong_value, format_error) in fields:
        sums = by_name.setdefault(group(attribute), [0, 0, 0, 0, 0])
        sums[0] += omission
        sums[1] += hallucination
        sums[2] += wrong_value
        sums[3] += format_error
        sums[4] += tp + tn + omission + hallucination + wrong_value + format_error
    return tuple(SchemaSection(name, tuple(wrong), judged) for name, (*wrong, judged) in by_name.items())
