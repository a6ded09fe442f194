"""The confidence and the evidence that outputs state for their values. The numbers are computed by hand."""

import json
from typing import Any

import pytest

from sitegen.importers import read_results
from sitegen.stats.confidence import auroc, bins, by_field, skippable
from tests.rows import in_table
from tests.scored import scored

RIGHT, WRONG = True, False


@in_table
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


@in_table
def test_values_may_be_skipped_where_they_are_wrong_less_often_than_all_are(
    right: int, wrong: int, unsure: int, least: float | None, most: float | None
) -> None:
    found = skippable([(0.92, True)] * right + [(0.92, False)] * wrong + [(0.55, False)] * unsure)
    assert (found and found[0]) == least
    assert (found and found[1].most_wrong) == (pytest.approx(most, abs=1e-4) if most else None)


def test_a_field_is_named_from_three_values_on_and_the_one_that_promises_too_much_first():
    fields = {"few": [(0.9, WRONG)] * 2, "modest": [(0.5, RIGHT)] * 3, "bold": [(0.9, WRONG)] * 3}
    assert list(by_field(fields)) == ["bold", "modest"]


@in_table
def test_an_output_states_its_confidence_around_its_values_or_beside_them(case, stated, expected, left_out):
    truth = {"rooms": 4, "area": 30, "city": "Ulm", "owner": "Nobody", "year": 1990}
    output = {
        "rooms": {"value": 4, "confidence": stated[0]},
        "area": 31.5,
        "area_confidence": stated[1],
        "city": {"value": "Bern", "confidence": stated[2]},
        "owner": {"value": "Nobody", "confidence": stated[3]},
        "year": {"value": None, "confidence": stated[4]},
    }
    result = scored("fields", {"o.json": output}, {"t.json": truth})
    found = {each.path: each.stated[0][0] if each.stated else None for each in result.judgements}
    assert found == dict(zip(truth, expected, strict=True))
    assert result.scorecard.metric("auroc") == (None if expected[0] is None else 1.0)
    said = [finding.text.removeprefix("The confidence of ") for finding in result.scorecard.findings]
    assert said == ([left_out] if left_out else [])


@in_table
def test_a_table_states_the_confidence_of_answers_in_a_column(case, table, settings, expected):
    stated = [judgement.stated for judgement in scored("judged", {"r.csv": table}, settings=settings).judgements]
    found = [share for pairs in stated for share, _ in pairs or ((None, False),)]
    assert found == [None if each is None else pytest.approx(each, abs=1e-5) for each in expected]


INSPECT = {"id": "a", "scores": {"match": {"value": "C", "metadata": {"logprob": 0}}, "asked": {"value": "C"}}}


@in_table
def test_results_of_tools_state_the_confidence_of_answers(case, path, content, expected):
    assert [case.confidence for case in read_results(path, json.dumps(content).encode()).cases] == expected


def test_each_epoch_of_inspect_has_its_confidence_beside_its_own_verdict():
    second = {"id": "a", "epoch": 2, "scores": {"match": {"value": "I", "metadata": {"logprob": -1}}}}
    log = {"version": 2, "status": "success", "samples": [INSPECT, second]}
    (judgement, _) = scored("judged", {"r.json": log}).judgements
    assert [(round(share, 5), right) for share, right in judgement.stated] == [(1.0, RIGHT), (0.36788, WRONG)]


@in_table
def test_a_confidence_outside_its_range_is_named_with_its_line(path, content):
    (finding,) = read_results(path, content.encode()).findings
    assert finding.line == 2 + content.count("\n\n") + path.endswith("csv")
    assert "1 of 2 answers" in finding.message
    assert "stated for 'b'" in finding.value


def evidence(expected: Any, given: Any) -> dict[str, str]:
    result = scored("fields", {"extracted.json": given}, {"ground_truth.json": expected})
    return {f"{each.path} {each.outcome}": each.evidence for each in result.judgements if each.evidence}


@in_table
def test_evidence_stands_beside_the_value_that_it_is_stated_for(expected: Any, given: Any, stated: Any) -> None:
    assert evidence(expected, given) == stated


def test_a_long_quote_is_cut() -> None:
    assert evidence({"a": "x"}, {"a": {"value": "y", "quote": "q" * 300}}) == {"a wrong_value": f"“{'q' * 200}…”"}
