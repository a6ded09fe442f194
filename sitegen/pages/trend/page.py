"""The trend page of an eval: every metric, error and field over all of its points, on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sitegen.analysis.deltas import graded_since
from sitegen.analysis.noise.intervals import interval_of
from sitegen.analysis.regressions import champions
from sitegen.model.kinds import traits_of
from sitegen.model.metrics import Counts, MetricSpec
from sitegen.model.noise import Interval
from sitegen.model.regressions import Step
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import EvalInfo, Point, Series
from sitegen.model.site import Page
from sitegen.model.usage import RunUsage
from sitegen.pages import links
from sitegen.pages.changes import DisplayedChange, Flipped, changes, flipped
from sitegen.pages.labels import CAUSES, STATUSES
from sitegen.pages.trend.panels import (
    ONE_CLOCK,
    Clocks,
    HeatMap,
    HeatRow,
    LastChange,
    RepeatsView,
    UsageView,
    clocks,
    field_rows,
    heat_map,
    last_changes,
    repeats_view,
    usage_view,
)
from sitegen.stats.counts import errors_by_type

DRAWN: Final = 3
"""Metrics that are drawn: the first of the kind's specs, as far as they share the headline's range."""

VARIANTS: Final = 6
"""Variants of a prompt that are drawn; their own page compares all of them."""


class TrendPoint(NamedTuple):
    """One point as the chart and the table show it."""

    number: int
    label: str
    file: str
    """The report, as seen from the trend page."""
    sha: str
    short: str
    subject: str
    author: str
    committed_at: str
    status: str
    cause: str
    """In words."""
    rescored: bool
    """No new output: something else that decides the score changed."""
    deleted: bool
    values: tuple[float | None, ...]
    """In the order of the specs."""
    errors: tuple[int, ...]
    """In the order of ``ERROR_TYPES``."""
    edits: int
    """Edits of instructions since the point before."""
    variants: tuple[float | None, ...] = ()
    """The headline of each variant that is drawn."""
    changes: tuple[DisplayedChange, ...] = ()
    """Of the metrics that are drawn, against the point before; none for the first point."""
    flipped: Flipped | None = None
    """Cells, against the point before."""
    stale: bool = False
    """The output was made before instructions that drive the eval were edited."""
    interval: Interval | None = None
    """Of the headline."""
    models: tuple[str, ...] = ()
    """Which made the output; empty if it does not say."""
    judges: tuple[str, ...] = ()
    exchanged: tuple[str, ...] = ()
    """"model" and "judge", as far as it is another than at the point before."""

    @property
    def remark(self) -> str:
        """What is unusual about the point, in a few words; empty if nothing is."""
        if self.status != "scored":
            return STATUSES[self.status]  # type: ignore[index]
        return self.cause if self.rescored else ""


class MetricNow(NamedTuple):
    """A metric at the newest point."""

    spec: MetricSpec
    value: float | None
    change: DisplayedChange | None
    """None at the first point, and of metrics that neither lead nor are drawn."""
    best: TrendPoint | None
    """The earliest point with the best value, if one is better than the newest."""
    best_value: float | None
    interval: Interval | None = None
    best_of: str = ""
    """Among which points it is the best, if not among all: ``by this judge``."""


class MetricTarget(NamedTuple):
    """The value that the team wants of a metric at least; at most, where lower is better."""

    spec: MetricSpec
    least: float
    value: float | None

    @property
    def label(self) -> str:
        """The metric's."""
        return self.spec.label

    @property
    def met(self) -> bool | None:
        """None if the metric is undefined."""
        return None if self.value is None else self.spec.reaches(self.value, self.least)


class TrendView(NamedTuple):
    """What ``pages/trend.html`` shows."""

    info: EvalInfo
    renamed_from: tuple[str, ...]
    deleted: bool
    specs: tuple[MetricSpec, ...]
    drawn: int
    points: tuple[TrendPoint, ...]
    """Oldest first."""
    metrics: tuple[MetricNow, ...]
    """Of the newest point; empty without points."""
    counts: Counts
    targets: tuple[MetricTarget, ...]
    """Of metrics that are drawn."""
    fields: tuple[HeatRow, ...]
    heat: HeatMap
    files: tuple[tuple[str, str], ...]
    """(what it is, path): what the newest point was scored from."""
    counted: bool = True
    """Whether anything was counted at any point; a judge may give scores alone, and of recorded numbers none is."""
    variants: str = ""
    """The page that compares the variants of the newest point, as seen from this one; empty if there are not two."""
    drawn_variants: tuple[str, ...] = ()
    """Names, those of the newest point first and in its order; empty if no point has two. Of an eval without variants
    the models, if there are two."""
    split_by: str = "variant"
    """What they are: variants or models."""
    usage: UsageView | None = None
    """What the outputs took; None if none says that."""
    last: tuple[LastChange, ...] = ()
    """The newest change; after one that changed nothing, the newest that did."""
    clocks: Clocks = ONE_CLOCK
    champions: tuple[int | None, ...] = ()
    """For each point the index of the one with the best headline so far."""
    steps: tuple[Step, ...] = ()
    """Where the level changed, oldest first."""
    suspects: int = 0
    """Labels that may be wrong."""
    repeats: RepeatsView | None = None
    columns: tuple[tuple[str, str], ...] = ()
    """(column of the ground truth, field path), as the newest point's mapping has them."""
    nav: str = "overview"


def trend_page(
    series: Series, steps: Sequence[Step] = (), suspects: int = 0, columns: tuple[tuple[str, str], ...] = ()
) -> Page:
    """The page of one eval; also of one without any point yet.

    ``steps``: what ``steps_of`` says of it; ``suspects``: how many labels may be wrong; ``columns``: those of the
    ground truth, with the fields that they are mapped to.
    """
    info, counted, cards = series.info, _is_counted(series), [point.scorecard for point in series.points]
    if not counted and not info.recorded:
        series = series._replace(specs=_defined(series))
    specs = series.specs
    variants = _variant_names(series)
    models = () if variants else _models(series)
    alike = [(spec.low, spec.high) == (specs[0].low, specs[0].high) for spec in specs[:DRAWN]]
    drawn = [*alike, False].index(False)
    # Of recorded numbers all that lead have their change, whatever their range: no other page says it.
    points = _trend_points(series, specs[: DRAWN if info.recorded else drawn], variants, models)
    newest = series.points[-1] if series.points else None
    wanted = dict(info.thresholds)
    fields = field_rows(series.points)
    view = TrendView(
        info=info,
        renamed_from=series.history.renamed_from,
        deleted=series.history.deleted,
        specs=specs,
        drawn=drawn,
        counted=counted,
        points=points,
        metrics=_metrics_now(series, points),
        counts=newest.scorecard.counts if newest else Counts(),
        targets=tuple(
            MetricTarget(spec, wanted[spec.name], points[-1].values[k] if points else None)
            for k, spec in enumerate(specs[:drawn])
            if spec.name in wanted
        ),
        fields=fields,
        heat=heat_map(series.points, fields),
        files=_newest_files(newest),
        variants=links.variants(info.id).rpartition("/")[2] if newest and has_variants(info, newest.scorecard) else "",
        drawn_variants=variants or models,
        split_by="model" if models else "variant",
        usage=usage_view(specs, points),
        last=last_changes(series),
        clocks=clocks(series.points, specs[:drawn]),
        champions=champions(
            [point.values[0] for point in points],
            graded_since(cards, specs[0].name),
            higher_is_better=specs[0].higher_is_better,
        ),
        steps=tuple(steps),
        suspects=suspects,
        repeats=repeats_view(series),
        columns=columns,
    )
    return Page(links.eval_trend(info.id), "pages/trend.html", view)


def _is_counted(series: Series) -> bool:
    counts = [point.scorecard.counts for point in series.points]
    return not series.info.recorded and (not counts or any(map(any, counts)))


def _defined(series: Series) -> tuple[MetricSpec, ...]:
    """The headline, and the other metrics that any point has."""
    known = {name for point in series.points for name, value in point.scorecard.metrics if value is not None}
    return tuple(spec for place, spec in enumerate(series.specs) if not place or spec.name in known)


def has_variants(info: EvalInfo, scorecard: Scorecard) -> bool:
    """Whether there is anything to compare: two or more prompts that answered the same cases."""
    return traits_of(info.kind).answers_cases and len(scorecard.documents) > 1


def _variant_names(series: Series) -> tuple[str, ...]:
    if not any(has_variants(series.info, point.scorecard) for point in series.points):
        return ()
    names = (each.id for point in reversed(series.points) for each in point.scorecard.documents)
    return tuple(dict.fromkeys(names))[:VARIANTS]


def _models(series: Series) -> tuple[str, ...]:
    """The models that made the outputs, the newest first, if there are two; of an output that several made the same."""
    usages = (point.scorecard.usage for point in reversed(series.points))
    found = tuple(dict.fromkeys(" and ".join(usage.models) for usage in usages if usage and usage.models))
    return found[:VARIANTS] if len(found) > 1 else ()


def _trend_points(
    series: Series, drawn: tuple[MetricSpec, ...], variants: tuple[str, ...], models: tuple[str, ...]
) -> tuple[TrendPoint, ...]:
    out: list[TrendPoint] = []
    before: Point | None = None
    for point in series.points:
        at, card = point.snapshot, point.scorecard
        known = dict(card.metrics)
        of_variants = {document.id: dict(document.metrics) for document in card.documents} if variants else {}
        usage = card.usage or RunUsage()
        if models:
            of_variants = {" and ".join(usage.models): known}
        out.append(
            TrendPoint(
                number=at.iteration,
                label=at.label,
                file=links.report(series.info.id, at.slug).rpartition("/")[2],
                sha=at.commit.sha,
                short=at.commit.short,
                subject=at.commit.subject,
                author=at.commit.author,
                committed_at=at.commit.committed_at,
                status=card.status,
                cause=", ".join(CAUSES[cause] for cause in at.cause),
                rescored="outputs" not in at.cause,
                deleted=at.deleted,
                values=tuple([known.get(spec.name) for spec in series.specs]),
                errors=errors_by_type(card.counts),
                edits=len(point.edits),
                variants=tuple(of_variants.get(name, {}).get(series.specs[0].name) for name in variants or models),
                changes=changes(drawn, series.info.nouns, before, point) if before else (),
                flipped=flipped(point.flips) if point.flips else None,
                stale=point.stale,
                interval=point.interval,
                models=usage.models,
                judges=usage.judges,
                exchanged=tuple(
                    who for who in ("model", "judge") if point.delta is not None and getattr(point.delta, who)
                ),
            )
        )
        before = point
    return tuple(out)


def _metrics_now(series: Series, points: tuple[TrendPoint, ...]) -> tuple[MetricNow, ...]:
    if not points:
        return ()
    out = []
    cards = [point.scorecard for point in series.points]
    newest = cards[-1]
    changed = dict(enumerate(points[-1].changes))
    for k, spec in enumerate(series.specs):
        values = [point.values[k] for point in points]
        since = graded_since(cards, spec.name)
        best = champions(values, since, higher_is_better=spec.higher_is_better)[-1]
        interval = interval_of(newest, series.info.kind, spec.name) if k < DRAWN else None
        best_of = "by this judge" if since[-1] else ""
        known = None if best is None else points[best]
        out.append(
            MetricNow(
                spec=spec,
                value=values[-1],
                change=changed.get(k),
                best=known,
                best_value=known.values[k] if known else None,
                interval=interval,
                best_of=best_of,
            )
        )
    return tuple(out)


def _newest_files(newest: Point | None) -> tuple[tuple[str, str], ...]:
    if newest is None:
        return ()
    at = newest.snapshot
    named = (("Ground truth", at.ground_truth), ("Field mapping", at.mapping), ("Schema", at.schema))
    outputs = tuple(("Output", blob.path) for blob in at.outputs[:3])
    return outputs + tuple((what, blob.path) for what, blob in named if blob)
