"""The results of comparing variants: frozen values whose field names are the keys in JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sitegen.model.noise import Decision
from sitegen.model.series import VariantSpread

TestedMetric: TypeAlias = Literal["accuracy", "quality"]
Confidence: TypeAlias = Literal["high", "medium", "low"]
PairedFate: TypeAlias = Literal["fixed", "broken", "still_wrong"]


@dataclass(frozen=True, slots=True)
class VariantNumbers:
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


@dataclass(frozen=True, slots=True)
class Tested:
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


@dataclass(frozen=True, slots=True)
class MetricTest:
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


@dataclass(frozen=True, slots=True)
class CaseFlip:
    """A case that at least one side got wrong, and how it changed from the first side to the second."""

    case_id: str
    category: str
    change: PairedFate


@dataclass(frozen=True, slots=True)
class VariantPair:
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


@dataclass(frozen=True, slots=True)
class Ranked:
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


@dataclass(frozen=True, slots=True)
class VariantComparison:
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
