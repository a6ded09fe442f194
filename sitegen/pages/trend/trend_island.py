"""The values that the script of a trend's chart reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sitegen.analysis.recorded import CLOSE
from sitegen.frozen import Frozen
from sitegen.history.layout import iteration_number
from sitegen.html.charts import round_steps
from sitegen.html.formats import printable
from sitegen.model.metrics import ROUNDING, MetricSpec
from sitegen.model.noise import Ends
from sitegen.pages.trend.numbers import TrendPoint
from sitegen.pages.trend.page import TrendView
from sitegen.pages.variants.variant_charts import tone
from sitegen.text.values import COUNT, SMALL

COLUMNS: Final = ("values", "now", "changes", "by_outputs", "spans", "numbers")
"""Parts of the island that have a value for each iteration that is drawn individually."""


class DrawnValues(Frozen):
    """The values that the chart draws as lines, each with a value for every iteration."""

    metrics: list[list[float | None]]
    """The drawn metrics, the headline first."""
    now: list[list[float | None]]
    """The same metrics by the second clock; empty if the clocks never differ."""
    variants: list[list[float | None]]
    """The headline of each variant."""
    recorded: list[float | None]
    """The headline that the records of the runs state; all None if they agree with the computed
    one; None for values beyond its range."""

    @property
    def all(self) -> list[list[float | None]]:
        """The values of every line."""
        return [*self.metrics, *self.now, *self.variants, self.recorded]


def drawn_values(view: TrendView) -> DrawnValues:
    """The values of the lines of a chart."""
    points, spec = view.points, view.specs[0]
    recorded = [
        None if at.recorded is None or not spec.low <= at.recorded <= spec.high else at.recorded for at in points
    ]
    both = [(there, point.values[0]) for there, point in zip(recorded, points, strict=True)]
    differs = any(there is not None and here is not None and abs(there - here) > CLOSE for there, here in both)
    return DrawnValues(
        metrics=[[point.values[k] for point in points] for k in range(view.drawn)],
        now=[list(column) for column in zip(*view.clocks.values, strict=True)],
        variants=[[point.variants[k] for point in points] for k in range(len(view.drawn_variants))],
        recorded=recorded if differs else [None] * len(points),
    )


def variant_mark(place: int) -> str:
    """Class of the colour of a variant."""
    return f"v{tone(place)}"


def island(view: TrendView, values: DrawnValues, older: int, *, axis: Ends, most_errors: float) -> dict[str, object]:
    """The values for the script, written as JSON. It reads texts and counts from the table of iterations.

    ``older``: number of the oldest iterations that are drawn in groups. ``axis``: the part of the metric's range that
    is drawn; ``most_errors``: the end of the axis of errors.
    """
    points, specs = view.points[older:], view.specs[: view.drawn]
    return {
        "scale": [specs[0].low, specs[0].high],
        "y": [axis.low, axis.high],
        "top": most_errors,
        # From the closest zoom of the script, a fiftieth of the height, to the whole of either axis.
        "steps": round_steps(min((axis.high - axis.low) / 250, 0.5), max((axis.high - axis.low) / 5, most_errors / 2)),
        **({"whole": counts} if (counts := _whole_metrics(specs)) else {}),
        "names": [
            *(spec.label for spec in specs),
            *(printable(f"{specs[0].label}, {name}") for name in view.drawn_variants),
        ],
        "marks": [*(f"m{k}" for k in range(view.drawn)), *map(variant_mark, range(len(view.drawn_variants)))],
        "better": [1 if spec.higher_is_better else -1 for spec in specs],
        "letters": view.info.nouns.letters,
        **({"older": older} if older else {}),
        **({"numbers": numbers} if (numbers := _run_numbers(view.points)[older:]) else {}),
        "values": [_rounded(column[older:]) for column in (*values.metrics, *values.variants)],
        "now": [_rounded(column[older:]) for column in values.now],
        "changes": [_written_changes(points, k) for k in range(len(specs))],
        "by_outputs": [int(bool(point.changes) and point.changes[0].by_outputs) for point in points],
        "spans": [point.interval and _rounded((point.interval.low, point.interval.high)) for point in points],
    }


def _run_numbers(points: Sequence[TrendPoint]) -> list[int]:
    """Numbers of points, if the script cannot read them from the labels: labels of runs need not end with a number."""
    numbers = [point.number for point in points]
    return [] if all(iteration_number(point.label) is not None for point in points) else numbers


def _rounded(values: Sequence[float | None]) -> list[float | None]:
    """The values, rounded as in the table, so that the script does not round again."""
    return [
        None if value is None else round(value, 3) if abs(value) >= SMALL else float(f"{value:.2g}") for value in values
    ]


def _written_changes(points: Sequence[TrendPoint], metric: int) -> list[float | None]:
    """The changes, rounded as in the table, in the unit of the metric."""
    changes = [point.changes[metric].amount if point.changes else None for point in points]
    return _rounded([0 if change is not None and abs(change) < ROUNDING else change for change in changes])


def _whole_metrics(specs: Sequence[MetricSpec]) -> list[int]:
    """Indices of drawn metrics that are counts."""
    return [place for place, spec in enumerate(specs) if spec.unit == COUNT]
