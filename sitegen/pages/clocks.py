"""The two clocks of an eval: each output by the truth and the rules of its time, and by those of the newest point."""

from __future__ import annotations

from collections.abc import Sequence
from operator import ne
from typing import NamedTuple

from sitegen.model.metrics import MetricSpec
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point
from sitegen.pages.labels import CAUSES
from sitegen.pages.recorded import agrees_with_now


class Turned(NamedTuple):
    """A point at which ground truth, mapping, schema or settings became what they were not before."""

    at: int
    """Its index."""
    label: str
    causes: str
    """In words."""


class Clocks(NamedTuple):
    """Where the two part."""

    turned: tuple[Turned, ...]
    """Oldest first: from the last one on, truth and rules are those of the newest point."""
    apart: int
    """Points at which any metric that is drawn differs by the two."""
    values: tuple[tuple[float | None, ...], ...]
    """By the second clock, a row for each point; empty if the two never part, or if nobody asked."""
    recorded: int = 0
    """Points whose recorded metrics are those of the second clock, and not of the first."""


ONE_CLOCK = Clocks((), 0, ())


def clocks(points: Sequence[Point], drawn: Sequence[MetricSpec]) -> Clocks:
    """Compare the two clocks of all points, by the metrics that are drawn."""
    then = [_clock_values(point.scorecard, drawn) for point in points]
    now = [
        values if point.now is None or point.now is point.scorecard else _clock_values(point.now, drawn)
        for point, values in zip(points, then, strict=True)
    ]
    apart = sum(map(ne, then, now))
    turned = tuple(
        Turned(index, point.snapshot.label, ", ".join(CAUSES[cause] for cause in rules))
        for index, point in enumerate(points)
        if index and (rules := [cause for cause in point.snapshot.cause if cause != "outputs"])
    )
    labels = tuple((spec.name, spec.label) for spec in drawn)
    recorded = sum(agrees_with_now(point, labels) for point in points)
    return Clocks(turned, apart, tuple(now) if apart else (), recorded)


def _clock_values(card: Scorecard, drawn: Sequence[MetricSpec]) -> tuple[float | None, ...]:
    known = dict(card.metrics)
    return tuple([known.get(spec.name) for spec in drawn])
