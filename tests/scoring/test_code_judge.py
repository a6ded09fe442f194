"""``sitegen code-judge``: what it says of a payload, and how it refuses a bad one."""

import json
import subprocess
import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.errors import ConfigurationError
from sitegen.scoring.code_judge import LISTED_HITS, CodeJudgement, Subject, opinion
from sitegen.scoring.kinds import File, ScoringInputs, scorer

EXPECTED = {"no": "A-1", "supplier": {"name": "Oak"}, "total": 10.5, "note": None}


def judge(
    expected: object, candidate: object, config: object = None, subject: Subject = "fields", **more: object
) -> CodeJudgement:
    return opinion(
        subject, json.dumps({"expected": expected, "candidate": candidate, "config": config, **more}).encode()
    )


def counts(said: CodeJudgement) -> dict[str, tuple[int, int, int, int]]:
    return {name: (row.tp, row.fp, row.fn, row.tn) for name, row in said.details["metrics"].items()}


def test_the_score_is_the_macro_f1_over_attributes():
    said = judge(EXPECTED, {"no": "A-1", "supplier": {"name": "Elm"}, "note": "x"})
    assert counts(said) == {
        "no": (1, 0, 0, 0),
        "supplier.name": (0, 1, 1, 0),
        "total": (0, 0, 1, 0),
        "note": (0, 1, 0, 0),
    }
    assert (said.score, said.hits) == (0.25, ('no: "A-1"',))
    assert said.misses == (
        'supplier.name: wrong value, expected "Oak", found "Elm"',
        "total: omission, expected 10.5, found nothing",
        'note: hallucination (expected blank), expected nothing, found "x"',
    )
    assert said.reasoning == "TP 1, FP 2, FN 2, TN 0 over 4 attributes; macro F1 0.250."


def test_only_the_named_fields_are_judged():
    candidate = {"no": "A-1", "supplier": {"name": "Elm"}}
    for fields in (["no", "note"], [{"path": "no"}, {"path": "note"}]):
        said = judge(EXPECTED, candidate, {"fields": fields})
        assert (said.score, list(said.details["metrics"])) == (1.0, ["no", "note"])
    assert list(judge(EXPECTED, candidate, {"fields": ["supplier"]}).details["metrics"]) == ["supplier.name"]


def test_the_configuration_holds_the_rules_of_a_mapping():
    config = {"fields": {"total": {"absolute": 1}}, "ignore": ["supplier", "no"]}
    assert counts(judge(EXPECTED, {"total": 11.2}, config)) == {"total": (1, 0, 0, 0), "note": (0, 0, 0, 1)}


def test_line_items_are_paired_by_match_fields_alone_however_much_they_agree():
    expected, candidate = ({"line_items": [{"description": name, "n": 1, "m": 2}]} for name in "ab")
    for config in ({}, {"algorithm": None}):
        said = judge(expected, candidate, config, "line-items")
        assert said.details["alignment"] == {"line_items": [[0, None, None], [None, 0, None]]}


def test_what_is_not_of_the_list_does_not_count():
    said = judge({"line_items": [{"name": "a"}], "total": 1}, {"line_items": [{"name": "a"}]}, None, "line-items")
    assert (said.score, list(said.details["metrics"])) == (1.0, ["line_items[].name"])


def message(content: object, role: str = "assistant") -> dict[str, object]:
    return {"role": role, "content": content}


@pytest.mark.parametrize(
    "payload",
    [
        {"expected": {"a": 1}, "candidate": {"a": 1}},
        {"expected": {"a": 1}, "candidate": '{"a": 1}'},
        {"expected": '{"a": 1}', "output": '{"a": 1}', "config": None},
        {"expected_output": [message("", "user"), message({"a": 1})], "output": '{"a": 1}'},
        {"expected_output": [message('{"a": 1}')], "candidate_answer": '{"a": 1}'},
        {
            "reference_answer": '{"a": 1}',
            "answer": [message([{"type": "text", "text": '{"a": '}, {"type": "text", "text": "1}"}])],
        },
    ],
)
def test_the_names_that_other_runners_use_are_known(payload):
    assert opinion("fields", json.dumps(payload).encode()).score == 1.0


@pytest.mark.parametrize(
    ("candidate", "why"),
    [
        ("The total is 1.", "it is not valid JSON: Expecting value at line 1, column 1"),
        ("[]", "its root is not an object"),
        (3, "its root is not an object"),
        (None, "the candidate is empty"),
        ("", "it is empty"),
    ],
)
def test_a_candidate_that_cannot_be_read_misses_everything(candidate, why):
    said = judge({"a": 1, "b": None}, candidate)
    assert (said.score, counts(said)) == (0.0, {"a": (0, 0, 1, 0)})
    assert said.misses == (f"a: omission ({why}), expected 1, found nothing",)
    assert said.details["problems"] == (f"The output cannot be read: {why}",)


def test_where_nothing_is_expected_and_nothing_given_the_score_is_undefined():
    said = judge({"a": None}, {})
    assert (said.score, said.hits) == (None, ("a: nothing, as expected",))
    assert said.reasoning == (
        "TP 0, FP 0, FN 0, TN 1 over 1 attribute; nothing was expected or given, the score is undefined."
    )


def test_hits_and_misses_are_bounded_and_counts_are_not():
    expected = {f"f{number}": number for number in range(3 * LISTED_HITS)}
    said = judge(expected, dict(list(expected.items())[: 2 * LISTED_HITS]))
    assert (len(said.hits), said.hits[-1]) == (LISTED_HITS + 1, f"and {LISTED_HITS} more")
    assert (len(said.misses), said.misses[-1]) == (LISTED_HITS, "f299: omission, expected 299, found nothing")
    assert said.details["summary"]["total_tp"] == 2 * LISTED_HITS


WRONG = "The payload is wrong:"


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        ("", "The payload cannot be read: it is empty."),
        ("{", "The payload cannot be read: it is not valid JSON"),
        ("[]", "The payload is not an object."),
        ('{"candidate": {}}', f"{WRONG} there is no 'expected'."),
        ('{"expected": {}}', f"{WRONG} there is no 'candidate'."),
        ('{"expected": 3, "candidate": {}}', f"{WRONG} what is expected is not an object."),
        ('{"expected": "x", "candidate": {}}', "What is expected cannot be read: it is not valid JSON"),
        ('{"expected": "[]", "candidate": {}}', "What is expected is not an object."),
    ],
)
def test_a_bad_payload_is_refused(payload, why):
    with pytest.raises(ConfigurationError) as caught:
        opinion("fields", payload.encode())
    assert caught.value.message.startswith(why)


@pytest.mark.parametrize(
    ("subject", "config", "why"),
    [
        ("fields", [], "'config' is not an object."),
        ("fields", {"colour": 1}, "Unknown key 'colour'"),
        ("fields", {"fields": [1]}, "'fields' in 'config' does not name a path."),
        ("fields", {"fields": ["a..b"]}, "'a..b' is not a field path"),
        ("line-items", {}, "there is no list at 'line_items' in what is expected."),
        ("line-items", {"path": "a"}, "there is no list at 'a' in what is expected."),
        ("line-items", {"path": 1}, "'path' in 'config' does not name a path."),
        ("line-items", {"path": "l", "threshold": 2}, "The threshold of 'l' lies outside 0..1"),
        ("line-items", {"path": "l", "match_fields": 3}, "'lists.l.match_fields' is a number (3), a list is wanted"),
    ],
)
def test_a_configuration_that_cannot_be_understood_is_refused(subject, config, why):
    with pytest.raises(ConfigurationError) as caught:
        judge({"a": 1, "l": []}, {}, config, subject)
    assert caught.value.message.startswith(f"{WRONG} {why}")


SCALARS = st.none() | st.integers(0, 3) | st.sampled_from(["a", "b", ""])
OBJECTS = st.dictionaries(st.sampled_from("abc"), SCALARS | st.dictionaries(st.sampled_from("de"), SCALARS), max_size=3)


@given(OBJECTS, OBJECTS)
def test_a_judge_says_what_the_scorer_says_and_its_results_sum_up_to_the_same(expected, candidate):
    said = judge(expected, candidate)
    files = [File(f"{name}.json", json.dumps(value).encode()) for name, value in (("c", candidate), ("e", expected))]
    card = scorer("fields").score(ScoringInputs(outputs=(files[0],), ground_truth=files[1])).scorecard
    assert said.score == card.metric("macro_f1_attributes")
    line = msgspec.json.encode({"id": "a", "evaluator_results": [said]})
    judged = scorer("judged").score(ScoringInputs(outputs=(File("r.jsonl", line),))).scorecard
    assert judged.counts[:4] == card.counts[:4]
    assert {each.attribute: each.counts[:4] for each in judged.fields} == {
        each.attribute: each.counts[:4] for each in card.fields
    }


def run(subject: str, payload: bytes) -> tuple[int, bytes, bytes]:
    command = [sys.executable, "-m", "sitegen", "code-judge", subject]
    done = subprocess.run(command, input=payload, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_the_command_answers_one_line_of_json():
    code, out, err = run("fields", b'{"expected": {"a": 1.50}, "candidate": "{\\"a\\": 1.5}"}')
    assert (code, err, out.count(b"\n")) == (0, b"", 1)
    assert list(json.loads(out)) == ["score", "hits", "misses", "reasoning", "details"]


@pytest.mark.parametrize(("subject", "payload"), [("fields", b"no"), ("line-items", b"{}"), ("colours", b"{}")])
def test_the_command_refuses_with_2_and_says_nothing_on_standard_output(subject, payload):
    code, out, err = run(subject, payload)
    assert (code, out, bool(err)) == (2, b"", True)
