"""Formats changes and intervals as plain text, for pages and for the terminal."""

from __future__ import annotations

from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Interval
from sitegen.pages.changes import DisplayedChange, in_own_unit
from sitegen.text.values import SMALL, metric_text

MINUS = "\u2212"

ROUNDING = 1e-9
"""A smaller change of a metric is a rounding error of its sums."""


def own_unit(change: float, spec: MetricSpec) -> str:
    """A signed change in the unit of its metric, ``+0.036``; ``0`` if it is only a rounding error."""
    if abs(change) < ROUNDING:
        return "0"
    size = abs(change)
    # Without an exponent, which is hard to compare with +0.036.
    digits = (
        f"{float(f'{size:.2g}'):.9f}".rstrip("0")
        if size < SMALL and not spec.unit
        else metric_text(size, unit=spec.unit)
    )
    return f"{'+' if change > 0 else MINUS}{digits}"


def origin(change: DisplayedChange, spec: MetricSpec) -> str:
    """The parts of a change and its restrictions: ``outputs +0.050, ground truth −0.011; over 3 documents``."""
    split = [f"{part.name} {own_unit(in_own_unit(part.points, spec), spec)}" for part in change.parts]
    return "; ".join(filter(None, (", ".join(split), change.note)))


def span(interval: Interval | None) -> str:
    """The ends of an interval around a value, ``0.614 to 0.889``; empty if there is none."""
    return f"{interval.low:.3f} to {interval.high:.3f}" if interval else ""


def span_of_change(interval: Interval, spec: MetricSpec) -> str:
    """The ends of the interval of a change, in the unit of the metric: ``−0.021 to +0.098``."""
    return f"{own_unit(interval.low, spec)} to {own_unit(interval.high, spec)}"
