"""The trend page of an eval: every metric, error type and field over all points, on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from sitegen.analysis.best import best_points, values_now
from sitegen.analysis.copies import repeats_the_point_before
from sitegen.analysis.deltas import comparable_since
from sitegen.analysis.recorded import recorded_otherwise
from sitegen.analysis.series import defined_specs, problems_of_point, variant_spread
from sitegen.frozen import Frozen
from sitegen.model.error_summaries import PatternSummary
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import Counts, MetricSpec
from sitegen.model.regressions import Step
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import EvalInfo, Point, Series, VariantSpread
from sitegen.model.site import Page
from sitegen.model.usage import RunUsage
from sitegen.model.values import LARGEST_NUMBER
from sitegen.pages import links
from sitegen.pages.change_text import changes, flipped
from sitegen.pages.labels import CAUSES
from sitegen.pages.problems import Banner, banner
from sitegen.pages.recorded import record_name
from sitegen.pages.report.origin import SnapshotFile, files
from sitegen.pages.report.patterns import PatternWords, pattern_words
from sitegen.pages.trend.numbers import DRAWN, MetricNow, TrendPoint, UsageView, metrics_now, usage_view
from sitegen.pages.trend.panels import (
    ONE_CLOCK,
    Clocks,
    HeatMap,
    HeatRow,
    LastChange,
    RepeatsView,
    clocks,
    field_rows,
    heat_map,
    last_change,
    repeats_view,
)
from sitegen.scoring.mapping_use import MappedColumn
from sitegen.stats.counts import error_numbers

VARIANTS: Final = 6
"""Largest number of variants or models that are drawn."""

NEWEST: Final = 200
"""Number of the newest iterations whose rows are on the page and whose values are all drawn. Older ones are drawn in
groups, and their rows and values are in a file beside the page (``trend_rows.older_rows``)."""


class MetricTarget(Frozen):
    """The threshold of a metric: the smallest value of a metric, or the largest if lower is better."""

    spec: MetricSpec
    least: float
    value: float | None

    @property
    def label(self) -> str:
        """Label of the metric."""
        return self.spec.label

    @property
    def met(self) -> bool | None:
        """None if the metric is undefined."""
        return None if self.value is None else self.spec.reaches(self.value, self.least)


class TrendView(Frozen):
    """What ``pages/trend.html`` shows."""

    info: EvalInfo
    renamed_from: tuple[str, ...]
    deleted: bool
    specs: tuple[MetricSpec, ...]
    drawn: int
    points: tuple[TrendPoint, ...]
    """Oldest first."""
    metrics: tuple[MetricNow, ...]
    """All metrics at the newest point; empty without points."""
    counts: Counts
    targets: tuple[MetricTarget, ...]
    """Targets of drawn metrics."""
    fields: tuple[HeatRow, ...]
    heat: HeatMap
    files: tuple[SnapshotFile, ...]
    counted: bool = True
    """Whether any point has counts; judges may only give scores, and recorded numbers have no counts."""
    variants: str = ""
    """Relative address of the page that compares the newest variants; empty if there are fewer than two."""
    drawn_variants: tuple[str, ...] = ()
    """Names of variants, variants of the newest point first; empty if no point has two. For an eval without variants,
    the models, if there are two."""
    split_by: str = "variant"
    """``variant`` or ``model``."""
    usage: UsageView | None = None
    """Usage of the outputs; None if no output states it."""
    last: LastChange | None = None
    """The newest change; None if there is nothing to compare, and for recorded numbers."""
    clocks: Clocks = ONE_CLOCK
    recorded_otherwise: float | None = None
    """The headline that the record of the newest output states, if another one was computed."""
    record: str = ""
    """Name of the file with this record."""
    best_so_far: tuple[float | None, ...] = ()
    """For each point the best headline so far, by the newest ground truth and rules."""
    breaks: tuple[int, ...] = ()
    """Indices of points that cannot be compared with the one before: no document in common, or another judge."""
    steps: tuple[Step, ...] = ()
    """Steps of the level, oldest first."""
    suspects: int = 0
    """Number of labels that may be wrong."""
    repeats: RepeatsView | None = None
    spread: VariantSpread | None = None
    """The range of the newest headline over variants, whose average it is."""
    banner: Banner | None = None
    """The problem that changes the newest scores most."""
    iterations: int = 0
    outputs: int = 0
    """Number of different outputs of the iterations."""
    columns: tuple[MappedColumn, ...] = ()
    """The columns of the ground truth, by the newest point's mapping."""
    pattern: PatternWords | None = None
    """The pattern that explains most errors of the newest output."""
    nav: str = "evals"

    @property
    def older(self) -> int:
        """Number of iterations whose rows are not on the page."""
        return max(0, len(self.points) - NEWEST)


def trend_page(
    series: Series,
    steps: Sequence[Step] = (),
    suspects: int = 0,
    columns: tuple[MappedColumn, ...] = (),
    patterns: tuple[PatternSummary, ...] = (),
) -> Page:
    """The page of one eval, which may have no point yet.

    ``suspects``: the number of labels that may be wrong; ``columns``: the columns of the ground truth; ``patterns``:
    the error patterns of the newest output.
    """
    info, counted = series.info, _is_counted(series)
    if not counted and not info.recorded:
        series = replace(series, specs=defined_specs(series))
    specs = series.specs
    variants = _variant_names(series)
    models = () if variants else _models(series)
    alike = [(spec.low, spec.high) == (specs[0].low, specs[0].high) for spec in specs[:DRAWN]]
    drawn = [*alike, False].index(False)
    # Recorded numbers show their changes even if they do not share a range, because no other page does.
    points = _trend_points(series, specs[: DRAWN if info.recorded else drawn], variants, models)
    newest = series.points[-1] if series.points else None
    fields = field_rows(series.points)
    view = TrendView(
        info=info,
        renamed_from=series.history.renamed_from,
        deleted=series.history.deleted,
        specs=specs,
        drawn=drawn,
        counted=counted,
        points=points,
        metrics=metrics_now(series, points),
        counts=newest.scorecard.counts if newest else Counts(),
        targets=tuple(
            MetricTarget(spec, least, points[-1].values[k] if points else None)
            for k, spec in enumerate(specs[:drawn])
            if (least := spec.target(info.thresholds)) is not None and abs(least) <= LARGEST_NUMBER
        ),
        fields=fields,
        heat=heat_map(series.points, fields),
        files=tuple(file for file in files(newest.snapshot, 3) if file.blob) if newest else (),
        variants=links.variants(info.id).rpartition("/")[2] if newest and has_variants(info, newest.scorecard) else "",
        drawn_variants=variants or models,
        split_by="model" if models else "variant",
        usage=usage_view(specs, points),
        last=last_change(series),
        clocks=clocks(series.points, specs[:drawn]),
        recorded_otherwise=recorded_otherwise(newest.snapshot, newest.scorecard, specs[0].name)
        if newest and not info.recorded
        else None,
        record=record_name(newest.snapshot) if newest else "",
        best_so_far=_best_values(series.points, specs[0]),
        breaks=tuple(sorted({*comparable_since([point.scorecard for point in series.points], specs[0].name)} - {0})),
        steps=tuple(steps),
        suspects=suspects,
        repeats=repeats_view(series),
        spread=variant_spread(info.kind, specs[0], newest.scorecard) if newest else None,
        banner=banner(problems_of_point(info.id, newest.snapshot, newest.scorecard)) if newest else None,
        iterations=series.iterations,
        outputs=series.outputs,
        columns=columns,
        pattern=pattern_words(patterns[0], specs[0], info.nouns) if patterns else None,
    )
    return Page(links.eval_trend(info.id), "pages/trend.html", view)


def _is_counted(series: Series) -> bool:
    counts = [point.scorecard.counts for point in series.points]
    return not series.info.recorded and (not counts or any(map(any, counts)))


def has_variants(info: EvalInfo, scorecard: Scorecard) -> bool:
    """Whether two or more variants of the prompt answered the same cases."""
    return traits_of(info.kind).answers_cases and len(scorecard.documents) > 1


def _variant_names(series: Series) -> tuple[str, ...]:
    if not any(has_variants(series.info, point.scorecard) for point in series.points):
        return ()
    names = (document.id for point in reversed(series.points) for document in point.scorecard.documents)
    return tuple(dict.fromkeys(names))[:VARIANTS]


def _models(series: Series) -> tuple[str, ...]:
    """The models of the outputs, newest first, joined if an output has several; empty if all have the same."""
    usages = (point.scorecard.usage for point in reversed(series.points))
    models = tuple(dict.fromkeys(" and ".join(usage.models) for usage in usages if usage and usage.models))
    return models[:VARIANTS] if len(models) > 1 else ()


def _trend_points(
    series: Series, drawn: tuple[MetricSpec, ...], variants: tuple[str, ...], models: tuple[str, ...]
) -> tuple[TrendPoint, ...]:
    points: list[TrendPoint] = []
    edited = edited_before_outputs(series.points)
    before: Point | None = None
    for point in series.points:
        at, card = point.snapshot, point.scorecard
        metrics = dict(card.metrics)
        of_variants = {document.id: dict(document.metrics) for document in card.documents} if variants else {}
        usage = card.usage or RunUsage()
        if models:
            of_variants = {" and ".join(usage.models): metrics}
        points.append(
            TrendPoint(
                number=at.iteration,
                label=at.label,
                file=links.report(series.info.id, at.slug).rpartition("/")[2],
                commit=at.commit,
                status=card.status,
                cause=", ".join(CAUSES[cause] for cause in at.cause),
                rescored="outputs" not in at.cause,
                deleted=at.deleted,
                values=tuple([metrics.get(spec.name) for spec in series.specs]),
                errors=error_numbers(card.counts),
                edited=edited[len(points)],
                variants=tuple(of_variants.get(name, {}).get(series.specs[0].name) for name in variants or models),
                changes=changes(drawn, series.info.nouns, before, point) if before else (),
                flipped=flipped(point.change.flips) if point.change else None,
                stale=point.stale,
                interval=point.interval,
                models=usage.models,
                exchanged=tuple(
                    who for who in ("model", "judge") if point.change is not None and getattr(point.change, who)
                ),
                copy_of=point.copy_of,
                recorded=dict(at.recorded_metrics).get(series.specs[0].name) if not series.info.recorded else None,
                repeats=repeats_the_point_before(series.points, len(points)),
            )
        )
        before = point
    return tuple(points)


def edited_before_outputs(points: Sequence[Point]) -> list[tuple[str, ...]]:
    """For each point the paths of the instructions that were edited before it.

    The output of a copy existed before the edit, so the edit is attached to the next point of the same commit that is
    not a copy, or to the last copy of the commit if there is none.
    """
    edited: list[tuple[str, ...]] = []
    waiting: dict[str, None] = {}
    for place, point in enumerate(points):
        waiting |= dict.fromkeys(edit.path for edit in point.edits)
        later = points[place + 1] if place + 1 < len(points) else None
        if point.is_copy and later and later.snapshot.commit == point.snapshot.commit:
            edited.append(())
        else:
            edited.append(tuple(waiting))
            waiting = {}
    return edited


def _best_values(points: Sequence[Point], spec: MetricSpec) -> tuple[float | None, ...]:
    values = values_now(points, spec.name)
    return tuple(None if best is None else values[best] for best in best_points(points, spec))
