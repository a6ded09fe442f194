"""The best output of an eval: one rule for every page and file that names it.

Outputs are compared by their scores under the newest ground truth and rules, since the judge changed last, and since no
document was in common with the output before. Of equal outputs the earliest is the best, because the later ones did not
improve on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sitegen.analysis.deltas import comparable_since
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import EvalSummary, Point


def best_so_far(
    values: Sequence[float | None], since: Sequence[int] = (), *, higher_is_better: bool = True
) -> tuple[int | None, ...]:
    """Return for each point the index of the best point up to and including it; of equal points the earliest.

    None before the first value: an undefined value is never the best. ``since``: for each point, the index of the first
    point that it can be compared with, if not all can be compared (``deltas.comparable_since``).
    """
    indices = []
    best, best_value = None, 0.0
    for index, value in enumerate(values):
        if since and since[index] == index:
            best = None
        if value is not None and (best is None or (value > best_value if higher_is_better else value < best_value)):
            best, best_value = index, value
        indices.append(best)
    return tuple(indices)


def values_now(points: Sequence[Point], metric: str) -> list[float | None]:
    """Return a metric of each point, by the newest ground truth and rules."""
    return [(point.now or point.scorecard).metric(metric) for point in points]


def best_points(points: Sequence[Point], spec: MetricSpec) -> tuple[int | None, ...]:
    """Return for each point of an eval the index of the best point so far by a metric."""
    since = comparable_since([point.scorecard for point in points], spec.name)
    return best_so_far(values_now(points, spec.name), since, higher_is_better=spec.higher_is_better)


def best_before_newest(points: Sequence[Point], spec: MetricSpec) -> int | None:
    """Return the index of the best point before the newest; None if none of them can be compared with it."""
    newest = len(points) - 1
    since = comparable_since([point.scorecard for point in points], spec.name)
    return best_points(points, spec)[-2] if newest > 0 and since[newest] != newest else None


def values_of_summary(summary: EvalSummary) -> tuple[float | None, ...]:
    """Return the headline metric of each point, by the newest ground truth and rules."""
    return summary.now or tuple(headline.values[0] for headline in summary.headlines)


def best_of_summary(summary: EvalSummary) -> tuple[int | None, ...]:
    """Return ``best_points`` by the headline metric, computed from the stored summary of an eval."""
    since = [headline.comparable_since for headline in summary.headlines]
    return best_so_far(values_of_summary(summary), since, higher_is_better=summary.specs[0].higher_is_better)
