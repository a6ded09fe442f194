"""Compares variants of a prompt (rules 33 and 34): a verdict on every pair, winners, ranking, recommendation.

The comparison is symmetric: swapping two variants swaps their names in the result, and changes nothing else.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import fsum
from typing import Any, Final

from msgspec.structs import replace

from sitegen.analysis.slices import Slice, averaged, part_of, whole
from sitegen.analysis.variant_tests import (
    Confidence,
    Ranked,
    TestedMetric,
    VariantComparison,
    VariantNumbers,
    VariantPair,
    VariantSample,
    agreed,
    cases_by_id,
    variant_pairs,
)
from sitegen.model.changes import ChangeVerdict
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.usage import exchanged
from sitegen.scoring.responses.measures import METRICS
from sitegen.stats.counts import judged, total
from sitegen.stats.significance import ALPHA

WEIGHTS: Final = (("accuracy", 0.4, 1.0), ("consistency", 0.3, 1.0), ("quality", 0.3, 5.0))
"""(metric, weight, best value)."""

_FEWEST_ANSWERS: Final = 30
"""Fewest responses of each variant for high confidence: with fewer, a few other cases could reverse the result."""

_MOST_WARNED: Final = 12  # comparisons of two variants that are said to be unsure one by one
_DIGITS: Final = 12  # decimals to which scores are compared: finer than any metric, coarser than errors of a sum


def ranking(variants: Sequence[VariantNumbers]) -> tuple[Ranked, ...]:
    """Sort variants by score. Equal scores share a rank and are sorted by name; variants without a score come last."""
    found = dict[str, tuple[float | None, tuple[str, ...]]]()
    for variant in variants:
        stated = [(metric, weight, getattr(variant, metric), best) for metric, weight, best in WEIGHTS]
        parts = {metric: (weight, value / best) for metric, weight, value, best in stated if value is not None}
        whole = fsum(weight for weight, _ in parts.values())
        score = round(fsum(weight * share for weight, share in parts.values()) / whole, _DIGITS) if parts else None
        found[variant.name] = score, tuple(parts)
    alike = len({measured for _, measured in found.values() if measured}) <= 1
    scores = [score for score, _ in found.values() if score is not None]
    rows = [
        Ranked(
            rank=None if score is None else 1 + sum(higher > score for higher in scores),
            name=name,
            score=score,
            measured=measured,
            comparable=alike and score is not None,
        )
        for name, (score, measured) in found.items()
    ]
    return tuple(sorted(rows, key=lambda row: (row.rank is None, row.rank or 0, row.name)))


def sole_leader(rows: Sequence[Ranked]) -> Ranked | None:
    """Return the variant that alone ranks first; None if several share the first rank, or nothing was measured."""
    first = [row for row in rows if row.rank == 1]
    return first[0] if len(first) == 1 else None


def confidence(rows: Sequence[Ranked], pairs: Sequence[VariantPair], overall_winner: str | None) -> Confidence:
    """Rate how well the tests support the ranking.

    high: the variant that ranks first is also the overall winner, all variants were measured on the same metrics, and
    it won each comparison by at least ``_FEWEST_ANSWERS`` cases that both answered. medium: it is better in at least
    one comparison, and worse in none. low: otherwise.
    """
    first = sole_leader(rows)
    if first is None:
        return "low"
    own = [pair.tests for pair in pairs if first.name in (pair.first, pair.second)]
    # The cases behind the best supported win of the variant, in the pair with the fewest.
    wins = (max((test.sample for test in tests if test.better == first.name), default=0) for tests in own)
    fewest = min(wins, default=0)
    if first.comparable and first.name == overall_winner and fewest >= _FEWEST_ANSWERS:
        return "high"
    return "medium" if {test.better for tests in own for test in tests} - {None} == {first.name} else "low"


_TESTED: Final[tuple[TestedMetric, ...]] = ("accuracy", "quality")


def variant_sample(card: Scorecard, answers: Slice) -> VariantSample:
    """Measure all variants of a scorecard together, which gave these answers, under the name of the first."""
    documents, values = answers.card.documents, dict(card.metrics)
    counts = total(document.counts for document in documents)
    numbers: dict[str, Any] = {
        **{field: values.get(field) for field in VariantNumbers.__struct_fields__},
        **{
            field: sum(getattr(each, field) for each in card.variants.values())
            for field in ("responses", "graded", "failed")
        },
        "name": next(iter(card.variants), ""),
        "consistency": values.get("consistency_score"),
        "quality": values.get("average_quality"),
        "scored": judged(counts),
        "right": counts.tp,
        "models": answers.card.usage.models if answers.card.usage else (),
        "judges": tuple(sorted({judge for each in card.variants.values() for judge in each.judges})),
        "averaged": "",
    }
    return VariantSample(measured=VariantNumbers(**numbers), cases=cases_by_id(documents), answers=answers)


def variants_of(result: Result) -> tuple[VariantSample, ...]:
    """Return the variants of a result of kind ``responses``, in its order."""
    card = result.scorecard
    cards = {name: replace(card, variants={name: of}, metrics=of.metrics) for name, of in card.variants.items()}
    return tuple(variant_sample(of, whole(part_of(result, {"variant": name}))) for name, of in cards.items())


def variant_of(name: str, result: Result, *, beside: Sequence[Result] = ()) -> VariantSample:
    """Treat all answers of a result as answers of one prompt, whatever their variants.

    If it, or one that it is compared with (``beside``), has several variants, cases are told apart by variant.
    """
    card = result.scorecard
    answers = whole(part_of(result, {"variant": next(iter(card.variants), "")}))
    if any(len(each.scorecard.variants) > 1 for each in (result, *beside)):
        told_apart = tuple([replace(document, of_case="") for document in card.documents])
        answers = whole(replace(result, scorecard=replace(card, documents=told_apart)))
    sample = variant_sample(card, answers)
    return replace(sample, measured=replace(sample.measured, name=name, averaged=averaged(METRICS[0], card)))


def variant_comparison(
    eval_id: str, variants: Sequence[VariantSample], alpha: float = ALPHA, verdicts: Sequence[ChangeVerdict | None] = ()
) -> VariantComparison:
    """Compare two or more variants whose names differ; a p value below ``alpha`` is called significant.

    ``verdicts``: as for ``variant_pairs``.
    """
    measured = tuple(variant.measured for variant in variants)
    judges = tuple(
        f"{first.name} was graded by {' and '.join(first.judges)}, {second.name} by {' and '.join(second.judges)}: "
        "their quality is not compared, and the ranking leaves quality out."
        for first, second in combinations(measured, 2)
        if exchanged(first.judges, second.judges)
    )
    tested = variant_pairs(variants, alpha, verdicts)
    names = [numbers.name for numbers in measured]
    winner = beats_all(names, [(pair, pair.winner) for pair in tested])
    rows = ranking([replace(numbers, quality=None) for numbers in measured] if judges else measured)
    if not all(pair.common for pair in tested):  # scores of different cases have no order
        rows = tuple(sorted((replace(row, rank=None, comparable=False) for row in rows), key=lambda row: row.name))
    return VariantComparison(
        eval_id=eval_id,
        variants=measured,
        pairs=tested,
        winners={
            metric: beats_all(names, [(pair, pair.tests[k].better) for pair in tested])
            for k, metric in enumerate(_TESTED)
        },
        overall_winner=winner,
        ranking=rows,
        confidence=confidence(rows, tested, winner),
        recommendation=_recommendation(rows, tested, winner),
        warnings=(*judges, *_overlap_warnings(variants, tested), *_variant_warnings(measured, tested, rows)),
        alpha=alpha,
    )


def _overlap_warnings(samples: Sequence[VariantSample], tested: Sequence[VariantPair]) -> Iterable[str]:
    for (first, second), pair in zip(combinations(samples, 2), tested, strict=True):
        answered = len(first.cases.keys() | second.cases.keys())
        if not pair.common:
            yield f"{pair.first} and {pair.second} have no case in common: nothing is tested, and no variant is ranked."
        elif pair.common < answered:
            yield (
                f"{pair.first} and {pair.second} both answered {pair.common:,} of {answered:,} cases: they are compared"
                " over these; the numbers of each alone are over all of its responses."
            )


def beats_all(names: Sequence[str], verdicts: Sequence[tuple[VariantPair, str | None]]) -> str | None:
    """Return the variant that wins every pair it is in; there is at most one."""
    beaten = {name for pair, won in verdicts for name in (pair.first, pair.second) if name != won}
    return next((name for name in names if name not in beaten), None)


def _recommendation(rows: Sequence[Ranked], tested: Sequence[VariantPair], winner: str | None) -> str:
    first = sole_leader(rows)
    if winner is not None:
        of_few = all(test.is_small for pair in tested for test in pair.tests if test.better == winner)
        advice = "Probably" if of_few else "Use"
        use = f"{advice} {winner}: it is significantly better in {_better_metrics(winner, tested)}"
        if first is not None and first.name == winner:
            return f"{use}, and ranks first."
        if rows[0].rank is None:
            return f"{use}."
        ranked = f"{first.name} ranks first" if first else "it does not rank first alone"
        higher = " and ".join(
            test.metric
            for pair in tested
            if first and {pair.first, pair.second} == {winner, first.name}
            for test in pair.tests
            if test.difference and (test.difference > 0) == (pair.second == first.name)
        )
        if higher:
            return f"{use}. But {ranked}, with higher {higher}, which may be chance: decide which matters more."
        return f"{use}. But {ranked}: look at the metrics that were not tested before you decide."
    if all(row.score is None for row in rows):
        return "Nothing was measured: there is nothing to recommend."
    apart = next((pair for pair in tested if not pair.common), None)
    if apart is not None:
        return f"No recommendation: {apart.first} and {apart.second} have no case in common."
    winners = [(pair, [test.better for test in pair.tests]) for pair in tested]
    conflict = next((pair for pair, names in winners if any(names) and agreed(names) is None), None)
    if conflict is not None:
        of = [_better_metrics(name, [conflict]) for name in (conflict.first, conflict.second)]
        better = f"{conflict.first} is better in {of[0]}, {conflict.second} in {of[1]}"
        return f"A tie: {better}. Decide which matters more."
    ahead = f"{first.name} ranks first" if first else "Several rank first"
    if any(pair.winner for pair in tested):
        return f"A tie: no variant beats every other. {ahead}."
    if len(tested) == 1 and tested[0].likely:
        return f"{tested[0].likely} is likely better, but not significantly: add cases, or choose by cost."
    decisions = {test.verdict.decision for pair in tested for test in pair.tests if test.verdict}
    word = "A tie" if decisions <= {"same"} else "Cannot tell"
    return f"{word}: no significant difference. {ahead}, but that may be chance: add cases, or choose by cost."


def _better_metrics(name: str, tested: Iterable[VariantPair]) -> str:
    better = {test.metric for pair in tested for test in pair.tests if test.better == name}
    return " and ".join(metric for metric in _TESTED if metric in better)


def _variant_warnings(
    measured: Sequence[VariantNumbers], tested: Sequence[VariantPair], rows: Sequence[Ranked]
) -> Iterable[str]:
    if len({row.measured for row in rows}) > 1:
        yield "The variants were not measured on the same metrics, so that their scores are not comparable."
    for variant in measured:
        if variant.failed:
            yield f"{variant.name}: {variant.failed} of {variant.responses} calls failed and are in no metric."
    unsure = [(pair, test) for pair in tested for test in pair.tests if test.disagrees or test.is_small]
    if len(unsure) > _MOST_WARNED:
        why = "such a difference is often missed over so few cases, or the two tests decide differently"
        yield f"{len(unsure):,} comparisons of two variants are unsure: {why}. Add cases, or compare fewer variants."
        return
    for pair, test in unsure:
        about = f"{test.metric.capitalize()} of {pair.first} and {pair.second}"
        if test.disagrees:
            says = f"calls {test.better_sample} better" if test.better_sample else "finds no difference"
            yield f"{about}: {test.as_samples.method}, which does not know that the cases are the same, {says}."
        if test.is_small:
            true = ", so that the true one may be smaller" if test.better else ""
            takes = f"; it takes about {test.needed:,} to find it 8 times in 10" if test.needed else ""
            missed = f"a difference as large as this one is often missed{true}{takes}."
            yield f"{about}: over {test.sample:,} cases, {missed}"
