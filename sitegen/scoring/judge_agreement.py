"""Agreement of a judge with people, as a sentence on the report."""

from __future__ import annotations

from sitegen.model.panels import NotePanel
from sitegen.model.scorecards import Kappa


def agreement_note(agreement: Kappa, things: str) -> NotePanel:
    """Cohen's kappa with its interval, and the counts behind it. *things*: what both judged, in the plural."""
    return NotePanel(
        "note",
        f"The judge and people graded {agreement.agreed:,} of {agreement.judged:,} {things} alike: Cohen's kappa "
        f"{agreement.value:.3f}, 95 % interval {agreement.low:.3f} to {agreement.high:.3f}.",
    )
