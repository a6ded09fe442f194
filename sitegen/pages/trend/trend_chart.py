"""The chart of a trend page: lines, bands and marks as SVG paths, and the values that its script reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10
from typing import Final

from sitegen.frozen import Frozen
from sitegen.html.charts import (
    ChartLine,
    Tick,
    band,
    bar_width,
    dots,
    extremes,
    first_of_groups,
    groups,
    line,
    nice_ticks,
    percent,
    stack,
    staircase,
    y,
)
from sitegen.html.elements import painted, unjudged
from sitegen.html.formats import day
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Ends
from sitegen.pages.trend.numbers import TrendPoint
from sitegen.pages.trend.page import NEWEST, TrendView
from sitegen.pages.trend.step_marks import StepMark, step_marks
from sitegen.pages.trend.trend_island import drawn_values, island, variant_mark
from sitegen.stats.averages import mean
from sitegen.text.values import COUNT, metric_text

GROUPS: Final = 200
"""Largest number of groups in which a line draws the values of older points."""

GROUPS_OF_LINES: Final = 1_200
"""Largest number of groups of all lines together, which limits the chart of an eval with many variants."""

HEAT_GROUPS: Final = 100
"""Largest number of groups of older points in the heat map, which has many rows."""

NAMED_POINTS: Final = 7
"""Largest number of iterations that are named below the chart."""


class VariantLine(Frozen):
    """The headline of one variant."""

    mark: str
    """Class of its colour."""
    name: str
    now: float | None
    line: ChartLine


class TargetLine(Frozen):
    """A threshold as a line across the chart."""

    value: float
    y: float
    at: str
    label: str
    below: bool
    """Whether the label is below the line, because another label is close above."""


class TrendChart(Frozen):
    """All paths, ticks and labels of the chart."""

    size: int
    """Number of points along the axis."""
    top: float
    """y of the upper edge, in chart units."""
    height: float
    ticks: tuple[Tick, ...]
    grid: tuple[float, ...]
    lines: tuple[ChartLine, ...]
    """Lines of the drawn metrics, the headline first."""
    now: tuple[ChartLine, ...]
    """The same lines by the second clock; empty if the clocks never differ."""
    band: str
    """The intervals around the headline."""
    champion: str
    """The best headline so far, as a staircase."""
    recorded: ChartLine
    """The headline that the records of the runs state; empty if they agree with the computed one."""
    variants: tuple[VariantLine, ...]
    """The headline of each variant of a prompt."""
    dots: str
    """The single values of the headline, without copies."""
    copies: str
    """The values of copies of an earlier output."""
    stale: str
    """Marks of stale outputs."""
    targets: tuple[TargetLine, ...]
    steps: tuple[StepMark, ...]
    broken: str
    """Marks of points that could not be read or scored."""
    edits: str
    rescored: str
    errors: tuple[str, ...]
    bar: float
    """Width of the bars of errors, as a share of a step."""
    grouped_errors: tuple[str, ...]
    """Two bars for each group of older points: the fewest and the most errors; empty without groups."""
    grouped_bar: float
    """Width of these bars, in points."""
    heat: tuple[str, ...]
    """The cells of the heat map, a path for each level above 0."""
    unjudged: str
    error_ticks: tuple[Tick, ...]
    error_grid: tuple[float, ...]
    days: tuple[Tick, ...]
    linked: dict[int, float]
    """y of each dot that links to its report, by the index of its point."""
    island: dict[str, object]
    """Values for the script, by ``trend_island``."""


def trend(view: TrendView, *, whole: bool = False) -> TrendChart:
    """The chart of an eval with at least one point and one metric.

    Points older than the ``NEWEST`` are drawn in groups, because a screen has no room for more, unless ``whole`` is
    set.
    """
    points, spec = view.points, view.specs[0]
    older = 0 if whole else view.older
    newest = len(points) - older
    low, high = spec.low, spec.high
    values = drawn_values(view)
    head = values.metrics[0]
    size = ceil(older / min(GROUPS, GROUPS_OF_LINES // len(values.all)))
    bottom, top = _shown_range(values.all, [target.least for target in view.targets], low, high)
    most = max(1, *(sum(point.errors) for point in points)) * 1.06
    ticks = tuple(tick for tick in nice_ticks(bottom, top) if spec.unit != COUNT or tick == int(tick))
    shares = [_grouped_shares(row, older) for row in view.heat.shares]
    error_ticks = tuple(tick for tick in nice_ticks(0, most, 2) if tick == int(tick))

    def line_of(column: Sequence[float | None]) -> ChartLine:
        return line(column, low, high, extremes(column, size, newest), view.breaks)

    def dots_where(marked: Iterable[bool]) -> str:
        """The headline of the marked points."""
        heads = [value if mark else None for value, mark in zip(head, marked, strict=True)]
        return dots(heads, low, high, extremes(heads, size, newest))

    def firsts(marked: Iterable[bool]) -> Iterable[int]:
        """The first marked point of each group."""
        return first_of_groups([index for index, mark in enumerate(marked) if mark], older, size)

    def ticks_where(marked: Iterable[bool]) -> str:
        return "".join(f"M{index} 1v8" for index in firsts(marked))

    return TrendChart(
        size=len(points),
        top=y(top, low, high),
        height=round(y(bottom, low, high) - y(top, low, high), 1),
        ticks=tuple(Tick(percent(top - tick, top - bottom), _tick(tick, top - bottom, spec.unit)) for tick in ticks),
        grid=tuple(y(tick, low, high) for tick in ticks),
        lines=tuple(map(line_of, values.metrics)),
        now=tuple(map(line_of, values.now)),
        band=band(
            [Ends(around.low, around.high) if (around := point.interval) else None for point in points],
            low,
            high,
            size,
            newest,
            view.breaks,
        ),
        champion=staircase(view.best_so_far, low, high, extremes(view.best_so_far, size, newest), view.breaks),
        recorded=line_of(values.recorded),
        variants=tuple(
            VariantLine(mark=variant_mark(k), name=name, now=column[-1], line=line_of(column))
            for k, (name, column) in enumerate(zip(view.drawn_variants, values.variants, strict=True))
        ),
        dots=dots_where(point.copy_of is None for point in points),
        copies=dots_where(point.copy_of is not None for point in points),
        stale=dots_where(point.stale for point in points),
        targets=_targets(view, bottom, top),
        steps=tuple(step_marks(view)),
        broken="".join(
            f"M{index} {y(bottom if (value := head[index]) is None else value, low, high):g}h0"
            for index in firsts(point.status != "scored" for point in points)
        ),
        edits=ticks_where(bool(point.edited) for point in points),
        rescored=ticks_where(point.rescored for point in points),
        errors=stack([point.errors for point in points[older:]], most, range(older, len(points))),
        bar=bar_width(len(points)),
        grouped_errors=_grouped_errors(points[:older], size, most),
        grouped_bar=size / 2,
        heat=painted(shares),
        unjudged=unjudged(shares),
        error_ticks=tuple(Tick(percent(most - tick, most), f"{tick:g}") for tick in error_ticks),
        error_grid=tuple(round(1000 - 1000 * tick / most, 1) for tick in error_ticks),
        days=_days(points),
        linked={
            index: y(value, low, high)
            for index, value in enumerate(head if len(points) <= NEWEST else ())
            if value is not None
        },
        island=island(view, values, older, axis=Ends(bottom, top), most_errors=most),
    )


def _grouped_errors(points: Sequence[TrendPoint], size: int, most: float) -> tuple[str, ...]:
    """For each group, the errors of the points with the fewest and with the most, the earlier point first."""
    rows, places = [], []
    for group in groups(len(points), size or 1):
        by_errors = sorted(group, key=lambda index: sum(points[index].errors))
        for side, index in enumerate(sorted((by_errors[0], by_errors[-1]))):
            rows.append(points[index].errors)
            places.append(group.stop - 0.5 - size * (0.75 - 0.5 * side))
    return stack(rows, most, places)


def _grouped_shares(shares: Sequence[float | None], older: int) -> Sequence[float | None]:
    """The shares, each older share replaced by the average of its group."""
    grouped: list[float | None] = []
    for group in groups(older, ceil(older / HEAT_GROUPS) or 1):
        defined = [share for share in shares[group.start : group.stop] if share is not None]
        grouped += [mean(defined) if defined else None] * len(group)
    return (*grouped, *shares[older:]) if older else shares


def _tick(tick: float, span: float, unit: str) -> str:
    """The label of a tick: two decimals, more or fewer depending on the range of the axis; none for a count."""
    if unit == COUNT:
        return metric_text(tick, unit=unit)
    digits = 2 if 0.05 <= span < 20 else max(0, min(8, 1 - floor(log10(span / 5)))) if span > 0 else 2
    return f"{tick:,.{digits}f}"


def _shown_range(
    columns: Sequence[Sequence[float | None]], targets: Sequence[float], low: float, high: float
) -> tuple[float, float]:
    """The part of the metric's range that the chart shows: round numbers below and above everything drawn."""
    drawn = [value for column in columns for value in column if value is not None] + list(targets)
    if not drawn:
        return low, high
    step = (high - low) / 20
    bottom = low + step * floor((min(drawn) - low) / step + 1e-9)
    top = low + step * ceil((max(drawn) - low) / step - 1e-9)
    if top > high - 5 * step:  # the best possible value is near enough to be shown
        top = high
    bottom, top = max(low, min(bottom, top - 4 * step)), min(high, max(top, bottom + 4 * step))
    return min(bottom, *drawn), max(top, *drawn)


def _targets(view: TrendView, bottom: float, top: float) -> tuple[TargetLine, ...]:
    """The thresholds, highest first."""
    spec: MetricSpec = view.specs[0]
    lines: list[TargetLine] = []
    for target in sorted(view.targets, key=lambda target: -target.least):
        lines.append(
            TargetLine(
                value=target.least,
                y=y(target.least, spec.low, spec.high),
                at=percent(top - target.least, top - bottom),
                label=f"{target.label} {target.least:g}",
                below=bool(lines) and lines[-1].value - target.least < (top - bottom) / 12,
            )
        )
    return tuple(lines)


def _days(points: Sequence[TrendPoint]) -> tuple[Tick, ...]:
    """At most ``NAMED_POINTS`` iterations below the chart, evenly spread, with the day if it changes.

    The first and the last are included. If not all points have a label, no two neighbours do, because they may not fit.
    """
    count = len(points)
    parts = max(1, count - 1 if count <= NAMED_POINTS else min(NAMED_POINTS - 1, (count - 1) // 2))
    chosen = sorted({round((count - 1) * k / parts) for k in range(parts + 1)})
    ends = {0: "start", count - 1: "end"} if count > 3 else {}
    return tuple(
        Tick(
            percent(index + 0.5, count),
            _axis_name(points[index], points[before] if before is not None else None),
            ends.get(index, "middle"),
        )
        for before, index in zip([None, *chosen], chosen, strict=False)
    )


def _axis_name(point: TrendPoint, before: TrendPoint | None) -> str:
    date = day(point.commit.committed_at)
    same = before is not None and day(before.commit.committed_at) == date
    return f"{point.number}" if same else f"{point.number} · {date[:-5]}"
