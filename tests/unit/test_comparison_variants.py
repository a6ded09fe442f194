"""Comparing variants of a prompt, and one result with a later one."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import astuple, replace

from sitegen.analysis.change import change as find_change
from sitegen.analysis.series import series_of
from sitegen.analysis.variant_tests import CaseFlip, MetricTest, VariantComparison, VariantNumbers, VariantSample
from sitegen.analysis.variants import ranking, variant_comparison
from sitegen.model.changes import Ends, Overlap
from sitegen.model.metrics import Counts, Metric, MetricSpec
from sitegen.model.scorecards import DocumentScore, Result
from sitegen.model.series import EvalInfo
from sitegen.model.timeline import Blob
from sitegen.project import Options
from sitegen.questions.comparison import compare_iterations
from sitegen.questions.comparison_files.changes import DocumentChange, Flip, MetricChange, ResultChange, result_change
from sitegen.questions.comparison_files.markdown import change_lines, variants_lines
from sitegen.questions.study import read_series
from sitegen.scoring.kinds import scorer
from tests import pages_sample as sample
from tests.gitrepo import GitRepo
from tests.scored import scored as scored_files
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


def test_the_quality_of_two_variants_is_compared_over_the_cases_with_a_grade_in_both():
    found = quality_test(variant_comparison("faq", (variant("a", "++++", "1234"), variant("b", "++++", ".34."))))
    assert (found.first, found.second, found.difference, found.sample) == (2.5, 3.5, 1.0, 2)


def test_exchanging_the_variants_exchanges_their_names_and_nothing_else():
    sides = variant("a", "++--+-+-" * 5, "34254321" * 5), variant("b", "++++++-+" * 5, "44354432" * 5)
    one, other = (variant_comparison("faq", order) for order in (sides, sides[::-1]))
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


def test_variants_without_a_common_case_have_no_test_no_winner_no_rank_and_no_recommendation():
    new = variant("new", "-" * 40, "1" * 40)
    others = replace(new, cases={f"another {name}": case for name, case in new.cases.items()})
    found = variant_comparison("faq", (variant("old", "+" * 40, "5" * 40), others))
    (pair,) = found.pairs
    assert (pair.common, pair.winner, found.overall_winner) == (0, None, None)
    assert found.winners == {"accuracy": None, "quality": None}
    for test in pair.tests:
        assert (test.difference, test.effect_size, test.sample, test.verdict) == (None, None, 0, None)
    seen = [(row.name, row.rank, row.comparable) for row in found.ranking]
    assert seen == [("new", None, False), ("old", None, False)]
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
    seen = [(row.name, row.measured, row.comparable) for row in rows]
    assert seen == [("a", ("accuracy", "consistency"), False), ("b", ("accuracy",), False)]


SPECS = (MetricSpec("score", "Score", ""),)


def scored(truth: object, output: object) -> Result:
    return scored_files("fields", {"extracted.json": output}, {"ground_truth.json": truth})


def compared(
    eval_id: str, before: Result, after: Result, specs: tuple[MetricSpec, ...] = SPECS, kind: str = "fields"
) -> ResultChange:
    first, last = (
        replace(sample.snapshot(number, sample.commit(number)), outputs=(Blob("output", str(number)),))
        for number in (1, 2)
    )
    series = series_of(EvalInfo(eval_id, eval_id, kind=kind), specs, (first, last), (before, after))
    return result_change(series, 0, 1, find_change(series, 0, 1), names=(first.label, last.label))


def change(truth: object, before: object, after: object, truth_after: object = None) -> ResultChange:
    results = scored(truth, before), scored(truth if truth_after is None else truth_after, after)
    return compared("orders", *results, scorer("fields").metrics)


def test_judgements_are_paired_by_document_and_path():
    found = change({"a": "x", "b": "x", "c": "x", "d": "x"}, {"a": "x", "c": "y"}, {"b": "x", "c": "z", "d": None})
    moved = partial(Flip, document="", since="iteration-002, no edit before it")
    wrong = partial(Flip, document="", change="still_wrong")
    assert found.flips == (
        moved(path="a", change="broken", before="correct", after="omission", values=("x", "x", "")),
        moved(path="b", change="fixed", before="omission", after="correct", values=("x", "", "x")),
        wrong(path="c", before="wrong_value", after="wrong_value", values=("x", "y", "z")),
        wrong(path="d", before="omission", after="omission", values=("x", "", "")),
    )
    assert (found.fixed, found.broken, found.still_wrong, found.still_right, found.unpaired) == (1, 1, 2, 0, 0)
    assert (found.before, found.after) == ("iteration-001", "iteration-002")


def test_an_extra_value_that_is_gone_was_fixed_and_a_new_one_broke():
    found = change({"a": "x"}, {"a": "x", "old": 1}, {"a": "x", "new": 1.50})
    told = [(flip.path, flip.change, flip.before, flip.after, flip.values) for flip in found.flips]
    assert told == [
        ("new", "broken", None, "hallucination", ("", "", "1.5")),
        ("old", "fixed", "hallucination", None, ("", "1", "")),
    ]


def test_what_only_one_ground_truth_asks_for_is_no_pair():
    found = change({"a": "x"}, {"a": "x"}, {"a": "x", "b": "x"}, {"a": "x", "b": "x"})
    assert (found.still_right, found.unpaired, found.flips) == (1, 1, ())


def test_metrics_stand_before_and_after_and_undefined_has_no_change():
    found = change({"a": "x", "b": "x"}, {}, {"a": "x"})
    known = {metric.name: metric for metric in found.metrics}
    assert known["f1"] == MetricChange(
        name="f1", label=known["f1"].label, before=0.0, after=2 / 3, change=2 / 3, higher_is_better=True
    )
    assert (known["precision"].before, known["precision"].after, known["precision"].change) == (None, 1.0, None)


def test_documents_are_compared_by_their_headline_with_each_part_of_their_ids_under_a_key_of_its_own():
    who = {"variant": "short", "model": "mini", "language": "de"}

    def judged(*scores: float | None) -> Result:
        scored = [
            DocumentScore(f"case-{n} · short", "scored", Counts(), of_case=f"case-{n}", axes=who, repeat="2")
            for n in range(3)
        ]
        documents = tuple(replace(one, metrics=(Metric("score", of),)) for one, of in zip(scored, scores, strict=True))
        return Result(sample.card(metrics=(Metric("score", 0.5),), documents=documents), ())

    found = compared("judge", judged(0.5, 0.6, None), judged(0.7, 0.9, 0.4))
    parts = {"variant": "short", "model": "mini", "repeat": "2", "tags": {"language": "de"}}
    assert found.documents == tuple(
        DocumentChange(f"case-{n} · short", before, after, case=f"case-{n}", **parts)  # type: ignore[arg-type]
        for n, (before, after) in enumerate([(0.5, 0.7), (0.6, 0.9), (None, 0.4)])
    )
    assert found.metrics == (
        MetricChange(name="score", label="Score", before=0.5, after=0.5, change=0.25, higher_is_better=True),
    )  # over the two documents that have a score on both sides


def test_a_result_against_itself_changes_nothing():
    truth = {"a": "x", "b": ["x", "y"], "items": [{"description": "pears"}]}
    found = change(truth, {"a": "z"}, {"a": "z"})
    assert (found.fixed, found.broken, found.verdict and found.verdict.p_value) == (0, 0, 1.0)
    assert {metric.change for metric in found.metrics} <= {0.0, None}


def test_the_change_between_two_iterations_is_split_by_where_it_came_from(demo: Path):
    """A label was corrected between 2 and 9, which the output of 2 has wrong by either: all is by the outputs."""
    far, near = compare_iterations(Options(repo=demo), "lab-reports", ["2", "9", "8"])[0].changes
    assert far.origin is not None
    assert near.origin is not None
    assert far.origin.outputs == pytest.approx(far.metrics[0].change)
    assert (far.origin.ground_truth, far.origin.rules, near.origin.ground_truth, near.origin.rules) == (0.0,) * 4


def test_each_flip_names_the_output_and_the_edit_since_which_it_is_so(demo: Path):
    (found,) = compare_iterations(Options(repo=demo), "lab-reports", ["10", "33"])[0].changes
    first = "iteration-011, after 4704a77 Keep the signs of lab results after all"
    since = {
        "results[Platelets].value": "iteration-031, no edit before it",
        "results[Creatinine].unit": "iteration-027, after 9f03dc8 Repeat the units of lab results",
        "results[Sodium].flag": "iteration-027, after 9f03dc8 Repeat the units of lab results",
    }
    assert {flip.named_path: flip.since for flip in found.flips if flip.since} == {"": first, **since}
    rows = [line.split(" | ")[5].strip() for line in change_lines(found) if "| fixed " in line]
    assert rows == [first, *since.values()]


def test_an_item_that_is_found_is_one_flip_of_the_test_and_the_change_may_be_chance():
    items = {"items": [{"description": "pears", "n": 1, "unit": "kg"}, {"description": "soap", "n": 2, "unit": "bar"}]}
    found = change(items, {"items": items["items"][:1]}, items)
    assert (found.fixed, found.broken) == (3, 0)
    assert found.verdict is not None
    assert (found.verdict.counted, found.verdict.decision, found.verdict.p_value) == ((1, 0), "cannot tell", 1.0)


def test_both_sides_and_the_change_have_an_interval():
    truth = dict.fromkeys("abcdefghijklm", "x")
    before = truth | dict.fromkeys("abcdefghm", "y")
    changed = change(truth, before, truth | {"m": "y"})
    verdict, sides = changed.verdict, (changed.interval_before, changed.interval_after)
    assert verdict is not None
    assert (verdict.decision, verdict.why) == ("better", "beyond chance")
    assert verdict.change == pytest.approx(8 / 13)
    assert [over and (over.unit, over.n) for over in (*sides, verdict)] == [("fields", 13)] * 3
    spans = [*(Ends(side.low, side.high) for side in sides if side), verdict.interval]
    values = (4 / 13, 12 / 13, 8 / 13)
    assert all(span and span.low <= value <= span.high for span, value in zip(spans, values, strict=True))
    assert change(truth, before, truth | {"m": "y"}) == changed
    assert change(truth, before, truth).interval_after


def answered(right: int, wrong: int) -> str:
    outputs = ["yes"] * right + ["no"] * wrong
    return json.dumps([{"case_id": f"c{index}", "output": output} for index, output in enumerate(outputs)])


def test_responses_are_compared_over_the_cases_that_both_sides_judge(repo: GitRepo, tmp_path: Path):
    """Cases that came with the ground truth change nothing: the common ones are answered as before."""
    cases = [{"id": f"c{index}", "expected": "yes"} for index in range(8)]
    here = "evals/faq/results/iteration-00"
    repo.commit({"evals/faq/test_cases.json": json.dumps(cases[:4]), f"{here}1/responses.json": answered(3, 1)})
    repo.commit({"evals/faq/test_cases.json": json.dumps(cases), f"{here}2/responses.json": answered(3, 5)})
    repo.check_in({"evals/faq/test_cases.json": json.dumps(cases[2:]), f"{here}3/responses.json": answered(8, 0)})
    options = Options(repo=repo.path, cache=tmp_path / "memo")
    _, second, third = read_series(options, "faq").points
    more, fewer = tuple(f"c{index}" for index in range(4, 8)), ("c0", "c1")
    changes: list[Any] = [second.change, third.change]
    overlaps = Overlap(common=4, only_after=more), Overlap(common=6, only_before=fewer)
    for one, overlap, moved in zip(changes, overlaps, (0.0, 5 / 6), strict=True):
        assert (one.overlap, one.headline.name) == (overlap, "accuracy")
        assert astuple(one.headline.parts) == pytest.approx((moved, 0.0, 0.0), abs=0)
        assert [one.headline.change, one.verdict.change] == pytest.approx([moved] * 2, abs=0)
    assert changes[0].verdict.decision == "same"
    assert changes[0].flips.appeared == (("(no category)", 4),)
    (told,) = compare_iterations(options, "faq", ["1", "2"])[0].changes
    assert told.warnings[0].endswith(
        "over the 4 cases in both; the values beside them also count other cases: 4 after."
    )
    assert {metric.name: metric.change for metric in told.metrics}["accuracy"] == 0.0
    (far,) = compare_iterations(options, "faq", ["1", "3"])[0].changes
    assert {metric.name: metric.change for metric in far.metrics}["accuracy"] == pytest.approx(0.5)
