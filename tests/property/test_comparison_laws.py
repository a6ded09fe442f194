"""What holds of every comparison of two or more variants."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sitegen.analysis.variant_tests import VariantSample
from sitegen.analysis.variants import variant_comparison
from tests.variant_samples import variant as variant_of_answers

ANSWER = st.tuples(st.integers(0, 12), st.sampled_from([True, False, None]), st.sampled_from([None, 1, 2, 3, 4, 5]))


@st.composite
def variants(draw: st.DrawFn) -> list[VariantSample]:
    names = draw(st.lists(st.text(max_size=4), min_size=2, max_size=4, unique=True))
    return [
        variant(name, draw(st.lists(ANSWER, max_size=30)), draw(st.sampled_from([None, 0.4, 0.9]))) for name in names
    ]


def variant(name: str, given_: list[tuple[int, bool | None, int | None]], consistency: float | None) -> VariantSample:
    return variant_of_answers(
        name, [(f"case-{case}", right, grade) for case, right, grade in given_], consistency=consistency
    )


@settings(max_examples=150)
@given(variants())
def test_every_p_value_is_a_probability_and_only_a_small_one_makes_a_winner(some):
    for test in (test for pair in variant_comparison("e", some).pairs for test in pair.tests):
        p = test.verdict.p_value if test.verdict else None
        assert p is None or 0 <= p <= 1
        assert test.better is None or (p is not None and p < 0.05) or (test.verdict and test.verdict.lost_fields)


@settings(max_examples=150)
@given(variants())
def test_the_order_of_the_variants_decides_nothing(some):
    one, other = variant_comparison("e", some), variant_comparison("e", some[::-1])
    assert one.overall_winner == other.overall_winner
    assert one.winners == other.winners
    assert one.ranking == other.ranking
    assert one.confidence == other.confidence


@settings(max_examples=150)
@given(variants())
def test_confidence_is_high_only_if_the_first_of_the_ranking_wins_over_all(some):
    found = variant_comparison("e", some)
    if found.confidence == "high":
        assert [row.name for row in found.ranking if row.rank == 1] == [found.overall_winner]


@settings(max_examples=150)
@given(variants())
def test_cases_are_better_with_one_equal_or_better_with_the_other(some):
    for pair in variant_comparison("e", some).pairs:
        accuracy = pair.tests[0]
        changes = [flip.change for flip in pair.flips]
        assert (changes.count("broken"), changes.count("fixed")) == (accuracy.first_better, accuracy.second_better)
        assert changes.count("still_wrong") <= accuracy.equal


@settings(max_examples=100)
@given(st.text(max_size=4), st.lists(ANSWER, max_size=30))
def test_a_prompt_never_wins_against_its_equal(name, answers):
    found = variant_comparison("e", [variant(name, answers, None), variant(f"{name}2", answers, None)])
    assert (found.overall_winner, found.winners) == (None, {"accuracy": None, "quality": None})
