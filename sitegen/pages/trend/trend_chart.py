"""The chart of a trend page: lines, bands and marks as SVG paths, and the values that its script reads."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Final, NamedTuple

from sitegen.history.layout import iteration_number
from sitegen.html.charts import (
    ChartLine,
    Tick,
    band,
    bar_width,
    dots,
    line,
    nice_ticks,
    percent,
    round_steps,
    stack,
    staircase,
    y,
)
from sitegen.html.formats import day, printable
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Ends
from sitegen.pages.change_text import ROUNDING
from sitegen.pages.changes import in_own_unit
from sitegen.pages.trend.page import TrendView
from sitegen.pages.trend.point import TrendPoint
from sitegen.pages.trend.step_marks import StepMark, step_marks
from sitegen.pages.variants.variant_charts import tone
from sitegen.text.values import COUNT, SMALL, metric_text

LINKED: Final = 200
"""Most points whose dots are links; with more, only the table below the chart links to reports."""


class VariantLine(NamedTuple):
    """The headline of one variant."""

    mark: str
    """Class of its colour."""
    name: str
    now: float | None
    line: ChartLine


class TargetLine(NamedTuple):
    """A threshold as a line across the chart."""

    value: float
    y: float
    at: str
    label: str
    below: bool
    """The label stands below the line, because another label is close above."""


class LinkedDot(NamedTuple):
    """The dot of a point that links to its report."""

    point: int
    """Its index."""
    y: float


class TrendChart(NamedTuple):
    """All paths, ticks and labels of the chart."""

    size: int
    """Points along the axis."""
    top: float
    """y of the upper edge, in chart units."""
    height: float
    ticks: tuple[Tick, ...]
    grid: tuple[float, ...]
    lines: tuple[ChartLine, ...]
    """Lines of the drawn metrics, the headline first."""
    now: tuple[ChartLine, ...]
    """The same by the second clock; empty if the clocks never differ."""
    band: str
    """The intervals around the headline."""
    champion: str
    """The best headline so far, as a staircase."""
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
    error_ticks: tuple[Tick, ...]
    error_grid: tuple[float, ...]
    days: tuple[Tick, ...]
    linked: tuple[LinkedDot, ...]
    island: dict[str, object]
    """Values for the script, written as JSON; it takes texts and counts from the table of iterations."""


def trend(view: TrendView) -> TrendChart:
    """The chart of an eval with at least one point and one metric."""
    points, spec = view.points, view.specs[0]
    low, high = spec.low, spec.high
    columns = [[point.values[k] for point in points] for k in range(view.drawn)]
    now = [list(column) for column in zip(*view.clocks.values, strict=True)]
    head = columns[0]
    valued = list(zip(points, head, strict=True))
    variants = _variant_lines(view)
    of_variants = [[point.variants[k] for point in points] for k in range(len(variants))]
    bottom, top = _shown_range([*columns, *now, *of_variants], [target.least for target in view.targets], low, high)
    most = max(1, *(sum(point.errors) for point in points)) * 1.06
    ticks = tuple(tick for tick in nice_ticks(bottom, top) if spec.unit != COUNT or tick == int(tick))
    error_ticks = tuple(tick for tick in nice_ticks(0, most, 2) if tick == int(tick))
    linked = tuple(LinkedDot(i, y(v, low, high)) for i, v in enumerate(head) if v is not None)
    return TrendChart(
        size=len(points),
        top=y(top, low, high),
        height=round(y(bottom, low, high) - y(top, low, high), 1),
        ticks=tuple(Tick(percent(top - tick, top - bottom), _tick(tick, top - bottom, spec.unit)) for tick in ticks),
        grid=tuple(y(tick, low, high) for tick in ticks),
        lines=tuple(line(column, low, high) for column in columns),
        now=tuple(line(column, low, high) for column in now),
        band=band([point.interval and Ends(point.interval.low, point.interval.high) for point in points], low, high),
        champion=staircase(view.best_so_far, low, high),
        variants=variants,
        dots=dots([None if point.copy_of is not None else value for point, value in valued], low, high),
        copies=dots([value if point.copy_of is not None else None for point, value in valued], low, high),
        stale=dots([value if point.stale else None for point, value in valued], low, high),
        targets=_targets(view, bottom, top),
        steps=tuple(step_marks(view)),
        broken="".join(
            f"M{i} {y(bottom if v is None else v, low, high):g}h0"
            for i, (point, v) in enumerate(valued)
            if point.status != "scored"
        ),
        edits="".join(f"M{i} 1v8" for i, point in enumerate(points) if point.edited),
        rescored="".join(f"M{i} 1v8" for i, point in enumerate(points) if point.rescored),
        errors=stack([point.errors for point in points], most),
        bar=bar_width(len(points)),
        error_ticks=tuple(Tick(percent(most - tick, most), f"{tick:g}") for tick in error_ticks),
        error_grid=tuple(round(1000 - 1000 * tick / most, 1) for tick in error_ticks),
        days=_days(points),
        linked=linked if len(linked) <= LINKED else (),
        island={
            "scale": [low, high],
            "y": [bottom, top],
            "top": most,
            # From the closest that the script zooms in, a fiftieth of the height, to the whole of either axis.
            "steps": round_steps(min((top - bottom) / 250, 0.5), max((top - bottom) / 5, most / 2)),
            **({"whole": whole} if (whole := _whole_metrics(view)) else {}),
            "names": [
                *(spec.label for spec in view.specs[: view.drawn]),
                *(printable(f"{spec.label}, {variant.name}") for variant in variants),
            ],
            "marks": [*(f"m{k}" for k in range(view.drawn)), *(variant.mark for variant in variants)],
            "better": [1 if spec.higher_is_better else -1 for spec in view.specs[: view.drawn]],
            "letters": view.info.nouns.letters,
            **({"numbers": numbers} if (numbers := _run_numbers(points)) else {}),
            "values": [_rounded(column) for column in (*columns, *of_variants)],
            "now": [_rounded(column) for column in now],
            "changes": [_written_changes(points, k, spec) for k, spec in enumerate(view.specs[: view.drawn])],
            "by_outputs": [int(bool(point.changes) and point.changes[0].by_outputs) for point in points],
            "spans": [point.interval and _rounded(point.interval[:2]) for point in points],
        },
    )


def _tick(tick: float, span: float, unit: str) -> str:
    """The label of a tick: two decimals, more or fewer by what the axis spans; none for a count."""
    if unit == COUNT:
        return metric_text(tick, unit=unit)
    digits = 2 if 0.05 <= span < 20 else max(0, min(8, 1 - floor(log10(span / 5)))) if span > 0 else 2
    return f"{tick:,.{digits}f}"


def _run_numbers(points: Sequence[TrendPoint]) -> list[int]:
    """Numbers of points, if the script cannot read them in the labels: those of runs need not end with them."""
    numbers = [point.number for point in points]
    return [] if all(iteration_number(point.label) is not None for point in points) else numbers


def _rounded(values: Sequence[float | None]) -> list[float | None]:
    """The values as the table writes them, so that the script does not round again."""
    return [
        None if value is None else round(value, 3) if abs(value) >= SMALL else float(f"{value:.2g}") for value in values
    ]


def _written_changes(points: Sequence[TrendPoint], metric: int, spec: MetricSpec) -> list[float | None]:
    """The changes as the table writes them, in the unit of the metric."""
    in_points = [point.changes[metric].points if point.changes else None for point in points]
    changes = [None if change is None else in_own_unit(change, spec) for change in in_points]
    return _rounded([0 if change is not None and abs(change) < ROUNDING else change for change in changes])


def _variant_lines(view: TrendView) -> tuple[VariantLine, ...]:
    spec = view.specs[0]
    columns = zip(*(point.variants for point in view.points), strict=True)
    return tuple(
        VariantLine(mark=f"v{tone(k)}", name=name, now=column[-1], line=line(column, spec.low, spec.high))
        for k, (name, column) in enumerate(zip(view.drawn_variants, columns, strict=True))
    )


def _whole_metrics(view: TrendView) -> list[int]:
    """Indices of drawn metrics that are counts."""
    return [place for place, spec in enumerate(view.specs[: view.drawn]) if spec.unit == COUNT]


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


def _days(points: Sequence[TrendPoint], most: int = 7) -> tuple[Tick, ...]:
    """At most ``most`` iterations below the chart, evenly spread, with the day where it changes.

    First and last are among them. If not all points have a label, no two neighbours have: both may not fit.
    """
    count = len(points)
    parts = max(1, count - 1 if count <= most else min(most - 1, (count - 1) // 2))
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
