"""Tests every pair of variants (rule 33). The names of the fields of a result are its keys in JSON.

Independent tests decide; paired tests are reported beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import fsum
from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from sitegen.model.changes import ChangeVerdict, Decision
from sitegen.model.frozen import Frozen, FrozenObject
from sitegen.model.scorecards import DocumentScore
from sitegen.model.series import VariantSpread
from sitegen.model.usage import exchanged
from sitegen.stats import significance as tests
from sitegen.stats.counts import ACCURACY, total
from sitegen.stats.counts import mean as mean_of
from sitegen.stats.intervals import mean
from sitegen.stats.significance import Significance

TestedMetric: TypeAlias = Literal["accuracy", "quality"]
Confidence: TypeAlias = Literal["high", "medium", "low"]
PairedFate: TypeAlias = Literal["fixed", "broken", "still_wrong"]


class VariantNumbers(FrozenObject):
    """The numbers of one variant; None if not measured."""

    name: str
    accuracy: float | None
    consistency: float | None
    quality: float | None
    rouge1: float | None
    rouge2: float | None
    rougeL: float | None  # noqa: N815 - the metric's own name
    responses: int
    scored: int
    """Number of responses to cases with an expected text."""
    right: int
    graded: int
    failed: int
    """Number of calls that ended in an error; no metric includes them."""
    models: tuple[str, ...] = ()
    """The models that gave the responses, if the files state them."""
    judges: tuple[str, ...] = ()
    """The judges that graded the responses."""
    cost: float | None = None
    """In US dollars, unless the tool that wrote the file uses another currency."""
    tokens_in: float | None = None
    tokens_out: float | None = None
    latency_median: float | None = None
    """In seconds."""
    latency_p95: float | None = None
    """In seconds."""
    averaged: VariantSpread | None = None
    """The worst and the best variant, if the output has several variants whose accuracies are averaged."""


class Tested(FrozenObject):
    """A test of one pair, and its decision."""

    method: str
    statistic: float | None
    p_value: float | None
    """None if undefined; ``note`` gives the reason."""
    adjusted_p: float | None
    """Adjusted by Holm over all pairs; with one pair the same as ``p_value``. The decision uses this value."""
    better: str | None
    """The variant that is significantly better; None if neither is, or if the test is undefined."""
    note: str = ""


class MetricTest(FrozenObject):
    """The tests of one metric of one pair."""

    metric: TestedMetric
    first: float | None
    """Over the cases that both variants answered."""
    second: float | None
    difference: float | None
    """The value of the second variant minus the value of the first; None if they have no case in common."""
    independent: Tested
    """The test over the cases that both variants answered, as two samples. It decides who wins."""
    paired: Tested
    """The paired test over the same cases. It does not decide who wins."""
    disagrees: bool
    """Whether both tests are defined and decide differently."""
    first_better: int
    """Number of cases in which the first variant was better."""
    equal: int
    second_better: int
    effect_size: float | None
    """Second variant against first: Cohen's h of accuracies, Cohen's d of grades."""
    sample: int
    """Number of cases that are tested: those that have a value in both variants."""
    minimum_sample: int | None
    """Responses per variant that detect the observed difference with a power of 0.8; None without a difference."""


class CaseFlip(FrozenObject):
    """A case that at least one side got wrong, and how it changed from the first side to the second."""

    case_id: str
    category: str
    change: PairedFate


class VariantPair(FrozenObject):
    """The comparison of two variants."""

    first: str
    second: str
    common: int
    """Number of cases that both variants answered. Without any, nothing is tested and there is no winner."""
    tests: tuple[MetricTest, ...]
    """The tests of accuracy, then of quality."""
    winner: str | None
    """The variant that is better in at least one metric and worse in none; None: a tie."""
    flips: tuple[CaseFlip, ...]
    """Broken cases, then fixed, then still wrong; each group sorted by id."""
    decision: Decision | None = None
    """The verdict on the change of accuracy between two points of an eval; None for two variants or prompts."""


class Ranked(FrozenObject):
    """The rank of a variant."""

    rank: int | None
    """From 1; equal scores share a rank. None: nothing was measured, or two variants have no case in common."""
    name: str
    score: float | None
    """0.4 accuracy + 0.3 consistency + 0.3 quality / 5, with weights renormalised over the measured metrics."""
    measured: tuple[str, ...]
    """The measured ones of these three metrics."""
    comparable: bool
    """Whether every other ranked variant was measured on the same metrics, and all have cases in common."""


class VariantComparison(FrozenObject):
    """The comparison of two or more variants."""

    eval_id: str
    variants: tuple[VariantNumbers, ...]
    pairs: tuple[VariantPair, ...]
    winners: dict[TestedMetric, str | None]
    """For each metric, the variant that is significantly better than every other; None if there is none."""
    overall_winner: str | None
    """The variant that wins every pair; None: a tie."""
    ranking: tuple[Ranked, ...]
    confidence: Confidence
    recommendation: str
    warnings: tuple[str, ...]
    alpha: float


ORDER: Final[tuple[PairedFate, ...]] = ("broken", "fixed", "still_wrong")


class CaseOutcome(Frozen):
    """The result of one variant in one case."""

    category: str
    right: float | None
    """The share of its scored responses that was right; None if there are none."""
    grade: float | None


def cases_by_id(documents: Iterable[DocumentScore]) -> dict[str, CaseOutcome]:
    """Sum up the answers of a variant to each case, by the id of the case, in the order of the documents."""
    grouped: dict[str, list[DocumentScore]] = {}
    for document in documents:
        grouped.setdefault(document.unit, []).append(document)
    return {
        case: CaseOutcome(
            category=answered[0].axes.get("category", ""),
            right=ACCURACY.of(total(document.counts for document in answered)),
            grade=mean_of(dict(document.metrics).get("average_quality") for document in answered),
        )
        for case, answered in grouped.items()
    }


def case_flips(first: dict[str, CaseOutcome], second: dict[str, CaseOutcome]) -> tuple[CaseFlip, ...]:
    """Return the common cases to which at least one side has a wrong response.

    A case with several responses is fixed if a larger share of them is right, and broken if a smaller one is.
    """
    flips = [
        CaseFlip(
            case_id,
            before.category,
            "still_wrong" if before.right == after.right else "fixed" if before.right < after.right else "broken",
        )
        for case_id, before in first.items()
        if (after := second.get(case_id)) is not None
        and before.right is not None
        and after.right is not None
        and min(before.right, after.right) < 1
    ]
    return tuple(sorted(flips, key=lambda flip: (ORDER.index(flip.change), flip.case_id)))


_OF_CASE: Final[dict[TestedMetric, str]] = {"accuracy": "right", "quality": "grade"}
"""The value of a case that a metric is the mean of."""


class VariantSample(Frozen):
    """A variant of the prompt to be compared with others: its numbers, and the values that are tested."""

    measured: VariantNumbers
    cases: dict[str, CaseOutcome]


Couple: TypeAlias = tuple[VariantSample, VariantSample]
"""Two variants that are tested against each other; differences are those from the first to the second."""


def variant_pairs(
    samples: Sequence[VariantSample], alpha: float, verdicts: Sequence[ChangeVerdict | None]
) -> tuple[VariantPair, ...]:
    """Test every pair at the level ``alpha``.

    With more than one pair p values are adjusted over them (Holm), metric by metric. Between points of an eval, the
    verdict on the change decides on accuracy: ``verdicts`` has one for each pair, None where there is none.
    """
    couples = list(combinations(samples, 2))
    accuracy, quality = (
        _decided([_metric_test(metric, couple, alpha) for couple in couples], alpha) for metric in _OF_CASE
    )
    of_pairs = verdicts or [None] * len(couples)
    for number, ((first, second), verdict) in enumerate(zip(couples, of_pairs, strict=True)):
        if verdict and accuracy[number].difference is not None:
            winner = {"better": second.measured.name, "worse": first.measured.name}.get(verdict.decision)
            p = verdict.p_value
            tested = Tested(method="exact sign test", statistic=None, p_value=p, adjusted_p=p, better=winner)
            accuracy[number] = replace(accuracy[number], independent=tested, paired=tested, disagrees=False)
    return tuple(
        VariantPair(
            first=first.measured.name,
            second=second.measured.name,
            common=len(first.cases.keys() & second.cases.keys()),
            tests=both,
            winner=agreed(test.independent.better for test in both),
            flips=case_flips(first.cases, second.cases),
            decision=verdict.decision if verdict else None,
        )
        for (first, second), both, verdict in zip(couples, zip(accuracy, quality, strict=True), of_pairs, strict=True)
    )


def agreed(winners: Iterable[str | None]) -> str | None:
    """Return the only name among the winners; None if there is none, or if winners contradict each other."""
    names = {name for name in winners if name is not None}
    return names.pop() if len(names) == 1 else None


def _metric_test(metric: TestedMetric, couple: Couple, alpha: float) -> MetricTest:
    """Test a metric of a pair over the cases in which both have a value; ``_decided`` finds who wins.

    If two judges gave the grades, both values are reported without any test.
    """
    first, second = couple
    before, after = (getattr(variant.measured, metric) for variant in couple)
    in_both = [(case, second.cases[name]) for name, case in first.cases.items() if name in second.cases]
    values = [tuple(getattr(case, _OF_CASE[metric]) for case in pair) for pair in in_both]
    by_case = [pair for pair in values if None not in pair]
    sample = len(by_case)
    is_other_judge = metric == "quality" and exchanged(first.measured.judges, second.measured.judges) is not None
    if is_other_judge:
        by_case = []
    firsts, seconds = [value for value, _ in by_case], [value for _, value in by_case]
    lead = mean(seconds) - mean(firsts) if by_case else 0.0
    if by_case and first.cases.keys() != second.cases.keys():
        before, after = mean(firsts), mean(seconds)
    only_first, only_second = (sum(sign * (b - a) > 0 for a, b in by_case) for sign in (-1, 1))
    if metric == "accuracy":
        table = [[value > 0.5 for value in side].count(right) for side in (firsts, seconds) for right in (True, False)]
        independent, paired = tests.chi_square(*table), tests.mcnemar(only_first, only_second, sample)
        paired_lead: float = only_second - only_first
        effect = tests.cohens_h(mean(seconds), mean(firsts)) if by_case else None
        least = tests.cases_for_proportions(effect, alpha) if effect else None
    else:
        independent, paired = tests.t_test(firsts, seconds), tests.paired_t_test(firsts, seconds)
        paired_lead = fsum(b - a for a, b in by_case)
        effect = tests.cohens_d(seconds, firsts)
        least = tests.cases_for_means(effect, alpha) if effect else None
    if is_other_judge:
        independent, paired = (replace(test, note="another judge") for test in (independent, paired))
    is_comparable = bool(in_both) and not is_other_judge and before is not None and after is not None
    return MetricTest(
        metric=metric,
        first=before,
        second=after,
        difference=after - before if is_comparable else None,
        independent=_tested(independent, couple, lead),
        paired=_tested(paired, couple, paired_lead),
        disagrees=False,
        first_better=only_first,
        equal=len(by_case) - only_first - only_second,
        second_better=only_second,
        effect_size=effect,
        sample=sample,
        minimum_sample=least,
    )


def _tested(test: Significance, couple: Couple, lead: float) -> Tested:
    """Return a test that is not decided yet: ``better`` is whoever leads. A positive lead is that of the second."""
    better, p = couple[lead > 0].measured.name if lead else None, test.p_value
    return Tested(test.method, statistic=test.statistic, p_value=p, adjusted_p=None, better=better, note=test.note)


def _decided(pairs: Sequence[MetricTest], alpha: float) -> list[MetricTest]:
    """Decide one metric of every pair, with p values adjusted over all pairs (Holm)."""

    def adjusted(tested: Sequence[Tested]) -> list[Tested]:
        """A leader stays the better one only if it is significant."""
        return [
            replace(test, adjusted_p=p, better=test.better if p is not None and p < alpha else None)
            for test, p in zip(tested, tests.holm([test.p_value for test in tested]), strict=True)
        ]

    independent = adjusted([test.independent for test in pairs])
    paired = adjusted([test.paired for test in pairs])
    return [
        replace(
            test,
            independent=over_all,
            paired=by_case,
            disagrees=None not in (over_all.p_value, by_case.p_value) and over_all.better != by_case.better,
        )
        for test, over_all, by_case in zip(pairs, independent, paired, strict=True)
    ]
