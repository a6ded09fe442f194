"""Writes the results of kind ``responses`` for other programs (``sitegen/responses-results/1``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeAlias

from sitegen.errors import ConfigurationError
from sitegen.model.metrics import Verdict, VerdictStatus
from sitegen.model.outcomes import Value
from sitegen.model.scorecards import Kappa, Result, Status
from sitegen.scoring.responses.measures import METRICS
from sitegen.scoring.scorer import verdict
from sitegen.scoring.usage import USAGE, all_specs

METHODS: Final[dict[str, tuple[str, ...]]] = {
    "exact_match": ("accuracy",),
    "consistency": ("consistency_score", "case_consistency"),
    "quality": ("average_quality",),
    "rouge": ("rouge1", "rouge2", "rougeL"),
}
"""The values of ``--methods``, and the metrics that each selects."""


@dataclass(frozen=True, slots=True)
class ExactMatch:
    """Rule 29; undefined is None."""

    accuracy: float | None
    correct: int
    total: int
    """Number of responses that were compared with an expected text, and of cases without a response."""
    excluded: int
    """Number of failed calls."""
    not_scored: int
    """Number of responses to cases without an expected text."""
    threshold: float | None
    meets_threshold: bool | None
    """None if the metric is undefined or has no threshold."""


@dataclass(frozen=True, slots=True)
class Consistency:
    """Rule 30."""

    consistency_score: float | None
    """The mean over all pairs of responses."""
    total_comparisons: int
    """Number of pairs of responses that have a vector."""
    responses: int
    """Number of responses that have a vector."""
    embeddings: str | None
    """``recorded``, ``model``, or None if there are none."""
    case_consistency: float | None
    """The mean over ``by_case``."""
    by_case: tuple[dict[str, Any], ...]
    """variant, case_id, responses, mean: of each case that one variant answered twice or more."""
    threshold: float | None
    meets_threshold: bool | None


@dataclass(frozen=True, slots=True)
class Quality:
    """Rule 31."""

    average_quality: float | None
    quality_scores: tuple[int, ...]
    """The grades, by variant and in the order of the test cases."""
    total_evaluated: int
    graded: int
    """Number of these grades."""
    dropped: int
    """Number of grades that are not a whole number from 1 to 5."""
    agreement_with_people: Kappa | None
    """Over the responses that have both ``quality`` and ``human_quality``; None if there are fewer than two of them, or
    if all have one grade."""
    threshold: float | None
    meets_threshold: bool | None


@dataclass(frozen=True, slots=True)
class RougeScores:
    """Rule 31: mean F-measures."""

    rouge1: float | None
    rouge2: float | None
    rougeL: float | None  # noqa: N815  (the name of the metric everywhere)


MethodSection: TypeAlias = ExactMatch | Consistency | Quality | RougeScores


@dataclass(frozen=True, slots=True)
class Summary:
    """Rule 32."""

    overall_status: VerdictStatus
    failed_criteria: tuple[str, ...]
    recommendations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VariantRow:
    """The results of one variant."""

    name: str
    status: Status
    metrics: dict[str, float | None]


@dataclass(frozen=True, kw_only=True)
class ResponsesPart:
    """The part that only kind ``responses`` has."""

    form: ClassVar = "sitegen/responses-results/1"

    results: dict[str, MethodSection]
    """The sections of the requested methods, by method."""
    summary: Summary
    variants: tuple[VariantRow, ...]


def metrics_of(methods: Sequence[str]) -> tuple[str, ...]:
    """Return the metrics that some methods select. Raises ConfigurationError if a method is unknown."""
    for method in methods:
        if method not in METHODS:
            raise ConfigurationError(f"There is no method {method!r}.", fix=f"Use some of: {', '.join(METHODS)}.")
    return tuple(metric for method, metrics in METHODS.items() if method in methods for metric in metrics)


def responses_part(result: Result, thresholds: Mapping[str, float] = {}, methods: Sequence[str] = ()) -> ResponsesPart:
    """Make the part of one result, with the verdict on the metrics of these methods, or of all if there are none.

    *thresholds* override the default thresholds of the metrics. Raises ConfigurationError if a method is unknown.
    """
    methods = methods or tuple(METHODS)
    names = metrics_of(methods)
    judged = (*names, *USAGE)
    verdict_on_methods = verdict(
        [spec for spec in all_specs(METRICS) if spec.name in judged],
        {metric: least for metric, least in thresholds.items() if metric in judged},
        result.scorecard.metrics,
    )
    return ResponsesPart(
        results={method: make(result, verdict_on_methods) for method, make in _SECTIONS.items() if method in methods},
        summary=Summary(
            overall_status=verdict_on_methods.overall_status,
            failed_criteria=verdict_on_methods.failed_criteria,
            recommendations=verdict_on_methods.recommendations,
        ),
        variants=tuple(
            VariantRow(document.id, document.status, {name: value for name, value in document.metrics if name in names})
            for document in result.scorecard.documents
        ),
    )


def _exact_match_section(result: Result, verdict: Verdict) -> ExactMatch:
    counts = result.scorecard.counts
    return ExactMatch(
        accuracy=result.scorecard.metric("accuracy"),
        correct=counts.tp,
        total=counts.tp + counts.omission + counts.wrong_value,
        excluded=sum(answer.failed for answer in result.answers),
        not_scored=sum(answer.correct is None and not answer.failed for answer in result.answers),
        **_target(verdict, "accuracy"),
    )


def _consistency_section(result: Result, verdict: Verdict) -> Consistency:
    data = _result_data(result)
    by_case = data.get("within_cases", [])
    vectors, source = data.get("vectors"), data.get("embeddings")
    count = vectors if isinstance(vectors, int) else 0
    return Consistency(
        consistency_score=result.scorecard.metric("consistency_score"),
        total_comparisons=count * (count - 1) // 2,
        responses=count,
        embeddings=source if isinstance(source, str) else None,
        case_consistency=result.scorecard.metric("case_consistency"),
        by_case=tuple(row for row in by_case if isinstance(row, dict)) if isinstance(by_case, list) else (),
        **_target(verdict, "consistency_score"),
    )


def _quality_section(result: Result, verdict: Verdict) -> Quality:
    dropped = _result_data(result).get("grades_dropped", 0)
    grades = tuple(answer.quality for answer in result.answers if answer.quality is not None)
    return Quality(
        average_quality=result.scorecard.metric("average_quality"),
        quality_scores=grades,
        total_evaluated=len(grades),
        graded=len(grades),
        dropped=dropped if isinstance(dropped, int) else 0,
        agreement_with_people=result.agreement,
        **_target(verdict, "average_quality"),
    )


_SECTIONS: Final[dict[str, Callable[[Result, Verdict], MethodSection]]] = {
    "exact_match": _exact_match_section,
    "consistency": _consistency_section,
    "quality": _quality_section,
    "rouge": lambda result, _: RougeScores(*(result.scorecard.metric(name) for name in METHODS["rouge"])),
}


def _result_data(result: Result) -> dict[str, Value]:
    return result.data if isinstance(result.data, dict) else {}


def _target(verdict: Verdict, metric: str) -> dict[str, Any]:
    """Return the threshold of a metric, and whether the metric meets it."""
    row = verdict.row(metric)
    met = None if row is None or row.status == "SKIP" else row.status == "PASS"
    return {"threshold": row.threshold if row else None, "meets_threshold": met}
