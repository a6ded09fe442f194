"""A page at the address of an old report (``limits.reports_kept``): the numbers of its output, without its values."""

from __future__ import annotations

from sitegen.model.frozen import Frozen
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import EvalInfo, Point, Series
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.pages.labels import STATUSES
from sitegen.stats.counts import error_numbers


class ShortReportView(Frozen):
    """What ``pages/short_report.html`` shows."""

    info: EvalInfo
    specs: tuple[MetricSpec, ...]
    point: Point
    errors: dict[str, int]
    warning: str


def short_report(series: Series, index: int) -> Page:
    """Make the page of a point of the series."""
    point, card = series.points[index], series.points[index].scorecard
    errors = zip(series.info.nouns.errors, error_numbers(card.counts), strict=True)
    view = ShortReportView(
        info=series.info,
        specs=series.specs,
        point=point,
        errors={name: count for name, count in errors if name},
        warning="" if card.status == "scored" else STATUSES[card.status],
    )
    return Page(links.report(series.info.id, point.snapshot.slug), "pages/short_report.html", view)
