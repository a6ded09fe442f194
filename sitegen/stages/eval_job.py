"""Scores the snapshots of one eval and writes its pages: one task of the second stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from sitegen.analysis.cached import TaskCache
from sitegen.analysis.cells import CellTracker
from sitegen.analysis.change import changes
from sitegen.analysis.deltas import mixtures, under_rules_of
from sitegen.analysis.effects import windows
from sitegen.analysis.regressions import steps_of
from sitegen.analysis.standing import with_losses
from sitegen.errors import MissingObjectsError
from sitegen.history.entry_rules import DEFAULT_SETTINGS
from sitegen.history.fold_state import encode
from sitegen.history.memo_rows import within
from sitegen.model.cells import CellMap
from sitegen.model.commits import WORKTREE
from sitegen.model.kinds import traits_of
from sitegen.model.problems import Problem
from sitegen.model.scorecards import Result
from sitegen.model.site import RawFile
from sitegen.model.timeline import Edit, Snapshot
from sitegen.pages import links
from sitegen.pages.field import field_work
from sitegen.pages.report.page import ReportView
from sitegen.pages.report.patterns import pattern_summaries
from sitegen.pages.trend.page import has_variants
from sitegen.render.writer import WrittenFiles, digest
from sitegen.scoring.mapping_use import mapped_columns
from sitegen.scoring.scorer import ScoringInputs
from sitegen.scoring.usage import specs_with_usage
from sitegen.stages.cached_kinds import EDIT_OUTCOMES, NEWEST_REPORT, NewestReport
from sitegen.stages.commit_effects import (
    edit_outcome,
    keep_effects_of_commits,
    mixtures_of_commits,
    spans_of_commits,
    spans_of_edits,
)
from sitegen.stages.configuration import recall_mapping, without_settings
from sitegen.stages.eval_pages import eval_pages, record_of, suspects_of
from sitegen.stages.eval_task import EvalDone, EvalTask, WaitingEval, inputs_of, owner, sources_of
from sitegen.stages.failures import attempt, working_on
from sitegen.stages.pool import Pool
from sitegen.stages.report_files import ReportFiles, WaitingReports
from sitegen.stages.reports import ReportCollector, ReportInputs, ReportWriter
from sitegen.stages.scorecard_store import EvalScorecards, keep_cells, known_cells
from sitegen.stages.scoring import all_inputs, without_lost_contents
from sitegen.stages.series_pages import (
    draw_waiting_reports,
    number_of_short_reports,
    settled_points,
    write_series,
    write_series_pages,
)


def score_eval(task: EvalTask, pool: Pool | None = None) -> EvalDone | Problem:
    """Score what the memo lacks, write the newest report and the pages of all points. Older reports are not written.

    ``pool``: scores ranges of outputs in other processes; None: all are scored here.

    If sitegen fails, a problem is returned, and the pages written so far do not become part of the site. An output
    whose content this clone lacks is not scored; all others are shown.
    """
    return attempt("the pages of this eval", lambda: _scored_eval(task, pool), eval_id=task.info.id)


def _scored_eval(task: EvalTask, pool: Pool | None) -> EvalDone:
    try:
        return _EvalJob(task, pool).run()
    except MissingObjectsError:
        history, lost = without_lost_contents(task.context, task.history)
        if history is task.history:
            raise
        task = replace(task, history=history, first_only=False)
        return replace(_with_older(_EvalJob(task, pool).run(), task), lost_contents=lost)


def _with_older(done: EvalDone, task: EvalTask) -> EvalDone:
    older = draw_waiting_reports(task, done.waiting)
    return replace(
        done,
        files=_together(done.files, older.files),
        cached=(*done.cached, *older.cached),
        waiting=None,
    )


def _together(first: WrittenFiles, second: WrittenFiles) -> WrittenFiles:
    """Merge the files that the two tasks of an eval wrote, each file once."""
    rows = {row.path: row for row in (*first.rows, *second.rows)}
    return WrittenFiles(
        rows=tuple(rows.values()),
        written=first.written + second.written,
        contents=(*first.contents, *second.contents),
        held=(*first.held, *second.held),
    )


class _EvalJob:
    """Runs one task, from the oldest snapshot to the newest. Holds all scorecards, but only a few whole results."""

    def __init__(self, task: EvalTask, pool: Pool | None) -> None:
        self._task = task
        self._context = task.context
        self._info = task.info
        self._snapshots = task.history.snapshots
        self._owner = owner(task.info.id)
        self._cache = TaskCache(task.cached)
        self._cards = EvalScorecards(self._context, task.history, self._cache, pool)
        self._card_keys = [self._cards.key(snapshot) for snapshot in self._snapshots]
        self._specs = self._cards.series_specs()
        self._inputs = inputs_of(task)
        self._collector = ReportCollector(self._specs, self._inputs, self._cards)
        self._writer = self._context.writer(task.pages, held=task.first_only)
        self._renderer = self._context.renderer()
        self._sources = sources_of(task)
        self._page_keys = self._digests_of_reports()
        self._files = ReportFiles(
            self._context, self._info, self._snapshots, self._page_keys, self._sources, self._writer, self._cache
        )
        self._known = NEWEST_REPORT.get(self._cache, self._info.id, self._page_keys[-1:])
        self._patterns = self._known.patterns if self._known else ()

    def run(self) -> EvalDone:
        """Score the snapshots that lack anything, oldest first, then write the pages that show all of them."""
        last = len(self._snapshots) - 1
        full = range(number_of_short_reports(self._task), last + 1)
        stale = {index for index in full if not self._files.is_fresh(index)}
        compared = {last} if self._lacks_variants() else set()
        # The overview shows the error patterns of the newest report, so this report is made if the memo lacks them.
        drawn = stale if self._known or not self._snapshots else stale | {last}
        unscored = {index for index, snapshot in enumerate(self._snapshots) if snapshot not in self._cards}
        cached = known_cells(self._cache, self._info.id, self._card_keys) or CellMap(0, (), {})
        tracker, end = CellTracker(cached), len(self._snapshots)
        waiting = WaitingReports()
        if drawn and min(drawn) < cached.points:
            # A report locates each cell by the judgements of its own point or, if the cell has disappeared, of the
            # previous point. Cached cells have no locations, so tracking starts again at the point before the first
            # report to make. If the cache covers all points, tracking can end at the last of these reports.
            tracker = CellTracker(cached.up_to(max(0, min(drawn) - 1)))
            if cached.points == end:
                end = max(drawn) + 1
        needed = sorted(drawn | compared | unscored | set(range(tracker.points, end)))
        committed = sum(snapshot.commit.sha != WORKTREE for snapshot in self._snapshots)
        # The memo has scorecards but no whole results. Each result is computed once, and stored until it is drawn.
        beside = (self._mixtures(index, in_report=index in drawn) for index in needed)
        results = self._cards.results((self._snapshots[index] for index in needed), beside)
        for index, result in zip(needed, results, strict=True):
            with working_on(self._snapshots[index]):
                if index == tracker.points:
                    tracker.follow_result(result)
                    if tracker.points == committed:  # uncommitted outputs can differ at the next build
                        keep_cells(self._cache, self._info.id, self._card_keys, tracker.cells())
                if index in drawn:
                    inputs = self._collector.inputs(index, result, tracker)
                    if index < last:
                        waiting.add(inputs)
                    else:
                        self._draw_newest(inputs, self._files if index in stale else None)
                if index in compared:
                    self._write_variants(result)
        return self._finish(waiting, cached if cached.points == len(self._snapshots) else tracker.cells())

    def _mixtures(self, index: int, *, in_report: bool) -> Iterator[Snapshot]:
        """Yield what to score beside a point: its output by the newest rules; for a report, also what its delta needs.

        Those with the output of the point before come first.
        """
        at = self._snapshots[index]
        if in_report and index:
            yield from sorted(mixtures(self._snapshots[index - 1], at), key=lambda mixed: mixed.outputs == at.outputs)
        yield under_rules_of(at, self._snapshots[-1])

    def _digests_of_reports(self) -> list[str]:
        """Return for each report a digest of what it shows: all snapshots up to its own, the eval, the templates."""
        always = digest(
            repr(
                (
                    self._context.templates,
                    self._context.discrepancies_per_type,
                    self._info,
                    self._specs,
                    self._task.edits.value.moved,
                )
            )
        )
        edits = self._inputs.edits
        digests = []
        history = ""
        for snapshot, key, since_previous, beside, commit in zip(
            self._snapshots, self._card_keys, edits.since_previous, edits.beside, edits.made_with, strict=True
        ):
            since = _paths_and_commits(since_previous)
            history = digest(history, encode((snapshot, key, since)))
            linked = since if beside == since_previous else _paths_and_commits(beside)  # they are the same as a rule
            page_key = digest(always, history, encode((commit, linked)))
            digests.append(digest(page_key, repr(self._sources.files(snapshot))) if self._sources else page_key)
        return digests

    def _draw_newest(self, inputs: ReportInputs, files: ReportFiles | None) -> None:
        """Draw the newest report and note its error patterns. ``files``: writes it; None: it is not stale."""
        page = ReportWriter(self._context, self._info, self._inputs, self._task.edits.value.moved).page(inputs)
        if files:
            files.write(inputs.at, page, inputs.result)
        view = page.view
        assert isinstance(view, ReportView)
        self._patterns = pattern_summaries(
            view.patterns, view.discrepancies.total, view.card.metric(view.specs[0].name)
        )

    def _lacks_variants(self) -> bool:
        """Decide whether the newest point has or may have variants whose page is out of date."""
        if not self._snapshots or not traits_of(self._task.history.kind).answers_cases:
            return False
        newest = self._snapshots[-1]
        if newest in self._cards and not has_variants(self._info, self._cards[newest]):
            return False
        return not self._writer.is_fresh(self._owner, links.variants(self._info.id), self._page_keys[-1])

    def _write_variants(self, result: Result) -> None:
        """Write the page that compares the variants of the newest point, if it has any."""
        if has_variants(self._info, result.scorecard):
            from sitegen.pages.variants.page import variants_page  # imports statistics that few evals need

            specs = specs_with_usage(self._specs, [result.scorecard])
            page = variants_page(self._info, specs, self._snapshots[-1], result)
            self._writer.write(self._owner, page.path, self._renderer.render(page), self._page_keys[-1])

    def _finish(self, waiting: WaitingReports, cells: CellMap) -> EvalDone:
        """Write the pages that show all points, and cache the effects of new points on commits and edits."""
        eval_id, first_new, cache = self._info.id, self._task.first_new, self._cache
        settled = settled_points(cache, self._task.history, self._page_keys)
        self._cards.fill(mixtures_of_commits(self._snapshots, first_new))
        series = self._cards.series(self._info, self._inputs, cells, settled, self._collector.derived)
        works = field_work(eval_id, cells)
        suspects = suspects_of(self._context, series, self._cards.key, cache)
        beside = self._inputs.edits.beside
        found = steps_of(series, beside) if series.points and not self._known else ()
        of_newest = self._known or NewestReport(with_losses(series, found, beside), self._patterns)
        steps = of_newest.steps
        if self._page_keys and not self._known:
            NEWEST_REPORT.keep(cache, eval_id, of_newest, self._page_keys[-1])
        newest = self._newest_inputs()
        edit_windows = windows(series.points, self._inputs.edits.made_with)
        compared = changes(series, spans_of_commits(self._snapshots, first_new), self._cards.__getitem__)
        edits = spans_of_edits(edit_windows, first_new)
        compared |= changes(series, [pair for pair in edits.values() if pair not in compared])
        decisions = {}
        for edit, pair in edits.items():
            outcome = EDIT_OUTCOMES.keep(cache, within(eval_id, edit), edit_outcome(compared[pair]))
            decisions[edit] = outcome.verdict.decision if outcome.verdict else None
        edit_windows = tuple(window._replace(decision=decisions.get(window.edit)) for window in edit_windows)
        record = record_of(
            series,
            self._inputs.edits.made_with,
            edit_windows,
            steps,
            suspects,
            self._patterns,
            newest,
            works,
        )
        if self._snapshots and (use := self._files.source_use(len(self._snapshots) - 1)):
            record = replace(record, problems=(*record.problems, *use.problems))
        for page in eval_pages(series, steps, record.summary, mapped_columns(newest) if newest else ()):
            content = page.content if isinstance(page, RawFile) else self._renderer.render(page)
            self._writer.write(self._owner, page.path, content)
        if not self._task.first_only:
            write_series_pages(self._task, self._writer, series, steps, works, self._page_keys, self._cards.result)
        patterns = record.summary.patterns
        write_series(self._writer, self._owner, series, patterns, self._page_keys, cache)
        keep_effects_of_commits(series, self._inputs, first_new, compared, cache)
        left = WaitingEval(tuple(self._page_keys), waiting.parts())
        return EvalDone(
            record=record,
            files=self._writer.files,
            cached=cache.new,
            waiting=left if left.parts or self._task.first_only else None,
        )

    def _newest_inputs(self) -> ScoringInputs | None:
        """Return the scoring inputs of the newest point, with its mapping if cached; None if no rule names fields."""
        newest = self._snapshots[-1] if self._snapshots else None
        if newest is None or not traits_of(self._task.history.kind).is_structured:
            return None
        if newest.mapping is None and newest.settings == DEFAULT_SETTINGS:
            return None
        inputs = next(all_inputs(self._context, [newest]))
        recall_mapping(dict(self._context.mappings), without_settings(newest), inputs)
        return inputs


def _paths_and_commits(edits: Sequence[Edit]) -> list[tuple[str, str]]:
    return [(edit.path, edit.commit.sha) for edit in edits]
