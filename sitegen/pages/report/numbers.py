"""The errors of a report: their changes since the point before, and the sections of the schema that they are in."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from sitegen.model.deltas import Change, Overlap
from sitegen.model.error_summaries import WeakSection
from sitegen.model.outcomes import ERROR_TYPES
from sitegen.model.scorecards import FieldScore, Scorecard
from sitegen.model.series import EvalInfo
from sitegen.model.usage import regraded
from sitegen.stats.counts import error_numbers


def error_changes(before: Scorecard | None, after: Scorecard, delta: Change | None) -> tuple[int | None, ...]:
    """The change of the errors of each type, over the documents that both points have.

    There is no change between errors that two different judges counted.
    """
    if not before or not delta or delta.overlap.verdict == "refused" or regraded(delta.judge, "f1"):
        return (None,) * len(ERROR_TYPES)
    first, last = _errors_in_common(before, delta.overlap), _errors_in_common(after, delta.overlap)
    return tuple(now - then for then, now in zip(first, last, strict=True))


def _errors_in_common(card: Scorecard, shared: Overlap) -> list[int]:
    """The errors of each type, except for those of documents or cases that only one point has."""
    left_out = {*shared.only_before, *shared.only_after}
    units = card.cases if shared.unit == "cases" else [(document.id, document.counts) for document in card.documents]
    counts = list(error_numbers(card.counts))
    for name, of_unit in units if left_out else ():
        if name in left_out:
            counts = [n - more for n, more in zip(counts, error_numbers(of_unit), strict=True)]
    return counts


_STEP_END: Final = re.compile(r"[.\[]")

TOP_LEVEL: Final = "(top level)"
"""The section of attributes that are directly at the root of the schema."""


def section(attribute: str) -> str:
    """The first step of an attribute that has more than one; ``TOP_LEVEL`` for the others."""
    if attribute.startswith('["'):
        end = attribute.find('"]') + 2
        return attribute[:end] if 1 < end < len(attribute) else TOP_LEVEL
    step = _STEP_END.search(attribute)
    return attribute[: step.start()] or TOP_LEVEL if step else TOP_LEVEL


def grouping(info: EvalInfo, fields: tuple[FieldScore, ...]) -> Callable[[str], str]:
    """The function that groups attributes: by section of the schema, or each separately if there are no sections."""
    flat = not info.nouns.are_fields and all(section(field.attribute) == TOP_LEVEL for field in fields)
    return str if flat else section


def sections(fields: tuple[FieldScore, ...], group: Callable[[str], str]) -> tuple[WeakSection, ...]:
    """The sections with their errors, in the order of their first attributes."""
    by_name: dict[str, list[int]] = {}
    for attribute, (tp, _, _, tn, omission, hallucination, wrong_value, format_error) in fields:
        sums = by_name.setdefault(group(attribute), [0, 0, 0, 0, 0])
        sums[0] += omission
        sums[1] += hallucination
        sums[2] += wrong_value
        sums[3] += format_error
        sums[4] += tp + tn + omission + hallucination + wrong_value + format_error
    return tuple(WeakSection(name, tuple(wrong), judged) for name, (*wrong, judged) in by_name.items())
