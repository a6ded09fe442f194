"""``eval-results.json``: written from a result, read back as what a run recorded."""

import json

from sitegen.model.recorded import Recorded, read_recorded
from sitegen.model.scorecards import AlignmentPanel, AlignmentRow, NotePanel
from sitegen.scoring.documents import results_document as results_document
from sitegen.scoring.kinds import File, ScoringInputs, scorer
from sitegen.scoring.results_file import Metadata, alignments
from sitegen.text.values import to_json_bytes
from tests.rows import in_table
from tests.scored import scored

RESULT = scorer("fields").score(
    ScoringInputs(
        outputs=(
            File("e.json", b'{"area": 160.50, "bad": NaN, "note": "x", "walls": [{"name": "N"}, {"name": "E"}]}'),
        ),
        ground_truth=File("t.json", b'{"area": 600.0, "bad": 1, "ok": null, "walls": [{"name": "S"}, {"name": "N"}]}'),
    )
)
METADATA = Metadata(
    iteration=3,
    timestamp="2026-02-05T23:59:08-08:00",
    git_commit="ABCDEF1",
    dirty=True,
    instruction_hashes={"b.md": "22", "a.md": "11"},
    sitegen="0.1.0",
)
WRITTEN = to_json_bytes(results_document(RESULT, eval_id="house", metadata=METADATA))


def test_the_document_has_every_number_and_keeps_the_spelling_of_values() -> None:
    assert b'"expected": 600.0,' in WRITTEN
    assert b'"actual": 160.50,' in WRITTEN
    assert b"NaN," not in WRITTEN
    assert json.loads(WRITTEN) == {
        "schema": "sitegen/eval-results/1",
        "eval_id": "house",
        "status": "scored",
        "metrics": {
            "precision": 0.2,
            "recall": 0.25,
            "f1": 2 / 9,
            "true_positives": 1,
            "false_positives": 4,
            "false_negatives": 3,
            "true_negatives": 1,
            "field_accuracy": 2 / 7,
            "macro_f1": 2 / 9,
            "macro_f1_attributes": 0.125,
            **dict.fromkeys(("auroc", "pass_any", "pass_all", "flaky")),
            "correct_fields": 1,
            "total_fields": 4,
            "total_fields_gt": 4,
            "total_fields_extracted": 5,
            "convention": "standard",
        },
        "errors_by_type": {"omission": 1, "hallucination": 2, "wrong_value": 1, "format_error": 1},
        "by_field": {
            "area": {"tp": 0, "fp": 1, "fn": 1, "tn": 0, "precision": 0.0, "recall": 0.0, "f1": 0.0},
            "bad": {"tp": 0, "fp": 1, "fn": 1, "tn": 0, "precision": 0.0, "recall": 0.0, "f1": 0.0},
            "ok": {"tp": 0, "fp": 0, "fn": 0, "tn": 1, "precision": None, "recall": None, "f1": None},
            "walls[].name": {"tp": 1, "fp": 1, "fn": 1, "tn": 0, "precision": 0.5, "recall": 0.5, "f1": 0.5},
            "note": {"tp": 0, "fp": 1, "fn": 0, "tn": 0, "precision": 0.0, "recall": None, "f1": 0.0},
        },
        "documents": [
            {"id": "", "f1": 2 / 9, "status": "scored"}
            | {"case": "", "variant": None, "model": None, "repeat": None, "tags": {}}
        ],
        "macro_f1": 2 / 9,
        "pooled_f1": 2 / 9,
        "macro_f1_attributes": 0.125,
        "discrepancies": [
            dict(zip(("document", "field_path", "expected", "actual", "error_type", "note"), ("", *row), strict=True))
            for row in (
                ("area", 600.0, 160.5, "wrong_value", ""),
                ("bad", 1, "NaN", "format_error", ""),
                ("walls[0].name", "S", None, "omission", "missing item"),
                ("walls[1].name", None, "E", "hallucination", "extra item"),
                ("note", None, "x", "hallucination", "not in ground truth"),
            )
        ],
        "alignment": {"walls": [[1, 0, 1.0, "key"], [0, None, None, None], [None, 1, None, None]]},
        "usage": None,
        "slices": [],
        "problems": [
            {"severity": "warning", "what": "A value is not a number, which nothing can be compared with: NaN"}
            | {"fix": "Write a finite number, or null.", "line": 1, "about": "output"}
        ],
        "metadata": {
            "iteration": 3,
            "timestamp": "2026-02-05T23:59:08-08:00",
            "git_commit": "ABCDEF1",
            "dirty": True,
            "instruction_hashes": {"b.md": "22", "a.md": "11"},
            "sitegen": "0.1.0",
        },
    }


def test_every_metric_of_the_kind_is_in_the_document() -> None:
    metrics = json.loads(WRITTEN)["metrics"]
    names = [spec.name for spec in scorer("fields").metrics]
    assert {name: metrics[name] for name in names} == {name: RESULT.scorecard.metric(name) for name in names}


def test_a_report_shows_the_alignment_and_what_a_mean_left_out() -> None:
    assert RESULT.panels == (
        AlignmentPanel(
            document="",
            path="walls",
            algorithm="greedy",
            threshold=0.8,
            rows=(
                AlignmentRow(expected=1, actual=0, similarity=1.0, paired_by="key", label="N"),
                AlignmentRow(expected=0, label="S"),
                AlignmentRow(actual=1, label="E"),
            ),
        ),
        NotePanel("Macro F1 over fields leaves out 1 of 5 fields: nothing was expected or given there."),
    )


def test_lists_of_several_documents_are_told_apart() -> None:
    both = b'[{"id": "a", "l": [{"name": "x"}]}, {"id": "b", "l": [{"name": "y"}]}]'
    result = scored("fields", {"e.json": both}, {"t.json": both})
    assert alignments(result) == {"a:l": [(0, 0, 1.0, "key")], "b:l": [(0, 0, 1.0, "key")]}


def test_what_is_written_is_read_back_as_recorded() -> None:
    document = json.loads(WRITTEN)
    errors = {f"errors_by_type.{name}": number for name, number in document["errors_by_type"].items()}
    assert read_recorded(WRITTEN) == Recorded(
        metrics={name: value for name, value in document["metrics"].items() if isinstance(value, int | float)} | errors,
        timestamp="2026-02-05T23:59:08-08:00",
        git_commit="abcdef1",
        instruction_hashes=(("a.md", "11"), ("b.md", "22")),
    )


@in_table
def test_recorded_files_of_any_kind_are_read_without_failing(content, expected) -> None:
    body = content.replace("DEEP", "[" * 100_000).encode("latin-1")
    assert read_recorded(body) == (None if expected is None else Recorded(**expected))
