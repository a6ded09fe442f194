"""Draws the reports of one eval, in any order, from results that the memo has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sitegen.analysis.flips import count_flips, flipped_then
from sitegen.analysis.noise.repeats import repeats_of_runs, runs_of
from sitegen.analysis.recorded import recorded_parts
from sitegen.analysis.series import Derived, SeriesInputs, problems_of_point
from sitegen.engine.eval_task import EvalTask
from sitegen.engine.scorecard_store import EvalScorecards
from sitegen.engine.scoring import all_inputs
from sitegen.model.cells import CellMap
from sitegen.model.metrics import traits_of
from sitegen.model.problems import Problem
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.series import EvalInfo, Point
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages.report.discrepancies import EarlierPoints
from sitegen.pages.report.page import report_page
from sitegen.pages.report.tree import PagePicture, TreeView, has_tree, tree_page
from sitegen.scoring.rules import FieldRules, rules_of
from sitegen.scoring.usage import specs_with_usage

if TYPE_CHECKING:
    from sitegen.engine.sources import EvalSources


class Reports:
    """Draws the reports of an eval."""

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
        return rules_of(inputs).value


def tree_with_source(
    info: EvalInfo, snapshot: Snapshot, result: Result, sources: EvalSources | None
) -> tuple[Page | None, tuple[PagePicture, ...], tuple[Problem, ...]]:
    """Make the page of ground truth beside output, if there is one.

    Returns the pictures of the source that it shows as well, and a problem for each file that it cannot show.
    """
    page = tree_page(info, snapshot, result) if has_tree(info, result) else None
    if sources is None or page is None or not isinstance(page.view, TreeView):
        return page, (), ()
    view, pictures, problems = sources.with_source(page.view, snapshot, result)
    return replace(page, view=view), pictures, problems
