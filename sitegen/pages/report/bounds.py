"""Limits of the lists of a report. The data file beside a report has the whole result."""

from __future__ import annotations

from math import inf
from typing import Final

from msgspec.structs import replace

from sitegen.model.panels import AlignmentPanel
from sitegen.model.scorecards import DocumentScore, Result
from sitegen.pages.report import spans
from sitegen.pages.report.discrepancies import left_out, wrong_in
from sitegen.stats.counts import errors

ALIGNED: Final = 100
"""Largest number of rows of one alignment in a report."""

LISTS: Final = 100
"""Largest number of alignments in a report: there is one for each list of each document."""

DOCUMENTS: Final = 200
"""Largest number of documents in a report: the ones with the most errors or, if errors are not counted, the lowest
scores."""


def leaves_anything_out(result: Result, limit: int) -> bool:
    """Whether the report omits parts of the result, so that the data file has to be written."""
    return (
        result.data is not None
        or bool(left_out(wrong_in(result), limit))
        or len(result.scorecard.documents) > DOCUMENTS
        or len(listed_alignments(result)) > LISTS
        or any(len(alignment.rows) > ALIGNED for alignment in listed_alignments(result))
        or any(panel.kind == "spans" and spans.is_bounded(panel) for panel in result.panels)
    )


def listed_documents(documents: tuple[DocumentScore, ...]) -> tuple[DocumentScore, ...]:
    """The documents that are listed: none if there is only one."""
    if len(documents) <= DOCUMENTS:
        return documents if len(documents) > 1 else ()
    return tuple(
        sorted(documents, key=lambda document: (-errors(document.counts), _headline_of_document(document)))[:DOCUMENTS]
    )


def _headline_of_document(score: DocumentScore) -> float:
    """The document's first metric; infinity without a value, so that it is sorted last."""
    value = score.metrics[0].value if score.metrics else None
    return inf if value is None else value


def listed_alignments(result: Result) -> list[AlignmentPanel]:
    """The alignments of lists that have items."""
    return [panel for panel in result.panels if panel.kind == "alignment" and panel.rows]


def bounded_alignment(alignment: AlignmentPanel) -> AlignmentPanel:
    """An alignment with no more rows than a report shows."""
    return replace(alignment, rows=alignment.rows[:ALIGNED], left_out=max(0, len(alignment.rows) - ALIGNED))
