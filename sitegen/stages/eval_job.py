"""Scores the snapshots of one eval and writes its pages: the task that one process does for an eval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from sitegen.analysis.cached import CachedRow, TaskCache, within
from sitegen.analysis.cells import CellTracker
from sitegen.analysis.deltas import mixtures
from sitegen.analysis.effects import windows
from sitegen.analysis.memo import PageRow
from sitegen.analysis.regressions import steps_of
from sitegen.errors import MissingObjectsError
from sitegen.frozen import Frozen
from sitegen.history.entry_rules import DEFAULT_SETTINGS
from sitegen.history.fold_state import encode
from sitegen.model.cells import CellMap
from sitegen.model.commits import WORKTREE
from sitegen.model.kinds import traits_of
from sitegen.model.problems import Problem
from sitegen.model.regressions import EditedFile
from sitegen.model.scorecards import Result
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page, RawFile
from sitegen.model.timeline import Edit, EvalHistory, Snapshot
from sitegen.pages import links
from sitegen.pages.data.exports import results_json
from sitegen.pages.report import ReportView, leaves_anything_out
from sitegen.pages.report.patterns import pattern_summaries
from sitegen.pages.report.rows_file import rows_file
from sitegen.pages.report.tree import TreeView, has_tree, tree_page
from sitegen.pages.trend.page import has_variants
from sitegen.render.writer import WrittenFiles, digest
from sitegen.scoring.mapping_use import mapped_columns
from sitegen.scoring.scorer import ScoringInputs
from sitegen.scoring.usage import specs_with_usage
from sitegen.stages.cached_kinds import (
    COMMIT_EFFECTS,
    EDIT_OUTCOMES,
    ERROR_PATTERNS,
    SOURCE_USES,
    EvalRecord,
    SourceUse,
)
from sitegen.stages.commit_effects import effects_of_commits, mixtures_of_commits, outcomes_of_edits
from sitegen.stages.eval_pages import eval_pages, record_of, suspects_of, write_fields
from sitegen.stages.failures import attempt, working_on
from sitegen.stages.mapping_cache import recall_mapping, without_settings
from sitegen.stages.reports import ReportWriter
from sitegen.stages.scorecard_store import EvalScorecards, keep_cells, known_cells
from sitegen.stages.scoring import all_inputs, without_lost_outputs
from sitegen.stages.series_cache import settled_points, write_series
from sitegen.stages.size_budget.thinning import Short, room_key, write_thinned
from sitegen.stages.sources import EvalSources
from sitegen.stages.worker_context import WorkerContext


class EvalTask(Frozen):
    """An eval to score and to write, as it is sent to a process."""

    context: WorkerContext
    info: EvalInfo
    history: EvalHistory
    edits: tuple[Edit, ...]
    """The edits of the instruction files that drive it, by commit."""
    moved: Mapping[EditedFile, str]
    """The edits whose files were moved later -> the last path of the file."""
    first_new: int
    """Index of the first snapshot that the last build did not have."""
    pages: tuple[PageRow, ...]
    """Its pages that are known to be in the output folder."""
    cached: tuple[CachedRow, ...]
    """What the memo has cached for the eval, with the scorecards that its pages may need."""
    thinned: int | None = None
    """Number of the oldest reports to shorten so that the site fits; None: as many as are short already."""
    source_folders: tuple[str, ...] = ()
    """Where the eval may have lived, if it states a source."""


class EvalDone(Frozen):
    """The result of an ``EvalTask``."""

    record: EvalRecord
    files: WrittenFiles
    cached: tuple[CachedRow, ...]
    """New values for the memo."""
    lost_outputs: int = 0
    """Number of outputs whose contents this clone lacks. Each is a problem, and the next build tries again."""


def owner(eval_id: str) -> str:
    """The owner of the pages of an eval among the files of the site."""
    return f"eval:{eval_id}"


def write_eval(task: EvalTask) -> EvalDone | Problem:
    """Score what the memo lacks, write the reports that are out of date, then the pages of all points.

    If sitegen fails, a problem is returned, and the pages written so far are no part of the site. An output whose
    content this clone lacks counts as unreadable, and all others are shown.
    """
    return attempt("the pages of this eval", lambda: _run(task), eval_id=task.info.id)


def _run(task: EvalTask) -> EvalDone:
    try:
        return _EvalJob(task).run()
    except MissingObjectsError:
        history, lost = without_lost_outputs(task.context, task.history)
        if not lost:
            raise
        return replace(_EvalJob(replace(task, history=history)).run(), lost_outputs=lost)


class _EvalJob:
    """Runs one task, from the oldest snapshot to the newest. Holds all scorecards, but one whole result at a time."""

    def __init__(self, task: EvalTask) -> None:
        self._task = task
        self._context = task.context
        self._info = task.info
        self._snapshots = task.history.snapshots
        self._owner = owner(task.info.id)
        self._cache = TaskCache(task.cached)
        self._cards = EvalScorecards(self._context, task.history, self._cache)
        self._card_keys = [self._cards.key(snapshot) for snapshot in self._snapshots]
        self._specs = self._cards.series_specs()
        self._inputs = self._cards.series_inputs(task.edits)
        self._reports = ReportWriter(
            self._context,
            self._info,
            self._specs,
            self._inputs,
            task.moved,
            self._cards,
        )
        self._writer = self._context.writer(task.pages)
        self._renderer = self._context.renderer()
        self._sources = EvalSources(self._context, self._info, task.source_folders) if self._info.source else None
        self._page_keys = self._digests_of_reports()
        self._pictures: set[str] = set()
        """Paths of the pictures of the source that were written or recognised as fresh."""
        self._patterns = ERROR_PATTERNS.get(self._cache, task.info.id, self._page_keys[-1:]) if self._page_keys else ()

    def run(self) -> EvalDone:
        """Score the snapshots that lack anything, oldest first, then write the pages that show all of them."""
        last = len(self._snapshots) - 1
        short = self._short()
        stale = {index for index in range(last + 1) if index not in short and not self._is_fresh(index)}
        compared = {last} if self._lacks_variants() else set()
        # The overview shows the error patterns of the newest report, so it is drawn where the memo lacks them.
        drawn = stale if self._patterns is not None else stale | {last}
        unscored = {index for index, snapshot in enumerate(self._snapshots) if snapshot not in self._cards}
        cached = known_cells(self._cache, self._info.id, self._card_keys) or CellMap(0, ())
        tracker, end = CellTracker(cached), len(self._snapshots)
        if drawn and min(drawn) < cached.points:
            # A report locates each cell by the judgements of its own point and, where the cell is gone, of the point
            # before. The cached cells have no locations, so they are followed again from the point before. If the cache
            # covers all points, nothing after the last drawn report has to be followed.
            tracker = CellTracker(cached.up_to(max(0, min(drawn) - 1)))
            if cached.points == end:
                end = max(drawn) + 1
        needed = sorted(drawn | compared | unscored | set(range(tracker.points, end)))
        self._cards.fill(mixture for index in drawn for mixture in self._mixtures(index))
        committed = sum(snapshot.commit.sha != WORKTREE for snapshot in self._snapshots)
        # The memo has scorecards but no whole results. Each result is computed once, used for everything, and dropped.
        results = self._cards.results([self._snapshots[index] for index in needed])
        for index, result in zip(needed, results, strict=True):
            with working_on(self._snapshots[index]):
                if index == tracker.points:
                    tracker.follow(result.judgements)
                    if tracker.points == committed:  # uncommitted outputs can be different at the next build
                        keep_cells(self._cache, self._info.id, self._card_keys, tracker.cells())
                if index in drawn:
                    page = self._reports.page(index, result, tracker)
                    if index in stale:
                        self._write_report(index, page, result)
                    if index == last:
                        self._keep_patterns(page)
                if index in compared:
                    self._write_variants(result)
        return self._finish(short, cached if cached.points == len(self._snapshots) else tracker.cells())

    def _short(self) -> Short:
        full, thinned = self._context.reports_kept, self._task.thinned
        if thinned is None:
            return Short.standing(self._page_keys, full, self._task.pages)
        return Short.of(len(self._page_keys), full, thinned)

    def _mixtures(self, index: int) -> tuple[Snapshot, ...]:
        return mixtures(self._snapshots[index - 1], self._snapshots[index]) if index else ()

    def _is_fresh(self, index: int) -> bool:
        """Whether the report is up to date; if so, the files beside it are marked as files of the site, too."""
        slug, key = self._snapshots[index].slug, self._page_keys[index]
        page, *beside = (address(self._info.id, slug) for address in links.REPORT_FILES)
        use = self._source_use(index)
        if use is None or not self._writer.is_fresh(self._owner, page, key):
            return False
        self._write_pictures(use)
        for path in beside:
            self._writer.is_fresh(self._owner, path, key)
        return True

    def _digests_of_reports(self) -> list[str]:
        """For each report the digest of everything it shows: all snapshots up to its own, the eval, the templates."""
        always = digest(
            repr(
                (
                    self._context.templates,
                    self._context.discrepancies_per_type,
                    self._info,
                    self._specs,
                    self._task.moved,
                )
            )
        )
        edits = self._inputs.edits
        digests = []
        history = ""
        for snapshot, key, since_previous, beside, commit in zip(
            self._snapshots, self._card_keys, edits.since_previous, edits.beside, edits.made_with, strict=True
        ):
            history = digest(history, encode((snapshot, key, _paths_and_commits(since_previous))))
            page_key = digest(always, history, encode((commit, _paths_and_commits(beside))))
            digests.append(digest(page_key, repr(self._sources.files(snapshot))) if self._sources else page_key)
        return digests

    def _keep_patterns(self, page: Page) -> None:
        """Cache the error patterns of the newest report."""
        view = page.view
        assert isinstance(view, ReportView)
        self._patterns = pattern_summaries(view.patterns, view.total, view.metrics[0].value)
        ERROR_PATTERNS.keep(self._cache, self._info.id, self._patterns, self._page_keys[-1])

    def _write_report(self, index: int, page: Page, result: Result) -> None:
        key = self._page_keys[index]
        self._writer.write(self._owner, page.path, self._renderer.render(page), key)
        if isinstance(page.view, ReportView) and (rows := rows_file(page.view)):
            self._writer.write(self._owner, rows.path, rows.content, key)
        tree = self._tree_page(index, result)
        if tree:
            self._writer.write(self._owner, tree.path, self._renderer.render(tree), key)
        if leaves_anything_out(result, self._context.discrepancies_per_type):
            snapshot = self._snapshots[index]
            data = results_json(result, self._info, snapshot)
            self._writer.write(self._owner, links.report_data(self._info.id, snapshot.slug), data, key)

    def _tree_page(self, index: int, result: Result) -> Page | None:
        """Ground truth beside output, with the source if there is one; writes the pictures that it shows."""
        snapshot, use = self._snapshots[index], SourceUse()
        page = tree_page(self._info, snapshot, result) if has_tree(self._info, result) else None
        if self._sources is None:
            return page
        if page and isinstance(page.view, TreeView):
            view, use = self._sources.with_source(page.view, snapshot, result)
            page = replace(page, view=view)
        SOURCE_USES.keep(self._cache, within(self._info.id, snapshot.slug), use, self._page_keys[index])
        self._write_pictures(use)
        return page

    def _source_use(self, index: int) -> SourceUse | None:
        """What the page of an output shows of its source; None if it is not cached."""
        if self._sources is None:
            return SourceUse()
        key = within(self._info.id, self._snapshots[index].slug)
        return SOURCE_USES.get(self._cache, key, [self._page_keys[index]])

    def _write_pictures(self, use: SourceUse) -> None:
        for path, oid, *_ in use.pictures:
            if self._sources and path not in self._pictures:
                self._pictures.add(path)
                if not any(self._writer.is_fresh(self._owner, path, key) for key in (oid, room_key(oid))):
                    self._writer.write(self._owner, path, self._sources.content(oid), oid)

    def _lacks_variants(self) -> bool:
        """Whether the newest point has variants, or may have, and their page is out of date."""
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

    def _finish(self, short: Short, cells: CellMap) -> EvalDone:
        """Write the pages that show all points, and cache the effects of new points on commits and edits."""
        eval_id, first_new, cache = self._info.id, self._task.first_new, self._cache
        settled = settled_points(cache, self._task.history, self._page_keys)
        self._cards.fill(mixtures_of_commits(self._snapshots, first_new))
        series = self._cards.series(self._info, self._inputs, cells, settled.derived)
        suspects = suspects_of(self._context, series, self._cards.key, cache)
        steps = steps_of(series)
        newest = self._newest_inputs()
        edit_windows = windows(series.points, self._inputs.edits.made_by)
        decisions = {}
        for edit, outcome in outcomes_of_edits(series, edit_windows, self._specs[0], first_new):
            EDIT_OUTCOMES.keep(cache, within(eval_id, edit), outcome)
            decisions[edit] = outcome.verdict.decision if outcome.verdict else None
        edit_windows = tuple(window._replace(decision=decisions.get(window.edit)) for window in edit_windows)
        record = record_of(
            series, self._inputs.edits.made_by, edit_windows, steps, suspects, self._patterns or (), newest
        )
        if self._snapshots and (use := self._source_use(len(self._snapshots) - 1)):
            record = replace(record, problems=(*record.problems, *use.problems))
        for page in eval_pages(series, steps, record.summary, mapped_columns(newest) if newest else ()):
            content = page.content if isinstance(page, RawFile) else self._renderer.render(page)
            self._writer.write(self._owner, page.path, content)
        write_thinned(self._writer, self._renderer, self._owner, series, self._page_keys, short)
        write_fields(self._writer, self._renderer, self._owner, series, self._page_keys)
        patterns = record.summary.patterns
        write_series(self._writer, self._owner, series, patterns, settled, self._page_keys, cache)
        for sha, effect in effects_of_commits(series, self._inputs, first_new, self._cards.__getitem__):
            COMMIT_EFFECTS.keep(cache, within(eval_id, sha), effect)
        return EvalDone(
            record=record,
            files=self._writer.files,
            cached=cache.new,
        )

    def _newest_inputs(self) -> ScoringInputs | None:
        """The scoring inputs of the newest point, with its mapping if it is cached; None if no rule names fields."""
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
