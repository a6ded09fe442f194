"""Caches the points of an eval except the newest, so that one more point costs little more than computing it."""

from __future__ import annotations

from collections.abc import Sequence

from sitegen.analysis.cached import CacheStore
from sitegen.analysis.series import Derived
from sitegen.model.error_summaries import PatternSummary
from sitegen.model.series import Series
from sitegen.model.timeline import EvalHistory
from sitegen.pages import links
from sitegen.pages.data.series import (
    OLDER_POINTS,
    SeriesData,
    older_files,
    older_points,
    series_data,
    series_files,
    table_head,
)
from sitegen.render.writer import Writer, digest
from sitegen.stages.cached_kinds import SETTLED_POINTS, SettledPoints, WrittenPrefix


def settled_points(store: CacheStore, history: EvalHistory, page_keys: Sequence[str]) -> SettledPoints:
    """Return the cached points if they are the first points of this history; otherwise none.

    ``page_keys``: for each point, the digest of everything that its report shows, which covers all earlier points.
    """
    return SETTLED_POINTS.get(store, history.id, _inputs(history, page_keys[:-1])) or SettledPoints()


def write_series(
    writer: Writer,
    owner: str,
    series: Series,
    patterns: Sequence[PatternSummary],
    settled: SettledPoints,
    page_keys: Sequence[str],
    store: CacheStore,
) -> None:
    """Write the data files of a series, and cache its points except the newest for the next build.

    ``patterns``: error patterns of the newest output. ``settled``: the cached points, whose part of the newest files is
    copied from the output folder.
    """
    _write_older_points(writer, owner, series, page_keys)
    data = series_data(series, max(0, len(series.points) - 1), _standing(writer, series, settled))
    files = series_files(series, data, patterns)
    for file in files:
        writer.write(owner, file.path, file.content)
    if len(series.points) < 2:
        return
    json, csv = (
        WrittenPrefix(key=digest(file.content), size=len(part))
        for file, part in zip(files, (data.json, data.csv), strict=True)
    )
    derived = tuple(Derived(point.delta, point.flips, point.interval) for point in series.points[:-1])
    value = SettledPoints(derived=derived, json=json, csv=csv)
    SETTLED_POINTS.keep(store, series.info.id, value, _inputs(series.history, page_keys[:-1])[-1])


def _write_older_points(writer: Writer, owner: str, series: Series, page_keys: Sequence[str]) -> None:
    """Write the files of older points that do not stand yet; most builds read and make none of them."""
    eval_id, head = series.info.id, table_head(series)
    for number in range(1, older_files(len(series.points)) + 1):
        key = digest(*_inputs(series.history, [page_keys[number * OLDER_POINTS - 1]]), head)
        paths = links.older_points(eval_id, number), links.older_points_csv(eval_id, number)
        fresh = [writer.is_fresh(owner, path, key) for path in paths]  # each of them is recorded
        if not all(fresh):
            for file in older_points(series, number):
                writer.write(owner, file.path, file.content, key)


def _standing(writer: Writer, series: Series, points: SettledPoints) -> SeriesData | None:
    """Return the settled points' part of the newest files in the output folder; None if the files changed."""
    if older_files(len(points.derived) + 1) != older_files(len(series.points)):  # some points are older ones since
        return None
    json = writer.standing(links.series_data(series.info.id), points.json.key)
    table = writer.standing(links.series_csv(series.info.id), points.csv.key)
    if json is None or table is None or not table.startswith(table_head(series)):  # a metric is new
        return None
    return SeriesData(len(points.derived), json[: points.json.size], table[: points.csv.size])


def _inputs(history: EvalHistory, page_keys: Sequence[str]) -> list[str]:
    """Return for each point a digest of the inputs of it and all earlier points: their reports and the newest rules."""
    if not page_keys:
        return []
    newest = history.snapshots[-1]
    rules = repr((history.renamed_from, (newest.ground_truth, newest.mapping, newest.schema, newest.settings)))
    return [digest(key, rules) for key in page_keys]
