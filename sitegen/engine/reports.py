"""Draws the reports of one eval, in any order, from results that the memo has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sitegen.analysis.cached import CacheStore
from sitegen.analysis.flips import count_flips, flipped_then
from sitegen.analysis.noise.repeats import repeats_of_runs, runs_of
from sitegen.analysis.recorded import recorded_parts
from sitegen.analysis.series import Derived, SeriesInputs, problems_of_point
from sitegen.engine.cached_kinds import SOURCE_USES, SourceUse
from sitegen.engine.eval_task import EvalTask, owner
from sitegen.engine.scorecard_store import EvalScorecards
from sitegen.engine.scoring import all_inputs
from sitegen.engine.writer import Writer
from sitegen.history.memo_rows import within
from sitegen.model.cells import CellMap
from sitegen.model.metrics import traits_of
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.series import EvalInfo, Point
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.pages.data.exports import results_json
from sitegen.pages.report.discrepancies import EarlierPoints
from sitegen.pages.report.discrepancy_rows import rows_file
from sitegen.pages.report.page import ReportView, report_page
from sitegen.pages.report.tree import TreeView, has_tree, tree_page
from sitegen.scoring.fields import rule_sources
from sitegen.scoring.rules import FieldRules, compile_rules
from sitegen.scoring.usage import specs_with_usage

if TYPE_CHECKING:
    from sitegen.engine.sources import EvalSources


class Reports:
    """Draws and writes the reports of an eval."""

    def __init__(
        self, task: EvalTask, cards: EvalScorecards, cells: CellMap, derived: Sequence[Derived], inputs: SeriesInputs
    ) -> None:
        """``cells``, ``derived``: of all points whose reports are drawn."""
        self._context = task.context
        self._info = task.info
        self._moved = task.edits.value.moved
        self._cards = cards
        self._cells = cells
        self._derived = derived
        self._inputs = inputs
        self._specs = cards.series_specs()
        self._by_rules = traits_of(task.info.kind).is_structured

    def page(self, index: int, result: Result) -> Page:
        """Make the report of a point."""
        snapshots, cards = self._inputs.snapshots, self._cards
        at, derived = snapshots[index], self._derived[index]
        runs = list(cards.results(runs_of(at)))
        flipped = flipped_then(self._cells, index, result, lambda: cards.result(snapshots[index - 1])) if index else []
        change = derived.change and replace(derived.change, flips=count_flips(flipped))
        point = replace(
            self._point(index, result.scorecard),
            edits=self._inputs.edits.beside[index],
            change=change,
            interval=derived.interval,
            noise=derived.noise,
        )
        before = self._point(index - 1, cards[snapshots[index - 1]]) if index else None
        starts = ((cell.key, cell.wrong_since(index)) for cell in self._cells.cells)
        past = EarlierPoints(
            snapshots=snapshots,
            last=index,
            wrong_since={key: start for key, start in starts if start is not None},
            fixed=tuple(flip for flip in flipped if flip.fate == "fixed"),
            runs=repeats_of_runs(runs) if runs else None,
            moved=self._moved,
        )
        return report_page(
            self._info,
            specs_with_usage(self._specs, [side.scorecard for side in (before, point) if side]),
            point,
            before,
            result,
            past,
            self._context.discrepancies_per_type,
            problems_of_point(self._info, at, result.scorecard),
            self._inputs.edits.made_with[index],
            rules=partial(self._rules, at) if self._by_rules else None,
            recorded=recorded_parts(self._first(index), at, self._scorecard) if self._by_rules else (),
        )

    def _point(self, index: int, card: Scorecard) -> Point:
        return Point(
            snapshot=self._inputs.snapshots[index],
            scorecard=card,
            edits=self._inputs.edits.since_previous[index],
            first_with_output=self._inputs.first_with_output[index],
        )

    def _first(self, index: int) -> Snapshot:
        """Return the snapshot with which the output of a point was new."""
        at, earlier = self._inputs.snapshots[index], self._inputs.snapshots[: index + 1]
        same = (one for one in reversed(earlier) if one.iteration == at.iteration and "outputs" in one.cause)
        return next((one for one in same if one.outputs == at.outputs), at)

    def _scorecard(self, snapshot: Snapshot) -> Scorecard:
        self._cards.fill([snapshot])
        return self._cards[snapshot]

    def _rules(self, snapshot: Snapshot) -> FieldRules:
        """Return the rules by which an output was scored; they are compiled already."""
        inputs = next(all_inputs(self._context, [replace(snapshot, outputs=(), ground_truth=None)]))
        return compile_rules(rule_sources(inputs)).value


def tree_with_source(
    info: EvalInfo, snapshot: Snapshot, result: Result, sources: EvalSources | None
) -> tuple[Page | None, SourceUse]:
    """Make the page of ground truth beside output, if there is one, and tell what it shows of the source."""
    page = tree_page(info, snapshot, result) if has_tree(info, result) else None
    if sources is None or page is None or not isinstance(page.view, TreeView):
        return page, SourceUse()
    view, use = sources.with_source(page.view, snapshot, result)
    return replace(page, view=view), use


class ReportFiles:
    """Writes the files of the reports of one eval."""

    def __init__(
        self, task: EvalTask, keys: Sequence[str], sources: EvalSources | None, writer: Writer, cache: CacheStore
    ) -> None:
        """Store the values that all reports share.

        ``keys``: for each report, the digest of everything that it shows.
        """
        self._info = task.info
        self._snapshots = task.history.snapshots
        self._keys = keys
        self._sources = sources
        self._writer = writer
        self._cache = cache
        self._owner = owner(task.info.id)
        self._renderer = task.context.renderer()
        self._pictures: set[str] = set()
        """Paths of the pictures of the source that were written or found to be up to date."""

    def write(self, index: int, page: Page, result: Result) -> None:
        """Write the files that a report links to, then the report, so that none of its links is ever broken."""
        key, owner_name = self._keys[index], self._owner
        view = page.view
        assert isinstance(view, ReportView)
        if rows := rows_file(view):
            self._writer.write(owner_name, rows.path, rows.content, key)
        if tree := self._tree_page(index, result):
            self._writer.write(owner_name, tree.path, self._renderer.render(tree), key)
        if result.data is not None or view.leaves_anything_out:
            snapshot = self._snapshots[index]
            data = results_json(result, self._info, snapshot)
            self._writer.write(owner_name, links.report_data(self._info.id, snapshot.slug), data, key)
        self._writer.write(owner_name, page.path, self._renderer.render(page), key)

    def is_fresh(self, index: int) -> bool:
        """Decide whether a report is up to date; if so, also record the files beside it as files of the site."""
        slug, key = self._snapshots[index].slug, self._keys[index]
        page, *beside = (address(self._info.id, slug) for address in links.REPORT_FILES)
        use = self.source_use(index)
        if use is None or not self._writer.is_fresh(self._owner, page, key):
            return False
        self._write_pictures(use)
        for path in beside:
            self._writer.is_fresh(self._owner, path, key)
        return True

    def source_use(self, index: int) -> SourceUse | None:
        """Return the parts of its source that the page of an output shows; None if they are not cached."""
        if self._sources is None:
            return SourceUse()
        key = within(self._info.id, self._snapshots[index].slug)
        return SOURCE_USES.get(self._cache, key, [self._keys[index]])

    def _tree_page(self, index: int, result: Result) -> Page | None:
        """Make the page of ground truth beside output; write the pictures of the source that it shows."""
        snapshot = self._snapshots[index]
        page, use = tree_with_source(self._info, snapshot, result, self._sources)
        if self._sources:
            SOURCE_USES.keep(self._cache, within(self._info.id, snapshot.slug), use, self._keys[index])
            self._write_pictures(use)
        return page

    def _write_pictures(self, use: SourceUse) -> None:
        for path, oid, *_ in use.pictures:
            if self._sources and path not in self._pictures:
                self._pictures.add(path)
                if not self._writer.is_fresh(self._owner, path, oid):
                    self._writer.write(self._owner, path, self._sources.content(oid), oid)
