"""Writes the results of kind ``responses`` for other programs (``sitegen/responses-results/1``)."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, TypeAlias

from sitegen.errors import ConfigurationError
from sitegen.model.frozen import FrozenObject
from sitegen.model.metrics import VerdictStatus
from sitegen.model.scorecards import Kappa, Result, Status
from sitegen.scoring.kinds import verdict
from sitegen.scoring.responses.measures import METRICS
from sitegen.scoring.results_file import ResultsDocument
from sitegen.scoring.usage import USAGE, all_specs
from sitegen.stats.confidence import AUROC
from sitegen.stats.counts import OF_DRAWS

METHODS: Final[dict[str, tuple[str, ...]]] = {
    "exact_match": ("accuracy", *OF_DRAWS, AUROC.name),
    "consistency": ("consistency_score", "case_consistency"),
    "quality": ("average_quality",),
    "rouge": ("rouge1", "rouge2", "rougeL"),
}
"""The values of ``--methods``, and the metrics that each selects."""


class ExactMatch(FrozenObject):
    """Rule 29; undefined is None."""

    accuracy: float | None
    """The mean over cases; ``correct / total`` if each has one response."""
    correct: int
    total: int
    """Number of responses that were compared with an expected text, and of cases without a response."""
    excluded: int
    """Number of failed calls."""
    not_scored: int
    """Number of responses to cases without an expected text."""
    threshold: float | None
    meets_threshold: bool | None
    """None if the metric is undefined or has no target."""


class Consistency(FrozenObject):
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


class Quality(FrozenObject):
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


class RougeScores(FrozenObject):
    """Rule 31: mean F-measures."""

    rouge1: float | None
    rouge2: float | None
    rougeL: float | None  # noqa: N815  (the name of the metric everywhere)


MethodSection: TypeAlias = ExactMatch | Consistency | Quality | RougeScores


class Summary(FrozenObject):
    """Rule 32."""

    overall_status: VerdictStatus
    failed_criteria: tuple[str, ...]
    recommendations: tuple[str, ...]


class VariantRow(FrozenObject):
    """The results of one variant."""

    name: str
    status: Status
    metrics: dict[str, float | None]


class ResponsesDocument(ResultsDocument):
    """The results of kind ``responses``."""

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


def responses_document(
    result: Result, shared: Mapping[str, Any], thresholds: Mapping[str, float] = {}, methods: Sequence[str] = ()
) -> ResponsesDocument:
    """Make the document of one result, with the verdict on the metrics of these methods, or of all if there are none.

    ``shared``: what the documents of all kinds have. ``thresholds``: instead of the default targets of the metrics.
    Raises ConfigurationError if a method is unknown.
    """
    methods = methods or tuple(METHODS)
    names = metrics_of(methods)
    judged = (*names, *USAGE)
    verdict_on_methods = verdict(
        [spec for spec in all_specs(METRICS) if spec.name in judged],
        {metric: least for metric, least in thresholds.items() if metric in judged},
        result.scorecard.metrics,
    )
    card, data = result.scorecard, result.data if isinstance(result.data, dict) else {}
    counts, vectors, source = card.counts, data.get("vectors"), data.get("embeddings")
    by_case, dropped = data.get("within_cases", []), data.get("grades_dropped", 0)
    responses = vectors if isinstance(vectors, int) else 0
    rows = data.get("responses")
    grades = [row.get("quality") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    graded = tuple(grade for grade in grades if isinstance(grade, int))
    answered, failed = (sum(getattr(of, name) for of in card.variants.values()) for name in ("responses", "failed"))
    compared = counts.tp + counts.omission + counts.wrong_value

    def target(metric: str) -> dict[str, Any]:
        """Return the target of a metric, and whether the metric meets it."""
        row = verdict_on_methods.row(metric)
        met = None if row is None or row.status == "SKIP" else row.status == "PASS"
        return {"threshold": row.threshold if row else None, "meets_threshold": met}

    sections: dict[str, MethodSection] = {
        "exact_match": ExactMatch(
            accuracy=card.metric("accuracy"),
            correct=counts.tp,
            total=compared,
            excluded=failed,
            not_scored=answered - failed - compared,
            **target("accuracy"),
        ),
        "consistency": Consistency(
            consistency_score=card.metric("consistency_score"),
            total_comparisons=responses * (responses - 1) // 2,
            responses=responses,
            embeddings=source if isinstance(source, str) else None,
            case_consistency=card.metric("case_consistency"),
            by_case=tuple(row for row in by_case if isinstance(row, dict)) if isinstance(by_case, list) else (),
            **target("consistency_score"),
        ),
        "quality": Quality(
            average_quality=card.metric("average_quality"),
            quality_scores=graded,
            total_evaluated=len(graded),
            graded=len(graded),
            dropped=dropped if isinstance(dropped, int) else 0,
            agreement_with_people=result.agreement,
            **target("average_quality"),
        ),
        "rouge": RougeScores(*map(card.metric, METHODS["rouge"])),
    }
    return ResponsesDocument(
        **shared,
        schema=ResponsesDocument.form,
        results={method: section for method, section in sections.items() if method in methods},
        summary=Summary(
            overall_status=verdict_on_methods.overall_status,
            failed_criteria=verdict_on_methods.failed_criteria,
            recommendations=verdict_on_methods.recommendations,
        ),
        variants=tuple(
            VariantRow(variant, of.status, {name: value for name, value in of.metrics if name in names})
            for variant, of in card.variants.items()
        ),
    )
