"""The variants of an eval side by side: metrics, ranking, tests and flips of every pair (rules 33 and 34)."""

from __future__ import annotations

from typing import Final

from sitegen.analysis.comparison.values import CaseFlip, Ranked, VariantComparison, VariantPair
from sitegen.analysis.comparison.variants import variant_comparison, variants_of
from sitegen.frozen import Frozen
from sitegen.model.metrics import MetricSpec
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.stats.significance import ALPHA

FLIPS: Final = 500
"""Largest number of cases listed for a pair; fewer if there are many pairs."""

ALL_FLIPS: Final = 2_000
"""Largest number of cases listed for all pairs together."""


class MetricRow(Frozen):
    """One metric, over all variants."""

    spec: MetricSpec
    least: float | None
    """The threshold."""
    values: tuple[float | None, ...]
    """In the order of the variants."""


class PairView(Frozen):
    """Two variants, and the cases that flipped between them."""

    pair: VariantPair
    first: int
    second: int
    """Indices of the two variants."""
    flips: tuple[CaseFlip, ...]
    left_out: int
    """Number of flips that are not listed."""


class VariantsView(Frozen):
    """What ``pages/variants.html`` shows."""

    info: EvalInfo
    label: str
    """Label of the snapshot."""
    report: str
    """Address of its report, relative to this page."""
    comparison: VariantComparison
    ranked: tuple[Ranked, ...]
    """In the order of the variants."""
    metrics: tuple[MetricRow, ...]
    """Metrics that any variant has."""
    pairs: tuple[PairView, ...]
    nav: str = "evals"

    @property
    def by_rank(self) -> list[int]:
        """Indices of the variants, best first, variants without a rank last."""
        ranks = [row.rank for row in self.ranked]
        return sorted(range(len(ranks)), key=lambda place: (ranks[place] is None, ranks[place] or 0))


def variants_page(info: EvalInfo, specs: tuple[MetricSpec, ...], snapshot: Snapshot, result: Result) -> Page:
    """The page of the newest snapshot of an eval with variants."""
    comparison = variant_comparison(info.id, variants_of(result), info.significance_level or ALPHA)
    rank = {row.name: row for row in comparison.ranking}
    view = VariantsView(
        info=info,
        label=snapshot.label,
        report=links.file_name(links.report(info.id, snapshot.slug)),
        comparison=comparison,
        ranked=tuple(rank[variant.name] for variant in comparison.variants),
        metrics=_variant_metric_rows(info, specs, result.scorecard),
        pairs=_pair_views(comparison),
    )
    return Page(links.variants(info.id), "pages/variants.html", view)


def _variant_metric_rows(info: EvalInfo, specs: tuple[MetricSpec, ...], scorecard: Scorecard) -> tuple[MetricRow, ...]:
    metrics = [dict(document.metrics) for document in scorecard.documents]
    rows = (
        MetricRow(spec, spec.target(info.thresholds), tuple(values.get(spec.name) for values in metrics))
        for spec in specs
    )
    return tuple(row for row in rows if any(value is not None for value in row.values))


def _pair_views(comparison: VariantComparison) -> tuple[PairView, ...]:
    place = {variant.name: index for index, variant in enumerate(comparison.variants)}
    most = min(FLIPS, ALL_FLIPS // max(1, len(comparison.pairs)))
    return tuple(
        PairView(
            pair=pair,
            first=place[pair.first],
            second=place[pair.second],
            flips=pair.flips[:most],
            left_out=max(0, len(pair.flips) - most),
        )
        for pair in comparison.pairs
    )
