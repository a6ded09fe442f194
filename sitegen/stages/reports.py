"""Makes the report pages of one eval, each from its result and the points before it.

The inputs are collected from the oldest to the newest point, while outputs are scored. Pages are drawn in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec.structs import replace

from sitegen.analysis.cells import CellTracker
from sitegen.analysis.flips import count_flips
from sitegen.analysis.noise.repeats import RepeatsSoFar, repeats_of_runs, runs_of
from sitegen.analysis.recorded import DifferencePart, recorded_parts
from sitegen.analysis.series import Derived, SeriesInputs, derived_of, problems_of_point
from sitegen.frozen import Frozen
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import MetricSpec
from sitegen.model.regressions import EditedFile
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.series import EvalInfo, Point
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages.report.discrepancies import EarlierPoints
from sitegen.pages.report.page import report_page
from sitegen.scoring.fields import rule_sources
from sitegen.scoring.rules import FieldRules, compile_rules
from sitegen.scoring.usage import specs_with_usage
from sitegen.stages.scorecard_store import EvalScorecards
from sitegen.stages.scoring import all_inputs
from sitegen.stages.worker_context import WorkerContext


class ReportInputs(Frozen):
    """The inputs of the report of one point besides the snapshots of its eval. They are sent between processes."""

    specs: tuple[MetricSpec, ...]
    """The metrics, with the usage metrics that the point or the previous point has."""
    result: Result
    before: Scorecard | None
    """Scorecard of the previous point; None for the first point."""
    derived: Derived
    recorded: tuple[DifferencePart, ...]
    """Why its own record has another F1."""
    past: EarlierPoints
    """Without snapshots and moved edits, which every task has."""

    @property
    def at(self) -> int:
        """Index of the point in its series."""
        return self.past.last


class ReportCollector:
    """Collects the inputs of the reports of an eval, from the oldest to the newest. Points may be skipped."""

    def __init__(self, specs: tuple[MetricSpec, ...], inputs: SeriesInputs, cards: EvalScorecards) -> None:
        """``specs``: the metrics of the eval, without usage metrics."""
        self._specs = specs
        self._inputs = inputs
        self._cards = cards
        self._repeats = RepeatsSoFar()
        self.derived: dict[int, Derived] = {}
        """The derived values of the points so far, by index."""

    def inputs(self, index: int, result: Result, tracker: CellTracker) -> ReportInputs:
        """Collect the inputs of a point that ``tracker`` followed. Its mixtures with the previous point are scored."""
        before = self._learnt(index - 1) if index else None
        runs = list(self._cards.results(runs_of(self._inputs.snapshots[index])))
        at = self._learnt(index)
        flipped = tracker.flipped() if before else ()
        derived = self.derived[index] = derived_of(
            before,
            at,
            count_flips(flipped),
            self._inputs.kind,
            self._specs,
            self._cards.__getitem__,
        )
        return ReportInputs(
            specs=specs_with_usage(self._specs, [side.scorecard for side in (before, at) if side]),
            result=result,
            before=before.scorecard if before else None,
            derived=derived,
            recorded=recorded_parts(self._first(index), at.snapshot, self._scorecard)
            if traits_of(self._inputs.kind).is_structured
            else (),
            past=EarlierPoints(
                snapshots=(),
                last=index,
                wrong_since=tracker.streaks(),
                fixed=tuple(flip for flip in flipped if flip.fate == "fixed"),
                runs=repeats_of_runs(runs) if runs else None,
            ),
        )

    def _point(self, index: int) -> Point:
        snapshot = self._inputs.snapshots[index]
        return point_at(self._inputs, index, self._cards[snapshot])

    def _first(self, index: int) -> Snapshot:
        """Return the snapshot with which the output of a point was new."""
        at, earlier = self._inputs.snapshots[index], self._inputs.snapshots[: index + 1]
        same = (one for one in reversed(earlier) if one.iteration == at.iteration and "outputs" in one.cause)
        return next((one for one in same if one.outputs == at.outputs), at)

    def _scorecard(self, snapshot: Snapshot) -> Scorecard:
        self._cards.fill([snapshot])
        return self._cards[snapshot]

    def _learnt(self, index: int) -> Point:
        """Return a point with the noise of the repeats up to it."""
        for here in range(self._repeats.points, index + 1):
            point = self._point(here)
            runs = runs_of(point.snapshot)
            self._cards.fill(runs)
            self._repeats.add(point, [self._cards[run] for run in runs])
        return replace(self._point(index), noise=self._repeats.noise())


class ReportWriter:
    """Draws the reports of an eval, in any order."""

    def __init__(
        self, context: WorkerContext, info: EvalInfo, inputs: SeriesInputs, moved: Mapping[EditedFile, str]
    ) -> None:
        """``moved``: maps edits of files that were moved later to the last path, as in ``EarlierPoints``."""
        self._context = context
        self._info = info
        self._inputs = inputs
        self._moved = moved
        self._scored_by_rules = traits_of(info.kind).is_structured

    def page(self, inputs: ReportInputs) -> Page:
        """Make the report of a point."""
        index, result, before, derived = inputs.at, inputs.result, inputs.before, inputs.derived
        snapshot = self._inputs.snapshots[index]
        point = replace(
            point_at(self._inputs, index, result.scorecard),
            edits=self._inputs.edits.beside[index],
            change=derived.change,
            interval=derived.interval,
            noise=derived.noise,
        )
        earlier = point_at(self._inputs, index - 1, before) if before else None
        past = replace(inputs.past, snapshots=self._inputs.snapshots, moved=self._moved)
        return report_page(
            self._info,
            inputs.specs,
            point,
            earlier,
            result,
            past,
            self._context.discrepancies_per_type,
            problems_of_point(self._info.id, snapshot, result.scorecard),
            self._inputs.edits.made_with[index],
            rules=partial(self._rules, snapshot) if self._scored_by_rules else None,
            recorded=inputs.recorded,
        )

    def _rules(self, snapshot: Snapshot) -> FieldRules:
        """Return the rules by which an output was scored; they are compiled already."""
        inputs = next(all_inputs(self._context, [replace(snapshot, outputs=(), ground_truth=None)]))
        return compile_rules(rule_sources(inputs)).value


def point_at(inputs: SeriesInputs, index: int, card: Scorecard) -> Point:
    """Return a point with the edits since the previous point, without any comparison."""
    return Point(
        snapshot=inputs.snapshots[index],
        scorecard=card,
        edits=inputs.edits.since_previous[index],
        first_with_output=inputs.first_with_output[index],
    )
