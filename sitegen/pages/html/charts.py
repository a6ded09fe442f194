"""Paths and ticks of the SVG charts, in data coordinates.

x is the index of a point, y runs from 0 (the metric's highest value) to 1000 (its lowest). Every layer is stretched
with ``preserveAspectRatio="none"`` and keeps its line width with ``vector-effect`` (in the style sheet), so that the
charts scale, print as vectors and need no script. The script zooms by changing a ``viewBox``; it draws no line.

A chart is not wide enough for very many points. It draws groups of older points by their extreme values (``extremes``),
and the newest points individually.
"""

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from math import ceil, floor, log10
from typing import Final

from sitegen.model.changes import Ends
from sitegen.model.frozen import Frozen

_STRIP: Final = 0.05  # half the width of the band around a point without a neighbour, in points

SPARK_WIDTH: Final = 120  # of a line of one metric beside text, in pixels
SPARK_HEIGHT: Final = 28
_SPARK_PAD: Final = 2  # the size of sparklines, and the padding inside for the width of the line


class Spark(Frozen):
    """A sparkline: one line and the area below it, for a table cell."""

    line: str
    area: str
    end: tuple[float, float] | None
    """Place (x, y) of the last defined value, in the units of the view box; None if every value is undefined."""


class Tick(Frozen):
    """A label of an axis."""

    at: str
    """Place along the axis, in percent."""
    text: str
    anchor: str = "end"
    level: float = 0.0
    """y of its line across the chart."""


class ChartLine(Frozen):
    """One metric over all points, as SVG paths."""

    path: str
    lone: str
    """Path of the values without a defined neighbour, which a line would not show."""


UNIT: Final = Ends(0.0, 1.0)
"""The scale of a share."""


def y(value: float, scale: Ends = UNIT) -> float:
    """The y coordinate of a value: 0 at the high end of the scale, 1000 at the low one."""
    return round(1000 * (scale.high - value) / (scale.high - scale.low), 1)


@lru_cache(maxsize=4_096)  # the lines of a chart have few different values
def _y_text(value: float, scale: Ends) -> str:
    return f"{y(value, scale):g}"


def spark(values: Sequence[float | None], scale: Ends | None = None, breaks: Sequence[int] = ()) -> Spark:
    """A sparkline over its own range, or over a scale (low, high) that several share; undefined values are gaps.

    A value between two equal values is not written, because the line does not bend there. ``breaks``: as for ``line``.
    """
    defined = [value for value in values if value is not None]
    if not defined:
        return Spark(line="", area="", end=None)
    low, high = scale or (min(defined), max(defined))
    span = high - low or 1.0
    columns, height = _point_columns(len(values)), SPARK_HEIGHT - 2 * _SPARK_PAD
    # Formatting takes longest, and most lines of a field have few different values.
    downs = {value: tenths(_SPARK_PAD + height * (1 - (value - low) / span)) for value in set(defined)}
    drawn = extremes(values, ceil(len(values) / (2 * SPARK_WIDTH)))

    line, area, end = [], [], (0.0, 0.0)
    for run in _defined_stretches(values, drawn, breaks):
        places = [(columns[index], downs[value]) for index, value in run]
        levels = [None, *(down for _, down in places), None]
        corners = [
            place
            for place, before, after in zip(places, levels, levels[2:], strict=False)
            if not before == place[1] == after
        ]
        edge = "L".join([f"{across} {down}" for across, down in corners])
        line.append(f"M{edge}")
        area.append(f"M{edge}L{places[-1][0]} {SPARK_HEIGHT}L{places[0][0]} {SPARK_HEIGHT}Z")
        end = float(places[-1][0]), float(places[-1][1])
    return Spark(line="".join(line), area="".join(area), end=end)


def tenths(value: float) -> str:
    """The value to one decimal, without a trailing ``.0``. Formatting takes half the time of ``round`` and ``str``."""
    return f"{value:.1f}".removesuffix(".0")


@lru_cache(maxsize=64)  # all fields of an eval have as many points
def _point_columns(points: int) -> tuple[str, ...]:
    width = SPARK_WIDTH - 2 * _SPARK_PAD
    return tuple(tenths(_SPARK_PAD + width * (index / (points - 1) if points > 1 else 1)) for index in range(points))


def extremes(values: Sequence[float | None], size: int, newest: int = 0) -> Sequence[int]:
    """The indices of the values that are drawn of a line of many values.

    These are all of the ``newest``, and in each group of ``size`` older values the smallest, the largest, the last, and
    an undefined one. So each end of the line is a value, no peak is lost, and a gap stays a gap.
    """
    if size <= 1:
        return range(len(values))
    drawn: set[int] = {0, *range(len(values) - newest, len(values))}
    for group in groups(len(values) - newest, size):
        defined = [index for index in group if values[index] is not None]
        if defined:
            value_at: Callable[[int], float] = values.__getitem__  # type: ignore[assignment]
            drawn |= {min(defined, key=value_at), max(defined, key=value_at), defined[-1]}
        if len(defined) < len(group):
            drawn.add(next(index for index in group if values[index] is None))
    return sorted(drawn)


def groups(count: int, size: int) -> Iterator[range]:
    """The indices below ``count`` in groups of ``size``, of which the first may be smaller."""
    return (range(max(0, end - size), end) for end in range(count % size or size, count + 1, size))


class Plot(Frozen):
    """How the values of points become a drawing."""

    scale: Ends = UNIT
    breaks: Sequence[int] = ()
    """The indices, ascending, of values that no line joins to the one before, because the two cannot be compared."""
    older: int = 0
    """Number of the oldest points, which are drawn in groups."""
    size: int = 1
    """Number of points of a group; the first may be smaller."""

    def line(self, values: Sequence[float | None]) -> ChartLine:
        """The path of a metric: a gap where it is undefined, a dot where a value has no defined neighbour."""
        path, lone = [], []
        for run in _defined_stretches(values, self._drawn(values), self.breaks):
            if len(run) == 1:
                lone.append(f"M{run[0][0]} {_y_text(run[0][1], self.scale)}h0")
            else:
                path.append("M" + "L".join([f"{index} {_y_text(value, self.scale)}" for index, value in run]))
        return ChartLine("".join(path), "".join(lone))

    def dots(self, values: Sequence[float | None], where: Iterable[bool]) -> str:
        """Each marked value as a segment of length zero: with round caps that is a circle which does not stretch."""
        values = [value if is_marked else None for value, is_marked in zip(values, where, strict=True)]
        runs = _defined_stretches(values, self._drawn(values))
        return "".join([f"M{index} {_y_text(value, self.scale)}h0" for run in runs for index, value in run])

    def band(self, spans: Sequence[Ends | None]) -> str:
        """The area between the ends of the spans: a gap where there is none, a strip where a span has no neighbour.

        Each group of older spans is drawn as its envelope, at the end of the group.
        """
        spans, drawn = list(spans), list(range(len(spans)))
        if self.size > 1:
            drawn = drawn[self.older :]
            ends = []
            for group in groups(self.older, self.size):
                inside = [span for index in group if (span := spans[index])]
                if inside:
                    spans[group[-1]] = Ends(min(span.low for span in inside), max(span.high for span in inside))
                ends.append(group[-1])
            drawn = ends + drawn
        lower = _defined_stretches([span and span.low for span in spans], drawn, self.breaks)
        upper = _defined_stretches([span and span.high for span in spans], drawn, self.breaks)
        paths = []
        for below, above in zip(map(_widened_to_strip, lower), map(_widened_to_strip, upper), strict=True):
            edge = [f"{index:g} {_y_text(value, self.scale)}" for index, value in (*above, *reversed(below))]
            paths.append(f"M{'L'.join(edge)}Z")
        return "".join(paths)

    def staircase(self, values: Sequence[float | None]) -> str:
        """A line that keeps its level until the next value that differs; it begins at the first defined value."""
        path, level, passed = "", None, 0
        for index in self._drawn(values):
            value = values[index]
            if passed < (number := bisect(self.breaks, index)):
                path += f"H{self.breaks[passed] - 1}" if level is not None else ""
                passed, level = number, None
            if value is None or value == level:
                continue
            place = _y_text(value, self.scale)
            path += f"M{index} {place}" if level is None else f"H{index}V{place}"
            level = value
        return f"{path}H{len(values) - 1}" if path else ""

    def firsts(self, marked: Iterable[bool]) -> Iterable[int]:
        """The first marked point of each group, and every marked point that is not older."""
        first: dict[int, int] = {}
        for place in [index for index, is_marked in enumerate(marked) if is_marked]:
            first.setdefault(place if place >= self.older else (place - self.older) // self.size, place)
        return first.values()

    def _drawn(self, values: Sequence[float | None]) -> Sequence[int]:
        return extremes(values, self.size, len(values) - self.older)


def _widened_to_strip(run: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    if len(run) > 1:
        return run
    ((index, value),) = run
    return (index - _STRIP, value), (index + _STRIP, value)


def stack(rows: Sequence[Sequence[int]], top: float, places: Iterable[float] | None = None) -> tuple[str, ...]:
    """Stacked bars, one path for each column of ``rows``; ``top``: the count at the upper edge.

    Bars are strokes, as wide as ``bar_width`` says: half the bytes of rectangles. ``places``: their x coordinates.
    """
    paths: list[list[str]] = [[] for _ in rows[0]] if rows else []
    for index, row in zip(range(len(rows)) if places is None else places, rows, strict=True):
        below = 0
        for path, value in zip(paths, row, strict=True):
            if value:
                low, high = 1000 - 1000 * below / top, 1000 - 1000 * (below + value) / top
                path.append(f"M{index:g} {round(low, 1):g}V{round(high, 1):g}")
            below += value
    return tuple("".join(path) for path in paths)


def bar_width(count: int) -> float:
    """The width of a bar as a share of a step: narrow if there are few bars; many bars touch each other."""
    return 1.0 if count > 120 else max(0.06, min(0.8, count / 20))


def round_steps(least: float, most: float = 0.0) -> tuple[float, ...]:
    """The numbers 1, 2, 2.5 and 5 times powers of ten, from the first >= ``least`` to the first >= ``most``."""
    powers = range(floor(log10(least)), floor(log10(max(least, most))) + 2)
    steps = [factor * 10.0**power for power in powers for factor in (1, 2, 2.5, 5)]
    first, last = (sum(step < end * (1 - 1e-9) for step in steps) for end in (least, max(least, most)))
    return tuple(steps[first : last + 1])


TICKS: Final = 5
"""About how many ticks an axis has."""


def nice_ticks(low: float, high: float, count: int = TICKS) -> tuple[float, ...]:
    """About ``count`` round numbers within [low, high]."""
    step = round_steps((high - low) / count)[0]
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return tuple(round(number * step, 6) for number in range(first, last + 1))


_LABEL: Final = 6.0  # the least distance of two labels beside a chart, in percent of its height


def apart(places: Sequence[float]) -> list[float]:
    """Places of labels from the top in percent, moved so far down, or up at the bottom, that none covers another."""
    moved, gap = [0.0] * len(places), min(_LABEL, 100 / (len(places) or 1))
    above = -gap
    for index in sorted(range(len(places)), key=places.__getitem__):
        moved[index] = above = max(places[index], above + gap)
    below = 100 + gap
    for index in sorted(range(len(places)), key=moved.__getitem__, reverse=True):
        moved[index] = below = min(moved[index], below - gap)
    return moved


def percent(part: float, whole: float) -> str:
    """A place along an axis, as an attribute of SVG."""
    return f"{100 * part / whole:.2f}%"


def _defined_stretches(
    values: Sequence[float | None], drawn: Iterable[int] | None = None, breaks: Sequence[int] = ()
) -> Iterator[list[tuple[int, float]]]:
    """Runs of (index, value) of the drawn values, without an undefined value or a break between them."""
    run: list[tuple[int, float]] = []
    for index in range(len(values)) if drawn is None else drawn:
        value = values[index]
        if breaks and run and bisect(breaks, index) > bisect(breaks, run[-1][0]):
            yield run
            run = []
        if value is not None:
            run.append((index, value))
        elif run:
            yield run
            run = []
    if run:
        yield run


def track(values: Sequence[float | None], *, held: bool = False) -> tuple[str, str]:
    """The line of a track over its own range, straight between defined values, and the dots of its single values.

    x is the index of the value, y runs from 0 (the highest value) to 100.
    ``held``: whether a value lasts until the next one, as the size of a file does.
    """
    defined = [(index, value) for index, value in enumerate(values) if value is not None]
    if not defined:
        return "", ""
    low, high = min(value for _, value in defined), max(value for _, value in defined)
    span = high - low
    places = [(index, round(100 * (high - value) / span, 1) if span else 50.0) for index, value in defined]
    if held:
        steps = "".join(f"H{index}V{down:g}" for index, down in places[1:])
        return f"M{places[0][0]} {places[0][1]:g}{steps}h0.5", ""
    line = "M" + "L".join(f"{index} {down:g}" for index, down in places) if len(places) > 1 else ""
    return line, "".join(f"M{index} {down:g}h0" for index, down in places)


_AROUND: Final = 100  # half the width of a picture around zero


def bar_between(before: float, after: float, edges: Ends) -> str:
    """A change as a bar from one value to another, with a dot at the later one."""
    low, high = edges
    first, last = (tenths(2 * _AROUND * (value - low) / (high - low or 1.0) - _AROUND) for value in (before, after))
    tone = "u" if after > before else "d"
    return (
        f'<svg class="ivl {tone}" viewBox="-106 0 212 12" preserveAspectRatio=none aria-hidden=true>'
        f'<path class=w d="M{first} 6H{last}"/><path class=m d="M{last} 6h0"/></svg>'
    )


def around_zero(interval: tuple[float, float], middle: float, scale: float, tone: str) -> str:
    """An interval as a bar around zero, which is in the middle; ``scale`` > 0 is the value at either edge.

    ``tone``: u for better, d for worse, n for neither. The picture is hidden from screen readers: a text beside it has
    to say the same.
    """
    left, right, dot = (tenths(_AROUND * max(-1.0, min(1.0, value / scale))) for value in (*interval, middle))
    return (
        f'<svg class="ivl {tone}" viewBox="-106 0 212 12" preserveAspectRatio=none aria-hidden=true>'
        f'<path class=z d="M0 0V12"/><path class=w d="M{left} 6H{right}"/><path class=m d="M{dot} 6h0"/></svg>'
    )


def on_axis(value: float, ends: Ends | None, target: float | None) -> str:
    """A share as a dot on an axis from 0 to 1, with its interval as a bar and its target as a tick.

    The picture is hidden from screen readers: a text beside it has to say the same.
    """
    dot, *rest = (tenths(100 * place) for place in (value, *(ends or ()), *([] if target is None else [target])))
    bar = f"<path class=w d='M{rest[0]} 6H{rest[1]}'/>" if ends else ""
    tick = "" if target is None else f"<path class=z d='M{rest[-1]} 0V12'/>"
    return (
        '<svg class="ivl n" viewBox="-3 0 106 12" preserveAspectRatio=none aria-hidden=true>'
        f"<path class=x d='M0 11H100'/>{tick}{bar}<path class=m d='M{dot} 6h0'/></svg>"
    )
