"""The page that compares the prompt variants of an eval: metrics, ranking, and the verdict on every two."""

from functools import cached_property
from typing import Final, TypeAlias

from markupsafe import Markup

from sitegen.analysis.variant_tests import SPECS, Ranked, VariantComparison, VariantPair
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import MetricSpec
from sitegen.model.scorecards import Result
from sitegen.model.series import EvalInfo, Point, Series
from sitegen.model.site import Page
from sitegen.pages import links
from sitegen.pages.compare import sentence
from sitegen.pages.html.cells import text
from sitegen.scoring.usage import specs_with_usage
from sitegen.stats.significance import ALPHA

_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
TONES: Final = 6
"""Number of colours of variants, ``v0`` to ``v5`` in the style sheet; beyond six, only their letters differ."""

OfVariants: TypeAlias = tuple[MetricSpec, tuple[float | None, ...]]
"""A metric with its value for each variant."""


def letter(index: int) -> str:
    """The letter that stands for a variant; its number beyond Z."""
    return _LETTERS[index] if index < len(_LETTERS) else str(index + 1)


def tone(index: int) -> int:
    """The colour of a variant."""
    return index % TONES


def place(metric: OfVariants, value: float | None) -> float:
    """The place of a value between the metric's lowest and highest, 0 to 1000; negative and undefined ones are 0.

    A metric with a unit has no highest value: its scale ends at the largest of the variants.
    """
    spec, values = metric
    if value is None:
        return 0.0
    low, high = max(0.0, spec.low), spec.high
    if spec.unit:
        high = max((other for other in values if other is not None), default=0.0) or 1.0
    return round(1000 * min(1.0, max(0.0, (value - low) / (high - low))), 1)


PAIRED: Final = 12
"""The most variants of which every two are compared on the page."""


class VariantsView(Frozen, dict=True, gc=True):
    """What ``pages/variants.html`` shows."""

    info: EvalInfo
    point: Point
    comparison: VariantComparison
    metrics: tuple[OfVariants, ...]
    """Metrics that any variant has, with the values of the variants."""

    @cached_property
    def ranked(self) -> dict[int, Ranked]:
        """The ranks by the index of the variant, best first, variants without a rank last."""
        places = {variant.name: index for index, variant in enumerate(self.comparison.variants)}
        return {places[row.name]: row for row in self.comparison.ranking}

    @cached_property
    def pairs(self) -> list[tuple[VariantPair, int, int]]:
        """Every two of the ``PAIRED`` variants that rank first, with their indices."""
        first = {self.comparison.variants[index].name: index for index in [*self.ranked][:PAIRED]}
        return [
            (pair, first[pair.first], first[pair.second])
            for pair in self.comparison.pairs
            if pair.first in first and pair.second in first
        ]

    def sentences(self, pair: VariantPair) -> list[Markup]:
        """The verdict on each metric of a pair."""
        sides = text(pair.first), text(pair.second)
        return [
            sentence(sides, test.verdict, SPECS[test.metric], self.info.nouns) for test in pair.tests if test.verdict
        ]


def variants_page(series: Series, result: Result) -> Page:
    """The page of the newest point of an eval with variants."""
    from sitegen.analysis.variants import variant_comparison, variants_of  # statistics that few evals need

    info, newest = series.info, series.points[-1]
    metrics = [dict(variant.metrics) for variant in newest.scorecard.variants.values()]
    specs = specs_with_usage(series.specs, [newest.scorecard])
    values = [(spec, tuple(of_variant.get(spec.name) for of_variant in metrics)) for spec in specs]
    view = VariantsView(
        info=info,
        point=newest,
        comparison=variant_comparison(info.id, variants_of(result), info.significance_level or ALPHA),
        metrics=tuple(row for row in values if any(value is not None for value in row[1])),
    )
    return Page(links.variants(info.id), "pages/variants.html", view)
