"""Comparing variants of a prompt."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitegen.analysis.variant_tests import CaseFlip, MetricTest, VariantComparison, VariantNumbers, VariantSample
from sitegen.analysis.variants import ranking, variant_comparison
from sitegen.questions.comparison_files.markdown import variants_lines
from tests.scoring.test_tables import tables
from tests.variant_samples import variant as variant_of_answers


def variant(
    name: str, right: str = "", grades: str = "", consistency: float | None = None, category: str = "", times: int = 1
) -> VariantSample:
    """A character a case: ``+`` right, ``-`` wrong, ``x`` failed, ``?`` not scored; a digit a grade, ``.`` none.

    Each response was given so many *times*.
    """
    answers = []
    for index in range(max(len(right), len(grades))):
        verdict, grade = right[index : index + 1] or "?", grades[index : index + 1] or "."
        if verdict != "x":
            of_grade = int(grade) if grade != "." else None
            answers.append((f"case-{index + 1:03}", {"+": True, "-": False}.get(verdict), of_grade))
    return variant_of_answers(
        name, answers * times, consistency=consistency, category=category, failed=times * right.count("x")
    )


def accuracy_test(comparison: VariantComparison) -> MetricTest:
    return comparison.pairs[0].tests[0]


def quality_test(comparison: VariantComparison) -> MetricTest:
    return comparison.pairs[0].tests[1]


TABLE = tables(Path(__file__).with_name("comparisons.md").read_text(encoding="utf-8"))[0]
MUCH_BETTER = (variant("old", "+" * 10 + "-" * 30), variant("new", "+" * 30 + "-" * 10))


def stated(text: str) -> VariantSample:
    """A variant as the table states it."""
    name, _, rest = text.partition(":")
    rest, _, consistency = rest.partition("@")
    answers, _, grades = rest.partition("/")
    right = "".join(letter * int(number) for letter, number in re.findall(r"([+x-])(\d+)", answers))
    graded = "".join(grade * int(number) for grade, number in (each.split("*") for each in grades.split()))
    return variant(name.strip(), right, graded, float(consistency) if consistency else None)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["case"])
def test_two_or_more_variants_are_compared_as_the_table_says(row):
    found = variant_comparison("faq", [stated(text) for text in row["variants"].split(";")])
    said = {
        "winner": found.overall_winner or next((f"likely {pair.likely}" for pair in found.pairs if pair.likely), "—"),
        "by metric": ", ".join(f"{metric} {winner or '—'}" for metric, winner in found.winners.items()),
        "confidence": found.confidence,
        "ranking": ", ".join(f"{each.rank or '—'} {each.name}" for each in found.ranking),
        "recommendation": found.recommendation,
        "warnings": " ".join(found.warnings) or "—",
    }
    assert {name: said[name] for name in said if row[name]} == {name: row[name] for name in said if row[name]}


def test_exchanging_the_variants_exchanges_their_names_and_nothing_else():
    one, other = (
        variant_comparison(
            "faq", (variant("a", "++--+-+-" * 5, "34254321" * 5), variant("b", "++++++-+" * 5, "44354432" * 5))
        ),
        variant_comparison(
            "faq", (variant("b", "++++++-+" * 5, "44354432" * 5), variant("a", "++--+-+-" * 5, "34254321" * 5))
        ),
    )
    for name in ("winners", "overall_winner", "ranking", "confidence", "recommendation"):
        assert getattr(one, name) == getattr(other, name)
    for test, mirrored in zip(one.pairs[0].tests, other.pairs[0].tests, strict=True):
        assert (test.first, test.second) == (mirrored.second, mirrored.first)
        assert (test.first_better, test.second_better) == (mirrored.second_better, mirrored.first_better)
        assert (test.verdict and test.verdict.p_value) == (mirrored.verdict and mirrored.verdict.p_value)
        assert (test.better, test.needed) == (mirrored.better, mirrored.needed)


def test_the_same_cases_decide_and_not_samples_of_different_ones():
    found = variant_comparison("faq", (variant("a", "-" * 8 + "+" * 12), variant("b", "+" * 6 + "--" + "+" * 12)))
    test = accuracy_test(found)
    assert test.as_samples.p_value is not None
    assert test.as_samples.p_value > 0.05
    assert test.verdict
    assert (test.verdict.p_value, test.better, found.overall_winner) == (0.03125, "b", "b")
    assert found.confidence == "medium"


@pytest.mark.parametrize(("wrong", "levels"), [(6, [0.04, 0.05, 0.2]), (5, [0.2])])  # p 0.031 and 0.063
def test_another_level_of_significance_decides_by_the_same_p_value(wrong, levels):
    sides = variant("a", "-" * wrong + "+" * 9), variant("b", "+" * (wrong + 9))
    found = {level: variant_comparison("faq", sides, level).overall_winner for level in (0.01, 0.04, 0.05, 0.2)}
    assert [level for level, winner in found.items() if winner] == levels


def test_wins_ties_and_losses_are_counted_by_case():
    test = accuracy_test(variant_comparison("faq", (variant("a", "++--x"), variant("b", "+-+-+"))))
    assert (test.first_better, test.equal, test.second_better) == (1, 2, 1)
    test = quality_test(variant_comparison("faq", (variant("a", grades="5432"), variant("b", grades="44.3"))))
    assert (test.first_better, test.equal, test.second_better) == (1, 1, 1)


def test_flips_go_from_the_first_variant_to_the_second():
    found = variant_comparison("faq", (variant("a", "+--+x", category="tone"), variant("b", "-+-++", category="tone")))
    assert found.pairs[0].flips == (
        CaseFlip("case-001", "tone", "broken"),
        CaseFlip("case-002", "tone", "fixed"),
        CaseFlip("case-003", "tone", "still_wrong"),
    )


def test_a_case_with_several_responses_is_one_pair_of_the_paired_tests():
    first = variant_of_answers("a", [("one", True, 5), ("one", True, 4), ("one", False, 3), ("two", True, 2)])
    second = variant_of_answers("b", [("one", False, 4), ("two", True, 2)])
    test, grades = variant_comparison("faq", (first, second)).pairs[0].tests
    assert (test.first_better, test.equal, test.second_better) == (1, 1, 0)
    assert (grades.first_better, grades.equal, grades.second_better) == (0, 2, 0)


def test_of_three_variants_a_pair_is_judged_as_it_is_alone_and_the_winner_beats_both():
    third = variant("third", "+" * 25 + "-" * 15)
    found = variant_comparison("faq", (*MUCH_BETTER, third))
    assert [(pair.first, pair.second) for pair in found.pairs] == [("old", "new"), ("old", "third"), ("new", "third")]
    assert [(pair.winner, pair.likely) for pair in found.pairs] == [("new", None), ("third", None), (None, "new")]
    assert found.pairs[2] == variant_comparison("faq", (MUCH_BETTER[1], third)).pairs[0]
    assert (found.overall_winner, found.winners["accuracy"]) == (None, None)
    assert found.recommendation == "A tie: no variant beats every other. new ranks first."
    assert found.confidence == "medium"


def of_cases(one: VariantSample, start: int) -> VariantSample:
    """The same variant, whose cases are numbered from *start* on."""
    return replace(one, cases={f"case-{number:03}": case for number, case in enumerate(one.cases.values(), start)})


def test_variants_without_a_common_case_have_no_test_no_winner_no_rank_and_no_recommendation():
    found = variant_comparison(
        "faq", (variant("old", "+" * 40, "5" * 40), of_cases(variant("new", "-" * 40, "1" * 40), 41))
    )
    (pair,) = found.pairs
    assert (pair.common, pair.winner, found.overall_winner) == (0, None, None)
    assert found.winners == {"accuracy": None, "quality": None}
    for test in pair.tests:
        assert (test.difference, test.effect_size, test.sample, test.verdict) == (None, None, 0, None)
    assert [(row.name, row.rank, row.comparable) for row in found.ranking] == [
        ("new", None, False),
        ("old", None, False),
    ]
    assert found.recommendation == "No recommendation: old and new have no case in common."
    assert found.confidence == "low"
    report = "\n".join(variants_lines(found))
    assert "There is no case in common: nothing is compared." in report
    assert "Winner" not in report
    assert "From old to new" not in report


NOTHING = variant("nothing").measured


def measured(
    name: str, accuracy: float | None = None, consistency: float | None = None, quality: float | None = None
) -> VariantNumbers:
    return replace(NOTHING, name=name, accuracy=accuracy, consistency=consistency, quality=quality)


def test_the_score_weighs_accuracy_consistency_and_quality_as_far_as_they_were_measured():
    assert ranking([measured("a", 0.9, 0.8, 4.5)])[0].score == pytest.approx(0.4 * 0.9 + 0.3 * 0.8 + 0.3 * 0.9)
    assert ranking([measured("a", 0.9, None, 4.0)])[0].score == pytest.approx((0.4 * 0.9 + 0.3 * 0.8) / 0.7)


def test_equal_scores_share_a_rank_and_stand_by_name():
    rows = ranking([measured("c", 0.5), measured("d", 0.4), measured("b", 0.5), measured("a", 0.9), NOTHING])
    assert [(row.rank, row.name) for row in rows] == [(1, "a"), (2, "b"), (2, "c"), (4, "d"), (None, "nothing")]


def test_variants_measured_on_different_metrics_are_not_comparable():
    rows = ranking([measured("a", 0.9, 0.8), measured("b", 0.8)])
    assert [(row.name, row.measured, row.comparable) for row in rows] == [
        ("a", ("accuracy", "consistency"), False),
        ("b", ("accuracy",), False),
    ]
