"""The parts that a long trend page does not draw, in a file beside it that the page loads on request."""

from __future__ import annotations

from typing import Final

from sitegen.model.site import RawFile
from sitegen.pages import links
from sitegen.pages.data.scripts import script_file
from sitegen.pages.trend.page import TrendView
from sitegen.pages.trend.trend_chart import COLUMNS, TrendChart, trend
from sitegen.pages.trend.trend_rows import iterations

ROOT: Final = "../../"


def older_rows(view: TrendView) -> RawFile | None:
    """The rows of older iterations, and the chart with every value; None if the page has all of them."""
    if not view.older:
        return None
    path, chart = links.trend_rows(view.info.id), trend(view, whole=True)
    values = {name: chart.island[name] for name in COLUMNS if name in chart.island}
    rows = script_file(path, "ROWS", f"<tbody>{iterations(view, ROOT, older=True)}")
    return RawFile(path, rows.content + script_file(path, "CHART", [_paths(chart), values]).content)


def _paths(chart: TrendChart) -> dict[str, list[str]]:
    """The paths of the chart, by the selector of the elements that draw them, in their order."""
    return {
        "path.band": [chart.band],
        "path.champ": [chart.champion],
        ".pl > .ln": [variant.line.path for variant in chart.variants],
        ".pl > .lone": [variant.line.lone for variant in chart.variants],
        ".then .ln": [line.path for line in reversed(chart.lines)],
        ".then .lone": [line.lone for line in reversed(chart.lines)],
        ".now .ln": [line.path for line in reversed(chart.now)],
        ".now .lone": [line.lone for line in reversed(chart.now)],
        ".pts:not(.copied)": [chart.dots],
        ".pts.copied": [chart.copies],
        "path.stale": [chart.stale],
        ".hollow": [chart.stale],
        "path.broken": [chart.broken],
        "path.ed": [chart.edits],
        "path.re": [chart.rescored],
        ".stack:not(.grouped) path": list(chart.errors),
        ".h-heat .pl path": [chart.unjudged, *chart.heat],
    }
