"""The forms in which projects lay out what is expected and what was given: each is read to the same numbers."""

import json
from typing import Any

import pytest

from sitegen.model.scorecards import TablePanel
from tests.scored import Files, scored


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


BY_NAME = {"a": {"total": 1}, "b": {"total": 2}}
LISTED = [{"id": "a", "total": 1}, {"id": "b", "total": 2}]
TRUTHS: dict[str, Files] = {
    "a table": {"t.csv": "id,total\na,1\nb,2\n"},
    "a list": {"t.json": LISTED},
    "lines": {"t.jsonl": lines(*LISTED)},
    "a list in an envelope": {"t.json": {"data": LISTED}},
    "by name in an envelope": {"t.json": {"documents": BY_NAME}},
    "beside its question": {
        "t.jsonl": lines({"id": "a", "input": "?", "expected": {"total": 1}}, {"id": "b", "expected": {"total": 2}})
    },
}
OUTPUTS: dict[str, Files] = {
    "by name": {"o.json": {"b": {"total": 3}, "a": {"total": 1}}},
    "by name in an envelope": {"o.json": {"results": {"a": {"total": 1}, "b": {"total": 3}}}},
    "a list in an envelope": {"o.json": {"documents": [{"id": "b", "total": 3}, {"id": "a", "total": 1}]}},
    "a table": {"o.csv": "id,total\nb,3\na,1\n"},
    "a file for each": {"run/a.json": {"total": 1}, "run/b.json": {"total": 3}},
    "a file with fields for each": {
        "a.json": {"run": 1, "fields": {"total": 1}},
        "b.json": {"extracted": {"total": 3}},
    },
    "beside its cost": {
        "o.jsonl": lines(
            {"id": "a", "output": {"total": 1}, "cost": 0.1}, {"id": "b", "output": '{"total": 3}', "latency": 2}
        )
    },
}


@pytest.mark.parametrize(
    ("truth", "output"),
    [
        (truth, output)
        for truth in TRUTHS
        for output in OUTPUTS
        if output != "beside its cost" or truth == "beside its question"
    ],
)
def test_every_form_of_documents_goes_with_every_form_of_what_is_expected(truth: str, output: str) -> None:
    result = scored("fields", OUTPUTS[output], TRUTHS[truth])
    card = result.scorecard
    found = {document.name: (document.counts.tp, document.counts.wrong_value) for document in card.documents}
    assert found == {"a": (1, 0), "b": (0, 1)}
    assert (card.metric("f1"), [judgement.path for judgement in result.judgements]) == (0.5, ["total", "total"])
    assert card.findings == ()


def test_files_of_documents_that_are_expected_by_name_in_one_object_are_its_members() -> None:
    card = scored("fields", OUTPUTS["a file for each"], {"t.json": BY_NAME}).scorecard
    assert (card.metric("f1"), [field.attribute for field in card.fields]) == (0.5, ["a.total", "b.total"])


def test_lines_of_a_data_set_are_test_cases_and_lines_of_a_run_their_responses() -> None:
    truth = lines({"id": "1", "input": "?", "expected": "A"}, {"id": "2", "input": "!", "expected": "B"})
    run = lines({"id": "1", "prediction": "A", "cost": 0.5}, {"id": "2", "prediction": "C", "cost": 0.25})
    card = scored("responses", {"runs/m-1.jsonl": run}, {"dataset.jsonl": truth}).scorecard
    assert (card.metric("accuracy"), card.usage and card.usage.cost) == (0.5, 0.75)


def test_columns_say_who_answered_a_case_of_a_table_with_both_sides() -> None:
    rows = (f"c{n},{who},{n},{given}\n" for n in (1, 2) for who, given in (("a,mini", 1), ("b,mini", n), ("b,opus", 2)))
    file = {"results.csv": f"case,variant,model,expected,output\n{''.join(rows)}"}
    card = scored("responses", file, file, {"ground_truth_format": "cases"}).scorecard
    assert {document.case for document in card.documents} == {"c1", "c2"}
    right = [(*document.axes.values(), document.counts.tp) for document in card.documents if document.case == "c2"]
    assert right == [("a", "mini", 0), ("b", "mini", 1), ("b", "opus", 1)]


@pytest.mark.parametrize("names", ["y_true,y_pred", "true_label,predicted_label"])
def test_a_classification_has_precision_and_recall_by_class_and_a_confusion_matrix(names: str) -> None:
    table = f"id,text,{names}\n1,hi,spam,spam\n2,yo,ham,spam\n3,hey,ham,ham\n4,oh,ham,ham\n"
    result = scored("judged", {"results.csv": table})
    card = result.scorecard
    assert (card.metric("score"), card.metric("precision"), card.metric("recall")) == (0.75, 0.75, 0.75)
    counts = {field.attribute: (field.counts.tp, field.counts.fp, field.counts.fn) for field in card.fields}
    assert counts == {"spam": (1, 1, 0), "ham": (2, 0, 1)}
    matrix = next(panel for panel in result.panels if isinstance(panel, TablePanel))
    assert [name for name, _ in matrix.columns] == ["Expected", "ham", "spam", "F1", "Precision", "Recall"]
    assert matrix.rows == (("ham", "2", "1", "0.800", "1.000", "0.667"), ("spam", "0", "1", "0.667", "0.500", "1.000"))
    assert matrix.note.endswith("mean F1 of all classes (macro F1) 0.733")
    wrong = [judgement for judgement in result.judgements if judgement.outcome != "correct"]
    assert [(one.outcome, one.expected, one.actual, one.note) for one in wrong] == [
        ("wrong_value", "ham", "spam", "given spam")
    ]
