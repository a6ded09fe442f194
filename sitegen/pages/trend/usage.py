"""What the outputs of an eval took, as their files state it: cost, tokens, time, and the model."""

from __future__ import annotations

from typing import Final

from sitegen.model.frozen import Frozen
from sitegen.model.metrics import MetricSpec
from sitegen.pages.html.charts import Tick, nice_ticks, percent
from sitegen.pages.html.formats import NIL
from sitegen.pages.html.tables import Column, class_name
from sitegen.pages.trend.page import TrendView, made_by
from sitegen.pages.variants import tone
from sitegen.text.values import amount, metric_text

_AGAINST: Final = ("cost", "tokens_out", "tokens_in", "latency_median")
"""The headline is drawn against the first of these that two outputs state."""

ROWS: Final = 200
"""Largest number of outputs in the table and in the picture: the newest ones."""


class Tradeoff(Frozen):
    """The headline of each output against its cost, or another amount."""

    against: MetricSpec
    dots: tuple[tuple[int, str, str], ...]
    """The index of a point, its place from the left and from the top in percent; the newest is last."""
    legend: dict[str, str]
    """Class of the colour by model; empty if only one model is named."""
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


def columns(view: TrendView) -> list[Column]:
    """A column for each usage metric. A row is the index of a point; the unit is in the head."""
    return [
        Column(
            name=class_name(spec.label),
            head=f"{spec.label}, {spec.unit}" if spec.unit != "tokens" else spec.label,
            cell=lambda at, place=place, unit=spec.unit: _amount(view.values[at][place], unit),
        )
        for place, spec in ((place, view.specs[place]) for place in view.usage_places)
    ]


def _amount(value: float | None, unit: str) -> str:
    return NIL if value is None else amount(value, unit).removesuffix(f" {unit}")


def dot_text(view: TrendView, picture: Tradeoff, index: int) -> str:
    """The headline of an output, what it took, and its model."""
    point, values = view.points[index], view.values[index]
    against, models = values[view.specs.index(picture.against)] or 0.0, made_by(point)[:80]
    headline = metric_text(values[0] or 0.0, unit=view.specs[0].unit)
    words = f"{point.snapshot.label}: {view.specs[0].label} {headline}, {amount(against, picture.against.unit)}"
    return f"{words}, {models}" if models else words


def tradeoff(view: TrendView) -> Tradeoff | None:
    """The newest outputs in a picture; None if there are none. The horizontal axis begins at 0, to show ratios."""
    newest, unit = view.outputs, view.specs[0].unit
    by_name = {view.specs[place].name: place for place in view.usage_places}
    stated = (
        by_name[name]
        for name in _AGAINST
        if name in by_name
        and sum(view.values[at][0] is not None and bool(view.values[at][by_name[name]]) for at in newest) >= 2
    )
    place = next(stated, None)
    if place is None:
        return None
    values = [(index, view.values[index][0], view.values[index][place]) for index in newest[-ROWS:]]
    drawn = [(index, head, cost) for index, head, cost in values if head is not None and cost is not None]
    if not drawn:
        return None
    heads, most = [head for _, head, _ in drawn], max(cost for _, _, cost in drawn) * 1.06
    margin = (max(heads) - min(heads)) * 0.08 or abs(max(heads)) * 0.05 or 0.05
    low, high = min(heads) - margin, max(heads) + margin
    models = list(dict.fromkeys(filter(None, (made_by(view.points[index]) for index in reversed(newest)))))
    spec = view.specs[place]
    return Tradeoff(
        against=spec,
        dots=tuple((index, percent(cost, most), percent(high - head, high - low)) for index, head, cost in drawn),
        legend={name: f"v{tone(k)}" for k, name in enumerate(models)} if len(models) > 1 else {},
        across=tuple(Tick(percent(tick, most), amount(tick, spec.unit), "middle") for tick in nice_ticks(0, most, 4)),
        up=tuple(
            Tick(percent(high - tick, high - low), metric_text(tick, unit=unit)) for tick in nice_ticks(low, high, 4)
        ),
    )
