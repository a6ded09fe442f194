"""SVG drawn on the server, in data coordinates.

x is the index of a point, y runs from 0 (the metric's highest value) to 1000 (its lowest). Every layer is stretched
with ``preserveAspectRatio="none"`` and keeps its line width with ``vector-effect`` (in the style sheet), so the same
markup is fluid, prints as vectors and needs no script. The script zooms by changing a ``viewBox``; it draws no line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from typing import Final, NamedTuple

from sitegen.pages.trend import HeatMap, TrendPoint, TrendView
from sitegen.render.formats import day, printable
from sitegen.render.variants import tone

LEVELS: Final = (0.0, 0.03, 0.08, 0.16, 0.28, 0.42, 0.60)
"""Share of wrong answers that starts each level of the heat map; level 0 is not painted."""

LINKED: Final = 200
"""Points beyond which the dots of the chart are no links of their own; the table below it has them all."""


class Spark(NamedTuple):
    """A line small enough to stand in a table."""

    width: int
    height: int
    line: str
    area: str
    end: tuple[float, float] | None
    """Where the last defined value stands; None if there is none."""


class Tick(NamedTuple):
    """A label of an axis at a place in percent."""

    at: str
    text: str
    anchor: str = "end"


class Line(NamedTuple):
    """One metric over the points."""

    path: str
    lone: str
    """Values without a neighbour, which a line would not show."""


class VariantLine(NamedTuple):
    """The headline of one variant."""

    mark: str
    """Class of its colour."""
    name: str
    now: float | None
    line: Line


class Target(NamedTuple):
    """A threshold as a line across the chart."""

    value: float
    y: float
    at: str
    label: str
    below: bool
    """The label stands below the line, because another one is close above it."""


class TrendChart(NamedTuple):
    """Everything that the template of the trend page puts into its SVGs."""

    size: int
    """Points along the axis."""
    top: float
    """y of the upper edge, in chart units."""
    height: float
    ticks: tuple[Tick, ...]
    grid: tuple[float, ...]
    lines: tuple[Line, ...]
    """Of the metrics that are drawn, the headline first."""
    variants: tuple[VariantLine, ...]
    """The headline of each variant of a prompt."""
    dots: str
    """The headline's values, one by one."""
    targets: tuple[Target, ...]
    broken: str
    """Marks at points that could not be read or scored."""
    edits: str
    rescored: str
    errors: tuple[str, ...]
    error_ticks: tuple[Tick, ...]
    error_grid: tuple[float, ...]
    days: tuple[Tick, ...]
    linked: tuple[tuple[int, float], ...]
    """(index, y) of points whose dot is a link."""
    island: dict[str, object]
    """What the script needs to read values back, as JSON."""


def y(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Where a value stands: 0 at ``high``, 1000 at ``low``."""
    return round(1000 * (high - value) / (high - low), 1)


def spark(values: Sequence[float | None], width: int = 120, height: int = 28, pad: int = 2) -> Spark:
    """A sparkline over its own range; undefined values are gaps."""
    known = [value for value in values if value is not None]
    if not known:
        return Spark(width, height, "", "", None)
    low, span = min(known), (max(known) - min(known)) or 1.0
    steps = max(1, len(values) - 1)

    def place(index: int, value: float) -> tuple[float, float]:
        across = pad + (width - 2 * pad) * (index / steps if len(values) > 1 else 1)
        return round(across, 1), round(pad + (height - 2 * pad) * (1 - (value - low) / span), 1)

    line, area, end = [], [], (0.0, 0.0)
    for run in _runs(values):
        places = [place(index, value) for index, value in run]
        drawn = "L".join(f"{across:g} {down:g}" for across, down in places)
        line.append(f"M{drawn}")
        area.append(f"M{drawn}L{places[-1][0]:g} {height}L{places[0][0]:g} {height}Z")
        end = places[-1]
    return Spark(width, height, "".join(line), "".join(area), end)


def line(values: Sequence[float | None], low: float = 0.0, high: float = 1.0) -> Line:
    """The path of a metric: a gap where it is undefined, and a dot where a value has no neighbour."""
    path, lone = [], []
    for run in _runs(values):
        if len(run) == 1:
            lone.append(f"M{run[0][0]} {y(run[0][1], low, high):g}h0")
        else:
            path.append("M" + "L".join(f"{index} {y(value, low, high):g}" for index, value in run))
    return Line("".join(path), "".join(lone))


def dots(values: Sequence[float | None], low: float = 0.0, high: float = 1.0) -> str:
    """Every value as a segment without length: with a round cap, a circle that does not stretch."""
    return "".join(f"M{index} {y(value, low, high):g}h0" for index, value in enumerate(values) if value is not None)


def stack(rows: Sequence[Sequence[int]], top: float) -> tuple[str, ...]:
    """Counts on top of each other, one path for each type; ``top`` is the count at the upper edge."""
    width = bar_width(len(rows))
    paths: list[list[str]] = [[] for _ in rows[0]] if rows else []
    for index, row in enumerate(rows):
        below = 0
        for path, value in zip(paths, row, strict=True):
            if value:
                low, high = 1000 - 1000 * below / top, 1000 - 1000 * (below + value) / top
                path.append(f"M{index - width / 2:g} {low:.1f}h{width:g}V{high:.1f}h-{width:g}Z")
            below += value
    return tuple("".join(path) for path in paths)


def bar_width(count: int) -> float:
    """Of a step: narrow for a few bars, so that one point is no wall; touching for many."""
    return 1.0 if count > 120 else max(0.06, min(0.8, count / 20))


def heat(matrix: Sequence[Sequence[float | None]]) -> tuple[str, ...]:
    """Share wrong as coloured cells: one path for each level above 0, equal neighbours merged."""
    paths: list[list[str]] = [[] for _ in LEVELS]
    for row, shares in enumerate(matrix):
        start = 0
        levels = [level(share) for share in shares]
        for index in range(1, len(levels) + 1):
            if index == len(levels) or levels[index] != levels[start]:
                width = index - start
                paths[levels[start]].append(f"M{start - 0.5:g} {row}h{width}v1h-{width}Z")
                start = index
    return tuple("".join(path) for path in paths[1:])


def heat_map(view: HeatMap) -> tuple[str, ...]:
    """The paths of a heat map, lightest first."""
    return heat(view.shares)


def unjudged(view: HeatMap) -> str:
    """The cells of a heat map that nothing was judged in, which are not the same as those without an error."""
    cells = []
    for row, shares in enumerate(view.shares):
        start = 0
        for index in range(1, len(shares) + 1):
            if index == len(shares) or (shares[index] is None) != (shares[start] is None):
                if shares[start] is None:
                    cells.append(f"M{start - 0.5:g} {row}h{index - start}v1h-{index - start}Z")
                start = index
    return "".join(cells)


def level(share: float | None) -> int:
    """Which level of the heat map a share belongs to; undefined is not painted."""
    return 0 if share is None else max(index for index, start in enumerate(LEVELS) if share >= start)


def nice_ticks(low: float, high: float, wanted: int = 5) -> tuple[float, ...]:
    """Round numbers within [low, high], about as many as wanted."""
    raw = (high - low) / wanted
    magnitude = 10 ** floor(log10(raw))
    step = next(factor * magnitude for factor in (1, 2, 2.5, 5, 10) if factor * magnitude >= raw * (1 - 1e-9))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return tuple(round(number * step, 6) for number in range(first, last + 1))


def trend(view: TrendView) -> TrendChart:
    """The chart of an eval. Needs at least one point and one metric."""
    points, spec = view.points, view.specs[0]
    low, high = spec.low, spec.high
    columns = [[point.values[k] for point in points] for k in range(view.drawn)]
    names = [spec.label for spec in view.specs[: view.drawn]]
    variants = _variants(view)
    of_variants = [[point.variants[k] for point in points] for k in range(len(variants))]
    bottom, top = _range([*columns, *of_variants], [target.least for target in view.targets], low, high)
    most = max(1, *(sum(point.errors) for point in points)) * 1.06
    ticks = nice_ticks(bottom, top)
    error_ticks = tuple(tick for tick in nice_ticks(0, most, 2) if tick == int(tick))
    head = columns[0]
    linked = tuple((i, y(v, low, high)) for i, v in enumerate(head) if v is not None)
    return TrendChart(
        size=len(points),
        top=y(top, low, high),
        height=round(y(bottom, low, high) - y(top, low, high), 1),
        ticks=tuple(Tick(_percent(top - tick, top - bottom), f"{tick:.2f}") for tick in ticks),
        grid=tuple(y(tick, low, high) for tick in ticks),
        lines=tuple(line(column, low, high) for column in columns),
        variants=variants,
        dots=dots(head, low, high),
        targets=_targets(view, bottom, top),
        broken="".join(
            f"M{i} {y(bottom if v is None else v, low, high):g}h0"
            for i, (point, v) in enumerate(zip(points, head, strict=True))
            if point.status != "scored"
        ),
        edits="".join(f"M{i} 1v8" for i, point in enumerate(points) if point.edits),
        rescored="".join(f"M{i} 1v8" for i, point in enumerate(points) if point.rescored),
        errors=stack([point.errors for point in points], most),
        error_ticks=tuple(Tick(_percent(most - tick, most), f"{tick:g}") for tick in error_ticks),
        error_grid=tuple(round(1000 - 1000 * tick / most, 1) for tick in error_ticks),
        days=_days(points),
        linked=linked if len(linked) <= LINKED else (),
        island={
            "scale": [low, high],
            "y": [bottom, top],
            "top": most,
            "names": [*names, *(printable(f"{names[0]}, {one.name}") for one in variants)],
            "marks": [*(f"m{k}" for k in range(view.drawn)), *(one.mark for one in variants)],
            "values": [[None if v is None else round(v, 6) for v in column] for column in (*columns, *of_variants)],
            "points": [_island(point) for point in points],
        },
    )


def _variants(view: TrendView) -> tuple[VariantLine, ...]:
    spec = view.specs[0]
    columns = zip(*(point.variants for point in view.points), strict=True)
    return tuple(
        VariantLine(f"v{tone(k)}", name, column[-1], line(column, spec.low, spec.high))
        for k, (name, column) in enumerate(zip(view.drawn_variants, columns, strict=True))
    )


def _island(point: TrendPoint) -> list[object]:
    return [
        point.short,
        printable(point.author),
        point.committed_at[:10],
        printable(point.subject),
        printable(point.label),
        list(point.errors),
        point.file,
        point.edits,
        point.remark,
    ]


def _range(
    columns: Sequence[Sequence[float | None]], targets: Sequence[float], low: float, high: float
) -> tuple[float, float]:
    """What the chart shows of the metric's range: between round numbers below and above everything drawn."""
    known = [value for column in columns for value in column if value is not None] + list(targets)
    if not known:
        return low, high
    step = (high - low) / 20
    bottom = low + step * floor((min(known) - low) / step + 1e-9)
    top = low + step * ceil((max(known) - low) / step - 1e-9)
    if top > high - 5 * step:  # so near the best value that it should be seen
        top = high
    bottom, top = max(low, min(bottom, top - 4 * step)), min(high, max(top, bottom + 4 * step))
    return min(bottom, *known), max(top, *known)


def _targets(view: TrendView, bottom: float, top: float) -> tuple[Target, ...]:
    """The thresholds, highest first."""
    out: list[Target] = []
    for one in sorted(view.targets, key=lambda target: -target.least):
        crowded = bool(out) and out[-1].value - one.least < (top - bottom) / 12
        place = y(one.least, view.specs[0].low, view.specs[0].high)
        at = _percent(top - one.least, top - bottom)
        out.append(Target(one.least, place, at, f"{one.label} {one.least:g}", crowded))
    return tuple(out)


def _days(points: Sequence[TrendPoint], wanted: int = 7) -> tuple[Tick, ...]:
    """Iterations below the chart, evenly spread, first and last included; the day stands where it changes."""
    count = len(points)
    chosen = sorted({round((count - 1) * k / max(1, wanted - 1)) for k in range(wanted)})
    ends = {0: "start", count - 1: "end"} if count > 3 else {}
    return tuple(
        Tick(
            _percent(index + 0.5, count),
            _name(points[index], points[before] if before is not None else None),
            ends.get(index, "middle"),
        )
        for before, index in zip([None, *chosen], chosen, strict=False)
    )


def _name(point: TrendPoint, before: TrendPoint | None) -> str:
    date = day(point.committed_at)
    same = before is not None and day(before.committed_at) == date
    return f"{point.number}" if same else f"{point.number} · {date[:-5]}"


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%"


def _runs(values: Sequence[float | None]) -> Iterator[list[tuple[int, float]]]:
    """Stretches of defined values."""
    run: list[tuple[int, float]] = []
    for index, value in enumerate(values):
        if value is not None:
            run.append((index, value))
        elif run:
            yield run
            run = []
    if run:
        yield run
