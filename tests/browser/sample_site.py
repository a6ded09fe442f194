"""The pages of the invented sample, written to a folder the way a build writes them."""

from __future__ import annotations

from pathlib import Path

from sitegen.model.series import Point, Series
from sitegen.model.site import Page, RawFile
from sitegen.pages.report import report_page, wrong_places
from sitegen.pages.trend import trend_page
from sitegen.render.environment import Renderer
from tests import pages_sample as sample


def pages() -> list[Page]:
    """Every page that this part of the project makes."""
    series = sample.series()
    out = [trend_page(one) for one in (series, sample.single(), sample.none_yet(), sample.long())]
    out += [_report(series, index) for index in (0, 17, 30, 58, 59)]
    out.append(_nasty(series))
    out.append(_report(sample.single(), 0, ("f-001", "f-002", "f-003")))
    return out


def raw_files() -> list[RawFile]:
    """Files without a template."""
    return []


def _report(series: Series, index: int, documents: tuple[str, ...] = ("",)) -> Page:
    point = series.points[index]
    before: Point | None = series.points[index - 1] if index else None
    judged = sample.judgements(index + 1, 60 if index > 50 else 400, documents)
    result = sample.result(judged)._replace(scorecard=point.scorecard)
    wrong = wrong_places(sample.result(sample.judgements(index, 300, documents))) if index else None
    return report_page(series.info, series.specs, point, before, result, wrong, 50)


def _nasty(series: Series) -> Page:
    judged = sample.nasty_judgements() + sample.judgements(3, 900, ("f-1", "f-2", "f-3"), 12)
    result = sample.result(judged)
    point = series.points[41]._replace(scorecard=result.scorecard)
    return report_page(series.info, series.specs, point, series.points[40], result, frozenset(), 50, sample.PROBLEMS)


def write(folder: Path, renderer: Renderer) -> None:
    """Every page and file below ``folder``."""
    for page in pages():
        _write(folder / page.path, renderer.render(page))
    for file in (*raw_files(), *renderer.assets()):
        _write(folder / file.path, file.content)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
