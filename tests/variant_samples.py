"""Variants of a prompt from a list of answers, as scoring would make them of files."""

from collections.abc import Iterable

from sitegen.analysis.slices import whole
from sitegen.analysis.variant_tests import VariantSample
from sitegen.analysis.variants import variant_sample
from sitegen.importers.case import ASSERTED
from sitegen.model.frozen import replace
from sitegen.model.metrics import Counts, Metric
from sitegen.model.scorecards import DocumentScore, Result, Scorecard, VariantScore
from sitegen.stats.counts import mean, total


def variant(
    name: str,
    answers: Iterable[tuple[str, bool | None, int | None]],
    *,
    consistency: float | None = None,
    quality: float | None = None,
    category: str = "",
    failed: int = 0,
) -> VariantSample:
    """Each answer: its case, whether it is right, its grade. ``quality``: the average, if answers have no grades."""
    by_case: dict[str, list[tuple[bool | None, int | None]]] = {}
    for case, right, grade in answers:
        by_case.setdefault(case, []).append((right, grade))
    documents = [
        DocumentScore(
            name=case,
            status="scored",
            counts=total(Counts() if right is None else ASSERTED[right] for right, _ in of_case),
            metrics=(
                Metric("accuracy", mean(None if right is None else float(right) for right, _ in of_case)),
                Metric("average_quality", mean(grade for _, grade in of_case)),
            ),
            axes={"category": category} if category else {},
        )
        for case, of_case in by_case.items()
    ]
    grades = [grade for of_case in by_case.values() for _, grade in of_case if grade is not None]
    score = VariantScore(
        status="scored",
        metrics=(
            Metric("accuracy", mean(document.metrics[0].value for document in documents)),
            Metric("consistency_score", consistency),
            Metric("average_quality", mean(grades) if grades else quality),
        ),
        responses=sum(map(len, by_case.values())) + failed,
        failed=failed,
        graded=len(grades),
    )
    card = Scorecard(
        status="scored",
        counts=total(document.counts for document in documents),
        metrics=score.metrics,
        documents=tuple(documents),
        fields=(),
        kind="responses",
    )
    return variant_sample(replace(card, variants={name: score}), whole(Result(card, ())))
