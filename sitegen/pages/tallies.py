"""Sums that pages write beside every rate: over confusion counts, and over cells that flipped."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.model.cells import Flips, Tally
from sitegen.model.metrics import Counts


class Flipped(NamedTuple):
    """Cells by what became of them between two points."""

    fixed: int
    broken: int
    still: int
    """Wrong at both."""
    appeared: int = 0
    vanished: int = 0
    """Errors that came or went with a document or with the ground truth."""


def errors(counts: Counts) -> int:
    """Attributes that are wrong, in whatever way."""
    return counts.omission + counts.hallucination + counts.wrong_value + counts.format_error


def errors_by_type(counts: Counts) -> tuple[int, int, int, int]:
    """The errors in the order of ``ERROR_TYPES``."""
    return counts.omission, counts.hallucination, counts.wrong_value, counts.format_error


def judged(counts: Counts) -> int:
    """Attributes that were held against the ground truth, agreed blanks included."""
    return counts.tp + counts.tn + errors(counts)


def flipped(flips: Flips) -> Flipped:
    """All attributes together."""
    tallies = (flips.fixed, flips.broken, flips.still, flips.appeared, flips.vanished)
    return Flipped(*map(_cells_of_tally, tallies))


def _cells_of_tally(tally: Tally) -> int:
    return sum(number for _, number in tally)
