"""Score one eval's snapshots and write its pages: what one process does, while each output is hot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sitegen.analysis.attribution import mixtures
from sitegen.analysis.blame import by_attribute
from sitegen.analysis.cells import CellTracker
from sitegen.analysis.effects import windows
from sitegen.analysis.flips import flips_between
from sitegen.analysis.regressions import steps_of
from sitegen.analysis.series import pack_cells, unpack_cells
from sitegen.history.fold_state import encode
from sitegen.history.layout import DEFAULT_SETTINGS
from sitegen.model.cells import CellMap
from sitegen.model.commits import WORKTREE
from sitegen.model.kinds import traits_of
from sitegen.model.problems import Problem
from sitegen.model.regressions import Step
from sitegen.model.scorecards import Result
from sitegen.model.series import Point, Series, Window
from sitegen.model.site import Page
from sitegen.model.suspect_truth import SuspectTruth
from sitegen.model.timeline import Edit, Snapshot
from sitegen.pages import links
from sitegen.pages.compare import compare_page
from sitegen.pages.exports import results_json
from sitegen.pages.report import is_bounded
from sitegen.pages.suspect_truth import suspect_truth_page
from sitegen.pages.trend import has_variants, trend_page
from sitegen.render.writer import digest
from sitegen.scoring.kinds import scorer
from sitegen.scoring.mapping_use import columns_of, mapping_use
from sitegen.scoring.scorer import ScoringInputs
from sitegen.scoring.usage import specs_with_usage
from sitegen.stages.commit_effects import brought_by, mixtures_of_commits
from sitegen.stages.edit_outcomes import EditOutcome, edit_outcome
from sitegen.stages.eval_job import EvalDone, EvalTask, owner
from sitegen.stages.eval_summary import problems_of, summary_of
from sitegen.stages.failures import attempt, working_on
from sitegen.stages.field_pages import write_fields
from sitegen.stages.mapping_cache import recall_mapping, without_settings
from sitegen.stages.reports import ReportWriter
from sitegen.stages.scorecard_store import EvalScorecards
from sitegen.stages.scoring import all_inputs
from sitegen.stages.series_cache import known_settled, write_series
from sitegen.stages.size_budget.thinning import Short, write_thinned
from sitegen.stages.suspect_truth import suspects_of


def write_eval(task: EvalTask) -> EvalDone | Problem:
    """Score what the memo does not know, write the reports that are not fresh, then the trend.

    A failure of sitegen is a problem; whatever was written until then is no file of the site.
    """
    return attempt("the pages of this eval", lambda: _EvalJob(task).run(), eval_id=task.info.id)


class _EvalJob:
    """One run of a task, snapshot after snapshot; holds one result at a time, and the scorecards of all."""

    def __init__(self, task: EvalTask) -> None:
        self._task = task
        self._shop = task.workshop
        self._info = task.info
        self._snapshots = task.history.snapshots
        self._scorer = scorer(task.history.kind)
        self._owner = owner(task.info.id)
        self._cards = EvalScorecards(self._shop, task.history, task.scorecards, task.vectors)
        self._keys = [self._cards.key(snapshot) for snapshot in self._snapshots]
        self._specs = self._cards.series_specs()
        self._inputs = self._cards.series_inputs(task.edits)
        self._reports = ReportWriter(
            self._shop,
            self._info,
            self._specs,
            self._inputs,
            task.moved,
            self._cards,
        )
        self._writer = self._shop.writer(task.pages)
        self._renderer = self._shop.renderer()

    def run(self) -> EvalDone:
        page_keys = self._page_keys()
        short = self._short(page_keys)
        full = (index for index in range(len(page_keys)) if index not in short)
        stale = {index for index in full if not self._is_fresh(index, page_keys[index])}
        compared = {len(self._snapshots) - 1} if self._lacks_variants(page_keys) else set()
        known = self._known_cells()
        follower, end = CellTracker(known), len(self._snapshots)
        if stale and min(stale) < known.points:
            # Where a cell stands, only the points that judge it say: the report's own and, where it is gone, the one
            # before. So the cells are followed again from there.
            follower = CellTracker(known.up_to(max(0, min(stale) - 1)))
            if known.points == end:
                end = max(stale) + 1
        unknown = {index for index, snapshot in enumerate(self._snapshots) if snapshot not in self._cards}
        needed = sorted(stale | compared | unknown | set(range(follower.points, end)))
        self._cards.fill(mixture for index in stale for mixture in self._mixtures(index))
        committed = sum(snapshot.commit.sha != WORKTREE for snapshot in self._snapshots)
        kept: CellMap | None = None
        needed_results = self._cards.results([self._snapshots[index] for index in needed])
        for index, result in zip(needed, needed_results, strict=True):
            with working_on(self._snapshots[index]):
                if index == follower.points:
                    follower.follow(result.judgements)
                    if follower.points == committed:
                        kept = follower.cells()
                if index in stale:
                    self._write_report(index, result, follower, page_keys[index])
                if index in compared:
                    self._write_variants(index, result, page_keys[index])
        cells = known if known.points == len(self._snapshots) else follower.cells()
        return self._finish(page_keys, short, cells, pack_cells(self._keys, kept) if kept else None)

    def _short(self, page_keys: Sequence[str]) -> Short:
        kept, thinned = self._shop.reports_kept, self._task.thinned
        if thinned is None:
            return Short.standing(page_keys, kept, self._task.pages)
        return Short.of(len(page_keys), kept, thinned)

    def _known_cells(self) -> CellMap:
        """What the memo knows, if it is of the same points; else an empty map."""
        known = unpack_cells(self._keys, self._task.cells) if self._task.cells else None
        return known or CellMap(0, ())

    def _mixtures(self, index: int) -> tuple[Snapshot, ...]:
        return mixtures(self._snapshots[index - 1], self._snapshots[index]) if index else ()

    def _is_fresh(self, index: int, key: str) -> bool:
        """Whether the report stands, and the whole result beside it if the report needed one."""
        slug = self._snapshots[index].slug
        if not self._writer.is_fresh(self._owner, links.report(self._info.id, slug), key):
            return False
        self._writer.is_fresh(self._owner, links.report_data(self._info.id, slug), key)
        return True

    def _page_keys(self) -> list[str]:
        """The digest of all that each report shows: every snapshot up to its own, the eval's words, the templates."""
        always = digest(
            repr((self._shop.templates, self._shop.discrepancies_per_type, self._info, self._specs, self._task.moved))
        )
        edits = self._inputs.edits
        found = []
        history = ""
        for snapshot, key, since_previous, beside, commit in zip(
            self._snapshots, self._keys, edits.since_previous, edits.beside, edits.made_with, strict=True
        ):
            history = digest(history, encode((snapshot, key, _named(since_previous))))
            found.append(digest(always, history, encode((commit, _named(beside)))))
        return found

    def _write_report(self, index: int, result: Result, follower: CellTracker, key: str) -> None:
        page = self._reports.page(index, result, follower)
        self._writer.write(self._owner, page.path, self._renderer.render(page), key)
        if is_bounded(result, self._shop.discrepancies_per_type):
            at = self._snapshots[index]
            data = results_json(result, self._info, at)
            self._writer.write(self._owner, links.report_data(self._info.id, at.slug), data, key)

    def _lacks_variants(self, page_keys: Sequence[str]) -> bool:
        """Whether the newest point has variants, or may have, and the page that compares them does not stand."""
        if not page_keys or not traits_of(self._task.history.kind).answers_cases:
            return False
        newest = self._snapshots[-1]
        if newest in self._cards and not has_variants(self._info, self._cards[newest]):
            return False
        return not self._writer.is_fresh(self._owner, links.variants(self._info.id), page_keys[-1])

    def _write_variants(self, index: int, result: Result, key: str) -> None:
        if has_variants(self._info, result.scorecard):
            from sitegen.pages.variants import variants_page  # few evals need the tests behind it

            specs = specs_with_usage(self._specs, [result.scorecard])
            page = variants_page(self._info, specs, self._snapshots[index], result)
            self._writer.write(self._owner, page.path, self._renderer.render(page), key)

    def _finish(self, page_keys: Sequence[str], short: Short, cells: CellMap, kept: bytes | None) -> EvalDone:
        settled = known_settled(self._task.settled, self._task.history, page_keys)
        self._cards.fill(mixtures_of_commits(self._snapshots, self._task.first_new))
        series = self._cards.series(self._info, self._inputs, cells, settled.derived)
        suspects = suspects_of(self._shop, series, self._task.suspects, self._cards.key)
        steps = steps_of(series)
        inputs = self._newest_inputs()
        for page in eval_pages(series, steps, suspects, columns_of(inputs) if inputs else ()):
            self._writer.write(self._owner, page.path, self._renderer.render(page))
        write_thinned(self._writer, self._renderer, self._owner, series, page_keys, short)
        write_fields(self._writer, self._renderer, self._owner, series, page_keys)
        keep = write_series(self._writer, self._owner, series, settled, page_keys)
        spoken = windows(series.points, self._inputs.edits.made_by)
        return EvalDone(
            summary=summary_of(series, self._inputs.edits.made_by, spoken, steps, suspects),
            scorecards=self._cards.new,
            rows=tuple(self._writer.rows),
            problems=problems_of(series),
            attributes=tuple(sorted(by_attribute(cells))),
            written=self._writer.written,
            kept=self._writer.kept,
            vectors=self._cards.new_vectors,
            cells=kept,
            around=self._around(spoken, series.points, cells),
            brought=brought_by(
                series,
                self._scorer.metrics_for,
                self._inputs.edits.beside,
                self._task.first_new,
                self._cards.__getitem__,
            ),
            settled=keep,
            mapping_use=mapping_use(inputs) if inputs else None,
        )

    def _newest_inputs(self) -> ScoringInputs | None:
        """What the newest point is scored from, its mapping as it is known already; None without any mapping."""
        newest = self._snapshots[-1] if self._snapshots else None
        if newest is None or not traits_of(self._scorer.kind).is_structured:
            return None
        if newest.mapping is None and newest.settings == DEFAULT_SETTINGS:
            return None
        inputs = next(all_inputs(self._shop, [newest]))
        recall_mapping(dict(self._shop.mappings), without_settings(newest), inputs)
        return inputs

    def _around(self, found: Sequence[Window], points: Sequence[Point], cells: CellMap) -> tuple[EditOutcome, ...]:
        """Of the edits that new points speak for."""
        pairs = {
            window.edit: (window.before, window.after)
            for window in found
            if window.before is not None and window.after >= self._task.first_new
        }
        flips = flips_between(cells, list(pairs.values()))
        return tuple(
            edit_outcome(edit, points[before], points[after], each, self._info.kind, self._specs[0])
            for (edit, (before, after)), each in zip(pairs.items(), flips, strict=True)
        )


def _named(edits: Sequence[Edit]) -> list[tuple[str, str]]:
    return [(edit.path, edit.commit.sha) for edit in edits]


def eval_pages(
    series: Series,
    steps: tuple[Step, ...],
    suspects: tuple[SuspectTruth, ...],
    columns: tuple[tuple[str, str], ...] = (),
) -> Iterator[Page]:
    """The pages of an eval that show all of its points, in the order in which they are read.

    ``columns``: those of the ground truth, with the fields that they are mapped to.
    """
    yield trend_page(series, steps, len(suspects), columns)
    if len(series.points) > 1:
        yield compare_page(series)
    if suspects:
        yield suspect_truth_page(series, suspects)
