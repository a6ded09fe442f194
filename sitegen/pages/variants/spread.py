"""The range of a metric over the variants of a prompt, which stands beside their average."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.model.kinds import traits_of
from sitegen.model.metrics import MetricSpec
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import EvalInfo


class VariantSpread(NamedTuple):
    """The worst and the best variant of one output."""

    variants: int
    worst: float
    worst_name: str
    best: float
    best_name: str


def variant_spread(info: EvalInfo, spec: MetricSpec, card: Scorecard) -> VariantSpread | None:
    """The spread of a metric; None with fewer than two variants that have a value. Of equals the first by name."""
    if not traits_of(info.kind).answers_cases:
        return None
    values = [(dict(document.metrics).get(spec.name), document.id) for document in card.documents]
    defined = [(value, name) for value, name in values if value is not None]
    if len(defined) < 2:
        return None
    sign = 1 if spec.higher_is_better else -1
    worst = min(defined, key=lambda pair: (sign * pair[0], pair[1]))
    best = min(defined, key=lambda pair: (-sign * pair[0], pair[1]))
    return VariantSpread(variants=len(defined), worst=worst[0], worst_name=worst[1], best=best[0], best_name=best[1])
