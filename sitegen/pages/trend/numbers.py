"""The numbers of a trend page: iterations in chart and table, the metrics at the newest one, usage of outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sitegen.analysis.best import best_points, values_now
from sitegen.analysis.deltas import comparable_since
from sitegen.analysis.noise.intervals import interval_of
from sitegen.frozen import Frozen
from sitegen.model.commits import Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Interval
from sitegen.model.scorecards import Status
from sitegen.model.series import Series
from sitegen.pages.change_text import DisplayedChange, Flipped
from sitegen.pages.labels import STATUSES
from sitegen.scoring.usage import USAGE


class TrendPoint(Frozen):
    """One point of the chart and the table."""

    number: int
    label: str
    file: str
    """Address of the report, relative to the trend page."""
    commit: Commit
    status: Status
    cause: str
    """The causes of the snapshot, in words."""
    rescored: bool
    """Whether there is no new output: only ground truth or rules changed."""
    deleted: bool
    values: tuple[float | None, ...]
    """Values of the drawn metrics, in the order of the specs."""
    errors: tuple[int, ...]
    """Number of errors of each type, in the order of ``ERROR_TYPES``."""
    edited: tuple[str, ...]
    """Paths of the instruction files that were edited between the previous output and this one."""
    variants: tuple[float | None, ...] = ()
    """The headline of each drawn variant."""
    changes: tuple[DisplayedChange, ...] = ()
    """Changes of the drawn metrics since the previous point; none at the first point."""
    flipped: Flipped | None = None
    """Cells that flipped since the previous point."""
    stale: bool = False
    """Whether instructions that drive the eval were edited after the output was made."""
    interval: Interval | None = None
    """Interval of the headline."""
    models: tuple[str, ...] = ()
    """Models that made the output; empty if it does not state any."""
    exchanged: tuple[str, ...] = ()
    """``model`` and ``judge``, if they differ from the previous point."""
    copy_of: int | None = None
    """Index of the point whose output this one copies; None if it is not a copy."""
    recorded: float | None = None
    """The headline that the record of the run states; None without one."""
    repeats: bool = False
    """Whether it is a copy that equals the point before in output, ground truth and rules."""

    @property
    def remark(self) -> str:
        """The unusual facts about the point, in words; empty without any."""
        if self.status != "scored":
            return STATUSES[self.status]
        return self.cause if self.rescored else ""


DRAWN: Final = 3
"""Largest number of metrics that are drawn: the first of the kind that have the headline's range."""


class MetricNow(Frozen):
    """A metric at the newest point."""

    spec: MetricSpec
    value: float | None
    change: DisplayedChange | None
    """None at the first point, and for metrics that are not drawn."""
    best: TrendPoint | None
    """The earliest point with the best value, if it is better than the newest."""
    best_value: float | None
    interval: Interval | None = None
    best_of: str = ""
    """Which points were compared, if not all, and why the value differs from the report."""


def metrics_now(series: Series, points: tuple[TrendPoint, ...]) -> tuple[MetricNow, ...]:
    """All metrics of the series; none without points."""
    if not points:
        return ()
    rows = []
    cards = [point.scorecard for point in series.points]
    newest = cards[-1]
    changed = dict(enumerate(points[-1].changes))
    for k, spec in enumerate(series.specs):
        best = best_points(series.points, spec)[-1]
        best_value = None if best is None else values_now(series.points[best : best + 1], spec.name)[0]
        interval = interval_of(newest, series.info.kind, spec.name) if k < DRAWN else None
        best_of = "among comparable outputs" if comparable_since(cards, spec.name)[-1] else ""
        if best is not None and best_value != points[best].values[k]:
            best_of = f"{best_of} by today's truth and rules".strip()
        rows.append(
            MetricNow(
                spec=spec,
                value=points[-1].values[k],
                change=changed.get(k),
                best=None if best is None else points[best],
                best_value=best_value,
                interval=interval,
                best_of=best_of,
            )
        )
    return tuple(rows)


AGAINST: Final = ("cost", "tokens_out", "tokens_in", "latency_median")
"""The headline is drawn against the first of these that two outputs state."""


ROWS: Final = 200
"""Largest number of outputs in the table and in the picture: the newest ones."""


class OutputUsage(Frozen):
    """Usage of one output."""

    label: str
    file: str
    """Address of its report, relative to the trend page."""
    made_by: str
    """Models of the output; empty if it does not state any."""
    headline: float | None
    values: tuple[float | None, ...]
    """Usage values, in the order of the specs."""
    against: float | None
    """Value on the horizontal axis of the picture."""


class UsageView(Frozen):
    """Usage of all outputs."""

    headline: MetricSpec
    specs: tuple[MetricSpec, ...]
    """Usage metrics that any output states."""
    outputs: tuple[OutputUsage, ...]
    """The outputs, oldest first, without re-scored points."""
    models: tuple[str, ...]
    """All models, the newest first."""
    against: MetricSpec | None
    """Metric of the horizontal axis; None if too few outputs state one to draw a picture."""


def usage_view(specs: Sequence[MetricSpec], points: Sequence[TrendPoint]) -> UsageView | None:
    """Usage of the outputs; None if no output states any. ``specs``: the specs of the points' values."""
    places = [index for index, spec in enumerate(specs) if spec.name in USAGE]
    with_output = [point for point in points if not point.rescored]
    if not places and not any(point.models for point in with_output):
        return None
    names = [specs[index].name for index in places]
    against = next(
        (name for name in AGAINST if name in names and _drawable(with_output, places[names.index(name)])), None
    )
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
        for point in with_output
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
