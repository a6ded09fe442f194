"""Replaces existing full reports and pages of fields by short pages, which need only what the memo has.

Nothing else of the eval is read or changed. A page takes a tenth of a millisecond, so other processes would not help.
An eval of which a short page has to be full again is processed again as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sitegen.analysis.blame import Blame
from sitegen.analysis.memo import Memo, PageRow
from sitegen.history.memo_rows import within
from sitegen.model.problems import Problem
from sitegen.model.site import Page
from sitegen.model.timeline import EvalHistory, EvalUpdate, Snapshot
from sitegen.pages import links
from sitegen.pages.field.page import field_work
from sitegen.pages.short_pages import short_field, short_report
from sitegen.render.writer import WrittenFiles
from sitegen.stages.cached_kinds import SOURCE_USES
from sitegen.stages.eval_job import write_eval
from sitegen.stages.eval_task import EditsOfEvals, owner, task_for
from sitegen.stages.evals import eval_history
from sitegen.stages.pool import Pool
from sitegen.stages.scorecard_store import EvalScorecards, known_cells, pins_of, under_pins
from sitegen.stages.site_files import SiteFiles
from sitegen.stages.size_budget.thinning import first_full, room_key
from sitegen.stages.timeline import Timeline


def write_again(
    timeline: Timeline,
    memo: Memo,
    site_files: SiteFiles,
    pool: Pool,
    thinned: Mapping[str, int],
    thinned_fields: Mapping[str, int],
) -> tuple[Problem, ...]:
    """Make exactly the given number of oldest reports and pages of fields of each eval short.

    Evals that a mapping lacks keep their pages of this sort. No other page changes. Returns a problem for each eval
    that sitegen failed to make, whose pages stay as they are.
    """
    evals = dict.fromkeys((*thinned, *thinned_fields))
    pins = pins_of(timeline, memo) if evals else {}
    longer = []
    for eval_id in evals:
        history = under_pins(eval_history(timeline, memo, eval_id), pins)
        counts = thinned.get(eval_id), thinned_fields.get(eval_id)
        if not _shorten(timeline, memo, site_files, history, *counts):
            longer.append((history, counts))
    # A report that becomes full again is made from all points before it, so the whole eval is processed again.
    edits = EditsOfEvals(timeline)
    tasks = (
        task_for(timeline, memo, site_files, EvalUpdate(history, len(history.snapshots)), edits, *counts)
        for history, counts in longer
    )
    failures: list[Problem] = []
    for task, done in pool.map(write_eval, tasks):
        if isinstance(done, Problem):
            failures.append(done)
        else:
            site_files.replace(owner(task.info.id), done.files)
            site_files.record_archived(done.archived)
    return tuple(failures)


def _shorten(
    timeline: Timeline,
    memo: Memo,
    site_files: SiteFiles,
    history: EvalHistory,
    thinned: int | None,
    thinned_fields: int | None,
) -> bool:
    """Shorten the ``thinned`` oldest reports and the pages of the ``thinned_fields`` fields that changed longest ago.

    None leaves pages as they are. Returns False, without any change, if a short page must be full, the archive lacks
    the full report of a short one, or the memo lacks the cells of the eval.
    """
    info, context = timeline.info(history), timeline.context_for(history.id)
    rows = {row.path: row for row in site_files.present_files(owner(info.id))}
    short = {path for path, row in rows.items() if row.full}
    oldest, newest = history.snapshots[: thinned or 0], history.snapshots[thinned:] if thinned is not None else ()
    if any(links.report(info.id, at.slug) in short for at in newest):
        return False
    first = first_full(len(history.snapshots), context.reports_kept)
    snapshots = [at for at in oldest[first:] if links.report(info.id, at.slug) not in short]
    archived = site_files.archived_files(owner(info.id))
    if archived is not None:
        keys = {row.path: row.key for row in archived}
        reports = (links.report(info.id, at.slug) for at in snapshots)
        if any(keys.get(path) != rows[path].key for path in reports):
            return False
    fields: list[Page] = []
    if thinned_fields is not None:
        cards = EvalScorecards(context, history, memo)
        cells = known_cells(memo, info.id, [cards.key(at) for at in history.snapshots])
        if cells is None or cells.points < len(history.snapshots):
            return False
        works, blame = field_work(info.id, cells, history.snapshots), Blame(cells, history.snapshots)
        if any(work.path in short for work in works[thinned_fields:]):
            return False
        longer = (work for work in works[:thinned_fields] if work.path not in short)
        fields = [short_field(info, history.snapshots, work, blame) for work in longer]
    writer, renderer = context.writer(), context.renderer()

    def write(page: Page, paths: Iterable[str]) -> None:
        full = rows[page.path]
        size = sum(row.size for path in paths if (row := rows.pop(path, None)))
        writer.write(full.owner, page.path, renderer.render(page), room_key(full.key), full=size)

    for index, at in enumerate(oldest):
        if index >= first and links.report(info.id, at.slug) not in short:
            paths = [address(info.id, at.slug) for address in links.REPORT_FILES]
            write(short_report(info.id, index, at), paths)
    for page in fields:
        write(page, [page.path])
    if info.source and thinned is not None:
        _drop_pictures(memo, info.id, rows, newest)
    site_files.replace(owner(info.id), WrittenFiles((*rows.values(), *writer.rows), writer.written))
    return True


def _drop_pictures(memo: Memo, eval_id: str, rows: dict[str, PageRow], full: Sequence[Snapshot]) -> None:
    """Remove the pictures of a source that no full report shows."""
    needed: set[str] = set()
    for at in full:
        use = SOURCE_USES.get(memo, within(eval_id, at.slug), [rows[links.report(eval_id, at.slug)].key])
        needed.update(picture.path for picture in (use.pictures if use else ()))
    for path in [path for path in rows if links.is_source_picture(path) and path not in needed]:
        del rows[path]
