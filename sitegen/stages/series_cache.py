"""Caches the points of an eval except the newest, so that one more point costs little more than computing it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sitegen.analysis.cached import CacheStore
from sitegen.analysis.series import Derived
from sitegen.model.error_summaries import PatternSummary
from sitegen.model.series import Series
from sitegen.model.timeline import EvalHistory
from sitegen.pages import links
from sitegen.pages.data.series import OLDER_POINTS, older_files, older_points, series_files, table_head
from sitegen.render.writer import Writer, digest
from sitegen.stages.cached_kinds import SETTLED_POINTS


def settled_points(store: CacheStore, history: EvalHistory, page_keys: Sequence[str]) -> tuple[Derived, ...]:
    """Return the cached values of points if they are the first points of this history; otherwise none.

    ``page_keys``: for each point, the digest of everything that its report shows, which covers all earlier points.
    """
    return SETTLED_POINTS.get(store, history.id, _inputs(history, reversed(page_keys[:-1]))) or ()


def write_series(
    writer: Writer,
    owner: str,
    series: Series,
    patterns: Sequence[PatternSummary],
    page_keys: Sequence[str],
    store: CacheStore,
) -> None:
    """Write the data files of the newest points, and cache the points except the newest for the next build.

    ``patterns``: error patterns of the newest output.
    """
    for file in series_files(series, patterns):
        writer.write(owner, file.path, file.content)
    if len(series.points) > 1:
        settled = tuple(
            Derived(delta=point.delta, flips=point.flips, interval=point.interval, unit_changes=point.unit_changes)
            for point in series.points[:-1]
        )
        SETTLED_POINTS.keep(store, series.info.id, settled, next(_inputs(series.history, [page_keys[-2]])))


def write_older_points(writer: Writer, owner: str, series: Series, page_keys: Sequence[str]) -> None:
    """Write the files of older points that do not stand yet; most builds read and make none of them."""
    eval_id, head = series.info.id, table_head(series)
    for number in range(1, older_files(len(series.points)) + 1):
        key = digest(*_inputs(series.history, [page_keys[number * OLDER_POINTS - 1]]), head)
        paths = links.older_points(eval_id, number), links.older_points_csv(eval_id, number)
        fresh = [writer.is_fresh(owner, path, key) for path in paths]  # each of them is recorded
        if not all(fresh):
            for file in older_points(series, number):
                writer.write(owner, file.path, file.content, key)


def _inputs(history: EvalHistory, page_keys: Iterable[str]) -> Iterator[str]:
    """Return for each point a digest of the inputs of it and all earlier points: their reports and the newest rules."""
    newest = [(at.ground_truth, at.mapping, at.schema, at.settings) for at in history.snapshots[-1:]]
    rules = repr((history.renamed_from, newest))
    return (digest(key, rules) for key in page_keys)
