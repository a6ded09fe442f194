"""The variants of an eval side by side: metrics, ranking, tests and flips of every pair (rules 33 and 34)."""

from __future__ import annotations

from typing import Final

from sitegen.analysis.comparison.values import CaseFlip, Ranked, VariantComparison, VariantPair
from sitegen.analysis.comparison.variants import variant_comparison, variants_of
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import MetricSpec
from sitegen.model.scorecards import Result
from sitegen.model.series import EvalInfo
from sitegen.model.site import Page
from sitegen.model.timeline import Snapshot
from sitegen.pages import links
from sitegen.pages.variants.variant_charts import OfVariants
from sitegen.stats.significance import ALPHA

FLIPS: Final = 500
"""Largest number of cases listed for a pair; fewer if there are many pairs."""

ALL_FLIPS: Final = 2_000
"""Largest number of cases listed for all pairs together."""


class VariantsView(Frozen):
    """What ``pages/variants.html`` shows."""

    info: EvalInfo
    snapshot: Snapshot
    comparison: VariantComparison
    metrics: tuple[OfVariants, ...]
    """Metrics that any variant has, with the values of the variants."""

    @property
    def ranked(self) -> list[Ranked]:
        """The ranks in the order of the variants."""
        rank = {row.name: row for row in self.comparison.ranking}
        return [rank[variant.name] for variant in self.comparison.variants]

    @property
    def by_rank(self) -> list[int]:
        """Indices of the variants, best first, variants without a rank last."""
        ranks = [row.rank for row in self.ranked]
        return sorted(range(len(ranks)), key=lambda place: (ranks[place] is None, ranks[place] or 0))

    @property
    def pairs(self) -> list[tuple[VariantPair, int, int]]:
        """Every two variants, with their indices."""
        place = {variant.name: index for index, variant in enumerate(self.comparison.variants)}
        return [(pair, place[pair.first], place[pair.second]) for pair in self.comparison.pairs]

    @property
    def listed_flips(self) -> list[CaseFlip]:
        """The cases that are listed for any pair."""
        return [flip for pair in self.comparison.pairs for flip in pair.flips[: self.flips_listed]]

    @property
    def flips_listed(self) -> int:
        """Largest number of cases listed for a pair."""
        return min(FLIPS, ALL_FLIPS // max(1, len(self.comparison.pairs)))


def variants_page(info: EvalInfo, specs: tuple[MetricSpec, ...], snapshot: Snapshot, result: Result) -> Page:
    """The page of the newest snapshot of an eval with variants."""
    metrics = [dict(document.metrics) for document in result.scorecard.documents]
    values = [(spec, tuple(of_variant.get(spec.name) for of_variant in metrics)) for spec in specs]
    view = VariantsView(
        info=info,
        snapshot=snapshot,
        comparison=variant_comparison(info.id, variants_of(result), info.significance_level or ALPHA),
        metrics=tuple(row for row in values if any(value is not None for value in row[1])),
    )
    return Page(links.variants(info.id), "pages/variants.html", view)
