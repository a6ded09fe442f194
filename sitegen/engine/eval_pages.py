"""Writes the pages of one scored eval: those that show all of its points, and its reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import chain, count
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.blame import Blame
from sitegen.analysis.flips import count_flips, flipped_then
from sitegen.analysis.noise.repeats import repeats_of_runs
from sitegen.analysis.notes import PlacedNote, notes_about, placed_notes
from sitegen.analysis.recorded import recorded_parts
from sitegen.analysis.series import problems_of_point
from sitegen.analysis.slices import axes_of
from sitegen.engine.cached_kinds import EvalRecord, TaskCache
from sitegen.engine.eval_job import EvalTask, unlike
from sitegen.engine.failures import attempt
from sitegen.engine.memo import CachedRow, PageRow
from sitegen.engine.scorecard_store import EvalScorecards
from sitegen.engine.writer import Writer, WrittenFiles, digest_of_inputs
from sitegen.errors import MissingObjectsError
from sitegen.history.patches import read_patches
from sitegen.model.answers import AnsweredCase
from sitegen.model.commits import Commit
from sitegen.model.frozen import Frozen, grouped
from sitegen.model.metrics import traits_of
from sitegen.model.outcomes import Cell, CellMap
from sitegen.model.problems import Problem
from sitegen.model.scorecards import Result
from sitegen.model.series import Series
from sitegen.model.timeline import Edit
from sitegen.pages import links
from sitegen.pages.compare import answers_data, compare_data, compare_page
from sitegen.pages.data.exports import results_json
from sitegen.pages.data.search import values_file
from sitegen.pages.data.series import series_files
from sitegen.pages.edit import FILES, RenderedPatch, draw_few
from sitegen.pages.field import ANSWERED, case_page, field_page, history_of, last_change
from sitegen.pages.instructions import FileEdit, changed_lines, edits_by_variant
from sitegen.pages.notes import notes_page
from sitegen.pages.other_pages import failed_page, short_report
from sitegen.pages.report.grid import CaseGrid
from sitegen.pages.report.page import ReportView
from sitegen.pages.report.report_rows import rows_file
from sitegen.pages.report.tree import PagePicture, has_tree, tree_page
from sitegen.pages.trend.page import TrendView, trend_page
from sitegen.pages.trend.trend_rows import older_rows
from sitegen.pages.variants import variants_page
from sitegen.scoring.usage import specs_with_usage

_HELD: Final = 40_000_000  # the most characters of answers that are held for the pages of cases of one eval


def owner(eval_id: str) -> str:
    """Return the name under which the site's files record the pages of an eval."""
    return f"eval:{eval_id}"


class PagesTask(EvalTask):
    """Pages of a scored eval that a process writes: reports, or everything else."""

    record: EvalRecord
    pages: tuple[PageRow, ...]
    """Pages of the eval that are known to be in the output folder."""
    reports: tuple[int, ...] = ()
    """The reports to write, the newest first; empty: all other pages, and the newest report."""


class PagesDone(Frozen):
    """The result of a ``PagesTask``."""

    files: WrittenFiles
    cached: tuple[CachedRow, ...]
    older_reports: tuple[int, ...] = ()
    """The reports that are out of date and were not written, the newest first."""
    failures: tuple[Problem, ...] = ()
    """One for each report that could not be made."""
    pictures: Mapping[str, tuple[PagePicture, ...]] = {}
    """Those of the reports that were made, as in ``EvalRecord``."""


def write_pages(task: PagesTask) -> PagesDone | Problem:
    """Write the reports of a task, or every page of its eval but older reports. Returns a problem if sitegen fails."""
    if task.reports:
        return attempt("the reports of this eval", lambda: _EvalPages(task).write_reports(), eval_id=task.info.id)
    return attempt("the pages of this eval", lambda: _EvalPages(task).write(), eval_id=task.info.id)


class _EvalPages:
    """Writes the pages of one task, from what the memo has of the eval."""

    def __init__(self, task: PagesTask) -> None:
        self._task = task
        self._info = info = task.info
        self._history = task.history
        self._keys = [*task.record.by_report]
        self._renderer = task.context.renderer()
        self._writer = Writer(task.context.out, owner(info.id), task.pages, task.context.foreign)
        self._cache = TaskCache(task.cached)
        self._cards = EvalScorecards(task.context, self._history, self._cache)
        self._specs = self._cards.series_specs()
        self._edits = task.output_edits
        self._cells, _ = self._cards.cells()
        series = self._cards.series(info, self._edits, self._cells, [*task.record.by_report.values()])
        self._series = replace(series, baselines=task.baselines)
        self._as_scored_then = tuple([replace(point, now=None) for point in series.points])
        self._notes = task.read_notes.value
        self._sources = task.sources
        self._pictures: dict[str, tuple[PagePicture, ...]] = {}
        """The pictures of the source on the pages that were made, by the digest of the report."""
        self._placed: set[str] = set()
        """The paths of pictures that were written or found to be up to date."""

    def write(self) -> PagesDone:
        """Write every page but older reports; first the files and pages to which the trend page leads."""
        task, writer, info, keys = self._task, self._writer, self._info, self._keys
        series, summary = self._series, task.record.summary
        for file in (*series_files(series, summary.patterns), values_file(series)):
            writer.write(file.path, file.content)
        newest, kept = len(series.points) - 1, task.context.limits.reports_kept
        short = max(0, len(series.points) - kept)  # the oldest have a short page instead
        stale = [index for index in range(short, newest + 1) if not self._is_fresh(index)]
        if newest in stale:
            self._write_report(newest)
        self._write_comparison(series)
        newest_card = series.points[-1].scorecard if series.points else None
        if newest_card and newest_card.has_variants and not writer.is_fresh(links.variants(info.id), keys[-1]):
            page = variants_page(series, self._cards.result(series.points[-1].snapshot))
            writer.write(page.path, self._renderer.render(page), keys[-1])
        notes = placed_notes(self._notes, series)
        if notes:
            page = notes_page(series, notes)
            self._writer.write(page.path, self._renderer.render(page))
        trend = trend_page(series, summary, self._cards.mapped_columns)
        if isinstance(trend.view, TrendView) and (rows := older_rows(trend.view)):
            writer.write(rows.path, rows.content)
        writer.write(trend.path, self._renderer.render(trend))
        for index in range(short):
            path = links.report(info.id, series.points[index].snapshot.slug)
            key = digest_of_inputs("eval", "short report", report=keys[index])
            if not writer.is_fresh(path, key):
                writer.write(path, self._renderer.render(short_report(self._until(index))), key)
        self._write_fields(series, notes)
        if task.record.cases:
            self._write_cases(series, notes)
        older = tuple(index for index in reversed(stale) if index < newest)
        return PagesDone(files=writer.files, cached=self._cache.new, older_reports=older, pictures=self._pictures)

    def _write_fields(self, series: Series, notes: Sequence[PlacedNote]) -> None:
        blame: Blame | None = None
        for attribute, cells in self._cells.by_attribute.items():
            beside = tuple(one for one in notes if one.note.field and attribute in one.attributes)
            end = last_change(cells)
            path = links.field(self._info.id, attribute)
            key = digest_of_inputs("eval", "field", report=self._keys[end], cells=cells, notes=beside)
            if not self._writer.is_fresh(path, key):
                blame = blame or Blame(series.cells, self._history.snapshots, self._cards.result)
                page = field_page(self._until(end), blame, attribute, cells, beside)
                self._writer.write(path, self._renderer.render(page), key)

    def _write_cases(self, series: Series, notes: Sequence[PlacedNote]) -> None:
        """Write the pages of cases; those of which none of the newest outputs has an answer change no more."""
        snapshots = self._history.snapshots
        cards = [point.scorecard for point in series.points]
        end = len(cards)
        newest = min(ANSWERED, self._task.context.limits.reports_kept)
        first = max(0, end - newest)
        last = {document.case: index for index, card in enumerate(cards) for document in card.documents}
        cases = {document.name: document.case for card in cards for document in card.documents}
        noted = grouped((cases.get(one.note.case, one.note.case), one) for one in notes)
        stale: dict[str, tuple[str, int, tuple[PlacedNote, ...]]] = {}
        for name in self._task.record.cases:
            answered = newest if last[name] >= first else 0
            at = end - 1 if answered else last[name]
            said = tuple(noted.get(name, ()))
            key = digest_of_inputs("eval", "case", report=self._keys[at], answered=answered, notes=said)
            if not self._writer.is_fresh(links.case(self._info.id, name), key):
                stale[name] = key, at, said
        if not stale:
            return
        answers: dict[str, dict[int, AnsweredCase]] = {name: {} for name in stale}
        room, recent = _HELD, reversed(range(first, end))
        indices = [at for at in recent if not at or snapshots[at].outputs != snapshots[at - 1].outputs]
        for index, result in zip(indices, self._cards.results(map(snapshots.__getitem__, indices)), strict=True):
            for case in result.cases:
                if case.id in stale and room > 0:
                    answers[case.id][index] = case
                    room -= sum(len(answer.output) for answer in case.answers)
        cells: dict[str, list[Cell]] = {name: [] for name in stale}
        for cell in series.cells.cells:
            if (of_case := cases.get(cell.document)) in cells:
                cells[of_case].append(cell)
        blame = Blame(series.cells, snapshots, self._cards.result)
        for name, (key, at, said) in stale.items():
            until = self._until(at)
            history = history_of(blame, until, cells[name])
            page = case_page(until, replace(history, attribute=name, notes=said), answers[name])
            self._writer.write(page.path, self._renderer.render(page), key)

    def write_reports(self) -> PagesDone:
        """Write the reports of the task. One that fails is replaced by a page that says so."""
        failures = []
        for index in self._task.reports:
            snapshot = self._history.snapshots[index]
            done = attempt(
                "the report of this iteration",
                partial(self._write_report, index),
                path=snapshot.outputs[0].path if snapshot.outputs else None,
                commit=snapshot.commit.sha,
                eval_id=self._info.id,
            )
            if isinstance(done, Problem):
                failures.append(done)
                path = links.report(self._info.id, snapshot.slug)
                self._writer.write(path, self._renderer.render(failed_page(path, done)))
        return PagesDone(
            files=self._writer.files, cached=self._cache.new, failures=tuple(failures), pictures=self._pictures
        )

    def _write_report(self, index: int) -> None:
        """Write the files that a report links to, then the report, so that none of its links is ever broken."""
        key, writer, snapshot = self._keys[index], self._writer, self._history.snapshots[index]
        view = self._report(index)
        result = view.result
        if rows := rows_file(view):
            writer.write(rows.path, rows.content, key)
        for file in view.grid.files() if view.grid else ():
            writer.write(file.path, file.content, key)
        if self._sources:
            tree, self._pictures[key], _ = self._sources.tree_page(snapshot, result)
            self._write_pictures(self._pictures[key])
        else:
            tree = tree_page(self._info, snapshot, result) if has_tree(self._info, result) else None
        if tree:
            writer.write(tree.path, self._renderer.render(tree), key)
        if result.data is not None or view.leaves_anything_out:
            data = results_json(result, view.info, snapshot, view.specs[0])
            writer.write(links.report_data(self._info.id, snapshot.slug), data, key)
        writer.write(view.page.path, self._renderer.render(view.page), key)

    def _report(self, index: int) -> ReportView:
        task, snapshots, cards, series = self._task, self._history.snapshots, self._cards, self._until(index)
        *earlier, point = series.points
        at, change = point.snapshot, point.change
        result = cards.result(at)
        cells = self._ever_wrong
        has_parts = traits_of(self._info.kind).is_structured and series.specs[0].name == "f1"
        runs = list(cards.results(at.repeated_runs))
        flipped = flipped_then(cells, index, result, lambda: cards.result(snapshots[index - 1])) if index else []
        if change:
            flips = replace(count_flips(flipped, cells.cases), doubts=change.flips.doubts)
            point = replace(point, change=replace(change, flips=flips))
        same = (one for one in reversed(snapshots[: index + 1]) if one.outputs == at.outputs and "outputs" in one.cause)
        made = next((one for one in same if one.iteration == at.iteration), at)  # with it the output was new
        view = ReportView(
            info=series.info,
            specs=series.specs,
            point=point,
            previous=earlier[-1] if earlier else None,
            result=result,
            snapshots=snapshots[: index + 1],
            wrong_since={
                flip.cell.key: start for flip in flipped if (start := flip.cell.wrong_since(index)) is not None
            },
            fixed=tuple(flip for flip in flipped if flip.fate == "fixed"),
            runs=repeats_of_runs(runs) if runs else None,
            moved=task.moved,
            limit=task.context.limits.discrepancies_per_type,
            problems=problems_of_point(series.info, point),
            instructions=self._edits.made_with[index],
            difference=recorded_parts(made, at, self._cards.__getitem__) if has_parts else (),
            grid=self._grid(index, result) if result.cases else None,
            said=notes_about([note for _, note in self._notes], at.label, newest=index == len(snapshots) - 1),
            at=(self._cells, index - 1, index),
            unlike=unlike(self._sources, earlier[-1], point) if earlier and "outputs" in at.cause else "",
        )
        view = replace(view, grid=view.grid and replace(view.grid, notes=view.said))
        if change and change.verdict and change.verdict.decision.endswith("worse") and view.edits_by_commit:
            edits, context = view.edits_by_commit[0], task.context
            with suppress(MissingObjectsError):  # which is a problem of their own pages
                patches = read_patches(context.open(), [at.edit for at in edits], context.instructions)
                return replace(view, lines=changed_lines(edits, patches))
        return view

    def _grid(self, index: int, result: Result) -> CaseGrid | None:
        """Make the grid of the answers of a point, beside those of the newest output before it that is another one."""
        snapshots = self._history.snapshots
        others = (each for each in reversed(snapshots[:index]) if each.outputs != snapshots[index].outputs)
        before = next(others, None)
        prompts: dict[str, tuple[str, FileEdit | None]] = {}
        for variant in {answer.variant for case in result.cases for answer in case.answers}:
            text = result.prompts.get(variant, "").strip()
            edits = (
                self._edits_by_variant.get(variant.partition(":")[0]) or (text and self._edits_by_text.get(text)) or ()
            )
            until = [each for each in edits if each.edit.commit.position <= snapshots[index].commit.position]
            is_one_file = len({each.file for each in until}) == 1  # what fits two files stands for neither
            prompts[variant] = result.prompts.get(variant, ""), until[-1] if is_one_file else None
        grid = CaseGrid(
            place=(self._info.id, snapshots[index].slug),
            cases=result.cases,
            earlier=self._cards.result(before).cases if before else (),
            earlier_label=before.label if before else "",
            with_page=frozenset(self._task.record.cases),
            axes=axes_of(result.scorecard),
            prompts=prompts,
        )
        return grid if grid.has_texts or grid.address_of("flaky") else None

    @cached_property
    def _edits_by_variant(self) -> Mapping[str, Sequence[FileEdit]]:
        return edits_by_variant(self._edits.edits, self._task.moved)

    @cached_property
    def _edits_by_text(self) -> Mapping[str, Sequence[FileEdit]]:
        """The edits of instruction files by the text that they left, for prompts whose names are those of no file."""
        edits = {each: each.edit.new.oid for each in chain(*self._edits_by_variant.values()) if each.edit.new}
        contents = (read.content or b"" for read in self._task.context.open().read_blobs(edits.values()))
        return grouped(zip((each.decode(errors="replace").strip() for each in contents), edits, strict=True))

    def _until(self, index: int) -> Series:
        """Return the series up to a point, for pages whose digests know of nothing later.

        It has the metrics that the last two points have, and no scores by newer rules.
        """
        points = self._as_scored_then[: index + 1]
        specs = specs_with_usage(self._specs, [point.scorecard for point in points[-2:]])
        return replace(self._series, specs=specs, points=points)

    @cached_property
    def _ever_wrong(self) -> CellMap:
        every = self._cells.cells
        ever_wrong = (cell for cell in every if any(of.is_wrong for of in (*cell.periods, *cell.rejudged)))
        return replace(self._cells, cells=tuple(ever_wrong))

    def _is_fresh(self, index: int) -> bool:
        """Decide whether a report is up to date; if so, also record the files beside it as files of the site."""
        slug, key = self._history.snapshots[index].slug, self._keys[index]
        page, *beside = (address(self._info.id, slug) for address in links.REPORT_FILES)
        pictures = self._task.record.pictures.get(key)
        if (self._sources and pictures is None) or not self._writer.is_fresh(page, key):
            return False
        self._write_pictures(pictures or ())
        for path in beside:
            self._writer.is_fresh(path, key)
        parts = (f"{links.report_cases(self._info.id, slug)}{number}.js" for number in count(1))
        next(path for path in parts if not self._writer.is_fresh(path, key))
        return True

    def _write_pictures(self, pictures: Iterable[PagePicture]) -> None:
        for path, oid, *_ in pictures:
            if self._sources and path not in self._placed and not self._writer.is_fresh(path, oid):
                self._writer.write(path, self._sources.content(oid), oid)
            self._placed.add(path)

    def _write_comparison(self, series: Series) -> None:
        """Write the page that compares two points and the files that it loads, unless they show no more than before.

        It shows nothing that the reports do not, so their digests together decide what it shows.
        """
        path = links.compare(series.info.id)
        key = digest_of_inputs("eval", "comparison", reports=self._keys, baselines=series.baselines)
        summary, paged = self._task.record.summary, frozenset(self._task.record.cases)
        if not summary.is_compared or self._writer.are_fresh(path, key):
            return
        data, answers = compare_data(series, [(step.before, step.at) for step in summary.steps], paged=paged), None
        if summary.has_answerers:
            newest = self._cards.result(series.points[-1].snapshot)
            answers = answers_data(series, newest, len(data.pieces), paged)
        self._writer.write(path, self._renderer.render(compare_page(series, data, self._diffs, answers)), key)
        for piece in (*data.pieces, *(answers.pieces if answers else ())):
            self._writer.write(piece.path, piece.content, key)

    def _diffs(self, edits: Sequence[Edit], since: Commit) -> dict[str, RenderedPatch]:
        """Draw edits of instructions; none if this clone lacks their texts, which is a problem of their own pages."""
        context, drawn = self._task.context, edits[:FILES]
        try:
            return draw_few(drawn, read_patches(context.open(), drawn, context.instructions, since.sha))
        except MissingObjectsError:
            return {}
