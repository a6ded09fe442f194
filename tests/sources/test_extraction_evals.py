"""What the document about evals of an extraction states, and nothing else in the suite shows."""

import json
import re

import pytest

from sitegen.questions.work_tree import WorktreeProject
from tests.sites import run


@pytest.fixture(scope="module")
def project(built):
    return built("extraction-evals")


@pytest.fixture(scope="module")
def report(project) -> str:
    """The text of the report of the first iteration."""
    page = (project.out / "evals/lamb-adu/0001.html").read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", re.sub(r"<wbr>", "", re.sub(r"<(?!wbr)[^>]*>", " ", page)))


def test_each_iteration_is_a_point_with_its_numbers_its_time_and_its_instructions(project):
    series = json.loads((project.out / "data/evals/lamb-adu.json").read_text(encoding="utf-8"))
    points = [
        (point["label"], point["recorded_at"], point["then"]["f1"], sum(point["then"]["errors"].values()))
        for point in series["points"]
    ]
    assert points == [
        ("iteration-001", "2026-02-03T10:00:00", 1 / 3, 3),
        ("iteration-002", "2026-02-04T10:00:00", 1.0, 0),
    ]
    first, second = (set(point["instructions"]) for point in series["points"])
    instructions = ".claude/instructions/verifier/instructions.md"
    assert (first, second) == ({".claude/agents/verifier.md", instructions}, {instructions})


def test_a_report_shows_metrics_shares_of_errors_and_each_field_expected_and_actual(report):
    for shown in (
        "lamb-adu, iteration-001",
        "Recorded 3 Feb 2026",
        "F1 0.333",
        "Precision 0.333",
        "Recall 0.333 1 of 3 expected values correct",
        "Omission 1 33.3 % H Hallucination 1 33.3 % W Wrong value 1 33.3 % F Format error 0",
        "1 Omission project.bedrooms 2 missing",
        "2 Hallucination project.garage_area not in ground truth 400",
        "3 Wrong value envelope.conditioned_floor_area 1200 1000",
    ):
        assert shown in report


def test_numbers_that_the_document_computes_otherwise_are_shown_beside_ours_with_the_reason(report):
    assert "F1 0.400 0.333 Recall 0.500 0.333 False negatives 1 2" in report
    assert "The record counts by the convention omissions_only: with it the same files give the recorded" in report


def test_the_page_of_the_eval_lists_each_column_with_its_field(project):
    page = (project.out / "evals/lamb-adu/index.html").read_text(encoding="utf-8")
    rows = re.findall(r"<tr><td[^>]*>([^<]+)<td[^>]*>([^<\n]+)", page.partition('id="columns"')[2])
    assert rows == [
        ("Climate Zone", "project.climate_zone"),
        ("Conditioned Floor Area", "envelope.conditioned_floor_area"),
        ("Bedrooms", "project.bedrooms"),
    ]


def test_what_lies_beside_an_eval_disturbs_nothing(project):
    problems = (project.out / "problems.html").read_text(encoding="utf-8")
    assert (project.site.errors, project.site.failed) == (0, 0)
    assert [name for name in (".pdf", "eval-report.html", "aggregate.json", ".py") if name in problems] == []
    assert WorktreeProject.open(project.repo.path).eval_ids == ("lamb-adu",)


def test_the_commands_of_the_document_print_the_numbers_and_where_the_report_is(project, tmp_path):
    output = project.repo.path / "evals/lamb-adu/results/iteration-001/extracted.json"
    done = run("verify-one", "lamb-adu", output, "--output-dir", tmp_path, cwd=project.repo.path)
    assert done.stderr == f"report {tmp_path}/eval-report.html\n"
    assert done.stdout.splitlines()[1:3] == [
        "  F1  0.333   precision  0.333   recall  0.333",
        "  1 of 3 values correct   TP 1  FP 2  FN 2  TN 0",
    ]
    assert "omission 1 (33.3 %)  hallucination 1 (33.3 %)  wrong value 1 (33.3 %)  format error 0" in done.stdout
    every = run("verify-all", "--evals-dir", "evals", cwd=project.repo.path)
    assert [re.sub(r" +", " ", line) for line in every.stdout.splitlines()[1:]] == [
        "lamb-adu F1 1.000 0.139 to 1.000 1.000 1.000 0 evals/lamb-adu/results/iteration-002/extracted.json",
        "macro F1 1.000 0.139 to 1.000 1.000 1.000",
        "pooled F1 1.000 1.000 1.000",
    ]


def test_a_report_of_thousands_of_errors_is_bounded_and_its_data_are_whole(project, tmp_path):
    output = tmp_path / "many.json"
    output.write_text(json.dumps({f"field_{number}": "x" * 100 for number in range(5_000)}))
    run("verify-one", "lamb-adu", output, "--output-dir", tmp_path / "out", cwd=project.repo.path)
    page = (tmp_path / "out/eval-report.html").read_text(encoding="utf-8")
    results = json.loads((tmp_path / "out/eval-results.json").read_bytes())
    assert len(page) < 2_000_000
    assert "Not drawn: 4,950 more (hallucination)." in " ".join(page.split())
    assert (len(results["discrepancies"]), results["errors_by_type"]["hallucination"]) == (5_003, 5_000)
