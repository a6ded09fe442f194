"""The confidence and the evidence that outputs state for their values. The numbers are computed by hand."""

import json
from typing import Any

import pytest

from sitegen.importers import read_results
from sitegen.scoring.fields import FieldsScorer
from sitegen.scoring.kinds import File, ScoringInputs, scorer
from sitegen.stats.confidence import auroc, bins, by_field, skippable

RIGHT, WRONG = True, False


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], None),
        ([(0.9, RIGHT), (0.2, RIGHT)], None),
        ([(0.9, WRONG)], None),
        ([(0.9, RIGHT), (0.2, WRONG)], 1.0),
        ([(0.2, RIGHT), (0.9, WRONG)], 0.0),
        ([(0.5, RIGHT), (0.5, WRONG)], 0.5),
        ([(0.9, RIGHT), (0.8, WRONG), (0.7, RIGHT), (0.2, WRONG)], 3 / 4),
        # Of the 6 pairs the right value is above in 2, and level in 2: (2 + 1) / 6.
        ([(0.9, RIGHT), (0.6, RIGHT), (0.6, RIGHT), (0.6, WRONG), (0.7, WRONG)], 2 / 3 - 1 / 6),
    ],
)
def test_auroc_is_the_share_of_pairs_in_which_the_right_value_has_more_confidence(values, expected):
    assert auroc(values) == (None if expected is None else pytest.approx(expected))


VALUES = [(0.3, WRONG), (1.0, WRONG), (0.0, WRONG), *((stated, RIGHT) for stated in (0.39, 0.7, 0.95, 1.0, 0.8))]


def test_values_of_similar_confidence_are_compared_in_ten_parts_of_the_range():
    found = {part: (those.number, those.confidence, those.right) for part, those in bins(VALUES).items()}
    assert found == {
        0.0: (1, 0.0, 0.0),
        0.3: (2, pytest.approx(0.345), 0.5),
        0.7: (1, 0.7, 1.0),
        0.8: (1, 0.8, 1.0),
        0.9: (3, pytest.approx(0.9833, abs=1e-4), pytest.approx(2 / 3)),
    }


@pytest.mark.parametrize(("right", "wrong", "least"), [(30, 0, 0.6), (29, 0, None), (29, 1, None), (99, 1, 0.6)])
def test_values_may_be_skipped_where_at_most_one_in_a_hundred_of_thirty_is_wrong(right, wrong, least):
    found = skippable([(0.92, True)] * right + [(0.92, False)] * wrong + [(0.55, False)])
    assert (found and found[0]) == least


def test_a_field_is_named_from_three_values_on_and_the_one_that_promises_too_much_first():
    fields = {"few": [(0.9, WRONG)] * 2, "modest": [(0.5, RIGHT)] * 3, "bold": [(0.9, WRONG)] * 3}
    assert list(by_field(fields)) == ["bold", "modest"]


@pytest.mark.parametrize(
    ("stated", "expected", "left_out"),
    [
        ((0.9, "0.4", "high", "80 %", 0.3), (0.9, 0.4, None, 0.8, 0.3), None),
        ((90, "40", "high", None, 30.0), (0.9, 0.4, None, None, 0.3), None),
        (
            (0.9, 0.4, "high", 90, 0.3),
            (0.9, 0.4, None, None, 0.3),
            "1 of 4 values is not from 0 to 1, and is left out: 90",
        ),
        ((90, 40, 130, -5, 30), (None,) * 5, "5 of 5 values is not from 0 to 1, and is left out: 130"),
    ],
    ids=["shares", "percent", "both", "neither"],
)
def test_an_output_states_its_confidence_around_its_values_or_beside_them(stated, expected, left_out):
    truth = {"rooms": 4, "area": 30, "city": "Ulm", "owner": "Nobody", "year": 1990}
    output = {
        "rooms": {"value": 4, "confidence": stated[0]},
        "area": 31.5,
        "area_confidence": stated[1],
        "city": {"value": "Bern", "confidence": stated[2]},
        "owner": {"value": "Nobody", "confidence": stated[3]},
        "year": {"value": None, "confidence": stated[4]},
    }
    inputs = ScoringInputs(
        outputs=(File("o.json", json.dumps(output).encode()),), ground_truth=File("t.json", json.dumps(truth).encode())
    )
    result = scorer("fields").score(inputs)
    found = {each.path: each.stated[0][0] if each.stated else None for each in result.judgements}
    assert found == dict(zip(truth, expected, strict=True))
    assert result.scorecard.metric("auroc") == (None if expected[0] is None else 1.0)
    said = [finding.text.removeprefix("The confidence of ") for finding in result.scorecard.findings]
    assert said == ([left_out] if left_out else [])


@pytest.mark.parametrize(
    ("table", "settings", "expected"),
    [
        ("id,passed,confidence\na,true,0.9\nb,false,0.4\nc,true,1.5\n", {}, [0.9, 0.4, None]),
        ("id,passed,confidence\na,true,90\nb,false,40\nc,true,100\n", {}, [0.9, 0.4, 1.0]),
        ("id,passed,confidence\na,true,90\nb,false,0.4\n", {}, [None, 0.4]),
        ("id,passed,confidence\na,true,95%\nb,false,120%\n", {}, [0.95, None]),
        ("id,passed,logprob\na,true,0\nb,false,-0.693147\nc,true,\n", {}, [1.0, 0.5, None]),
        ("id,passed,confidence,judge_model\na,true,0.9,j\n", {}, [None]),
        (
            "id,ok,sure,judge\na,true,0.9,j\n",
            {"columns": {"id": "id", "passed": "ok", "confidence": "sure", "judge": "judge"}},
            [0.9],
        ),
        ("id,passed,confidence\na,true,0.9\na,false,0.8\na,true,\n", {}, [0.9, 0.8]),
    ],
    ids=["usual", "percent", "both", "written so", "logarithm", "of a judge", "named", "answered twice"],
)
def test_a_table_states_the_confidence_of_answers_in_a_column(table, settings, expected):
    inputs = ScoringInputs(outputs=(File("r.csv", table.encode()),), settings=json.dumps(settings))
    stated = [judgement.stated for judgement in scorer("judged").score(inputs).judgements]
    found = [share for pairs in stated for share, _ in pairs or ((None, False),)]
    assert found == [None if each is None else pytest.approx(each, abs=1e-5) for each in expected]


PROMPTFOO = {
    "success": True,
    "score": 1,
    "response": {"metadata": {"confidence": "0.7"}},
    "gradingResult": {"componentResults": [{"pass": True, "score": 1, "assertion": {"type": "equals"}}]},
}
INSPECT = {"id": "a", "scores": {"match": {"value": "C", "metadata": {"logprob": 0}}, "asked": {"value": "C"}}}
HOSTED = {
    "object": "eval.run.output_item",
    "datasource_item": {"confidence": 0.6},
    "sample": {},
    "status": "pass",
    "results": [{"name": "a", "passed": True, "score": 1}],
}
LINE = {"test_id": "a", "score": 1, "metadata": {"confidence": 80}}


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("r.json", {"results": {"version": 3, "results": [PROMPTFOO]}}, [0.7]),
        ("r.json", {"version": 2, "status": "success", "samples": [INSPECT]}, [1.0]),
        ("r.jsonl", HOSTED, [0.6]),
        ("r.jsonl", LINE, [0.8]),
        ("r.jsonl", {**LINE, "confidence": 0.5, "evaluator_results": [{"type": "llm-judge", "score": 1}]}, [0.8]),
    ],
    ids=["promptfoo", "Inspect", "OpenAI", "line of a judge", "line of a model that judged"],
)
def test_results_of_tools_state_the_confidence_of_answers(path, content, expected):
    assert [case.confidence for case in read_results(path, json.dumps(content).encode()).cases] == expected


def test_each_epoch_of_inspect_has_its_confidence_beside_its_own_verdict():
    second = {"id": "a", "epoch": 2, "scores": {"match": {"value": "I", "metadata": {"logprob": -1}}}}
    content = json.dumps({"version": 2, "status": "success", "samples": [INSPECT, second]}).encode()
    (judgement, _) = scorer("judged").score(ScoringInputs(outputs=(File("r.json", content),))).judgements
    assert [(round(share, 5), right) for share, right in judgement.stated] == [(1.0, RIGHT), (0.36788, WRONG)]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("r.csv", b"id,passed,confidence\na,true,0.9\nb,true,1.5\n"),
        ("r.csv", b"id,passed,logprob\na,true,-0.9\nb,true,0.5\n"),
        ("r.jsonl", b'{"id": "a", "score": 1, "confidence": 0.9}\n\n{"id": "b", "score": 1, "confidence": -3}\n'),
    ],
)
def test_a_confidence_outside_its_range_is_named_with_its_line(path, content):
    (finding,) = read_results(path, content).findings
    assert finding.line == 2 + content.count(b"\n\n") + path.endswith("csv")
    assert "1 of 2 answers" in finding.message
    assert "stated for 'b'" in finding.value


def evidence(expected: Any, given: Any) -> dict[str, str]:
    files = File("extracted.json", json.dumps(given).encode()), File("ground_truth.json", json.dumps(expected).encode())
    result = FieldsScorer().score(ScoringInputs(outputs=(files[0],), ground_truth=files[1]))
    return {f"{each.path} {each.outcome}": each.evidence for each in result.judgements if each.evidence}


@pytest.mark.parametrize(
    ("expected", "given", "stated"),
    [
        ({"a": 1}, {"a": {"value": 1, "page": 3, "quote": "one"}}, {"a correct": "page 3, “one”"}),
        ({"a": 5}, {"a": {"value": 5, "unit": "kg", "page": 2}}, {"a correct": "unit kg, page 2"}),
        ({"a": 1}, {"a": 2, "a_page": 3, "a_confidence": 0.5}, {"a wrong_value": "page 3, confidence 0.5"}),
        ({"a": 1}, {"a": {"value": None, "confidence": "low"}}, {"a omission": "confidence low"}),
        ({"a": 1}, {"b": {"value": 2, "page": 3}}, {"b hallucination": "page 3"}),
        (
            {"l": [{"name": "x", "n": 1}, {"name": "y", "n": 1}]},
            {"l": [{"name": "y", "n": {"value": 2, "page": 2}}, {"name": "z", "n": {"value": 1, "page": 9}}]},
            {"l[1].n wrong_value": "page 2", "l[1].n hallucination": "page 9"},
        ),
        ({"a": "x"}, {"a": {"value": "y", "quote": "q" * 300}}, {"a wrong_value": f"“{'q' * 200}…”"}),
    ],
)
def test_evidence_stands_beside_the_value_that_it_is_stated_for(expected: Any, given: Any, stated: Any) -> None:
    assert evidence(expected, given) == stated
