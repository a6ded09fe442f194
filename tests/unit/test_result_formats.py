"""Formats of judged results: which one reads a file, and that each reads into the same model of a case."""

import json

import pytest

from sitegen.data_files.reading import UnreadableError
from sitegen.importers import read_results
from sitegen.importers.case import JudgedCase, JudgedResults, Opinion, with_documents
from sitegen.importers.columns import read_settings
from sitegen.model.metrics import Counts
from sitegen.model.recorded import Recorded
from sitegen.model.scorecards import FieldScore
from sitegen.model.usage import Call, Usage


def test_a_line_of_a_judge_is_a_case_with_its_judges() -> None:
    line = b'{"id": "a", "score": 0.5, "evaluator_results": [{"name": "j", "details": {"metrics": {"n": {"tp": 1}}}}]}'
    judge = Opinion("j", None, counts=(FieldScore("n", Counts(tp=1)),), details={"metrics": {"n": {"tp": 1}}})
    assert read_results("results.jsonl", line) == JudgedResults((JudgedCase("a", Opinion("", 0.5), (judge,)),))


def test_a_number_beyond_every_range_is_no_score_and_stops_no_file() -> None:
    huge = b"9" * 390
    results = read_results("results.jsonl", b'{"id": "a", "score": %b}\n{"id": "b", "score": 1}' % huge)
    assert [(case.id, case.score) for case in results.cases] == [("a", None), ("b", 1.0)]
    assert [finding.line for finding in results.findings] == [1]
    settings = b'{"columns": {"id": "id", "score": "s"}, "range": [0, %b]}' % huge
    assert [finding.message for finding in read_settings(settings.decode()).findings] == [
        "'range' is not a pair of numbers, the lower first"
    ]


def test_a_file_is_read_alike_wherever_it_lies_as_long_as_its_ending_stays() -> None:
    content = b'{"id": "a", "score": 1}'
    assert read_results("a/results.jsonl", content) == read_results("b/run.JSONL", content)


def test_a_test_that_ran_on_several_targets_is_a_case_of_each() -> None:
    first = b'{"timestamp": "2026-01-02T03:04:05.000Z", "test_id": "greet", "score": 1, "target": "one"}'
    second = (
        b'{"test_id": "greet", "score": 0, "target": "two", "error": "stopped", "duration_ms": 1500, '
        b'"token_usage": {"input": 12, "output": 3}}'
    )
    results = read_results("index.jsonl", first + b"\n" + second)
    usage = Usage(tokens_in=12, tokens_out=3, latency=1.5)
    assert results.cases == (
        JudgedCase("greet", Opinion("", 1.0), (), provider="one"),
        JudgedCase("greet", Opinion("", 0.0), (), provider="two", error="stopped", call=Call(usage)),
    )
    assert [case.document for case in with_documents(results.cases)] == ["greet · one", "greet · two"]
    assert results.run == Recorded(timestamp="2026-01-02T03:04:05.000Z")
    assert [case.document for case in with_documents(read_results("index.jsonl", first).cases)] == ["greet"]


def test_a_line_of_agentv_is_told_apart_by_what_the_run_has_several_of() -> None:
    row = {"eval_path": "evals/a.yaml", "test_id": "greet", "target": "one", "variant": "v2", "sample_index": 1}
    rows = (
        {**row, "score": 0.9, "execution_status": "ok", "named_scores": {"tone": 0.5}},
        {**row, "score": 0.3, "execution_status": "quality_failure", "sample_index": 2},
        {**row, "score": 0, "execution_status": "execution_error", "eval_path": "evals/b.yaml", "retry_index": 1},
    )
    beside = {"eval_path": "greet/EVAL.yaml", "grading_path": "greet/grading.json"}
    copied = [{**row, **beside, "projection_identity": {"dimensions": row}} for row in rows]
    results = read_results("index.jsonl", "\n".join(map(json.dumps, rows)).encode())
    assert read_results("index.jsonl", "\n".join(map(json.dumps, copied)).encode()) == results
    assert [(case.id, case.score, case.passed, case.error) for case in results.cases] == [
        ("evals/a.yaml · greet", 0.9, True, ""),
        ("evals/a.yaml · greet", 0.3, False, ""),
        ("evals/b.yaml · greet", None, None, "execution_error"),
    ]
    assert results.cases[0].judges == (Opinion("tone", 0.5),)
    assert {(case.variant, case.model) for case in results.cases} == {("v2", "one")}


def test_a_large_file_that_is_no_json_lines_is_given_up_early():
    content = b"[\n" + b'  "x",\n' * 2_000 + b'  "y"\n]\n'
    with pytest.raises(UnreadableError) as error:
        read_results("results.jsonl", content)
    assert error.value.message == "none of its first 1000 lines is an object"


def test_a_line_states_a_verdict_and_scores_by_name_beside_its_score() -> None:
    rows = (
        {"id": "a", "score": 0.9, "passed": True, "scores": {"tone": 1, "facts": {"score": 0.5, "reasoning": "Half."}}},
        {"id": "b", "score": 0.2, "verdict": "FAIL", "expected": "yes", "output": "no"},
        {"id": "c", "score": 0.5, "success": False},
        {"id": "d", "score": 0.5, "execution_status": "ok", "passed": False},
    )
    cases = read_results("results.jsonl", "\n".join(map(json.dumps, rows)).encode()).cases
    assert [case.passed for case in cases] == [True, False, False, True]
    found = [(judge.name, judge.score, judge.reasoning) for judge in cases[0].judges]
    assert found == [("tone", 1, ""), ("facts", 0.5, "Half.")]
    assert (cases[1].expected, cases[1].output) == ("yes", "no")
