"""Quality against cost: a dot for each output, in the colour of its model. Upper left is best."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.pages.usage import OutputUsage, UsageView
from sitegen.render.charts import Tick, nice_ticks, percent
from sitegen.render.formats import number, printable
from sitegen.render.variants import tone
from sitegen.text.values import amount


class Dot(NamedTuple):
    """One output."""

    x: str
    """From the left, in percent."""
    y: str
    """From the top, in percent."""
    mark: str
    """Class of its colour."""
    is_newest: bool
    text: str
    file: str


class Tradeoff(NamedTuple):
    """What the template draws."""

    dots: tuple[Dot, ...]
    legend: tuple[tuple[str, str], ...]
    """(class, model); empty if only one is named."""
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


def tradeoff(view: UsageView) -> Tradeoff | None:
    """None if there is nothing to draw. The horizontal axis begins at 0, so that distances on it are ratios."""
    drawn = [output for output in view.outputs if output.headline is not None and output.against is not None]
    spec = view.against
    if spec is None or not drawn:
        return None
    most = max(each.against or 0.0 for each in drawn) * 1.06
    values = [each.headline or 0.0 for each in drawn]
    margin = (max(values) - min(values)) * 0.08 or abs(max(values)) * 0.05 or 0.05
    low, high = min(values) - margin, max(values) + margin
    models = list(view.models)

    def dot(each: OutputUsage) -> Dot:
        return Dot(
            x=percent(each.against or 0.0, most),
            y=percent(high - (each.headline or 0.0), high - low),
            mark=f"v{tone(models.index(each.made_by))}" if len(models) > 1 and each.made_by else "m0",
            is_newest=each is drawn[-1],
            text=printable(
                f"{each.label}: {view.headline.label} {number(each.headline)}, {amount(each.against or 0.0, spec.unit)}"
                + (f", {each.made_by[:80]}" if each.made_by else "")
            ),
            file=each.file,
        )

    return Tradeoff(
        dots=tuple(map(dot, drawn)),
        legend=tuple((f"v{tone(k)}", name) for k, name in enumerate(models)) if len(models) > 1 else (),
        across=tuple(Tick(percent(tick, most), amount(tick, spec.unit), "middle") for tick in nice_ticks(0, most, 4)),
        up=tuple(Tick(percent(high - tick, high - low), f"{tick:.3f}") for tick in nice_ticks(low, high, 4)),
    )
