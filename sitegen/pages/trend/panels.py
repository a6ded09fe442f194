"""The parts of a trend page besides its chart and table of points.

These are the fields with their heat map, the two clocks (each output by the ground truth and the rules of its own time,
and by those of the newest point), the newest change and its verdict, repeated runs, and usage against the headline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import chain
from operator import ne
from typing import TYPE_CHECKING, Final, NamedTuple

from sitegen.analysis.noise.changes import change_verdict
from sitegen.analysis.noise.repeats import FEWEST, Repeats, noise_of, repeated, repeats_among
from sitegen.model.cells import CellMap, Flips
from sitegen.model.metrics import Counts, MetricSpec
from sitegen.model.noise import ChangeVerdict, FlipRate, Noise
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point, Series
from sitegen.pages.changes import DisplayedChange, Flipped, changes, flipped, in_points
from sitegen.pages.labels import CAUSES, interval_basis
from sitegen.pages.recorded import agrees_with_now
from sitegen.pages.report.discrepancies import field_file
from sitegen.pages.report.runs import FIELDS, RateRow
from sitegen.scoring.usage import USAGE
from sitegen.stats.counts import errors, judged

if TYPE_CHECKING:
    from sitegen.pages.trend.page import TrendPoint

HEAT_ROWS: Final = 60
"""Fields in the heat map; with more, those that were wrong most often."""

_NO_CELLS = CellMap(0, ())

AGAINST: Final = ("cost", "tokens_out", "tokens_in", "latency_median")
"""What the headline is drawn against: the first of these that two outputs state."""

ROWS: Final = 200
"""Points that the table lists, the newest ones."""


class HeatRow(NamedTuple):
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


def field_rows(points: Sequence[Point]) -> tuple[HeatRow, ...]:
    """Attributes in the order of the newest point, those that it lacks after them in the order they appeared.

    One that was judged at no point (a category that no gold has) has no page either.
    """
    wrong: dict[str, int] = {}
    total: dict[str, int] = {}
    # Most attributes have the same few counts at every point: those are added once, which takes a quarter of the time.
    equal = Counter(chain.from_iterable([point.scorecard.fields for point in points]))
    for (attribute, counts), times in equal.items():
        wrong[attribute] = wrong.get(attribute, 0) + errors(counts) * times
        total[attribute] = total.get(attribute, 0) + judged(counts) * times
    now = dict(points[-1].scorecard.fields) if points else {}
    names = [*now, *(attribute for attribute in total if attribute not in now)]
    return tuple(
        HeatRow(attribute=name, now=now.get(name), wrong=wrong[name], judged=total[name])
        for name in names
        if total[name]
    )


def heat_map(points: Sequence[Point], fields: Sequence[HeatRow]) -> HeatMap:
    """The heat map of all fields, in their order; of too many, those that were wrong most often."""
    shown = fields
    if len(fields) > HEAT_ROWS:
        worst = sorted(fields, key=lambda row: -(row.wrong / row.judged if row.judged else 0))[:HEAT_ROWS]
        chosen = {row.attribute for row in worst}
        shown = tuple(row for row in fields if row.attribute in chosen)
    names = tuple(row.attribute for row in shown)
    columns = [dict(point.scorecard.fields) for point in points]
    share = cache(_wrong_share)
    shares = tuple(tuple([share(column.get(name)) for column in columns]) for name in names)
    return HeatMap(names, shares, len(fields) - len(shown))


def _wrong_share(counts: Counts | None) -> float | None:
    total = judged(counts) if counts else 0
    return errors(counts) / total if counts and total else None


class Turned(NamedTuple):
    """A point at which ground truth, mapping, schema or settings became what they were not before."""

    at: int
    """Its index."""
    label: str
    causes: str
    """In words."""


class Clocks(NamedTuple):
    """Where the two clocks of an eval give different numbers."""

    turned: tuple[Turned, ...]
    """Oldest first: from the last one on, truth and rules are those of the newest point."""
    apart: int
    """Points at which any metric that is drawn differs by the two."""
    values: tuple[tuple[float | None, ...], ...]
    """By the second clock, a row for each point; empty if the two never part, or if nobody asked."""
    recorded: int = 0
    """Points whose recorded metrics are those of the second clock, and not of the first."""


ONE_CLOCK = Clocks((), 0, ())


def clocks(points: Sequence[Point], drawn: Sequence[MetricSpec]) -> Clocks:
    """Compare the two clocks of all points, by the metrics that are drawn."""
    then = [_clock_values(point.scorecard, drawn) for point in points]
    now = [
        values if point.now is None or point.now is point.scorecard else _clock_values(point.now, drawn)
        for point, values in zip(points, then, strict=True)
    ]
    apart = sum(map(ne, then, now))
    turned = tuple(
        Turned(index, point.snapshot.label, ", ".join(CAUSES[cause] for cause in rules))
        for index, point in enumerate(points)
        if index and (rules := [cause for cause in point.snapshot.cause if cause != "outputs"])
    )
    labels = tuple((spec.name, spec.label) for spec in drawn)
    recorded = sum(agrees_with_now(point, labels) for point in points)
    return Clocks(turned=turned, apart=apart, values=tuple(now) if apart else (), recorded=recorded)


def _clock_values(card: Scorecard, drawn: Sequence[MetricSpec]) -> tuple[float | None, ...]:
    known = dict(card.metrics)
    return tuple([known.get(spec.name) for spec in drawn])


class LastChange(NamedTuple):
    """A point held against the one before it."""

    at: int
    """Its index."""
    change: DisplayedChange
    """Of the headline."""
    verdict: ChangeVerdict
    over: str
    """What the interval of the change was made from, in words; empty without one."""
    detectable: float | None
    """The least change, in points, that this set shows 8 times in 10."""
    flipped: Flipped


def last_changes(series: Series) -> tuple[LastChange, ...]:
    """What the newest point brought, and if that is nothing, what the newest one brought that brought anything.

    Empty for fewer than two points, if nobody compared them, and for recorded numbers: nothing tells chance there.
    """
    if series.info.recorded or len(series.points) < 2 or series.points[-1].delta is None:
        return ()
    noise = _headline_noise(series)
    newest = _change_at(series, len(series.points) - 1, noise)
    moved = _last_moved_index(series) if newest.verdict.decision == "same" else None
    return (newest,) if moved is None else (newest, _change_at(series, moved, noise))


def _change_at(series: Series, at: int, noise: Noise | None) -> LastChange:
    before, after = series.points[at - 1 : at + 1]
    spec, nouns, flips = series.specs[0], series.info.nouns, after.flips or Flips()
    verdict = change_verdict(
        before.scorecard,
        after.scorecard,
        series.info.kind,
        flips,
        noise=noise,
        higher_is_better=spec.higher_is_better,
    )
    return LastChange(
        at=at,
        change=changes((spec,), nouns, before, after)[0],
        verdict=verdict,
        over=interval_basis(verdict.interval, nouns) if verdict.interval else "",
        detectable=None if verdict.detectable is None else in_points(verdict.detectable, spec),
        flipped=flipped(flips),
    )


def _headline_noise(series: Series) -> Noise | None:
    """How far the headline wanders when outputs are made again; which cells do is not asked here."""
    headlines = [point.scorecard.metric(series.specs[0].name) for point in series.points]
    groups = repeated(series.points)
    return noise_of([Repeats(_NO_CELLS, group, tuple(headlines[index] for index in group)) for group in groups])


def _last_moved_index(series: Series) -> int | None:
    for index in range(len(series.points) - 2, 0, -1):
        point = series.points[index]
        if (point.delta and point.delta.headline.change) or (point.flips and (point.flips.fixed or point.flips.broken)):
            return index
    return None


class RepeatsView(NamedTuple):
    """What differs between outputs made again under unchanged instructions, over the whole series."""

    outputs: int
    pooled: FlipRate
    """Over all fields."""
    rows: tuple[RateRow, ...]
    """Fields in which they differ at all, the one that flips most often first."""
    more: int


def repeats_view(series: Series) -> RepeatsView | None:
    """The repeats of a series; None with fewer than three repeats or two pairs: one pair may differ by accident."""
    if series.info.recorded:
        return None
    noise = noise_of(repeats_among(series.points, series.cells))
    if noise is None or noise.pooled.rate is None or noise.outputs - noise.groups < FEWEST:
        return None
    rates = [rate for rate in noise.fields if rate.flips]
    rows = tuple(RateRow(rate, field_file(series.info.id, rate.attribute)) for rate in rates[:FIELDS])
    return RepeatsView(outputs=noise.outputs, pooled=noise.pooled, rows=rows, more=len(rates) - len(rows))


class OutputUsage(NamedTuple):
    """One output."""

    label: str
    file: str
    """Its report, as seen from the trend page."""
    made_by: str
    """The models; empty if it does not say."""
    headline: float | None
    values: tuple[float | None, ...]
    """In the order of the specs."""
    against: float | None
    """What the picture draws it at."""


class UsageView(NamedTuple):
    """What the trend page shows of usage."""

    headline: MetricSpec
    specs: tuple[MetricSpec, ...]
    """Of usage: those that any output states."""
    outputs: tuple[OutputUsage, ...]
    """Oldest first, without points that are only scored again."""
    models: tuple[str, ...]
    """All that are named, the newest first."""
    against: MetricSpec | None
    """None: too few outputs state both to draw anything."""


def usage_view(specs: Sequence[MetricSpec], points: Sequence[TrendPoint]) -> UsageView | None:
    """The outputs with what they took; None if none of them says anything. *specs* are those of the points' values."""
    places = [index for index, spec in enumerate(specs) if spec.name in USAGE]
    made = [point for point in points if not point.rescored]
    if not places and not any(point.models for point in made):
        return None
    names = [specs[index].name for index in places]
    against = next((name for name in AGAINST if name in names and _drawable(made, places[names.index(name)])), None)
    drawn = None if against is None else places[names.index(against)]
    outputs = tuple(
        OutputUsage(
            label=point.label,
            file=point.file,
            made_by=" and ".join(point.models),
            headline=point.values[0],
            values=tuple(point.values[index] for index in places),
            against=None if drawn is None else point.values[drawn],
        )
        for point in made
    )
    return UsageView(
        headline=specs[0],
        specs=tuple(specs[index] for index in places),
        outputs=outputs,
        models=tuple(dict.fromkeys(output.made_by for output in reversed(outputs) if output.made_by)),
        against=None if drawn is None else specs[drawn],
    )


def _drawable(points: Sequence[TrendPoint], place: int) -> bool:
    return sum(point.values[0] is not None and bool(point.values[place]) for point in points) >= 2
