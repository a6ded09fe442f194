"""``comparison_results.json`` of prompts that are named by their files: the prompts are numbered as they were named.

Its keys are those of the comparison that teams who keep prompts as templates know; a tie is the winner ``tie``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitegen.analysis.comparison.ranking import sole_leader
from sitegen.analysis.comparison.values import Confidence, MetricTest, Tested, VariantComparison, VariantPair
from sitegen.evaluating import Evaluation, EvaluationDocument

TIE = "tie"


@dataclass(frozen=True, slots=True)
class PromptTest:
    """One test of one metric; undefined is None."""

    test: str
    statistic: float | None
    p_value: float | None
    adjusted_p: float | None
    """By Holm over all pairs of prompts. This one decides."""
    statistically_significant: bool
    winner: str
    note: str


@dataclass(frozen=True, slots=True)
class PromptsMetric:
    """One metric of two prompts: the independent test, which decides, and the paired one beside it."""

    values: dict[str, float | None]
    """By prompt."""
    difference: float | None
    effect_size: float | None
    p_value: float | None
    statistically_significant: bool
    winner: str
    independent_test: PromptTest
    paired_test: PromptTest


@dataclass(frozen=True, slots=True)
class PromptPair:
    """Two prompts."""

    overall_winner: str
    significant_differences: tuple[str, ...]
    metrics_comparison: dict[str, PromptsMetric]


@dataclass(frozen=True, slots=True)
class StatisticalComparison:
    """Every pair, and the order of all."""

    pairwise_comparisons: dict[str, PromptPair]
    """By ``prompt_1_vs_prompt_2``."""
    overall_ranking: tuple[tuple[str, float | None], ...]
    """(prompt, score), the best first."""


@dataclass(frozen=True, slots=True)
class RecommendedPrompt:
    """Which prompt to use."""

    recommended_prompt: str | None
    """The one that wins over all, else the one that ranks first alone; None if there is none."""
    ranking_score: float | None
    significant_improvements: tuple[str, ...]
    """Metrics in which it is significantly better than another."""
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class PromptsDocument:
    """The whole file, in the order in which it is written: these keys and no others."""

    timestamp: str
    prompt_paths: tuple[str, ...]
    """The first is ``prompt_1`` below."""
    individual_results: dict[str, EvaluationDocument]
    statistical_comparison: StatisticalComparison
    recommendation: RecommendedPrompt


def prompts_document(found: VariantComparison, evaluations: Sequence[Evaluation], timestamp: str) -> PromptsDocument:
    """The document of a comparison whose variants are called by the paths of the prompts."""
    numbers = {each.prompt_path: f"prompt_{number}" for number, each in enumerate(evaluations, 1)}
    first = sole_leader(found.ranking)
    best = found.overall_winner or (first.name if first else None)
    better = {test.metric for pair in found.pairs for test in pair.tests if best and test.independent.better == best}
    return PromptsDocument(
        timestamp=timestamp,
        prompt_paths=tuple(evaluation.prompt_path for evaluation in evaluations),
        individual_results={numbers[evaluation.prompt_path]: evaluation.document for evaluation in evaluations},
        statistical_comparison=StatisticalComparison(
            pairwise_comparisons={
                f"{numbers[pair.first]}_vs_{numbers[pair.second]}": _prompt_pair(pair, numbers) for pair in found.pairs
            },
            overall_ranking=tuple((numbers[row.name], row.score) for row in found.ranking),
        ),
        recommendation=RecommendedPrompt(
            recommended_prompt=numbers[best] if best else None,
            ranking_score=next((row.score for row in found.ranking if row.name == best), None),
            significant_improvements=tuple(sorted(better)),
            confidence=found.confidence,
        ),
    )


def _prompt_pair(pair: VariantPair, numbers: dict[str, str]) -> PromptPair:
    return PromptPair(
        overall_winner=_winning_prompt(pair.winner, numbers),
        significant_differences=tuple(test.metric for test in pair.tests if test.independent.better),
        metrics_comparison={test.metric: _prompts_metric(pair, test, numbers) for test in pair.tests},
    )


def _prompts_metric(pair: VariantPair, test: MetricTest, numbers: dict[str, str]) -> PromptsMetric:
    decides = _prompt_test(test.independent, numbers)
    return PromptsMetric(
        values={numbers[pair.first]: test.first, numbers[pair.second]: test.second},
        difference=test.difference,
        effect_size=test.effect_size,
        p_value=decides.p_value,
        statistically_significant=decides.statistically_significant,
        winner=decides.winner,
        independent_test=decides,
        paired_test=_prompt_test(test.paired, numbers),
    )


def _prompt_test(tested: Tested, numbers: dict[str, str]) -> PromptTest:
    return PromptTest(
        test=tested.method,
        statistic=tested.statistic,
        p_value=tested.p_value,
        adjusted_p=tested.adjusted_p,
        statistically_significant=tested.better is not None,
        winner=_winning_prompt(tested.better, numbers),
        note=tested.note,
    )


def _winning_prompt(name: str | None, numbers: dict[str, str]) -> str:
    return TIE if name is None else numbers[name]
