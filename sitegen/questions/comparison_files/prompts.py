"""``comparison_results.json`` of prompts that the command line names by their files, numbered in that order.

Its keys are those that teams who keep prompts as templates are used to. In a tie, the winner is ``tie``.


``comparison_results.json``: every number of a comparison (``sitegen/comparison/1``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sitegen.analysis.variant_tests import Confidence, MetricTest, Tested, VariantComparison, VariantPair
from sitegen.analysis.variants import sole_leader
from sitegen.model.frozen import Frozen
from sitegen.questions.comparison_files.changes import ResultChange
from sitegen.questions.verifying.evaluation import Evaluation, EvaluationDocument

TIE = "tie"


@dataclass(frozen=True, slots=True)
class PromptTest:
    """A test of a metric; undefined numbers are None."""

    test: str
    statistic: float | None
    p_value: float | None
    adjusted_p: float | None
    """By Holm's method over all pairs of prompts. This p-value decides."""
    statistically_significant: bool
    winner: str
    note: str


@dataclass(frozen=True, slots=True)
class PromptsMetric:
    """A metric of two prompts with the independent test, which decides, and the paired test for comparison."""

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


class RankedPrompt(Frozen):
    """A prompt of the ranking; in the file, a list of the two."""

    prompt: str
    score: float | None


@dataclass(frozen=True, slots=True)
class StatisticalComparison:
    """All pairs of prompts and the ranking."""

    pairwise_comparisons: dict[str, PromptPair]
    """By ``prompt_1_vs_prompt_2``."""
    overall_ranking: tuple[RankedPrompt, ...]
    """(prompt, score), the best first."""


@dataclass(frozen=True, slots=True)
class RecommendedPrompt:
    """The recommendation."""

    recommended_prompt: str | None
    """The overall winner, otherwise the only prompt of the first rank; None if there is neither."""
    ranking_score: float | None
    significant_improvements: tuple[str, ...]
    """Metrics in which it is significantly better than another."""
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class PromptsDocument:
    """The whole file, in the order in which it is written."""

    timestamp: str
    prompt_paths: tuple[str, ...]
    """The first is ``prompt_1`` below."""
    individual_results: dict[str, EvaluationDocument]
    statistical_comparison: StatisticalComparison
    recommendation: RecommendedPrompt


def prompts_document(
    comparison: VariantComparison, evaluations: Sequence[Evaluation], timestamp: str
) -> PromptsDocument:
    """The document of a comparison whose variants are named by the paths of the prompts."""
    documents = {f"prompt_{number}": evaluation.document for number, evaluation in enumerate(evaluations, 1)}
    keys = {document.prompt_path: key for key, document in documents.items()}
    first = sole_leader(comparison.ranking)
    best = comparison.overall_winner or (first.name if first else None)
    better = {
        test.metric for pair in comparison.pairs for test in pair.tests if best and test.independent.better == best
    }
    return PromptsDocument(
        timestamp=timestamp,
        prompt_paths=tuple(keys),
        individual_results=documents,
        statistical_comparison=StatisticalComparison(
            pairwise_comparisons={
                f"{keys[pair.first]}_vs_{keys[pair.second]}": _prompt_pair(pair, keys) for pair in comparison.pairs
            },
            overall_ranking=tuple(RankedPrompt(keys[row.name], row.score) for row in comparison.ranking),
        ),
        recommendation=RecommendedPrompt(
            recommended_prompt=keys[best] if best else None,
            ranking_score=next((row.score for row in comparison.ranking if row.name == best), None),
            significant_improvements=tuple(sorted(better)),
            confidence=comparison.confidence,
        ),
    )


def _prompt_pair(pair: VariantPair, keys: dict[str, str]) -> PromptPair:
    return PromptPair(
        overall_winner=_winning_prompt(pair.winner, keys),
        significant_differences=tuple(test.metric for test in pair.tests if test.independent.better),
        metrics_comparison={test.metric: _prompts_metric(pair, test, keys) for test in pair.tests},
    )


def _prompts_metric(pair: VariantPair, test: MetricTest, keys: dict[str, str]) -> PromptsMetric:
    decides = _prompt_test(test.independent, keys)
    return PromptsMetric(
        values={keys[pair.first]: test.first, keys[pair.second]: test.second},
        difference=test.difference,
        effect_size=test.effect_size,
        p_value=decides.p_value,
        statistically_significant=decides.statistically_significant,
        winner=decides.winner,
        independent_test=decides,
        paired_test=_prompt_test(test.paired, keys),
    )


def _prompt_test(tested: Tested, keys: dict[str, str]) -> PromptTest:
    return PromptTest(
        test=tested.method,
        statistic=tested.statistic,
        p_value=tested.p_value,
        adjusted_p=tested.adjusted_p,
        statistically_significant=tested.better is not None,
        winner=_winning_prompt(tested.better, keys),
        note=tested.note,
    )


def _winning_prompt(name: str | None, keys: dict[str, str]) -> str:
    return TIE if name is None else keys[name]


SCHEMA: Final = "sitegen/comparison/1"


@dataclass(frozen=True, slots=True)
class ComparisonDocument:
    """The comparisons of one call, in the order in which they are written."""

    variants: tuple[VariantComparison, ...] = ()
    """For each eval of kind ``responses``, the sides as prompts that answered the same cases."""
    changes: tuple[ResultChange, ...] = ()
    """For each eval, what became of it from one side to the next."""
    passed_over: tuple[str, ...] = ()
    """Evals that only one side has."""
    schema: str = SCHEMA
