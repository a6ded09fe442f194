"""Evaluates a prompt on a file of test cases: finds its recorded responses and writes the scores as one document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from sitegen.config.manifest import evaluation_methods, significance_level
from sitegen.config.models import EvalConfig
from sitegen.errors import NothingToReportError
from sitegen.model.frozen import Frozen
from sitegen.questions.verifying.project import WorktreeProject, first_file
from sitegen.questions.verifying.verify import Verified, verify
from sitegen.scoring.kinds import scorer
from sitegen.scoring.responses.document import METHODS, Summary, responses_part
from sitegen.stats.significance import ALPHA

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


@dataclass(frozen=True, slots=True)
class EvaluationDocument:
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


class Evaluation(Frozen):
    """A prompt's responses, scored."""

    verified: Verified
    document: EvaluationDocument


def variant_name(project: WorktreeProject, prompt: Path) -> str:
    """The name of a prompt's variant: its path without suffix, with dots for slashes, ``templates.base.x``."""
    path = Path(project.shown_path(prompt)).with_suffix("")
    parts = [part for part in path.parts if part not in (path.anchor, "..")]
    return _NO_NAME.sub("-", ".".join(parts))


def responses_of(project: WorktreeProject, eval_id: str, prompt: Path) -> Path:
    """The file that holds a prompt's responses to the test cases of an eval. Raises NothingToReportError."""
    place = project.place(eval_id)
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
    project: WorktreeProject,
    eval_id: str,
    prompt: Path,
    responses: Path,
    *,
    timestamp: str,
    methods: Sequence[str] = (),
) -> Evaluation:
    """Score the responses to one prompt by some methods, by default those in the eval's settings or else all.

    Raises SitegenError for the reasons of ``verify``, or if a method does not exist.
    """
    verified = verify(project, eval_id, responses)
    place = verified.place
    methods = tuple(methods) or evaluation_methods(place.entry.settings) or tuple(METHODS)
    part = responses_part(verified.result, place.entry.thresholds, methods)
    results = {method: asdict(section) for method, section in part.results.items()}
    data = verified.result.data
    cases = data.get("cases") if isinstance(data, dict) else 0
    document = EvaluationDocument(
        timestamp=timestamp,
        prompt_path=project.shown_path(prompt),
        test_cases_path=project.shown_path(place.ground_truth) if place.ground_truth else "",
        test_cases_count=cases if isinstance(cases, int) else 0,
        config=_config(project, place.entry, [method for method in METHODS if method in methods]),
        results={method: {key: section[key] for key in KEYS[method]} for method, section in results.items()},
        summary=part.summary,
    )
    return Evaluation(verified, document)


def _config(project: WorktreeProject, entry: EvalConfig, methods: Sequence[str]) -> dict[str, Any]:
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
