"""The best output of an eval, by one rule for all that name it, and the way back to its instructions."""

from __future__ import annotations

from collections.abc import Sequence

from sitegen.analysis.change import difference, scored_now
from sitegen.analysis.deltas import comparable_since, overlap
from sitegen.model.metrics import ROUNDING, MetricSpec
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import EvalSummary, Point


def values_now(points: Sequence[Point], metric: str) -> list[float | None]:
    """Return a metric of each point, by the newest ground truth and rules."""
    return [(point.now or point.scorecard).metric(metric) for point in points]


def best_points(points: Sequence[Point], spec: MetricSpec, kind: str) -> tuple[int | None, ...]:
    """Return for each point of an eval the index of the best point up to and including it, by a metric.

    None before the first value: an undefined value is never the best.
    """
    since = comparable_since([point.scorecard for point in points], spec.name)
    indices = []
    best: Scorecard | None = None
    at: int | None = None
    for index, point in enumerate(points):
        if since[index] == index:
            best = at = None
        card = scored_now(point, kind)
        if card.metric(spec.name) is not None and (best is None or _is_better(best, card, spec, kind)):
            best, at = card, index
        indices.append(at)
    return tuple(indices)


def _is_better(best: Scorecard, other: Scorecard, spec: MetricSpec, kind: str) -> bool:
    """Decide whether an output is better than the best one so far, over the documents or cases that both have.

    If it is as good there and has others besides, it is better: it was asked for more. If nothing is in common, it is
    the best of what can be compared with it.
    """
    sign = 1 if spec.higher_is_better else -1
    shared = overlap(best, other)
    if best.documents and other.documents and shared.verdict == "refused":
        return True
    moved = difference(best, other, spec.name, kind) if shared.verdict == "bridged" else None
    if moved is None:
        return sign * ((other.metric(spec.name) or 0.0) - (best.metric(spec.name) or 0.0)) > 0
    has_more = bool(shared.only_after) and not shared.only_before
    return sign * moved > (-ROUNDING if has_more else ROUNDING)


def best_before_newest(points: Sequence[Point], spec: MetricSpec, kind: str) -> int | None:
    """Return the index of the best point before the newest; None if none of them can be compared with it."""
    newest = len(points) - 1
    since = comparable_since([point.scorecard for point in points], spec.name)
    return best_points(points, spec, kind)[-2] if newest > 0 and since[newest] != newest else None


def values_of_summary(summary: EvalSummary) -> tuple[float | None, ...]:
    """Return the headline metric of each point, by the newest ground truth and rules."""
    return summary.now or tuple(headline.values[0] for headline in summary.headlines)
