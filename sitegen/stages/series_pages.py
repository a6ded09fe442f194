"""Writes the pages of one eval that are not read first: those that show all of its points, and its older reports.

The former are the data files of older points, the comparison of two points, the pages of fields, and the short pages of
old reports. If the first pages of a site are written early, a further task makes them from what the memo has by then:
the scorecards, the cells and the settled points, which are all points except the newest. Because these are cached, one
more point costs little more than computing it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from sitegen.analysis.cached import CacheStore, TaskCache
from sitegen.analysis.series import Derived
from sitegen.model.cells import CellMap
from sitegen.model.error_summaries import PatternSummary
from sitegen.model.problems import Problem
from sitegen.model.regressions import Step
from sitegen.model.scorecards import Result
from sitegen.model.series import Series
from sitegen.model.timeline import EvalHistory, Snapshot
from sitegen.pages import links
from sitegen.pages.data.series import OLDER_POINTS, older_files, older_points, series_files, table_head
from sitegen.pages.field import FieldWork, field_work
from sitegen.pages.short_report import short_report
from sitegen.render.writer import Writer, WrittenFiles, digest
from sitegen.stages.cached_kinds import SETTLED_POINTS
from sitegen.stages.eval_pages import write_comparison, write_fields
from sitegen.stages.eval_task import EvalPagesDone, EvalTask, WaitingEval, inputs_of, owner, sources_of
from sitegen.stages.failures import attempt, working_on
from sitegen.stages.report_files import ReportFiles, newest_first
from sitegen.stages.reports import ReportWriter
from sitegen.stages.scorecard_store import EvalScorecards, known_cells


def write_series_pages(
    task: EvalTask,
    writer: Writer,
    series: Series,
    steps: tuple[Step, ...],
    works: Sequence[FieldWork],
    keys: Sequence[str],
    result_of: Callable[[Snapshot], Result],
) -> None:
    """Write the pages that are out of date.

    Args:
        task: the task of the eval.
        writer: writes and records the files.
        series: all points of the eval.
        steps: their steps.
        works: the pages of its fields.
        keys: for each report, the digest of everything that it shows.
        result_of: scores a mixture of two outputs.

    """
    renderer, owner_name = task.context.renderer(), owner(task.info.id)
    write_older_points(writer, owner_name, series, keys)
    write_comparison(writer, renderer, owner_name, series, steps, keys)
    for index in range(number_of_short_reports(task)):
        path, key = links.report(task.info.id, series.points[index].snapshot.slug), digest("short", keys[index])
        if not writer.is_fresh(owner_name, path, key):
            writer.write(owner_name, path, renderer.render(short_report(series, index)), key)
    write_fields(writer, renderer, owner_name, series, works, keys, result_of)


def number_of_short_reports(task: EvalTask) -> int:
    """Return how many of the oldest points have a short page in the place of a report (``limits.reports_kept``)."""
    kept = task.context.reports_kept
    return 0 if kept is None else max(0, len(task.history.snapshots) - kept)


def write_waiting_series_pages(task: EvalTask) -> WrittenFiles | Problem:
    """Write the pages of an eval whose first pages are written. Returns a problem if sitegen fails."""
    return attempt("the pages of this eval", lambda: _written(task), eval_id=task.info.id)


def _written(task: EvalTask) -> WrittenFiles:
    assert task.waiting
    history, keys, cache = task.history, task.waiting.keys, TaskCache(task.cached)
    cards = EvalScorecards(task.context, history, cache)
    cells = known_cells(cache, history.id, list(map(cards.key, history.snapshots))) or CellMap(0, (), {})
    settled = settled_points(cache, history, keys)
    series = cards.series(task.info, inputs_of(task), cells, settled)
    works = field_work(history.id, cells)
    writer = task.context.writer(task.pages)
    write_series_pages(task, writer, series, task.waiting.steps, works, keys, cards.result)
    return writer.files


def write_older_reports(task: EvalTask) -> EvalPagesDone | Problem:
    """Write a range of the waiting reports of an eval, the newest first. Returns a problem if sitegen fails."""
    return attempt("the pages of this eval", lambda: draw_waiting_reports(task, task.waiting), eval_id=task.info.id)


def draw_waiting_reports(task: EvalTask, waiting: WaitingEval | None) -> EvalPagesDone:
    """Draw the waiting reports."""
    keys, parts = (waiting.keys, waiting.parts) if waiting else ((), ())
    context, info, snapshots = task.context, task.info, task.history.snapshots
    writer, cache = context.writer(task.pages), TaskCache(task.cached)
    sources = sources_of(task)
    files = ReportFiles(context, info, snapshots, keys, sources, writer, cache)
    draw = ReportWriter(context, info, inputs_of(task), task.edits.value.moved)
    for inputs in newest_first(parts):
        with working_on(snapshots[inputs.at]):
            files.write(inputs.at, draw.page(inputs), inputs.result)
    return EvalPagesDone(files=writer.files, cached=cache.new)


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
            Derived(change=point.change, interval=point.interval, noise=point.noise) for point in series.points[:-1]
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
