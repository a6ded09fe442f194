"""Compares every pair of variants (rule 33). The names of the fields of a result are its keys in JSON.

A pair is judged as two outputs of an eval are, so that every page and command says the same of it.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from sitegen.analysis.slices import Slice
from sitegen.model.changes import ChangeVerdict
from sitegen.model.frozen import Frozen, FrozenObject, grouped
from sitegen.model.metrics import MetricSpec
from sitegen.model.scorecards import DocumentScore
from sitegen.model.usage import exchanged
from sitegen.scoring.responses.measures import METRICS
from sitegen.stats import significance as tests
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
    averaged: str = ""
    """The worst and the best variant, in words, if the output has several variants whose accuracies are averaged."""


class MetricTest(FrozenObject):
    """One metric of one pair, over the cases that both variants answered."""

    metric: TestedMetric
    first: float | None
    second: float | None
    difference: float | None
    """The value of the second variant minus the value of the first; None if they have no case in common."""
    verdict: ChangeVerdict | None
    """On the second variant against the first, as on a later output against an earlier one; None without a difference,
    and if two judges gave the grades."""
    better: str | None
    """The variant that is better by more than chance; None if neither is."""
    as_samples: Significance
    """The test that takes both for samples of different cases: chi-square, or Student's t."""
    better_sample: str | None
    """The variant that this test calls better, which decides in the file of compared prompts alone; None: a tie."""
    first_better: int
    """Number of cases in which the first variant was better."""
    equal: int
    second_better: int
    effect_size: float | None
    """Second variant against first: Cohen's h of accuracies, Cohen's d of grades."""
    sample: int
    """Number of cases that have a value in both variants."""

    @property
    def disagrees(self) -> bool:
        """Whether the two tests call different variants better, or one of them none."""
        return self.better_sample != self.better

    @property
    def is_small(self) -> bool:
        """Whether it takes more cases to find a difference as large as this one reliably."""
        if self.verdict is None or not self.difference:
            return False
        least = self.verdict.detectable
        return self.better is None if least is None else abs(self.difference) < least

    @property
    def needed(self) -> int | None:
        """About how many cases find a difference as large as this one with a power of 0.8; None if that is unknown."""
        least = self.verdict.detectable if self.verdict else None
        return round(self.sample * (least / self.difference) ** 2) if least and self.difference else None


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

    @property
    def likely(self) -> str | None:
        """The variant that is likely better, though neither wins; None if there is none, or if metrics disagree."""
        decisions = [test.verdict.decision for test in self.tests if test.verdict]
        likely = (self.second if "better" in one else self.first for one in decisions if one.startswith("likely"))
        return agreed(likely) if self.winner is None else None


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
    return {
        case: CaseOutcome(
            category=answered[0].axes.get("category", ""),
            right=mean_of(dict(document.metrics).get("accuracy") for document in answered),
            grade=mean_of(dict(document.metrics).get("average_quality") for document in answered),
        )
        for case, answered in grouped((document.case, document) for document in documents).items()
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

_BY_NAME: Final = {spec.name: spec for spec in METRICS}
SPECS: Final[dict[TestedMetric, MetricSpec]] = {
    "accuracy": _BY_NAME["accuracy"],
    "quality": _BY_NAME["average_quality"],
}


class VariantSample(Frozen):
    """A variant of the prompt to be compared with others: its numbers, and the values that are tested."""

    measured: VariantNumbers
    cases: dict[str, CaseOutcome]
    answers: Slice


Couple: TypeAlias = tuple[VariantSample, VariantSample]
"""Two variants that are compared; differences are those from the first to the second."""


def variant_pairs(
    samples: Sequence[VariantSample], alpha: float, verdicts: Sequence[ChangeVerdict | None]
) -> tuple[VariantPair, ...]:
    """Compare every pair; a p value below ``alpha`` is significant.

    ``verdicts``: those on the accuracy of points of an eval, which know the noise of its repeats: one for each pair.
    """
    couples = list(combinations(samples, 2))
    pairs = []
    for couple, known in zip(couples, verdicts or [None] * len(couples), strict=True):
        first, second = couple
        tests = _metric_test("accuracy", couple, alpha, known), _metric_test("quality", couple, alpha)
        pairs.append(
            VariantPair(
                first=first.measured.name,
                second=second.measured.name,
                common=len(first.cases.keys() & second.cases.keys()),
                tests=tests,
                winner=agreed(test.better for test in tests),
                flips=case_flips(first.cases, second.cases),
            )
        )
    return tuple(pairs)


def agreed(winners: Iterable[str | None]) -> str | None:
    """Return the only name among the winners; None if there is none, or if winners contradict each other."""
    names = {name for name in winners if name is not None}
    return names.pop() if len(names) == 1 else None


def _metric_test(metric: TestedMetric, couple: Couple, alpha: float, known: ChangeVerdict | None = None) -> MetricTest:
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
    stated = [sum(getattr(case, _OF_CASE[metric]) is not None for case in variant.cases.values()) for variant in couple]
    if by_case and stated != [sample, sample]:  # a case may have a value in one variant alone
        before, after = mean(firsts), mean(seconds)
    only_first, only_second = (sum(sign * (b - a) > 0 for a, b in by_case) for sign in (-1, 1))
    if metric == "accuracy":
        table = [[value > 0.5 for value in side].count(right) for side in (firsts, seconds) for right in (True, False)]
        as_samples, effect = tests.chi_square(*table), tests.cohens_h(after, before) if by_case else None
    else:
        as_samples, effect = tests.t_test(firsts, seconds), tests.cohens_d(seconds, firsts)
    is_comparable = bool(by_case) and before is not None and after is not None
    higher = None if before is None or after is None or before == after else couple[after > before].measured.name
    is_sure = as_samples.p_value is not None and as_samples.p_value < alpha
    verdict = (known or first.answers.verdict_on(second.answers, SPECS[metric])) if is_comparable else None
    return MetricTest(
        metric=metric,
        first=before,
        second=after,
        difference=after - before if is_comparable else None,
        verdict=verdict,
        better=_better(verdict, couple, alpha),
        better_sample=higher if is_sure else None,
        as_samples=replace(as_samples, note="another judge") if is_other_judge else as_samples,
        first_better=only_first,
        equal=len(by_case) - only_first - only_second,
        second_better=only_second,
        effect_size=effect,
        sample=sample,
    )


def _better(verdict: ChangeVerdict | None, couple: Couple, alpha: float) -> str | None:
    """Return the variant that a verdict calls better; by another level than that of verdicts, if p is below it."""
    if verdict is None or (alpha != tests.ALPHA and (verdict.p_value is None or verdict.p_value >= alpha)):
        return None
    word = verdict.decision.removeprefix("likely ") if alpha > tests.ALPHA else verdict.decision
    return {"worse": couple[0].measured.name, "better": couple[1].measured.name}.get(word)
