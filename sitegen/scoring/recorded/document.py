"""The numbers of kind ``recorded`` as a document that other programs read (``sitegen/recorded-results/1``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sitegen.model.scorecards import Result


@dataclass(frozen=True, slots=True)
class NumberRow:
    """One number, and which way it is taken to be better."""

    name: str
    value: float | None
    higher_is_better: bool


@dataclass(frozen=True, kw_only=True)
class RecordedPart:
    """What is written of kind ``recorded`` alone."""

    form: ClassVar = "sitegen/recorded-results/1"

    numbers: tuple[NumberRow, ...]
    """As the run wrote them, the headline first."""


def recorded_part(result: Result) -> RecordedPart:
    """Of one result."""
    card = result.scorecard
    return RecordedPart(
        numbers=tuple(NumberRow(spec.name, card.metric(spec.name), spec.higher_is_better) for spec in card.specs)
    )
