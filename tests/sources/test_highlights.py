"""What the document about highlights prints, and nothing else in the suite shows."""

import json
import shutil

import pytest

from tests.sites import run


@pytest.fixture(scope="module")
def project(built):
    return built("highlights")


def test_the_worked_example_prints_two_expected_two_found_one_correct_and_50_per_cent(project):
    done = run("verify-one", "highlights", "evals/raw-llm-run.json", cwd=project.repo.path)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["highlights  evals/raw-llm-run.json", "  expected 2  found 2  correct 1  accuracy 50 %"]
    assert [line.split()[0] for line in lines[-2:]] == ["missed", "wrong"]
    assert ("expected2" in lines[-2], "wrong1" in lines[-1]) == (True, True)


def test_an_output_and_then_a_log_at_the_root_are_points(project):
    series = json.loads((project.out / "data/evals/highlights.json").read_text(encoding="utf-8"))
    assert [(point["then"]["metrics"]["accuracy"], point["then"]["errors"]) for point in series["points"]] == [
        (0.5, {"omission": 1, "hallucination": 1, "wrong_value": 0, "format_error": 0}),
        (0.0, {"omission": 2, "hallucination": 1, "wrong_value": 0, "format_error": 0}),
    ]


def test_extract_without_words_turns_the_log_at_the_root_into_a_file_of_the_evals(project, tmp_path):
    copy = tmp_path / "project"
    (copy / "evals").mkdir(parents=True)
    shutil.copytree(project.repo.path / "logs", copy / "logs")
    done = run("extract", cwd=copy)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "wrote evals/raw-llm-run.json: 2 chunks, 2 paragraphs, 2 highlights\n"
    written = json.loads((copy / "evals/raw-llm-run.json").read_bytes())
    assert written.pop("name").startswith("processing-log - ")
    assert written == {
        "chunks": [
            {
                "chunk_id": "chunk_0",
                "paragraphs": {"para_1": "Test text"},
                "llm_output": {"para_1": {"terms": ["test"], "concepts": [], "examples": []}},
            },
            {
                "chunk_id": "chunk_1",
                "paragraphs": {"para_2": "More text"},
                "llm_output": {"para_2": {"terms": [], "concepts": ["concept"], "examples": []}},
            },
        ]
    }
