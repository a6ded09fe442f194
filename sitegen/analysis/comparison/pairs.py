"""Tests every pair of variants (rule 33): independent tests decide, paired tests are reported beside them.

A case with several responses counts once: it is right if more than half of its responses are right, and its grade is
the mean of their grades.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from math import fsum
from typing import Final

from sitegen.analysis.comparison.values import (
    CaseFlip,
    Flipped,
    MetricTest,
    Tested,
    TestedMetric,
    VariantNumbers,
    VariantPair,
)
from sitegen.frozen import Frozen
from sitegen.model.scorecards import Answer
from sitegen.model.usage import exchanged
from sitegen.stats import significance as tests
from sitegen.stats.significance import Significance, mean

ORDER: Final[tuple[Flipped, ...]] = ("broken", "fixed", "still_wrong")


class CaseOutcome(Frozen):
    """The result of one variant in one case."""

    category: str
    right: bool | None
    """None if no response to the case was scored."""
    grade: float | None


def cases_by_id(answers: Iterable[Answer]) -> dict[str, CaseOutcome]:
    """Group the answers of a variant by the id of their case, in the order of the answers, without failed calls."""
    grouped: dict[str, list[Answer]] = {}
    for answer in answers:
        if not answer.failed:
            grouped.setdefault(answer.case_id, []).append(answer)
    return {case_id: _case_outcome(responses) for case_id, responses in grouped.items()}


def _case_outcome(answers: list[Answer]) -> CaseOutcome:
    verdicts = [answer.correct for answer in answers if answer.correct is not None]
    grades = [answer.quality for answer in answers if answer.quality is not None]
    return CaseOutcome(
        category=answers[0].category,
        right=2 * sum(verdicts) > len(verdicts) if verdicts else None,
        grade=mean(grades) if grades else None,
    )


def case_flips(first: dict[str, CaseOutcome], second: dict[str, CaseOutcome]) -> tuple[CaseFlip, ...]:
    """Return the common cases that at least one side got wrong."""
    flips = [
        CaseFlip(
            case_id,
            before.category,
            "still_wrong" if before.right == after.right else "fixed" if after.right else "broken",
        )
        for case_id, before in first.items()
        if (after := second.get(case_id)) is not None
        and before.right is not None
        and after.right is not None
        and not (before.right and after.right)
    ]
    return tuple(sorted(flips, key=lambda flip: (ORDER.index(flip.change), flip.case_id)))


TWO_JUDGES: Final = "another judge"
"""The note if grades were not tested."""


class VariantSample(Frozen):
    """A variant, with the values that are tested."""

    measured: VariantNumbers
    grades: tuple[int, ...]
    cases: dict[str, CaseOutcome]


class _RawMetricTest(Frozen):
    """The tests of one metric of one pair, before p values are adjusted over all pairs."""

    first: float | None
    second: float | None
    independent: Significance
    lead: float
    """Positive if the second variant is better over all its answers."""
    paired: Significance
    by_case: tuple[tuple[float, float], ...]
    """The values of both variants for each common case."""
    effect_size: float | None
    sample: int
    minimum_sample: int | None
    comparable: bool = True
    """False if the grades come from two judges."""


def variant_sample(measured: VariantNumbers, answers: Iterable[Answer]) -> VariantSample:
    """Collect a variant's grades and cases, without failed calls."""
    answered = [answer for answer in answers if not answer.failed]
    grades = tuple(answer.quality for answer in answered if answer.quality is not None)
    return VariantSample(measured, grades, cases_by_id(answered))


def variant_pairs(samples: Sequence[VariantSample], alpha: float) -> tuple[VariantPair, ...]:
    """Test every pair at the level *alpha*.

    With more than one pair p values are adjusted over them (Holm), metric by metric.
    """
    couples = list(combinations(samples, 2))
    accuracy = _decide("accuracy", couples, [_accuracy_test(*couple, alpha) for couple in couples], alpha)
    quality = _decide("quality", couples, [_quality_test(*couple, alpha) for couple in couples], alpha)
    return tuple(
        VariantPair(
            first=first.measured.name,
            second=second.measured.name,
            tests=both,
            winner=agreed(test.independent.better for test in both),
            flips=case_flips(first.cases, second.cases),
        )
        for (first, second), both in zip(couples, zip(accuracy, quality, strict=True), strict=True)
    )


def agreed(winners: Iterable[str | None]) -> str | None:
    """Return the only name among the winners; None if there is none, or if winners contradict each other."""
    names = {name for name in winners if name is not None}
    return names.pop() if len(names) == 1 else None


def _accuracy_test(first: VariantSample, second: VariantSample, alpha: float) -> _RawMetricTest:
    numbers_1, numbers_2 = first.measured, second.measured
    by_case = _by_case(first, second, lambda case: case.right)
    only_first = sum(before > after for before, after in by_case)
    only_second = sum(before < after for before, after in by_case)
    h = None
    if numbers_1.scored and numbers_2.scored:
        h = tests.cohens_h(numbers_2.right / numbers_2.scored, numbers_1.right / numbers_1.scored)
    return _RawMetricTest(
        first=numbers_1.accuracy,
        second=numbers_2.accuracy,
        independent=tests.chi_square(
            numbers_1.right, numbers_1.scored - numbers_1.right, numbers_2.right, numbers_2.scored - numbers_2.right
        ),
        lead=h or 0.0,
        paired=tests.mcnemar(only_first, only_second, len(by_case)),
        by_case=by_case,
        effect_size=h,
        sample=min(numbers_1.scored, numbers_2.scored),
        minimum_sample=tests.cases_for_proportions(h, alpha) if h else None,
    )


def _quality_test(first: VariantSample, second: VariantSample, alpha: float) -> _RawMetricTest:
    """Test the grades, or report both values without any test if two judges gave the grades."""
    comparable = exchanged(first.measured.judges, second.measured.judges) is None
    grades = (first.grades, second.grades) if comparable else ((), ())
    by_case = _by_case(first, second, lambda case: case.grade) if comparable else ()
    independent = tests.t_test(*grades)
    paired = tests.paired_t_test([before for before, _ in by_case], [after for _, after in by_case])
    d = tests.cohens_d(grades[1], grades[0])
    return _RawMetricTest(
        first=first.measured.quality,
        second=second.measured.quality,
        independent=independent if comparable else replace(independent, note=TWO_JUDGES),
        lead=tests.mean(grades[1]) - tests.mean(grades[0]) if all(grades) else 0.0,
        paired=paired if comparable else replace(paired, note=TWO_JUDGES),
        by_case=by_case,
        effect_size=d,
        sample=min(len(first.grades), len(second.grades)),
        minimum_sample=tests.cases_for_means(d, alpha) if d else None,
        comparable=comparable,
    )


def _by_case(
    first: VariantSample, second: VariantSample, value: Callable[[CaseOutcome], float | None]
) -> tuple[tuple[float, float], ...]:
    pairs = (
        (value(case), value(second.cases[case_id])) for case_id, case in first.cases.items() if case_id in second.cases
    )
    return tuple((before, after) for before, after in pairs if before is not None and after is not None)


def _decide(
    metric: TestedMetric,
    couples: Sequence[tuple[VariantSample, VariantSample]],
    raw: Sequence[_RawMetricTest],
    alpha: float,
) -> list[MetricTest]:
    """Decide one metric of every pair, with p values adjusted over all pairs."""
    independent = tests.holm([test.independent.p_value for test in raw])
    paired = tests.holm([test.paired.p_value for test in raw])
    return [_metric_test(metric, alpha, *row) for row in zip(couples, raw, independent, paired, strict=True)]


def _metric_test(
    metric: TestedMetric,
    alpha: float,
    couple: tuple[VariantSample, VariantSample],
    raw: _RawMetricTest,
    independent_p: float | None,
    paired_p: float | None,
) -> MetricTest:
    names = (couple[0].measured.name, couple[1].measured.name)
    by_case = fsum(after - before for before, after in raw.by_case)
    independent = _tested(raw.independent, independent_p, _better(independent_p, raw.lead, names, alpha))
    paired = _tested(raw.paired, paired_p, _better(paired_p, by_case, names, alpha))
    defined = independent.p_value is not None and paired.p_value is not None
    return MetricTest(
        metric=metric,
        first=raw.first,
        second=raw.second,
        difference=None if raw.first is None or raw.second is None or not raw.comparable else raw.second - raw.first,
        independent=independent,
        paired=paired,
        disagrees=defined and independent.better != paired.better,
        first_better=sum(before > after for before, after in raw.by_case),
        equal=sum(before == after for before, after in raw.by_case),
        second_better=sum(before < after for before, after in raw.by_case),
        effect_size=raw.effect_size,
        sample=raw.sample,
        minimum_sample=raw.minimum_sample,
    )


def _tested(test: Significance, adjusted_p: float | None, better: str | None) -> Tested:
    return Tested(
        method=test.method,
        statistic=test.statistic,
        p_value=test.p_value,
        adjusted_p=adjusted_p,
        better=better,
        note=test.note,
    )


def _better(adjusted_p: float | None, lead: float, names: tuple[str, str], alpha: float) -> str | None:
    """Return the name of the variant that is significantly better; otherwise None."""
    return names[lead > 0] if adjusted_p is not None and adjusted_p < alpha and lead else None
