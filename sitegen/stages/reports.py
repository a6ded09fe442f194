"""Makes the report pages of one eval, each from its result and the points before it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec.structs import replace

from sitegen.analysis.cells import CellTracker, tallied
from sitegen.analysis.deltas import delta
from sitegen.analysis.noise.repeats import RepeatsSoFar, repeats_of_runs
from sitegen.analysis.series import SeriesInputs, problems_of_point
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import MetricSpec
from sitegen.model.regressions import EditedFile
from sitegen.model.scorecards import Result
from sitegen.model.series import EvalInfo, Point
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages.report import EarlierPoints, report_page
from sitegen.scoring.fields import rule_sources
from sitegen.scoring.rules import FieldRules, compile_rules
from sitegen.scoring.usage import specs_with_usage
from sitegen.stages.scorecard_store import EvalScorecards, runs_of
from sitegen.stages.scoring import all_inputs
from sitegen.stages.worker_context import WorkerContext


class ReportWriter:
    """Makes the reports of an eval from the oldest to the newest. Points may be left out."""

    def __init__(
        self,
        context: WorkerContext,
        info: EvalInfo,
        specs: tuple[MetricSpec, ...],
        inputs: SeriesInputs,
        moved: Mapping[EditedFile, str],
        cards: EvalScorecards,
    ) -> None:
        """Store what all reports share.

        Args:
            context: what every task of the build shares.
            info: the eval.
            specs: its metrics, without those of usage.
            inputs: what its points are computed from.
            moved: as in ``EarlierPoints``.
            cards: its scorecards.

        """
        self._context = context
        self._info = info
        self._specs = specs
        self._inputs = inputs
        self._moved = moved
        self._cards = cards
        self._repeats = RepeatsSoFar()
        self._scored_by_rules = traits_of(info.kind).is_structured

    def page(self, index: int, result: Result, tracker: CellTracker) -> Page:
        """The report of a point, after ``tracker`` followed it and its mixtures with the point before were scored."""
        at, before = self._point(index), self._point(index - 1) if index else None
        specs = specs_with_usage(self._specs, [side.scorecard for side in (before, at) if side])
        runs = list(self._cards.results(runs_of(at.snapshot)))
        self._learn(index)
        flipped = tracker.flipped() if before else ()
        point = Point(
            snapshot=at.snapshot,
            scorecard=result.scorecard,
            edits=self._inputs.edits.beside[index],
            first_with_output=at.first_with_output,
            delta=delta(self._inputs.metrics_for, before, at, self._cards.__getitem__) if before else None,
            flips=tallied(flipped) if before else None,
        )
        return report_page(
            self._info,
            specs,
            point,
            before,
            result,
            EarlierPoints(
                snapshots=self._inputs.snapshots,
                last=index,
                wrong_since=tracker.wrong_since,
                flipped=flipped,
                noise=self._repeats.noise(),
                runs=repeats_of_runs(runs) if runs else None,
                moved=self._moved,
            ),
            self._context.discrepancies_per_type,
            problems_of_point(self._info.id, point.snapshot, result.scorecard),
            self._inputs.edits.made_with[index],
            rules=partial(self._rules, at.snapshot) if self._scored_by_rules else None,
        )

    def _rules(self, snapshot: Snapshot) -> FieldRules:
        """The rules by which an output was scored; they are compiled already."""
        inputs = next(all_inputs(self._context, [replace(snapshot, outputs=(), ground_truth=None)]))
        return compile_rules(rule_sources(inputs)).value

    def _point(self, index: int) -> Point:
        snapshot = self._inputs.snapshots[index]
        return Point(
            snapshot=snapshot,
            scorecard=self._cards[snapshot],
            edits=self._inputs.edits.since_previous[index],
            first_with_output=self._inputs.first_with_output[index],
        )

    def _learn(self, index: int) -> None:
        """Measure the noise of repeated outputs up to a point."""
        for here in range(self._repeats.points, index + 1):
            point = self._point(here)
            runs = runs_of(point.snapshot)
            self._cards.fill(runs)
            self._repeats.add(point, [self._cards[run] for run in runs])
