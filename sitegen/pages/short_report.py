"""A page at the address of an old report (``limits.reports_kept``): the numbers of its output, without its values."""

from __future__ import annotations

from sitegen.model.series import EvalInfo, Point, Series
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.stats.counts import error_numbers


def short_report(series: Series, index: int) -> Page:
    """Make the page of a point of the series. Its view is the eval, its metrics and the point."""
    info, point = series.info, series.points[index]
    return Page(links.report(info.id, point.snapshot.slug), "pages/short_report.html", (info, series.specs, point))


def errors(info: EvalInfo, point: Point) -> list[tuple[str, int]]:
    """The named types of errors with their numbers."""
    numbers = zip(info.nouns.errors, error_numbers(point.scorecard.counts), strict=True)
    return [(name, count) for name, count in numbers if name]
