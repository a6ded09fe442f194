"""Responses: variants, what makes their vectors, and the document of the results."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from sitegen.errors import ConfigurationError
from sitegen.model.metrics import Metric, MetricSpec
from sitegen.model.scorecards import Result
from sitegen.scoring.documents import results_document
from sitegen.scoring.kinds import Embedder, File, ScoringInputs, scorer, verdict
from sitegen.scoring.results_file import Metadata
from sitegen.text.values import to_json_bytes
from tests.rows import in_table
from tests.scored import scored

CASES = [
    {"id": "sky", "expected": "blue", "category": "colours"},
    {"id": "grass", "expected": "green", "category": "colours"},
    {"id": "joke"},
]
SPECS = scorer("responses").metrics


def file(name: str, *responses: tuple[str, str], **more: object) -> File:
    rows = [{"case_id": case, "output": output, **more} for case, output in responses]
    return File(name, json.dumps(rows).encode())


def score(*files: File, embedder: Embedder | None = None) -> Result:
    cases = File("evals/x/test_cases.json", json.dumps(CASES).encode())
    return scorer("responses").score(ScoringInputs(outputs=files, ground_truth=cases, embedder=embedder))


def by_length(texts: Sequence[str], /) -> list[list[float]]:
    return [[len(text), 1.0] for text in texts]


def test_what_was_asked_goes_with_the_responses_to_a_case():
    cases = [{"id": "sky", "input": "Which colour?", "expected": "blue"}, {"id": "joke", "input": {"topic": "cats"}}]
    answered = file("evals/x/responses.json", ("sky", "red"), ("sky", "blue"), ("joke", "Ha"))
    result = scored("responses", {answered.path: answered.content}, {"evals/x/test_cases.json": cases})
    told = [(case.id, case.question, len(case.answers)) for case in result.cases]
    assert told == [("sky", "Which colour?", 2), ("joke", '{"topic": "cats"}', 1)]


def test_a_variant_that_is_alone_has_the_name_of_its_file():
    alone = [score(file(path, ("sky", "blue"))).scorecard for path in ("x/responses-short.json", "x/responses.json")]
    assert [
        [(variant, document.name) for variant in card.variants for document in card.documents if document.counts.tp]
        for card in alone
    ] == [[("short", "sky · short")], [("", "sky")]]


def test_a_variant_is_called_as_its_file_says():
    files = [file(path, ("sky", "blue")) for path in ("a/responses-v2.final.json", "responses-.json", "responses.json")]
    assert [*score(*files).scorecard.variants] == ["responses", "responses-", "v2.final"]


def test_a_variant_that_cannot_be_read_is_wrong_in_every_case():
    good = file("responses-a.json", ("sky", "blue"), ("grass", "green"), ("joke", "Ha"))
    result = score(good, File("responses-b.json", b"[{"))
    card = result.scorecard
    assert (card.status, card.metric("accuracy")) == ("scored", 0.5)
    told = [(of.name, of.status, of.counts.omission) for of in card.documents if of.axes["variant"] == "b"]
    assert told == [("sky · b", "unreadable", 1), ("grass · b", "unreadable", 1)]
    assert [finding.message.partition(":")[0] for finding in card.findings if finding.severity == "error"] == [
        "The responses of 'b' cannot be read"
    ]


@in_table
def test_verdicts_that_do_not_count_are_named_once_for_each_file(stated, is_said):
    card = score(file("responses-a.json", ("sky", "It is blue"), ("grass", "green"), **stated)).scorecard
    said = [finding.message for finding in card.findings if "verdicts or scores, which do not count" in finding.message]
    assert (len(said), card.metric("accuracy")) == (int(is_said), 0.5)


def test_without_embeddings_and_without_a_model_consistency_is_undefined_and_one_note_says_so():
    result = score(file("responses.json", ("sky", "blue"), ("grass", "green"), ("joke", "Ha")))
    assert result.scorecard.metric("consistency_score") is None
    assert [(finding.severity, finding.fix) for finding in result.scorecard.findings] == [
        ("note", "Record an `embedding` with each response, or in a clone of sitegen: pip install '.[consistency]'.")
    ]


def test_recorded_embeddings_go_before_a_model():
    recorded = file("responses.json", ("sky", "blue"), ("grass", "greenest"), ("joke", "Ha"), embedding=[1, 2])
    assert score(recorded, embedder=by_length).scorecard.metric("consistency_score") == pytest.approx(1)


def test_two_files_of_one_variant_count_together():
    result = score(file("responses-a.json", ("sky", "blue")), file("responses-a.jsonl"), file("responses-b.json"))
    assert [*result.scorecard.variants] == ["a", "b"]
    found = {finding.message for finding in result.scorecard.findings}
    assert "Two files hold responses of the variant 'a'; both count" in found


def test_the_document_says_each_method_with_its_threshold():
    result = score(file("responses.json", ("sky", "blue"), ("sky", "red"), ("grass", "green"), quality=4))
    wanted = {"average_quality": 4.5}
    body = json.loads(to_json_bytes(results_document(result, eval_id="x", metadata=Metadata(), thresholds=wanted)))
    assert " ".join(body) == "schema eval_id status results summary variants usage slices problems metadata"
    assert body["schema"] == "sitegen/responses-results/1"
    names = ["accuracy", "correct", "total", "excluded", "not_scored", "threshold", "meets_threshold"]
    assert body["results"]["exact_match"] == dict(zip(names, (0.75, 2, 3, 0, 0, 0.85, False), strict=True))
    assert body["results"]["consistency"] == {
        "consistency_score": None,
        "total_comparisons": 0,
        "responses": 0,
        "embeddings": None,
        "case_consistency": None,
        "by_case": [],
        "threshold": 0.8,
        "meets_threshold": None,
    }
    assert body["results"]["quality"] == {
        "average_quality": 4.0,
        "quality_scores": [4, 4, 4],
        "total_evaluated": 3,
        "graded": 3,
        "dropped": 0,
        "agreement_with_people": None,
        "threshold": 4.5,
        "meets_threshold": False,
    }
    assert list(body["results"]["rouge"]) == ["rouge1", "rouge2", "rougeL"]
    failed = body["summary"]["failed_criteria"]
    assert (body["summary"]["overall_status"], failed) == ("FAIL", ["accuracy", "average_quality"])


def test_the_document_holds_only_the_methods_that_are_asked_for():
    result = score(file("responses.json", ("sky", "blue"), ("grass", "green"), embedding=[1, 0]))
    part: Any = results_document(result, eval_id="x", metadata=Metadata(), methods=("quality", "consistency"))
    assert list(part.results) == ["consistency", "quality"]
    assert part.summary.overall_status == "PASS"
    assert [list(row.metrics) for row in part.variants] == [
        ["consistency_score", "average_quality", "case_consistency"]
    ]


def test_an_unknown_method_is_an_error_that_names_the_known_ones():
    with pytest.raises(ConfigurationError, match="no method 'bleu'") as caught:
        results_document(score(), eval_id="x", metadata=Metadata(), methods=["bleu"])
    assert caught.value.fix == "Use some of: exact_match, consistency, quality, rouge."


def test_any_kind_has_a_verdict_where_something_is_wanted():
    specs = scorer("fields").metrics
    found = verdict(specs, {"f1": 0.9, "f2": 0.5}, (Metric("f1", 0.7), Metric("precision", 0.8)))
    assert [(row.metric, row.value, row.status) for row in found.rows] == [("f1", 0.7, "FAIL"), ("f2", None, "SKIP")]
    assert (found.overall_status, found.failed_criteria) == ("FAIL", ("f1",))
    assert len(found.recommendations) == 2
    assert verdict(specs, {}, (Metric("f1", 0.7),)).overall_status == "SKIP"


def test_where_lower_is_better_the_threshold_is_the_most():
    spec = MetricSpec("cost", "Cost", "", higher_is_better=False)
    reached = [verdict((spec,), {"cost": 2.0}, (Metric("cost", value),)).overall_status for value in (2.0, 2.1)]
    assert reached == ["PASS", "FAIL"]
