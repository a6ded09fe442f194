"""What a report leaves to the data file beside it."""

from __future__ import annotations

from math import inf
from typing import Final

from sitegen.model.panels import AlignmentPanel
from sitegen.model.scorecards import DocumentScore, Result
from sitegen.pages.report import spans
from sitegen.pages.report.discrepancies import left_out, wrong_in
from sitegen.stats.counts import errors

ALIGNED: Final = 100
"""Rows of one list's pairing that a report shows; the whole pairing is in the JSON beside it."""

LISTS: Final = 100
"""Pairings that a report shows; of several documents each list has one."""

DOCUMENTS: Final = 200
"""Documents that a report lists; of more, those with the most errors, or with the lowest score if nothing counts."""


def leaves_anything_out(result: Result, limit: int) -> bool:
    """Whether the report leaves anything out, so that the whole result must lie beside it."""
    return (
        result.data is not None
        or bool(left_out(wrong_in(result), limit))
        or len(result.scorecard.documents) > DOCUMENTS
        or len(listed_alignments(result)) > LISTS
        or any(len(alignment.rows) > ALIGNED for alignment in listed_alignments(result))
        or any(panel.kind == "spans" and spans.is_bounded(panel) for panel in result.panels)
    )


def listed_documents(some: tuple[DocumentScore, ...]) -> tuple[DocumentScore, ...]:
    """The documents that are listed: none if there is only one."""
    if len(some) <= DOCUMENTS:
        return some if len(some) > 1 else ()
    return tuple(sorted(some, key=lambda one: (-errors(one.counts), _headline_of_document(one)))[:DOCUMENTS])


def _headline_of_document(score: DocumentScore) -> float:
    """The first of its own metrics; one without a value goes last."""
    value = score.metrics[0].value if score.metrics else None
    return inf if value is None else value


def listed_alignments(result: Result) -> list[AlignmentPanel]:
    """The pairings of lists that have items."""
    return [panel for panel in result.panels if panel.kind == "alignment" and panel.rows]


def bounded_alignment(one: AlignmentPanel) -> AlignmentPanel:
    """A pairing with no more rows than a report shows."""
    return one._replace(rows=one.rows[:ALIGNED], left_out=max(0, len(one.rows) - ALIGNED))
