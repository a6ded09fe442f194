"""Writes the pages of one scored eval: those that show all of its points, and its reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from sitegen.analysis.blame import Blame
from sitegen.analysis.cached import CacheStore, TaskCache
from sitegen.analysis.series import Derived
from sitegen.engine.cached_kinds import SETTLED_POINTS
from sitegen.engine.configuration import recall_mapping, without_settings
from sitegen.engine.environment import Renderer
from sitegen.engine.eval_task import EvalTask, PagesDone, PagesTask, inputs_of, owner, sources_of
from sitegen.engine.failures import attempt, write_in_its_place
from sitegen.engine.reports import ReportFiles, Reports
from sitegen.engine.scorecard_store import EvalScorecards
from sitegen.engine.scoring import all_inputs
from sitegen.engine.writer import Writer, digest
from sitegen.history.entry_rules import DEFAULT_SETTINGS
from sitegen.history.fold_state import encode
from sitegen.model.changes import Step
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Problem
from sitegen.model.series import Series
from sitegen.model.timeline import EvalHistory
from sitegen.pages import links
from sitegen.pages.compare import compare_page
from sitegen.pages.compare_data import compare_data
from sitegen.pages.data.series import OLDER_POINTS, older_files, older_points, series_files, table_head
from sitegen.pages.field import field_page, field_work
from sitegen.pages.other_pages import short_report
from sitegen.pages.suspect_truth import suspect_truth_page
from sitegen.pages.trend.page import TrendView, has_variants, trend_page
from sitegen.pages.trend.trend_rows import older_rows
from sitegen.scoring.mapping_use import mapped_columns
from sitegen.scoring.scorer import ScoringInputs
from sitegen.scoring.usage import specs_with_usage


def write_eval(task: PagesTask) -> PagesDone | Problem:
    """Write every page of an eval but its older reports. Returns a problem if sitegen fails."""
    return attempt("the pages of this eval", lambda: _EvalPages(task).write(), eval_id=task.info.id)


def write_reports(task: PagesTask) -> PagesDone | Problem:
    """Write the reports of a task. Returns a problem if sitegen fails at more than single reports."""
    return attempt("the reports of this eval", lambda: _EvalPages(task).write_reports(), eval_id=task.info.id)


class _EvalPages:
    """Writes the pages of one task, from what the memo has of the eval."""

    def __init__(self, task: PagesTask) -> None:
        self._task = task
        self._info = info = task.info
        self._history = task.history
        self._keys = task.keys
        self._owner = owner(info.id)
        self._renderer = task.context.renderer()
        self._writer = task.context.writer(task.pages)
        self._cache = TaskCache(task.cached)
        self._cards = EvalScorecards(task.context, self._history, self._cache)
        self._inputs = inputs_of(task)
        self._cells = self._cards.cells()
        self._files = ReportFiles(task, task.keys, sources_of(task), self._writer, self._cache)

    def write(self) -> PagesDone:
        """Write every page but older reports; first the files and pages to which the trend page leads."""
        task, writer, info, keys = self._task, self._writer, self._info, self._keys
        derived = (*settled_points(self._cache, self._history, keys), *([task.newest] if task.newest else []))
        series = self._cards.series(info, self._inputs, self._cells, derived)
        summary = task.record.summary
        for file in series_files(series, summary.patterns):
            writer.write(self._owner, file.path, file.content)
        newest, short = len(series.points) - 1, number_of_short_reports(task)
        stale = [index for index in range(short, newest + 1) if not self._files.is_fresh(index)]
        if newest in stale:
            self._write_report(newest, Reports(task, self._cards, self._cells, derived, self._inputs))
        self._write_variants(series)
        self._write_trend(series)
        write_older_points(writer, self._owner, series, keys)
        write_comparison(writer, self._renderer, self._owner, series, summary.steps, keys)
        for index in range(short):
            path, key = links.report(info.id, series.points[index].snapshot.slug), digest("short", keys[index])
            if not writer.is_fresh(self._owner, path, key):
                writer.write(self._owner, path, self._renderer.render(short_report(series, index)), key)
        self._write_fields(series)
        older = tuple(index for index in reversed(stale) if index < newest)
        return PagesDone(files=writer.files, cached=self._cache.new, older_reports=older)

    def _write_fields(self, series: Series) -> None:
        """Write the pages of fields with a changed cell."""
        blame: Blame | None = None
        for work in field_work(self._info.id, self._cells):
            key = digest(self._keys[work.last], encode(work.cells))
            if not self._writer.is_fresh(self._owner, work.path, key):
                blame = blame or Blame(series.cells, self._history.snapshots, self._cards.result)
                self._writer.write(self._owner, work.path, self._renderer.render(field_page(series, blame, work)), key)

    def write_reports(self) -> PagesDone:
        """Write the reports of the task. One that fails is replaced by a page that says so."""
        derived = settled_points(self._cache, self._history, self._keys)
        reports = Reports(self._task, self._cards, self._cells, derived, self._inputs)
        failures = []
        for index in self._task.reports:
            snapshot = self._history.snapshots[index]
            done = attempt(
                "the report of this iteration",
                partial(self._write_report, index, reports),
                path=snapshot.outputs[0].path if snapshot.outputs else None,
                commit=snapshot.commit.sha,
                eval_id=self._info.id,
            )
            if isinstance(done, Problem):
                failures.append(done)
                path = links.report(self._info.id, snapshot.slug)
                write_in_its_place(self._writer, self._renderer, self._owner, path, done)
        return PagesDone(files=self._writer.files, cached=self._cache.new, failures=tuple(failures))

    def _write_report(self, index: int, reports: Reports) -> None:
        result = self._cards.result(self._history.snapshots[index])
        self._files.write(index, reports.page(index, result), result)

    def _write_variants(self, series: Series) -> None:
        """Write the page that compares the variants of the newest point, if it has any."""
        newest = series.points[-1] if series.points else None
        if (
            newest is None
            or not traits_of(series.info.kind).answers_cases
            or not has_variants(self._info, newest.scorecard)
        ):
            return
        path, key = links.variants(self._info.id), self._keys[-1]
        if not self._writer.is_fresh(self._owner, path, key):
            from sitegen.pages.variants import variants_page  # imports statistics that few evals need

            specs = specs_with_usage(self._cards.series_specs(), [newest.scorecard])
            page = variants_page(self._info, specs, newest.snapshot, self._cards.result(newest.snapshot))
            self._writer.write(self._owner, path, self._renderer.render(page), key)

    def _write_trend(self, series: Series) -> None:
        """Write the trend page, after the page and the file to which it leads."""
        summary, inputs = self._task.record.summary, newest_inputs(self._task)
        columns = mapped_columns(inputs) if inputs else ()
        trend = trend_page(series, summary.steps, len(summary.suspects), columns, summary.patterns)
        if summary.suspects:
            suspects = suspect_truth_page(summary)
            self._writer.write(self._owner, suspects.path, self._renderer.render(suspects))
        if isinstance(trend.view, TrendView) and (rows := older_rows(trend.view)):
            self._writer.write(self._owner, rows.path, rows.content)
        self._writer.write(self._owner, trend.path, self._renderer.render(trend))


def newest_inputs(task: EvalTask) -> ScoringInputs | None:
    """Return the scoring inputs of the newest point, with its mapping if cached; None if no rule names fields."""
    newest = task.history.snapshots[-1] if task.history.snapshots else None
    if newest is None or not traits_of(task.history.kind).is_structured:
        return None
    if newest.mapping is None and newest.settings == DEFAULT_SETTINGS:
        return None
    inputs = next(all_inputs(task.context, [newest]))
    recall_mapping(dict(task.context.mappings), without_settings(newest), inputs)
    return inputs


def write_comparison(
    writer: Writer, renderer: Renderer, owner: str, series: Series, steps: tuple[Step, ...], page_keys: Sequence[str]
) -> None:
    """Write the page that compares two points and the files that it loads, unless they show no more than before.

    It shows nothing that the reports do not, so their digests ``page_keys`` together decide what it shows.
    """
    path, key = links.compare(series.info.id), digest("comparison", *page_keys)
    if len(series.points) < 2 or writer.are_fresh(owner, path, key):
        return
    data = compare_data(series, steps)
    writer.write(owner, path, renderer.render(compare_page(series, data)), key)
    for piece in data.pieces:
        writer.write(owner, piece.path, piece.content, key)


def number_of_short_reports(task: EvalTask) -> int:
    """Return how many of the oldest points have a short page in the place of a report (``limits.reports_kept``)."""
    kept = task.context.reports_kept
    return 0 if kept is None else max(0, len(task.history.snapshots) - kept)


def settled_points(store: CacheStore, history: EvalHistory, page_keys: Sequence[str]) -> tuple[Derived, ...]:
    """Return the cached values of points if they are the first points of this history; otherwise none.

    ``page_keys``: for each point, the digest of everything that its report shows, which covers all earlier points.
    """
    return SETTLED_POINTS.get(store, history.id, _inputs(history, reversed(page_keys[:-1]))) or ()


def derived_values(series: Series) -> tuple[Derived, ...]:
    """Return what was computed of each point and the points before it."""
    return tuple(Derived(change=point.change, interval=point.interval, noise=point.noise) for point in series.points)


def keep_settled_points(series: Series, page_keys: Sequence[str], store: CacheStore) -> None:
    """Cache the points except the newest, which can still become stale."""
    if len(series.points) > 1:
        inputs = next(_inputs(series.history, [page_keys[-2]]))
        SETTLED_POINTS.keep(store, series.info.id, derived_values(series)[:-1], inputs)


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
