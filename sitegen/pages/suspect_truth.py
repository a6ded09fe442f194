"""The page of suspect ground truth: labels that many outputs contradict with one and the same value."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.model.series import EvalInfo, Series
from sitegen.model.site import Page
from sitegen.model.suspect_truth import SuspectTruth
from sitegen.pages import links


class SuspectRow(NamedTuple):
    """One label, the newest point that contradicts it, and the history of its field."""

    suspect: SuspectTruth
    last_label: str
    """Label of the newest point that gave the value."""
    last_report: str
    """Address of its report, relative to the page."""
    field: str
    """Address of the attribute's history, relative to the page."""


class SuspectTruthView(NamedTuple):
    """What ``pages/suspect_truth.html`` shows."""

    info: EvalInfo
    label: str
    """Label of the newest point."""
    path: str
    """The ground truth file; empty if there is none."""
    rows: tuple[SuspectRow, ...]
    corrections: int
    """Rows with a corrected line."""
    nav: str = "evals"


def suspect_truth_page(series: Series, suspects: tuple[SuspectTruth, ...]) -> Page:
    """The page of one eval, which has at least one suspect."""
    eval_id, newest = series.info.id, series.points[-1].snapshot
    rows = []
    for suspect in suspects:
        at = series.points[suspect.last].snapshot
        rows.append(
            SuspectRow(
                suspect=suspect,
                last_label=at.label,
                last_report=links.report(eval_id, at.slug).rpartition("/")[2],
                field="/".join(links.field(eval_id, suspect.attribute).split("/")[2:]),
            )
        )
    view = SuspectTruthView(
        info=series.info,
        label=newest.label,
        path=newest.ground_truth.path if newest.ground_truth else "",
        rows=tuple(rows),
        corrections=sum(row.suspect.correction is not None for row in rows),
    )
    return Page(links.suspect_truth(eval_id), "pages/suspect_truth.html", view)
