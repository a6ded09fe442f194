"""Changes and intervals as plain text, for pages and the terminal alike."""

from __future__ import annotations

from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import Interval
from sitegen.pages.changes import DisplayedChange, in_points

MINUS = "\u2212"


def points(value: float) -> str:
    """A change in points with its sign, ``+4.2``; one below 0.05 gets a second decimal, ``+0.03``."""
    if value == 0:
        return "0.0"
    return f"{'+' if value > 0 else MINUS}{abs(value):.{1 if abs(value) >= 0.05 else 2}f}"


def parts(change: DisplayedChange) -> str:
    """What a change is made up of: ``outputs +5.0, ground truth −1.1``; empty if nothing moved."""
    if len(change.parts) == 1 and change.points == change.parts[0].points:
        return f"all from {change.parts[0].name}"
    return ", ".join(f"{part.name} {points(part.points)}" for part in change.parts)


def origin(change: DisplayedChange) -> str:
    """The parts of a change and its note; empty if it has neither."""
    return "; ".join(filter(None, (parts(change), change.note)))


def sentence(change: DisplayedChange) -> str:
    """A change with its parts and its note: ``+4.2 = outputs +5.0, ground truth −1.1, rules +0.3``."""
    if change.points is None:
        return change.note
    split = origin(change)
    joint = " = " if len(change.parts) > 1 else ", "
    return points(change.points) + (joint + split if split else "")


def span(interval: Interval | None) -> str:
    """The ends of an interval around a value, ``0.614 to 0.889``; empty if there is none."""
    return f"{interval.low:.3f} to {interval.high:.3f}" if interval else ""


def span_of_change(interval: Interval, spec: MetricSpec) -> str:
    """The ends of the interval of a change, in points: ``−2.1 to +9.8``."""
    return f"{points(in_points(interval.low, spec))} to {points(in_points(interval.high, spec))}"
