"""Reports of tools that need an account or an agent: sitegen's totals are those that the report states."""

import json
from pathlib import Path
from typing import Any

import pytest

from sitegen.analysis.noise.samples import interval_of
from sitegen.importers import read_results
from sitegen.importers.case import Grader, JudgedResults, with_documents
from sitegen.importers.case_rows import preference_in
from sitegen.model.metrics import Counts
from sitegen.model.scorecards import NotePanel
from sitegen.model.usage import Usage
from sitegen.scoring.kinds import scorer
from tests.rows import in_table
from tests.scored import scored

FIXTURES = Path(__file__).parent / "fixtures"


def read(name: str) -> JudgedResults:
    results = read_results(name, (FIXTURES / name).read_bytes())
    assert results.findings == ()
    return results


def stated(name: str) -> Any:
    return json.loads((FIXTURES / name).read_bytes())


def test_a_benchmark_of_a_skill_has_a_variant_with_it_and_one_without_it():
    cases = with_documents(read("agent-skills-benchmark.json").cases)
    for variant, summary in stated("agent-skills-benchmark.json")["run_summary"].items():
        scores: dict[str, list[float]] = {}
        for case in cases:
            if case.variant == variant:
                scores.setdefault(case.id, []).append(case.score or 0.0)
        if scores:  # which the difference between both is not
            means = [sum(each) / len(each) for each in scores.values()]
            assert sum(means) / len(means) == summary["pass_rate"]["mean"]
    assert [case.document for case in cases] == [
        *("1 · with_skill", "1 · with_skill", "2 · with_skill"),
        *("1 · without_skill", "2 · without_skill"),
    ]
    found = [judge.name for judge in cases[0].judges]
    assert found == ["The sum is in the last row", "Dates are written as in ISO 8601"]
    assert cases[1].judges[1].misses == ("Dates are written as in ISO 8601: 2/1/26 in row 2",)
    assert (cases[0].input, cases[0].call.usage.latency) == ("Totals of a month", 40.0)


def test_gradings_of_a_run_are_cases_named_by_their_folders_and_have_the_numbers_of_its_benchmark():
    paths = sorted((FIXTURES / "agent-skills/iteration-1").glob("eval-*/*/run-*/grading.json"))
    assert len(paths) == 5
    result = scored("judged", {path.relative_to(FIXTURES).as_posix(): path.read_bytes() for path in paths})
    card = result.scorecard
    assert {document.name: dict(document.metrics)["score"] for document in card.documents} == {
        "eval-credit · with_skill": 1.0,
        "eval-credit · without_skill": 0.0,
        "eval-totals · with_skill": 0.75,
        "eval-totals · without_skill": 0.5,
    }
    summary = stated("agent-skills-benchmark.json")["run_summary"]
    assert summary["with_skill"]["pass_rate"]["mean"] == (1.0 + 0.75) / 2
    assert card.metric("lift") == ((1.0 - 0.0) + (0.75 - 0.5)) / 2
    assert dict(scorer("judged").metrics_for(card.documents))["lift"] == card.metric("lift")
    assert [panel.text for panel in result.panels if isinstance(panel, NotePanel)][-1] == (
        "Lift of the score over the 2 cases that the baseline answered as well: +0.625, 95 % interval -1.000 to +1.000."
    )
    assert {field.attribute: field.counts.tp for field in card.fields} == {
        "The amount is negative": 1,
        "The sum is in the last row": 3,
        "Dates are written as in ISO 8601": 1,
    }


@pytest.mark.parametrize("path", ["{case}/grading_{variant}.json", "{variant}/{case}-grading.json"])
@pytest.mark.parametrize("members", [("expectations", "text", "evidence"), ("assertions", "expectation", "reason")])
def test_gradings_in_one_folder_are_told_apart_by_their_names(path, members):
    listed, text, why = members
    files = {
        f"iteration-1/{path.format(case=case, variant=variant)}": {
            "eval_id": 1,
            "run": {"of": case},
            listed: [{text: "It is [short]", "passed": passed, why: "-"}],
        }
        for case in ("eval-a", "eval-b")
        for variant, passed in (("with_skill", True), ("without_skill", False))
    }
    card = scored("judged", files).scorecard
    assert [document.name for document in card.documents] == [
        f"{case} · {variant}" for case in ("eval-a", "eval-b") for variant in ("with_skill", "without_skill")
    ]
    assert (card.metric("lift"), [field.attribute for field in card.fields]) == (1.0, ["It is [short]"])


@in_table
def test_files_beside_gradings_give_the_time_of_a_run_and_what_a_person_said_of_it(feedback):
    grading = {"expectations": [{"text": "It is a chart", "passed": True}]}
    runs = [
        f"w/iteration-1/{case}/{variant}/run-1"
        for case in ("eval-a", "eval-b")
        for variant in ("old_skill", "with_skill")
    ]
    files: dict[str, object] = {f"{run}/grading.json": grading for run in runs}
    files |= {f"{run}/timing.json": {"total_tokens": 84852, "duration_ms": 23332} for run in runs[1:]}
    result = scored("judged", {**files, "w/iteration-1/feedback.json": feedback})
    answers = [answer for case in result.cases for answer in case.answers]
    assert [answer.usage.latency for answer in answers] == [None, 23.332, 23.332, 23.332]
    said = [
        (answer.document, judge.name)
        for answer in answers
        for judge in answer.judges
        if "The axes have no labels." in judge.reasons
    ]
    assert said == [("eval-a · with_skill", "a person")]
    assert result.scorecard.metric("score") == 1.0
    remarks = [(finding.value, finding.file) for finding in result.scorecard.findings if finding.value]
    assert remarks == [("It is empty.", "w/iteration-1/feedback.json")]
    unread = scored("judged", files)
    assert [case.said == other.said for case, other in zip(result.cases, unread.cases, strict=True)] == [False, True]


@pytest.mark.parametrize("paths", [("eval-a/with_skill",), ("eval-a/with_skill", "eval-a/old_skill"), ("eval-a",)])
def test_a_case_has_its_name_in_an_iteration_without_other_cases(paths):
    grading = {"expectations": [{"text": "It is short", "passed": True}]}
    files = {f"w/iteration-2/{path}/run-1/grading.json": grading for path in paths}
    assert {case.id for case in scored("judged", files).cases} == {"eval-a"}


def test_a_broken_file_beside_a_grading_is_said_and_loses_nothing_else():
    grading = {"expectations": [{"text": "x", "passed": True}]}
    card = scored("judged", {"a/grading.json": grading, "a/timing.json": "{", "b/grading.json": "["}).scorecard
    assert card.metric("score") == 1.0
    found = [(finding.severity, finding.file) for finding in card.findings]
    assert found == [("warning", "a/timing.json"), ("error", "b/grading.json")]


@pytest.mark.parametrize("variants", [("a", "b"), ("with_skill", "without_skill", "old_skill"), ("with_skill",)])
def test_there_is_no_lift_without_exactly_one_baseline_and_one_other_variant(variants):
    grading = {"expectations": [{"text": "It is short", "passed": True}]}
    files = {f"{case}/{variant}/grading.json": grading for case in "xyz" for variant in variants}
    assert scored("judged", files).scorecard.metric("lift") is None


def test_a_lift_below_0_has_an_interval_too():
    rows = [
        {"id": place, "variant": variant, "output": "x", "score": score}
        for place, scores in enumerate([(0.25, 0.5), (0.25, 1), (0.5, 0.75)])
        for variant, score in zip(("new", "baseline"), scores, strict=True)
    ]
    card = scored("judged", {"r.json": rows}).scorecard
    interval = interval_of(card, "lift")
    assert interval is not None
    assert card.metric("lift") == pytest.approx(-1.25 / 3)
    assert (interval.low + interval.high) / 2 == pytest.approx(-1.25 / 3)


def test_a_grading_alone_is_one_case_and_an_expectation_without_a_verdict_is_left_out_and_said():
    expectations: list[Any] = [{"text": "It is short", "passed": True}, {"text": "It is kind", "passed": "maybe"}, 3]
    card = scored("judged", {"w/grading.json": {"expectations": expectations}}).scorecard
    assert [document.name for document in card.documents] == ["grading"]
    assert [field.attribute for field in card.fields] == ["It is short"]
    assert [finding.message for finding in card.findings] == ["Expectations state no verdict, and are left out: 1 of 2"]


def test_a_report_of_gh_models_has_the_verdicts_of_its_evaluators_beside_their_scores():
    cases, summary = read("gh-models.json").cases, stated("gh-models.json")["summary"]
    assert [case.passed for case in cases].count(1.0) == summary["passedTests"]
    assert [(judge.name, judge.score) for case in cases for judge in case.judges] == [
        *(("names the trade", 1.0), ("similarity", 0.75)),
        *(("names the trade", 0.0), ("similarity", 0.25)),
    ]
    assert [judge.counts[0].counts.tp for case in cases for judge in case.judges] == [1, 1, 0, 1]
    assert [(case.input, case.expected, case.output, case.call.model) for case in cases] == [
        ("No light in the hall", "Electrical", "Electrical", "openai/m-1"),
        ("The tap drips", "Plumbing", "Other", "openai/m-1"),
    ]


@pytest.mark.parametrize("ending", [".json", ".jsonl", "-array.json"])
def test_output_items_of_the_api_of_evals_have_the_results_of_each_grader(ending):
    cases = read(f"openai-evals-api{ending}").cases
    assert [(case.id, case.passed, case.score) for case in cases] == [("1", 0.0, 0.45), ("0", 1.0, 0.9)]
    found = [(judge.name, judge.score, judge.grader) for judge in cases[0].judges]
    assert found == [("Trade", 0.0, None), ("Tone", 0.9, Grader("judge-1"))]
    assert (cases[0].expected, cases[0].output) == ("Plumbing", "Other")
    assert cases[0].input == "developer: Name the trade.\n\nuser: The tap drips"
    assert (cases[0].call.model, cases[0].call.usage) == ("m-1", Usage(29, 2))


def test_scores_that_are_lists_of_one_number_are_that_number():
    rows = [{"id": "a", "input": "q", "output": "x", "scores": {"exact": [1], "tone": [0.8]}}]
    (case,) = read_results("items.json", json.dumps(rows).encode()).cases
    assert [(judge.name, judge.score) for judge in case.judges] == [("exact", 1.0), ("tone", 0.8)]


def test_a_score_on_another_scale_is_left_out_beside_the_verdict_of_its_check():
    check = {"name": "tone", "score": 4, "passed": False}
    results = read_results("items.json", json.dumps([{"id": "a", "output": "x", "checks": [check]}]).encode())
    assert [(judge.score, case.passed) for case in results.cases for judge in case.judges] == [(0.0, 0.0)]
    assert results.findings == ()


def test_a_report_of_vitest_has_the_tests_that_it_counts():
    cases, totals = read("vitest.json").cases, stated("vitest.json")
    passed = [case.passed for case in cases]
    assert [passed.count(1), passed.count(0)] == [totals["numPassedTests"], totals["numFailedTests"]]
    assert [case.id for case in cases if case.passed is None] == ["cities later", "cities some day"]
    assert cases[1].judges[0].misses[0].startswith("status: AssertionError: expected 'Paris' to be 'Lyon'")


def test_a_run_of_evalite_has_the_averages_of_its_evals():
    cases = with_documents(read("evalite.json").cases)
    for group in stated("evalite.json")["evals"]:
        scores = [case.score for case in cases if case.variant == group["name"]]
        assert sum(score for score in scores if score is not None) / len(scores) == group["averageScore"]
    assert {case.document for case in cases} == {
        *(f"What is the capital of {place}? · Capitals" for place in ("France", "Austria")),
        "What is the capital of France? · Loud",
    }
    scored = {case.document: [(judge.name, judge.score) for judge in case.judges] for case in cases}
    assert scored["What is the capital of Austria? · Capitals"] == [("Exact", 0.0), ("Letters", 0.125)]


@in_table
@pytest.mark.parametrize("ending", ["csv", "json"])
def test_pairwise_preferences_are_the_share_of_wins_of_the_side_that_is_compared(
    sides, column, words, judge, shares, ending
):
    judge = f"win rate of {judge}"
    rows = [{"id": place, "prompt": f"q{place}", **sides, column: word} for place, word in enumerate(words)]
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    content = ("\n".join(lines) if ending == "csv" else json.dumps(rows)).encode()
    cases = read_results(f"r.{ending}", content).cases
    assert [[(each.name, each.score) for each in case.judges] for case in cases] == [[(judge, one)] for one in shares]
    result = scored("judged", {f"r.{ending}": content})
    assert result.scorecard.metric("score") == pytest.approx(sum(shares) / len(shares))
    assert (result.scorecard.metric("pass_rate"), result.scorecard.counts) == (None, Counts())
    won, tied = shares.count(1.0), shares.count(0.5)
    assert NotePanel(f"{judge}: {won} won, {tied} tied, {shares.count(0.0)} lost.") in result.panels


@pytest.mark.parametrize("winner", ["maybe", "", None, 7, {"a": 1}])
def test_a_row_that_names_no_winner_compares_nothing(winner):
    assert preference_in({"model_a": "m-1", "model_b": "m-2", "winner": winner}) == {}
