"""The numbers of kind ``recorded`` as a document that other programs read (``sitegen/recorded-results/1``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sitegen.model.scorecards import Result, Status
from sitegen.scoring.results_file import Metadata, ProblemRow, UsageRow, problem_rows, usage_row

SCHEMA: Final = "sitegen/recorded-results/1"


@dataclass(frozen=True, slots=True)
class NumberRow:
    """One number, and which way it is taken to be better."""

    name: str
    value: float | None
    higher_is_better: bool


@dataclass(frozen=True, slots=True)
class RecordedDocument:
    """The whole file, in the order in which it is written."""

    schema: str
    eval_id: str
    status: Status
    numbers: tuple[NumberRow, ...]
    """As the run wrote them, the headline first."""
    usage: UsageRow | None
    """None: no file states any of it."""
    problems: tuple[ProblemRow, ...]
    metadata: Metadata


def recorded_document(result: Result, *, eval_id: str, metadata: Metadata) -> RecordedDocument:
    """The document of one result of kind ``recorded``."""
    card = result.scorecard
    return RecordedDocument(
        schema=SCHEMA,
        eval_id=eval_id,
        status=card.status,
        numbers=tuple(NumberRow(each.name, card.metric(each.name), each.higher_is_better) for each in card.specs),
        usage=usage_row(card.usage),
        problems=problem_rows(card.findings),
        metadata=metadata,
    )
