"""Writes the pages of one eval that show all of its points and that are not read first.

These are the data files of older points, the comparison of two points, the pages of fields, and the short pages of old
reports. If the first pages of a
site are written early, a further task makes them from what the memo has by then: the scorecards, the cells and the
settled points.
"""

from __future__ import annotations

from collections.abc import Sequence

from sitegen.analysis.cached import TaskCache
from sitegen.model.cells import CellMap
from sitegen.model.problems import Problem
from sitegen.model.regressions import Step
from sitegen.model.series import Series
from sitegen.pages.field.page import FieldWork, field_work
from sitegen.render.writer import Writer, WrittenFiles
from sitegen.stages.eval_pages import write_comparison, write_fields
from sitegen.stages.eval_task import EvalTask, inputs_of, owner
from sitegen.stages.failures import attempt
from sitegen.stages.scorecard_store import EvalScorecards, known_cells
from sitegen.stages.series_cache import settled_points, write_older_points
from sitegen.stages.size_budget.thinning import Short, write_thinned


def write_series_pages(
    task: EvalTask,
    writer: Writer,
    series: Series,
    steps: tuple[Step, ...],
    works: Sequence[FieldWork],
    keys: Sequence[str],
) -> None:
    """Write the pages that are out of date.

    Args:
        task: the task of the eval.
        writer: writes and records the files.
        series: all points of the eval.
        steps: their steps.
        works: the pages of its fields.
        keys: for each report, the digest of everything that it shows.

    """
    renderer, owner_name = task.context.renderer(), owner(task.info.id)
    write_older_points(writer, owner_name, series, keys)
    write_comparison(writer, renderer, owner_name, series, steps, keys)
    write_thinned(writer, renderer, owner_name, series, keys, short_reports(task, keys))
    thinned, before = task.thinned_fields, task.fields_before
    if thinned is None and before is not None:
        thinned = sum(work.position < before for work in works)
    write_fields(writer, renderer, owner_name, series, works, keys, thinned)


def short_reports(task: EvalTask, keys: Sequence[str]) -> Short:
    """Return the points of an eval with a short page. ``keys``: for each report, the digest of what it shows."""
    if task.thinned is None:
        return Short.standing(keys, task.context.reports_kept, task.pages)
    return Short.of(len(keys), task.context.reports_kept, task.thinned)


def write_waiting_series_pages(task: EvalTask) -> WrittenFiles | Problem:
    """Write the pages of an eval whose first pages are written. Returns a problem if sitegen fails."""
    return attempt("the pages of this eval", lambda: _written(task), eval_id=task.info.id)


def _written(task: EvalTask) -> WrittenFiles:
    assert task.waiting
    history, keys, cache = task.history, task.waiting.keys, TaskCache(task.cached)
    cards = EvalScorecards(task.context, history, cache)
    cells = known_cells(cache, history.id, list(map(cards.key, history.snapshots))) or CellMap(0, ())
    settled = settled_points(cache, history, keys)
    series = cards.series(task.info, inputs_of(task), cells, settled)
    works = field_work(history.id, cells, history.snapshots)
    writer = task.context.writer(task.pages)
    write_series_pages(task, writer, series, task.waiting.steps, works, keys)
    return writer.files
