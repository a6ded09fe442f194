"""A ground truth that was replaced by one that cannot be read: every place names it, and none blames the output."""

import json

import pytest

from tests.sites import build_site, run, text_of

GOLD = {"chunks": [{"chunkIndex": 0, "paragraphs": [{"id": "p", "text": "Moss holds.", "terms": ["Moss"]}]}]}
LOG = {"chunkIndex": 0, "run_id": 1, "paragraphs": ["p"], "highlights": {"p": {"terms": ["Moss"]}}}
KINDS = {
    "fields": {"ground_truth.json": '{"a": 1, "b": 2}', "extracted.json": '{"a": 1, "b": 3}'},
    "fields of a table": {"ground_truth.csv": "a,b\n1,2\n", "extracted.json": '{"a": 1, "b": 3}'},
    "responses": {
        "test_cases.json": '[{"id": "c", "input": "?", "expected": "x"}]',
        "responses.json": '[{"case_id": "c", "output": "y"}]',
    },
    "highlights": {"gold-standard.json": json.dumps(GOLD), "processing-log.ndjson": json.dumps(LOG)},
}


@pytest.mark.parametrize(
    ("kind", "broken"), [*((kind, '{"a": 1, "b":') for kind in KINDS), ("fields", ""), ("fields", "\x00\x01")]
)
def test_it_is_the_truth_that_cannot_be_read(kind, broken, repo, tmp_path):
    files = {f"evals/h/{name}": text for name, text in KINDS[kind].items()}
    repo.commit(files, message="Write an output")
    repo.commit({next(iter(files)): broken}, message="Break the ground truth")
    repo.checkout()
    build_site(repo.path, tmp_path / "site")
    overview = text_of(tmp_path / "site" / "index.html")
    assert "h: its ground truth cannot be read, so that its newest output, iteration-001, is not scored." in overview
    assert "Repair the ground truth of h;" in overview
    assert "iteration-001, cannot be read" not in overview
    badge = json.loads((tmp_path / "site" / "badges" / "h.json").read_text("utf-8"))
    assert badge["message"] == "ground truth unreadable"
    for command in ("history", "verify-one"):
        assert "ground truth unreadable" in run(command, "h", cwd=repo.path).stdout
    assert "has no documents that count" not in run("history", "h", cwd=repo.path).stdout


def test_a_file_of_cases_that_cannot_be_read_is_scored_by_the_terminal_as_by_the_site(repo, tmp_path):
    """Such a file is the output too: the expected values of the last one that could be read still apply."""
    repo.commit(
        {
            "evals/manifest.yaml": "evals:\n  h: {outputs: runs.jsonl, ground_truth_format: cases}\n",
            "evals/h/runs.jsonl": '{"id": "1", "expected": {"a": 1}, "output": {"a": 1}}\n',
        }
    )
    repo.commit({"evals/h/runs.jsonl": '{"id": "1", "expected":'})
    repo.checkout()
    build_site(repo.path, tmp_path / "site")
    points = json.loads((tmp_path / "site" / "data" / "evals" / "h.json").read_text("utf-8"))["points"]
    assert [(point["status"], point["then"]["f1"]) for point in points] == [("scored", 1.0), ("unreadable", 0.0)]
    assert run("verify-one", "h", cwd=repo.path).stdout.splitlines()[:2] == [
        "h  evals/h/runs.jsonl  (unreadable)",
        "  F1  0.000   precision      —   recall  0.000",
    ]
