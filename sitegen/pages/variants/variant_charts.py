"""Charts of variants as SVG: bars and a radar."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin
from typing import TYPE_CHECKING, Final

from sitegen.frozen import Frozen

if TYPE_CHECKING:
    from sitegen.pages.variants.page import MetricRow

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
TONES: Final = 6
"""Number of colours of variants, ``v0`` to ``v5`` in the style sheet; beyond six, only their letters differ."""

RADIUS: Final = 110
CENTRE: Final = (220, 140)
RINGS: Final = (0.25, 0.5, 0.75, 1.0)


class Bar(Frozen):
    """One value on the scale of its metric, from 0 to 1000."""

    tone: int
    width: float
    value: float | None


class RadarLabel(Frozen):
    """The name of an axis at its end."""

    x: float
    y: float
    anchor: str
    text: str


class Radar(Frozen):
    """A polygon for each variant over three or more metrics."""

    rings: tuple[str, ...]
    spokes: tuple[tuple[float, float], ...]
    polygons: tuple[str, ...]
    """One for each variant, in their order."""
    labels: tuple[RadarLabel, ...]


def letter(index: int) -> str:
    """The letter that stands for a variant; its number beyond Z."""
    return LETTERS[index] if index < len(LETTERS) else str(index + 1)


def tone(index: int) -> int:
    """The colour of a variant."""
    return index % TONES


def bars(row: MetricRow) -> tuple[Bar, ...]:
    """A bar for each variant."""
    return tuple(
        Bar(tone=tone(index), width=0.0 if value is None else place(row, value), value=value)
        for index, value in enumerate(row.values)
    )


def place(row: MetricRow, value: float) -> float:
    """The place of a value between the metric's lowest and highest, 0 to 1000; negative values count as zero.

    A metric with a unit has no highest value: its scale ends at the largest of the variants.
    """
    low, high = max(0.0, row.spec.low), row.spec.high
    if row.spec.unit:
        high = max((other for other in row.values if other is not None), default=0.0) or 1.0
    return round(1000 * min(1.0, max(0.0, (value - low) / (high - low))), 1)


def radar(rows: Sequence[MetricRow]) -> Radar | None:
    """The radar of the metrics that every variant has; None if there are fewer than three."""
    axes = [row for row in rows if None not in row.values and not row.spec.unit]
    if len(axes) < 3:
        return None
    count = len(axes)

    def at(axis: int, share: float) -> tuple[float, float]:
        turn = 2 * pi * axis / count
        return round(CENTRE[0] + RADIUS * share * sin(turn), 1), round(CENTRE[1] - RADIUS * share * cos(turn), 1)

    def polygon(shares: Sequence[float]) -> str:
        return " ".join(f"{x:g},{y:g}" for x, y in (at(axis, share) for axis, share in enumerate(shares)))

    return Radar(
        rings=tuple(polygon([ring] * count) for ring in RINGS),
        spokes=tuple(at(axis, 1) for axis in range(count)),
        polygons=tuple(
            polygon([place(row, row.values[index] or 0) / 1000 for row in axes]) for index in range(len(axes[0].values))
        ),
        labels=tuple(_radar_label(*at(axis, 1.1), row.spec.label) for axis, row in enumerate(axes)),
    )


def _radar_label(x: float, y: float, text: str) -> RadarLabel:
    side = x - CENTRE[0]
    anchor = "middle" if abs(side) < 1 else "start" if side > 0 else "end"
    return RadarLabel(x=x, y=y + 4, anchor=anchor, text=text)
