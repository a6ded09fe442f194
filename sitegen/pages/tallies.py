"""Sums over confusion counts that pages write beside every rate."""

from __future__ import annotations

from sitegen.model.metrics import Counts


def errors(counts: Counts) -> int:
    """Attributes that are wrong, in whatever way."""
    return counts.omission + counts.hallucination + counts.wrong_value + counts.format_error


def errors_by_type(counts: Counts) -> tuple[int, int, int, int]:
    """The errors in the order of ``ERROR_TYPES``."""
    return counts.omission, counts.hallucination, counts.wrong_value, counts.format_error


def judged(counts: Counts) -> int:
    """Attributes that were held against the ground truth, agreed blanks included."""
    return counts.tp + counts.tn + errors(counts)
