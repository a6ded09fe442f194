"""Prompts on a file of test cases: finds their recorded responses, and writes their scores and their comparison.

``comparison_results.json`` numbers prompts in the order of the command line. Its keys are those that teams who keep
prompts as templates are used to. In a tie, the winner is ``tie``. Of anything else that is compared, the file holds
every number (``sitegen/comparison/1``).
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec.structs import asdict

from sitegen.analysis.variant_tests import Confidence, VariantComparison, agreed
from sitegen.analysis.variants import beats_all, sole_leader
from sitegen.config.manifest import evaluation_methods, significance_level
from sitegen.errors import NothingToReportError
from sitegen.model.changes import Decision
from sitegen.model.frozen import FrozenObject
from sitegen.questions.comparison_files.changes import ResultChange
from sitegen.questions.verify import Verified, verify
from sitegen.questions.work_tree import WorktreeEval, WorktreeProject, first_file
from sitegen.scoring.kinds import scorer
from sitegen.scoring.responses.document import METHODS, Summary
from sitegen.stats.significance import ALPHA, Significance

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "exact_match": ("accuracy", "correct", "total", "meets_threshold"),
    "consistency": ("consistency_score", "total_comparisons", "meets_threshold"),
    "quality": ("average_quality", "quality_scores", "total_evaluated", "meets_threshold"),
    "rouge": ("rouge1", "rouge2", "rougeL"),
}
"""Method -> the keys of its results in the document."""

_THRESHOLDS: Final = (
    ("accuracy_threshold", "accuracy"),
    ("consistency_threshold", "consistency_score"),
    ("quality_threshold", "average_quality"),
)
_NO_NAME = re.compile(r"[^\w.-]")


class EvaluationDocument(FrozenObject):
    """The whole file, in the order in which it is written. Undefined numbers are None."""

    timestamp: str
    """Time of the evaluation, ISO 8601."""
    prompt_path: str
    """Relative to the project if the prompt lies in it, as is ``test_cases_path``."""
    test_cases_path: str
    test_cases_count: int
    config: dict[str, Any]
    """The settings in force: model, judge_model, max_tokens, temperature, evaluation_methods, metrics,
    significance_level, plot_format."""
    results: dict[str, dict[str, Any]]
    """By method, with the keys of ``KEYS``."""
    summary: Summary


Evaluation: TypeAlias = tuple[Verified, EvaluationDocument]
"""A prompt's responses, scored."""


def variant_name(project: WorktreeProject, prompt: Path) -> str:
    """Return the name of a prompt's variant: its path without suffix, with dots for slashes, ``templates.base.x``."""
    path = Path(project.shown_path(prompt)).with_suffix("")
    parts = [part for part in path.parts if part not in (path.anchor, "..")]
    return _NO_NAME.sub("-", ".".join(parts))


def responses_of(place: WorktreeEval, prompt: Path) -> Path:
    """Return the file that holds a prompt's responses to the test cases of an eval. Raises NothingToReportError."""
    project = place.project
    name = variant_name(project, prompt)
    responses = first_file(place.folder, (f"responses-{name}.jsonl", f"responses-{name}.json"))
    if responses is None:
        cases = project.shown_path(place.ground_truth) if place.ground_truth else ""
        prompt_path = project.shown_path(prompt)
        raise NothingToReportError(
            f"There are no responses of the prompt {prompt_path}.",
            where=project.shown_path(place.folder / f"responses-{name}.jsonl"),
            fix=f"sitegen respond --prompt {prompt_path} --test_cases {cases}",
        )
    return responses


def evaluate(
    place: WorktreeEval, prompt: Path, responses: Path, *, timestamp: str, methods: Sequence[str] = ()
) -> Evaluation:
    """Score the responses to one prompt by some methods, by default those in the eval's settings or else all.

    Raises SitegenError for the reasons of ``verify``, or if a method does not exist.
    """
    project = place.project
    verified = verify(project, place.entry.id, responses)
    methods = tuple(methods) or evaluation_methods(place.entry.settings) or tuple(METHODS)
    scored: Any = verified.document(methods=methods)
    results = {method: asdict(section) for method, section in scored.results.items()}
    data = verified.result.data
    cases = data.get("cases") if isinstance(data, dict) else 0
    document = EvaluationDocument(
        timestamp=timestamp,
        prompt_path=project.shown_path(prompt),
        test_cases_path=project.shown_path(place.ground_truth) if place.ground_truth else "",
        test_cases_count=cases if isinstance(cases, int) else 0,
        config=_config(place, [method for method in METHODS if method in methods]),
        results={method: {key: section[key] for key in KEYS[method]} for method, section in results.items()},
        summary=scored.summary,
    )
    return verified, document


def _config(place: WorktreeEval, methods: Sequence[str]) -> dict[str, Any]:
    project, entry = place.project, place.entry
    llm = project.config.llm
    least = {spec.name: spec.target(entry.thresholds) for spec in scorer("responses").metrics}
    return {
        "model": llm.model,
        "judge_model": llm.judge_model,
        "max_tokens": llm.max_tokens,
        "temperature": llm.temperature,
        "evaluation_methods": list(methods),
        "metrics": {key: least[metric] for key, metric in _THRESHOLDS},
        "significance_level": significance_level(entry.settings) or ALPHA,
        "plot_format": project.evaluation.plot_format or "png",
    }


_TIE = "tie"


class PromptsMetric(FrozenObject):
    """A metric of two prompts; undefined numbers are None. The winner is that of the test of two samples (rule 33)."""

    values: dict[str, float | None]
    """By prompt."""
    difference: float | None
    effect_size: float | None
    p_value: float | None
    """Of ``independent_test``."""
    statistically_significant: bool
    winner: str
    independent_test: Significance
    """Chi-square of accuracies, Student's t of grades: both take the prompts for samples of different cases."""
    decision: Decision | None
    """What the second prompt is against the first over the cases that both answered, as pages say it."""
    paired_p_value: float | None
    """Of the test behind ``decision``."""
    disagrees: bool
    """Whether ``decision`` and ``winner`` do not call the same prompt better."""


class PromptPair(FrozenObject):
    """Two prompts."""

    overall_winner: str
    significant_differences: tuple[str, ...]
    metrics_comparison: dict[str, PromptsMetric]


class StatisticalComparison(FrozenObject):
    """All pairs of prompts and the ranking."""

    pairwise_comparisons: dict[str, PromptPair]
    """By ``prompt_1_vs_prompt_2``."""
    overall_ranking: tuple[tuple[str, float | None], ...]
    """(prompt, score), the best first."""


class RecommendedPrompt(FrozenObject):
    """The recommendation."""

    recommended_prompt: str | None
    """The overall winner, otherwise the only prompt of the first rank; None if there is neither."""
    ranking_score: float | None
    significant_improvements: tuple[str, ...]
    """Metrics in which it is significantly better than another."""
    confidence: Confidence


class PromptsDocument(FrozenObject):
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
    """Return the document of a comparison whose variants are named by the paths of the prompts."""
    documents = {f"prompt_{number}": document for number, (_, document) in enumerate(evaluations, 1)}
    keys = {document.prompt_path: key for key, document in documents.items()}
    first = sole_leader(comparison.ranking)
    won = beats_all([*keys], [(pair, agreed(test.better_sample for test in pair.tests)) for pair in comparison.pairs])
    best = won or (first.name if first else None)
    better = {test.metric for pair in comparison.pairs for test in pair.tests if best and test.better_sample == best}

    def winner(name: str | None) -> str:
        return _TIE if name is None else keys[name]

    pairs = {}
    for pair in comparison.pairs:
        metrics: dict[str, PromptsMetric] = {
            test.metric: PromptsMetric(
                values={keys[pair.first]: test.first, keys[pair.second]: test.second},
                difference=test.difference,
                effect_size=test.effect_size,
                p_value=test.as_samples.p_value,
                statistically_significant=test.better_sample is not None,
                winner=winner(test.better_sample),
                independent_test=test.as_samples,
                decision=test.verdict.decision if test.verdict else None,
                paired_p_value=test.verdict.p_value if test.verdict else None,
                disagrees=test.disagrees,
            )
            for test in pair.tests
        }
        pairs[f"{keys[pair.first]}_vs_{keys[pair.second]}"] = PromptPair(
            overall_winner=winner(agreed(test.better_sample for test in pair.tests)),
            significant_differences=tuple(test.metric for test in pair.tests if test.better_sample),
            metrics_comparison=metrics,
        )
    return PromptsDocument(
        timestamp=timestamp,
        prompt_paths=tuple(keys),
        individual_results=documents,
        statistical_comparison=StatisticalComparison(
            pairwise_comparisons=pairs, overall_ranking=tuple((keys[row.name], row.score) for row in comparison.ranking)
        ),
        recommendation=RecommendedPrompt(
            recommended_prompt=keys[best] if best else None,
            ranking_score=next((row.score for row in comparison.ranking if row.name == best), None),
            significant_improvements=tuple(sorted(better)),
            confidence=comparison.confidence,
        ),
    )


SCHEMA: Final = "sitegen/comparison/1"


class ComparisonDocument(FrozenObject):
    """The comparisons of one call, in the order in which they are written."""

    variants: tuple[VariantComparison, ...] = ()
    """For each eval of kind ``responses``, the sides as prompts that answered the same cases."""
    changes: tuple[ResultChange, ...] = ()
    """For each eval, what became of it from the first side to each other one."""
    passed_over: tuple[str, ...] = ()
    """Evals that not all sides have."""
    schema: str = SCHEMA
