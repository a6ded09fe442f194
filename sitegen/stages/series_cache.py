"""The points of an eval but the newest one are kept, so that one point more costs little more than itself."""

from __future__ import annotations

from collections.abc import Sequence

from sitegen.analysis.cached import CacheStore
from sitegen.analysis.series import Derived
from sitegen.model.series import Series
from sitegen.model.timeline import EvalHistory
from sitegen.pages import links
from sitegen.pages.data.exports import SeriesData, series_data, series_files, table_head
from sitegen.render.writer import Writer, digest
from sitegen.stages.cached_kinds import SETTLED_POINTS, SettledPoints, WrittenPrefix


def settled_points(store: CacheStore, history: EvalHistory, page_keys: Sequence[str]) -> SettledPoints:
    """Those that are kept, if they are the first of these points; else none.

    ``page_keys``: digests of all that each report shows, every point before it included.
    """
    return SETTLED_POINTS.get(store, history.id, _inputs(history, page_keys[:-1])) or SettledPoints()


def write_series(
    writer: Writer, owner: str, series: Series, known: SettledPoints, page_keys: Sequence[str], store: CacheStore
) -> None:
    """Write the data files of a series, settled points as they stand there; keep what the next build can go on from."""
    settled = series_data(series, max(0, len(series.points) - 1), _standing(writer, series, known))
    files = series_files(series, settled)
    for file in files:
        writer.write(owner, file.path, file.content)
    if len(series.points) < 2:
        return
    json, csv = (
        WrittenPrefix(key=digest(file.content), size=len(part))
        for file, part in zip(files, (settled.json, settled.csv), strict=True)
    )
    derived = tuple(Derived(point.delta, point.flips, point.interval) for point in series.points[:-1])
    value = SettledPoints(derived=derived, json=json, csv=csv)
    SETTLED_POINTS.keep(store, series.info.id, value, _inputs(series.history, page_keys[:-1])[-1])


def _standing(writer: Writer, series: Series, points: SettledPoints) -> SeriesData | None:
    """What the files in the output folder hold of the settled points; None if they are not those that were kept."""
    json = writer.standing(links.series_data(series.info.id), points.json.key)
    table = writer.standing(links.series_csv(series.info.id), points.csv.key)
    if json is None or table is None or not table.startswith(table_head(series)):  # a metric that was not there before
        return None
    return SeriesData(len(points.derived), json[: points.json.size], table[: points.csv.size])


def _inputs(history: EvalHistory, page_keys: Sequence[str]) -> list[str]:
    """For each point a digest of what decides it and those before it: their reports, and the second clock's rules."""
    if not page_keys:
        return []
    newest = history.snapshots[-1]
    rules = repr((history.renamed_from, (newest.ground_truth, newest.mapping, newest.schema, newest.settings)))
    return [digest(key, rules) for key in page_keys]
