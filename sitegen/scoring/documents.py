"""The results of any kind as the document that ``--json`` prints, ``--save`` keeps and the site's data files hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from sitegen.model.scorecards import Result
from sitegen.scoring.highlights.document import HighlightsDocument, highlights_document
from sitegen.scoring.judged.document import JudgedDocument, judged_document
from sitegen.scoring.kinds import scorer
from sitegen.scoring.recorded.document import RecordedDocument, recorded_document
from sitegen.scoring.responses.document import METHODS, ResponsesDocument, metrics_of, responses_document
from sitegen.scoring.results_file import Metadata, ResultsDocument, results_document
from sitegen.scoring.usage import USAGE, all_specs
from sitegen.scoring.verdict import verdict

Document: TypeAlias = ResultsDocument | HighlightsDocument | ResponsesDocument | JudgedDocument | RecordedDocument


def document(
    kind: str,
    result: Result,
    *,
    eval_id: str,
    metadata: Metadata,
    thresholds: tuple[tuple[str, float], ...] = (),
    methods: Sequence[str] = (),
) -> Document:
    """The document of one result.

    ``methods`` are those of kind ``responses`` to report on; empty: all. Raises ConfigurationError if there is no such
    method.
    """
    if kind == "highlights":
        return highlights_document(result, eval_id=eval_id, metadata=metadata)
    if kind == "judged":
        return judged_document(result, eval_id=eval_id, metadata=metadata)
    if kind == "recorded":
        return recorded_document(result, eval_id=eval_id, metadata=metadata)
    if kind == "responses":
        asked = tuple(methods) or tuple(METHODS)
        names = (*metrics_of(asked), *USAGE)
        specs = [spec for spec in all_specs(scorer(kind).metrics) if spec.name in names]
        wanted = [(name, least) for name, least in thresholds if name in names]
        judged = verdict(specs, wanted, result.scorecard.metrics)
        return responses_document(result, judged, eval_id=eval_id, metadata=metadata, methods=asked)
    return results_document(result, eval_id=eval_id, metadata=metadata)
