"""Labels that may be wrong: where output after output gives one value that is not the label."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.model.series import EvalInfo, Series
from sitegen.model.site import Page
from sitegen.model.suspect_truth import SuspectTruth
from sitegen.pages import links


class SuspectRow(NamedTuple):
    """One label, and where to look."""

    suspect: SuspectTruth
    last_label: str
    """The newest point that gave the value."""
    last_report: str
    field: str
    """The history of the attribute; both as seen from the page."""


class SuspectTruthView(NamedTuple):
    """What ``pages/suspect_truth.html`` shows."""

    info: EvalInfo
    label: str
    """Of the newest point."""
    path: str
    """The ground truth file; empty if there is none."""
    rows: tuple[SuspectRow, ...]
    corrections: int
    """Rows whose line was found."""
    nav: str = "overview"


def suspect_truth_page(series: Series, suspects: tuple[SuspectTruth, ...]) -> Page:
    """The page of one eval; there has to be a suspect."""
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
