"""Shows consistency within cases and unscored responses on a report, beside the discrepancies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from sitegen.model.panels import Panel, PanelColumn, TablePanel
from sitegen.model.scorecards import Kappa
from sitegen.scoring.judged.panels import agreement_note
from sitegen.scoring.responses.files import Response
from sitegen.scoring.responses.measures import MeasuredVariant, within_cases

_ROWS: Final = 200


def response_panels(groups: Sequence[MeasuredVariant], agreement: Kappa | None) -> Iterator[Panel]:
    """Yield the agreement of judge and people, and the tables that have rows."""
    if agreement:
        yield agreement_note(agreement, "responses")
    within = [(group.variant.name, case) for group in groups for case in within_cases(group.measured)]
    if within:
        yield TablePanel(
            title="Consistency within cases",
            note=_note_on_first_rows(len(within), "mean cosine of the answers that one variant gave to one case"),
            columns=(
                PanelColumn("Variant"),
                PanelColumn("Case", "code"),
                PanelColumn("Responses", "number"),
                PanelColumn("Consistency", "number"),
            ),
            rows=tuple(
                (name, case.case_id, str(case.responses), f"{case.cosine:.3f}") for name, case in within[:_ROWS]
            ),
        )
    unscored = [(group.variant.name, answer) for group in groups for answer in group.measured if answer.correct is None]
    if unscored:
        yield TablePanel(
            title="Responses without an exact match",
            note=_note_on_first_rows(len(unscored), "nothing is expected of them, or the call failed"),
            columns=(
                PanelColumn("Variant"),
                PanelColumn("Case", "code"),
                PanelColumn("Grade", "number"),
                PanelColumn("Response"),
            ),
            rows=tuple(
                (name, answer.case.id, str(answer.quality or ""), _response_text(answer.response))
                for name, answer in unscored[:_ROWS]
            ),
        )


def _note_on_first_rows(count: int, note: str) -> str:
    return note if count <= _ROWS else f"{note}; the first {_ROWS} of {count}"


def _response_text(response: Response | None) -> str:
    if response is None:
        return ""
    return f"error: {response.error}" if response.error else response.output
