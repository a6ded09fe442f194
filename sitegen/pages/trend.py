"""The trend page of an eval: every metric, error and field over all of its points, on one axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from sitegen.model.metrics import Counts, MetricSpec
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import EvalInfo, Point, Series
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.pages.labels import CAUSES, STATUSES
from sitegen.pages.tallies import errors, errors_by_type, judged

DRAWN: Final = 3
"""Metrics that are drawn: the first of the kind's specs, as far as they share the headline's range."""

VARIANTS: Final = 6
"""Variants of a prompt that are drawn; their own page compares all of them."""

HEAT_ROWS: Final = 60
"""Fields in the heat map; with more, those that were wrong most often."""


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
    change: float | None
    """Of the headline, against the point before; None unless both are defined."""
    errors: tuple[int, ...]
    """In the order of ``ERROR_TYPES``."""
    edits: int
    """Edits of instructions since the point before."""
    variants: tuple[float | None, ...] = ()
    """The headline of each variant that is drawn."""

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
    change: float | None
    best: TrendPoint | None
    """The earliest point with the best value, if one is better than the newest."""
    best_value: float | None


class Target(NamedTuple):
    """The least value that the team wants of a metric."""

    label: str
    least: float
    value: float | None

    @property
    def met(self) -> bool | None:
        """None if the metric is undefined."""
        return None if self.value is None else self.value >= self.least


class FieldRow(NamedTuple):
    """One attribute now and over all points."""

    attribute: str
    now: Counts | None
    """None: not judged at the newest point."""
    wrong: int
    judged: int


class HeatMap(NamedTuple):
    """Share of wrong answers, a row for each attribute, a column for each point."""

    attributes: tuple[str, ...]
    shares: tuple[tuple[float | None, ...], ...]
    """None: not judged at that point."""
    left_out: int
    """Attributes that are in the table alone."""


@dataclass(frozen=True, slots=True)
class TrendView:
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
    error_change: int | None
    targets: tuple[Target, ...]
    """Of metrics that are drawn."""
    fields: tuple[FieldRow, ...]
    heat: HeatMap
    files: tuple[tuple[str, str], ...]
    """(what it is, path): what the newest point was scored from."""
    variants: str = ""
    """The page that compares the variants of the newest point, as seen from this one; empty if there are not two."""
    drawn_variants: tuple[str, ...] = ()
    """Names, those of the newest point first and in its order; empty if no point has two."""
    nav: str = "overview"


def trend_page(series: Series) -> Page:
    """The page of one eval; also of one without any point yet."""
    info, specs = series.info, series.specs
    variants = _variants(series)
    points = _points(series, variants)
    newest = series.points[-1] if series.points else None
    drawn = sum(1 for spec in specs[:DRAWN] if (spec.low, spec.high) == (specs[0].low, specs[0].high))
    wanted = dict(info.thresholds)
    fields = _fields(series.points)
    view = TrendView(
        info=info,
        renamed_from=series.history.renamed_from,
        deleted=series.history.deleted,
        specs=specs,
        drawn=drawn,
        points=points,
        metrics=_metrics(specs, points),
        counts=newest.scorecard.counts if newest else Counts(),
        error_change=sum(points[-1].errors) - sum(points[-2].errors) if len(points) > 1 else None,
        targets=tuple(
            Target(spec.label, wanted[spec.name], points[-1].values[k] if points else None)
            for k, spec in enumerate(specs)
            if spec.name in wanted and k < drawn
        ),
        fields=fields,
        heat=_heat(series.points, fields),
        files=_files(newest),
        variants=links.variants(info.id).rpartition("/")[2] if newest and has_variants(info, newest.scorecard) else "",
        drawn_variants=variants,
    )
    return Page(links.eval_trend(info.id), "pages/trend.html", view)


def has_variants(info: EvalInfo, scorecard: Scorecard) -> bool:
    """Whether there is anything to compare: two or more prompts that answered the same cases."""
    return info.kind == "responses" and len(scorecard.documents) > 1


def _variants(series: Series) -> tuple[str, ...]:
    if not any(has_variants(series.info, point.scorecard) for point in series.points):
        return ()
    names = (each.id for point in reversed(series.points) for each in point.scorecard.documents)
    return tuple(dict.fromkeys(names))[:VARIANTS]


def _points(series: Series, variants: tuple[str, ...]) -> tuple[TrendPoint, ...]:
    out: list[TrendPoint] = []
    before: float | None = None
    for point in series.points:
        at, card = point.snapshot, point.scorecard
        values = tuple(card.metric(spec.name) for spec in series.specs)
        head = values[0] if values else None
        of_variants = {each.id: dict(each.metrics) for each in card.documents} if variants else {}
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
                values=values,
                change=None if head is None or before is None else head - before,
                errors=errors_by_type(card.counts),
                edits=len(point.edits),
                variants=tuple(of_variants.get(name, {}).get(series.specs[0].name) for name in variants),
            )
        )
        before = head
    return tuple(out)


def _metrics(specs: tuple[MetricSpec, ...], points: tuple[TrendPoint, ...]) -> tuple[MetricNow, ...]:
    if not points:
        return ()
    out = []
    for k, spec in enumerate(specs):
        now = points[-1].values[k]
        earlier = points[-2].values[k] if len(points) > 1 else None
        sign = 1 if spec.higher_is_better else -1
        best, best_value = None, None
        for point in points:
            value = point.values[k]
            if value is not None and (best_value is None or sign * value > sign * best_value):
                best, best_value = point, value
        out.append(MetricNow(spec, now, None if now is None or earlier is None else now - earlier, best, best_value))
    return tuple(out)


def _fields(points: tuple[Point, ...]) -> tuple[FieldRow, ...]:
    """Attributes in the order of the newest point, those that it lacks after them in the order they appeared."""
    wrong: dict[str, int] = {}
    total: dict[str, int] = {}
    for point in points:
        for attribute, counts in point.scorecard.fields:
            wrong[attribute] = wrong.get(attribute, 0) + errors(counts)
            total[attribute] = total.get(attribute, 0) + judged(counts)
    now = dict(points[-1].scorecard.fields) if points else {}
    names = [*now, *(attribute for attribute in total if attribute not in now)]
    return tuple(FieldRow(name, now.get(name), wrong[name], total[name]) for name in names)


def _heat(points: tuple[Point, ...], fields: tuple[FieldRow, ...]) -> HeatMap:
    shown = fields
    if len(fields) > HEAT_ROWS:
        worst = sorted(fields, key=lambda row: -(row.wrong / row.judged if row.judged else 0))[:HEAT_ROWS]
        chosen = {row.attribute for row in worst}
        shown = tuple(row for row in fields if row.attribute in chosen)
    names = tuple(row.attribute for row in shown)
    columns = [_shares(point.scorecard) for point in points]
    return HeatMap(
        names, tuple(tuple(column.get(name) for column in columns) for name in names), len(fields) - len(shown)
    )


def _shares(scorecard: Scorecard) -> dict[str, float]:
    return {attribute: errors(counts) / total for attribute, counts in scorecard.fields if (total := judged(counts))}


def _files(newest: Point | None) -> tuple[tuple[str, str], ...]:
    if newest is None:
        return ()
    at = newest.snapshot
    named = (("Ground truth", at.ground_truth), ("Field mapping", at.mapping), ("Schema", at.schema))
    outputs = tuple(("Output", blob.path) for blob in at.outputs[:3])
    return outputs + tuple((what, blob.path) for what, blob in named if blob)
