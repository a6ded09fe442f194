"""What the document about judges of fields states, and nothing else in the suite shows."""

import json

import pytest

from sitegen.questions.verify import verify
from sitegen.questions.work_tree import WorktreeProject


@pytest.fixture(scope="module")
def project(built):
    return built("field-judges")


def test_results_alone_in_a_folder_of_evals_are_read_without_a_manifest(project):
    series = json.loads((project.out / "data/evals/invoices.json").read_text(encoding="utf-8"))
    (point,) = series["points"]
    assert (series["kind"], point["then"]["metrics"]["score"], point["then"]["f1"]) == ("judged", 0.75, 0.8)


def test_counts_are_summed_over_cases_by_field_wherever_details_hold_them(project):
    card = verify(WorktreeProject.open(project.repo.path), "invoices").result.scorecard
    assert {name: tuple(counts[:4]) for name, counts in card.fields} == {
        "supplier": (2, 0, 0, 0),
        "total": (1, 1, 1, 0),
        "description": (1, 0, 0, 0),
        "hs_code": (0, 0, 0, 1),
    }
    assert card.findings == ()


def test_a_report_shows_details_alignment_and_judges_without_details(project):
    page = (project.out / "evals/invoices/0001.html").read_text(encoding="utf-8")
    assert [shown for shown in ("line_items", "0.93", "exists", "One header field of two") if shown not in page] == []
