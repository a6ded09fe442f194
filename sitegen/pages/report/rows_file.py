"""The discrepancies that a report does not draw, in a file beside it that the page loads on request."""

from __future__ import annotations

from sitegen.model.site import RawFile
from sitegen.pages import links
from sitegen.pages.data.scripts import script_file
from sitegen.pages.report.discrepancy_rows import discrepancies
from sitegen.pages.report.page import ReportView


def rows_file(view: ReportView) -> RawFile | None:
    """Table bodies in the form of the page's table; None if the page has all of them."""
    if not view.loadable:
        return None
    rows = discrepancies(view.loadable, view.previous is not None, len(view.documents) > 1, view.info.nouns)
    return script_file(links.report_rows(view.info.id, view.snapshot.slug), "ROWS", str(rows))
