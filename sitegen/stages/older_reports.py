"""Writes the older reports of an eval, which wait until its scores and its newest report are written."""

from __future__ import annotations

from functools import partial

from sitegen.analysis.cached import TaskCache
from sitegen.model.problems import Problem
from sitegen.pages import links
from sitegen.pages.short_pages import short_report
from sitegen.stages.eval_task import EvalPagesDone, EvalTask, WaitingEval, inputs_of, owner, sources_of
from sitegen.stages.failures import attempt, working_on
from sitegen.stages.report_files import ReportFiles, newest_first
from sitegen.stages.reports import ReportWriter
from sitegen.stages.size_budget.thinning import Short, write_short


def write_older_reports(task: EvalTask) -> EvalPagesDone | Problem:
    """Write a range of the waiting reports of an eval, the newest first. Returns a problem if sitegen fails."""
    return attempt("the pages of this eval", lambda: draw_waiting_reports(task, task.waiting), eval_id=task.info.id)


def draw_waiting_reports(task: EvalTask, waiting: WaitingEval | None) -> EvalPagesDone:
    """Draw the waiting reports: full ones for the site, and for the archive those with a short page on the site."""
    keys, parts = (waiting.keys, waiting.parts) if waiting else ((), ())
    context, info, snapshots = task.context, task.info, task.history.snapshots
    writer, cache = context.writer(task.pages), TaskCache(task.cached)
    sources = sources_of(task)
    files = ReportFiles(context, info, snapshots, keys, sources, writer, cache)
    draw = ReportWriter(context, info, inputs_of(task), task.edits.value.moved)
    archived = context.archive_pages(task.archived or ())
    archive = ReportFiles(context, info, snapshots, keys, sources, archived, cache)
    short = Short.of(len(snapshots), context.reports_kept, task.thinned or 0)
    for inputs in newest_first(parts):
        index, result = inputs.at, inputs.result
        with working_on(snapshots[index]):
            if index in short and task.archived is not None and not archive.is_fresh(index):
                archive.write(index, draw.page(inputs), result)
            if index in short.room:
                page = partial(short_report, info.id, index, snapshots[index])
                paths = [address(info.id, snapshots[index].slug) for address in links.REPORT_FILES]
                write_short(writer, context.renderer(), owner(info.id), paths, keys[index], page)
            elif index not in short:
                files.write(index, draw.page(inputs), result)
    return EvalPagesDone(files=writer.files, archived=archived.files, cached=cache.new)
