"""One prompt on one file of test cases: where its responses are kept, and what came of it as one document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from sitegen.config import EvalConfig
from sitegen.configuring import evaluation_methods, significance_level
from sitegen.errors import NothingToReportError
from sitegen.scoring.kinds import scorer
from sitegen.scoring.responses.document import METHODS, Summary, responses_part
from sitegen.stats.significance import ALPHA
from sitegen.text.plain import encodable
from sitegen.verifying import Verified, WorktreeProject, first_file

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "exact_match": ("accuracy", "correct", "total", "meets_threshold"),
    "consistency": ("consistency_score", "total_comparisons", "meets_threshold"),
    "quality": ("average_quality", "quality_scores", "total_evaluated", "meets_threshold"),
    "rouge": ("rouge1", "rouge2", "rougeL"),
}
"""What an evaluation says of each method."""

_THRESHOLDS: Final = (
    ("accuracy_threshold", "accuracy"),
    ("consistency_threshold", "consistency_score"),
    ("quality_threshold", "average_quality"),
)
_NO_NAME = re.compile(r"[^\w.-]")


@dataclass(frozen=True, slots=True)
class EvaluationDocument:
    """The whole file, in the order in which it is written: these keys and no others. Undefined is None."""

    timestamp: str
    """ISO 8601, when the evaluation was made."""
    prompt_path: str
    """Relative to the project, where the prompt lies in it; so is ``test_cases_path``."""
    test_cases_path: str
    test_cases_count: int
    config: dict[str, Any]
    """What held: model, judge_model, max_tokens, temperature, evaluation_methods, metrics, significance_level,
    plot_format."""
    results: dict[str, dict[str, Any]]
    """By method, with the keys of ``KEYS``."""
    summary: Summary


class Evaluation(NamedTuple):
    """A prompt's responses, scored."""

    prompt_path: str
    verified: Verified
    document: EvaluationDocument


def shown_path(bench: WorktreeProject, path: Path) -> str:
    """A path from the root of the project if it lies there."""
    resolved, root = path.resolve(), bench.root.resolve()
    return encodable(resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else str(path))


def variant_name(bench: WorktreeProject, prompt: Path) -> str:
    """What a prompt's variant is called: its path with dots and without its ending, ``templates.base.x``."""
    path = Path(shown_path(bench, prompt)).with_suffix("")
    parts = [part for part in path.parts if part not in (path.anchor, "..")]
    return _NO_NAME.sub("-", ".".join(parts))


def responses_of(bench: WorktreeProject, eval_id: str, prompt: Path) -> Path:
    """The file that holds a prompt's responses to the test cases of an eval. Raises NothingToReportError."""
    place = bench.place(eval_id)
    name = variant_name(bench, prompt)
    found = first_file(place.folder, (f"responses-{name}.jsonl", f"responses-{name}.json"))
    if found is None:
        cases = shown_path(bench, place.ground_truth) if place.ground_truth else ""
        shown = shown_path(bench, prompt)
        raise NothingToReportError(
            f"There are no responses of the prompt {shown}.",
            where=shown_path(bench, place.folder / f"responses-{name}.jsonl"),
            fix=f"sitegen respond --prompt {shown} --test_cases {cases}",
        )
    return found


def evaluate(
    bench: WorktreeProject, eval_id: str, prompt: Path, responses: Path, *, timestamp: str, methods: Sequence[str] = ()
) -> Evaluation:
    """Score the responses of one prompt, by these methods or by those that the eval's settings name.

    Raises SitegenError, as ``WorktreeProject.verify`` does, or if there is no such method.
    """
    verified = bench.verify(eval_id, responses)
    place = verified.place
    methods = tuple(methods) or evaluation_methods(place.entry.settings) or tuple(METHODS)
    part = responses_part(verified.result, place.entry.thresholds, methods)
    results = {method: asdict(section) for method, section in part.results.items()}
    data = verified.result.data
    cases = data.get("cases") if isinstance(data, dict) else 0
    written = EvaluationDocument(
        timestamp=timestamp,
        prompt_path=shown_path(bench, prompt),
        test_cases_path=shown_path(bench, place.ground_truth) if place.ground_truth else "",
        test_cases_count=cases if isinstance(cases, int) else 0,
        config=_config(bench, place.entry, [method for method in METHODS if method in methods]),
        results={method: {key: section[key] for key in KEYS[method]} for method, section in results.items()},
        summary=part.summary,
    )
    return Evaluation(written.prompt_path, verified, written)


def _config(bench: WorktreeProject, entry: EvalConfig, methods: Sequence[str]) -> dict[str, Any]:
    llm, stated = bench.config.llm, dict(entry.thresholds)
    least = {spec.name: stated.get(spec.name, spec.least) for spec in scorer("responses").metrics}
    return {
        "model": llm.model,
        "judge_model": llm.judge_model,
        "max_tokens": llm.max_tokens,
        "temperature": llm.temperature,
        "evaluation_methods": list(methods),
        "metrics": {key: least[metric] for key, metric in _THRESHOLDS},
        "significance_level": significance_level(entry.settings) or ALPHA,
        "plot_format": bench.evaluation.plot_format or "png",
    }
