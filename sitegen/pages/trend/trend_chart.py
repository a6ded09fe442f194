"""The chart of a trend page: lines, bands and marks as SVG paths, and the values that its script reads."""

from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby
from math import ceil, floor, inf, log10
from typing import Final

from sitegen.history.layout import iteration_number
from sitegen.model.changes import LEVELS, Ends, Step
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import ROUNDING
from sitegen.model.series import Point
from sitegen.pages.html import charts
from sitegen.pages.html.formats import printable
from sitegen.pages.html.tables import painted
from sitegen.pages.labels import own_unit, subject_of
from sitegen.pages.trend.page import JUDGE, NEWEST, TrendView
from sitegen.pages.variants import TONES, tone
from sitegen.stats.counts import error_numbers
from sitegen.stats.intervals import mean
from sitegen.text.plain import day
from sitegen.text.values import COUNT, SMALL

COLUMNS: Final = ("values", "now", "changes", "by_outputs", "spans", "numbers")
"""Parts of the island that have a value for each iteration that is drawn individually."""

_GROUPS: Final = 200  # largest number of groups in which a line draws the values of older points

_NAME: Final = 18  # characters of a name beside the end of a line

_GROUPS_OF_LINES: Final = 1_200  # the most groups of all lines together, which limits the chart of many variants
_HEAT_GROUPS: Final = 100  # largest number of groups of older points in the heat map, which has many rows
_HEAT_VALUES: Final = 4_000  # the most values of the heat map that the script can name; else only levels are there

_NAMED_POINTS: Final = 7  # largest number of iterations that are named below the chart

MARKED: Final = 100
"""Number of steps, the newest ones, of which the three largest in view are marked: the page of steps has all."""

STEPS: Final = {
    "fell": ("worse", "▼", "worse than the output before"),
    "open": ("worse", "▼", "regression"),
    "muted": ("worse", "▼", "muted regression"),
    "fixed": ("worse", "▼", "regression, fixed since"),
    "better": ("better", "▲", "better"),
    "new": ("new", "▽", "lower, one more run needed"),
    "blip": ("blip", "◆", "bad run"),
}
"""The class of the mark of a step, the mark, and what it means, by the status of the step."""


_OF_ONE_COMMIT: Final = 3  # the fewest neighbouring iterations of one commit that are marked as such


class TrendChart(Frozen):
    """All paths, ticks and labels of the chart."""

    size: int
    """Number of points along the axis."""
    top: float
    """y of the upper edge, in chart units."""
    height: float
    ticks: tuple[charts.Tick, ...]
    lines: tuple[charts.ChartLine, ...]
    """Lines of the drawn metrics, the headline first."""
    now: tuple[charts.ChartLine, ...]
    """The same lines by the second clock; empty if the clocks never differ."""
    band: str
    """The intervals around the headline."""
    commits: str
    """The ranges of at least ``_OF_ONE_COMMIT`` iterations that one commit added, from top to bottom."""
    best_line: str
    """The best headline so far, as a staircase."""
    recorded: charts.ChartLine
    """The headline that the records of the runs state; empty if they agree with the computed one."""
    variants: tuple[charts.ChartLine, ...]
    """The headline of each variant or model, and of each further value of an axis."""
    ends: tuple[tuple[str, str, float | None, str], ...]
    """Of each line its place at the last point from the top, the place of its label, the value, and its name."""
    dots: str
    """The single values of the headline, without copies."""
    copies: str
    stale: str
    targets: tuple[tuple[float, float, str, str, bool], ...]
    steps: tuple[Step, ...]
    """The largest first."""
    broken: str
    """Marks of points that could not be read or scored."""
    edits: str
    rescored: str
    errors: tuple[str, ...]
    bars: tuple[float, float]
    """Widths of the bars of errors: of points, as a share of a step, and of groups of older points, in points."""
    grouped_errors: tuple[str, ...]
    """Two bars for each group of older points: the fewest and the most errors; empty without groups."""
    heat: tuple[str, ...]
    """The cells of the heat map, a path for each of ``HEAT``."""
    error_ticks: tuple[charts.Tick, ...]
    days: tuple[charts.Tick, ...]
    linked: dict[int, float]
    """y of each dot that links to its report, by the index of its point."""
    island: dict[str, object]
    """Values for the script."""


def trend(view: TrendView, *, whole: bool = False) -> TrendChart:
    """The chart of an eval with at least one point and one metric.

    Points older than the ``NEWEST`` are drawn in groups, because a screen has no room for more, unless ``whole`` is
    set.
    """
    points, spec = view.points, view.specs[0]
    older = 0 if whole else view.older
    scale = Ends(spec.low, spec.high)
    metrics = [[values[k] for values in view.values] for k in range(view.drawn)]
    now = [list(column) for column in zip(*view.now, strict=True)]
    variants, recorded = view.values_of_lines, view.recorded_headlines
    columns = [*metrics, *now, *variants, recorded]
    head = metrics[0]
    size = ceil(older / min(_GROUPS, _GROUPS_OF_LINES // len(columns)))
    plot = charts.Plot(scale=scale, breaks=view.breaks, older=older, size=size)
    drawn = view.specs[: view.drawn]
    targets = sorted(((target, of.label) for of, target, _ in view.targets if of in drawn), reverse=True)
    band_ends = [end for point in points if point.interval for end in (point.interval.low, point.interval.high)]
    axis = _shown_range([*columns, [target for target, _ in targets], band_ends], scale)
    bottom, top = axis
    wrong = [error_numbers(point.scorecard.counts) for point in points]
    most = max(1, *map(sum, wrong)) * 1.06
    is_count, span = spec.unit == COUNT, top - bottom
    # Two decimals, more or fewer depending on the range of the axis; none for a count.
    digits = 0 if is_count else 2 if 0.05 <= span < 20 or not span else max(0, min(8, 1 - floor(log10(span / 5))))
    edits, rescored = (
        "".join([f"M{index} 1v8" for index in plot.firsts(marked)])
        for marked in (map(bool, view.edited), ("outputs" not in point.snapshot.cause for point in points))
    )
    steps = [step for step in view.summary.steps if step.status in STEPS]
    return TrendChart(
        size=len(points),
        top=charts.y(top, scale),
        height=round(charts.y(bottom, scale) - charts.y(top, scale), 1),
        ticks=tuple(
            charts.Tick(at=charts.percent(top - tick, span), text=f"{tick:,.{digits}f}", level=charts.y(tick, scale))
            for tick in charts.nice_ticks(bottom, top)
            if not is_count or tick == int(tick)
        ),
        lines=tuple(map(plot.line, metrics)),
        now=tuple(map(plot.line, now)),
        band=plot.band([Ends(around.low, around.high) if (around := point.interval) else None for point in points]),
        commits=_commits(points),
        best_line=plot.staircase([None if at is None else (now[0] if now else head)[at] for at in view.summary.best]),
        recorded=plot.line(recorded),
        variants=tuple(map(plot.line, variants)),
        ends=_ends([*metrics, *variants], line_names(view), axis),
        dots=plot.dots(head, (not point.is_copy for point in points)),
        copies=plot.dots(head, (point.is_copy for point in points)),
        stale=plot.dots(head, (point.stale for point in points)),
        targets=tuple(
            (
                target,
                charts.y(target, scale),
                charts.percent(top - target, span),
                f"{label} {target:,g}",
                higher - target < span / 12,  # the label is below the line, because another one is close above
            )
            for higher, (target, label) in zip((inf, *(target for target, _ in targets)), targets, strict=False)
        ),
        steps=tuple(sorted(steps[-MARKED:], key=lambda step: -abs(step.metrics[0].points))),
        broken="".join(
            f"M{index} {charts.y(bottom if (value := head[index]) is None else value, scale):g}h0"
            for index in plot.firsts(point.scorecard.status != "scored" for point in points)
        ),
        edits=edits,
        rescored=rescored,
        errors=charts.stack(wrong[older:], most, range(older, len(points))),
        bars=(charts.bar_width(len(points)), size / 2),
        grouped_errors=_grouped_errors(wrong[:older], size, most),
        heat=painted((_grouped_shares(row, older) for _, row in view.heat), older),
        error_ticks=tuple(
            charts.Tick(at=charts.percent(most - tick, most), text=f"{tick:g}", level=charts.y(tick, Ends(0.0, most)))
            for tick in charts.nice_ticks(0, most, 2)
            if tick == int(tick)
        ),
        days=_days(points),
        linked={
            index: charts.y(value, scale)
            for index, value in enumerate(head if len(points) <= NEWEST else ())
            if value is not None
        },
        island=_island(view, [*metrics, *variants], older, axis=axis, most_errors=most),
    )


def _commits(points: Sequence[Point]) -> str:
    alike = [len([*group]) for _, group in groupby(points, key=lambda point: point.snapshot.commit.sha)]
    ends = accumulate(alike)
    marked = ((end, size) for end, size in zip(ends, alike, strict=True) if _OF_ONE_COMMIT <= size < len(points))
    return "".join(f"M{end - size} 0h{size - 1}V1000h{1 - size}z" for end, size in marked)


def line_names(view: TrendView) -> list[str]:
    """The names of all lines, as their chips and their ends have them."""
    return [
        *(spec.label for spec in view.specs[: view.drawn]),
        *map(printable, (*view.lines[1], *(value for _, value in view.others))),
    ]


def _ends(
    columns: Sequence[Sequence[float | None]], names: Sequence[str], axis: Ends
) -> tuple[tuple[str, str, float | None, str], ...]:
    """A line without a value at the last point takes no room from the labels of the others."""
    last = [column[-1] for column in columns]
    downs = [charts.y(value, axis) / 10 for value in last if value is not None]
    places = iter(zip(downs, charts.apart(downs), strict=True))
    ends = [(0.0, 0.0) if value is None else next(places) for value in last]
    return tuple(
        (f"{down:.2f}%", f"{place:.2f}%", value, name if len(name) <= _NAME else f"{name[: _NAME - 1]}…")
        for (down, place), value, name in zip(ends, last, names, strict=True)
    )


def variant_mark(place: int) -> str:
    """Classes of a variant: its colour, and after the last colour also the dashes that tell it from an earlier one."""
    return f"v{tone(place)}" if place < TONES else f"v{tone(place)} w{place // TONES}"


def step_text(step: Step, view: TrendView) -> str:
    """``regression: F1 −0.026 at iteration-019 after “Ask for weights”``, with the edit that it followed."""
    moved = step.metrics[0]
    spec = next(spec for spec in view.specs if spec.name == moved.name)
    mean_of = "mean " * (step.status in LEVELS and step.noise > 0)  # a single output that fell has no levels
    change = f"{mean_of}{spec.label} {own_unit(moved.after - moved.before, spec)}"
    edit = f" after “{subject_of(step.edited, 100)}”" if step.edited and step.status != "blip" else ""
    return f"{STEPS[step.status][2]}: {change} at {view.points[step.at].snapshot.label}{edit}"


def _island(
    view: TrendView, drawn: Sequence[Sequence[float | None]], older: int, *, axis: Ends, most_errors: float
) -> dict[str, object]:
    """The values for the script, written as JSON. It reads texts and counts from the table of iterations.

    ``drawn``: the values of metrics and variants; ``older``: number of the oldest iterations that are drawn in groups;
    ``axis``: the part of the metric's range that is drawn; ``most_errors``: the end of the axis of errors.
    """
    points, specs, changes = view.points[older:], view.specs[: view.drawn], view.changes[older:]
    counts = [place for place, spec in enumerate(specs) if spec.unit == COUNT]
    moved = [[change[k].amount if change else None for change in changes] for k in range(len(specs))]
    by_axis, names = {JUDGE: "Judge"}, line_names(view)[view.drawn :]
    axes = [view.lines[0]] * len(view.lines[1]) + [axis for axis, _ in view.others]
    # Labels of runs need not end with a number, which the script would read from them.
    is_small = len(points) * len(view.heat) <= _HEAT_VALUES
    labelled = all(iteration_number(point.snapshot.label) is not None for point in view.points)
    return {
        "scale": [specs[0].low, specs[0].high],
        "y": [axis.low, axis.high],
        "top": most_errors,
        # From the closest zoom of the script, a fiftieth of the height, to the whole of either axis.
        "steps": charts.round_steps(
            min((axis.high - axis.low) / 250, 0.5), max((axis.high - axis.low) / 5, most_errors / 2)
        ),
        **({"whole": counts} if counts else {}),
        "names": [
            *(spec.label for spec in specs),
            *(f"{by_axis.get(axis, specs[0].label)}, {name}" for axis, name in zip(axes, names, strict=True)),
        ],
        "marks": [
            *(f"m{k}" for k in range(view.drawn)),
            *map(variant_mark, range(len(view.lines[1]) + len(view.others))),
        ],
        **({"first": view.drawn + len(view.lines[1])} if view.others else {}),
        "better": [1 if spec.higher_is_better else -1 for spec in specs],
        **({"older": older} if older else {}),
        **({} if labelled or not points else {"numbers": [point.snapshot.iteration for point in points]}),
        "values": [_rounded(column[older:]) for column in drawn],
        "now": [_rounded(column[older:]) for column in zip(*view.now, strict=True)],
        "changes": [
            _rounded([None if at is None else 0 if abs(at) < ROUNDING else at for at in column]) for column in moved
        ],
        "by_outputs": [int(bool(change) and change[0].by_outputs) for change in changes],
        **(
            {
                "heat": [
                    [None if share is None else round(100 * share) for share in shares[older:]]
                    for _, shares in view.heat
                ]
            }
            if is_small
            else {}
        ),
        "spans": [point.interval and _rounded((point.interval.low, point.interval.high)) for point in points],
    }


def _rounded(values: Sequence[float | None]) -> list[float | None]:
    return [
        None if value is None else round(value, 3) if abs(value) >= SMALL else float(f"{value:.2g}") for value in values
    ]


def _grouped_errors(wrong: Sequence[Sequence[int]], size: int, most: float) -> tuple[str, ...]:
    """For each group, the errors of the points with the fewest and with the most, the earlier point first."""
    rows, places = [], []
    for group in charts.groups(len(wrong), size or 1):
        by_errors = sorted(group, key=lambda index: sum(wrong[index]))
        for side, index in enumerate(sorted((by_errors[0], by_errors[-1]))):
            rows.append(wrong[index])
            places.append(group.stop - 0.5 - size * (0.75 - 0.5 * side))
    return charts.stack(rows, most, places)


def _grouped_shares(shares: Sequence[float | None], older: int) -> Sequence[float | None]:
    """The shares, each older share replaced by the average of its group."""
    grouped: list[float | None] = []
    for group in charts.groups(older, ceil(older / _HEAT_GROUPS) or 1):
        defined = [share for share in shares[group.start : group.stop] if share is not None]
        grouped += [mean(defined) if defined else None] * len(group)
    return (*grouped, *shares[older:]) if older else shares


def _shown_range(columns: Iterable[Iterable[float | None]], scale: Ends) -> Ends:
    """The part of the metric's range that the chart shows: from a tick below everything drawn to one above it."""
    low, high = scale
    drawn = [value for column in columns for value in column if value is not None]
    if not drawn:
        return scale
    low, high = min(low, *drawn), max(high, *drawn)  # the range is a guess where a run recorded the numbers
    step = (high - low) / 20
    bottom = low + step * floor((min(drawn) - low) / step + 1e-9)
    top = low + step * ceil((max(drawn) - low) / step - 1e-9)
    if top > high - 5 * step:  # the best possible value is near enough to be shown
        top = high
    bottom, top = max(low, min(bottom, top - 4 * step)), min(high, max(top, bottom + 4 * step))
    for _ in range(2):  # a wider range can have wider steps
        step = charts.round_steps((top - bottom) / charts.TICKS)[0]
        bottom, top = max(low, step * floor(bottom / step + 1e-9)), min(high, step * ceil(top / step - 1e-9))
    return Ends(bottom, top)


def _days(points: Sequence[Point]) -> tuple[charts.Tick, ...]:
    """At most ``_NAMED_POINTS`` iterations below the chart, evenly spread, with the day if it changes.

    The first and the last are included. If not all points have a label, no two neighbours do, because they may not fit.
    """
    count = len(points)
    parts = max(1, count - 1 if count <= _NAMED_POINTS else min(_NAMED_POINTS - 1, (count - 1) // 2))
    chosen = sorted({round((count - 1) * k / parts) for k in range(parts + 1)})
    ends = {0: "start", count - 1: "end"} if count > 3 else {}
    days = [day(points[index].snapshot.commit.committed_at) for index in chosen]
    return tuple(
        charts.Tick(
            charts.percent(index + 0.5, count),
            f"{points[index].snapshot.iteration}{'' if date == before else f' · {date[:-5]}'}",
            ends.get(index, "middle"),
        )
        for index, date, before in zip(chosen, days, [None, *days], strict=False)
    )
