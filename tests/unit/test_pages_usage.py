"""Cost, time and the model on pages: one site whose model changes together with an edit of the instructions."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sitegen.pages import links
from sitegen.pages.variants import OfVariants, place
from sitegen.project import Options
from sitegen.questions.gate import check
from sitegen.questions.gate_markdown import gate_markdown
from sitegen.questions.gate_report import read_report
from sitegen.scoring.usage import USAGE_METRICS
from sitegen.text.values import schema_first
from tests.gitrepo import GitRepo
from tests.sites import broken_links, build_site, differences, text_of

CASES = [{"id": f"c{number}", "input": "?", "expected": "yes"} for number in range(8)]
PROMPT = "prompts/answer.md"


def responses(right: int, model: str, cost: float, *, judge: str = "j-1", grade: int = 4) -> str:
    """Eight answers, so many of them right, that took as much each."""
    took = {"model": model, "temperature": 0, "tokens_in": 100, "tokens_out": 5, "latency": 0.5, "cost": cost}
    graded = {"quality": grade, "judge": judge}
    answers = (
        {"case_id": f"c{number}", "output": "yes" if number < right else "no", **took, **graded} for number in range(8)
    )
    return json.dumps(list(answers))


def committed(path: Path) -> GitRepo:
    """Four outputs: an edit alone, an edit with another model, and another judge alone."""
    repo = GitRepo(path)
    repo.commit({PROMPT: "Answer.\n", "evals/faq/test_cases.json": json.dumps(CASES)}, message="Begin")
    repo.commit({"evals/faq/responses.json": responses(2, "small", 0.01)}, message="Run 1")
    repo.commit({PROMPT: "Answer well.\n"}, message="Say well")
    repo.commit({"evals/faq/responses.json": responses(4, "small", 0.02)}, message="Run 2")
    repo.commit({PROMPT: "Answer very well.\n"}, message="Say very")
    repo.commit({"evals/faq/responses.json": responses(8, "large", 0.1)}, message="Run 3")
    return repo


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[GitRepo, Path]:
    """The repository with a fourth output, built before and after it."""
    folder = tmp_path_factory.mktemp("usage")
    repo = committed(folder / "repo")
    build_site(repo.path, folder / "site")
    repo.commit({"evals/faq/responses.json": responses(7, "large", 0.1, judge="j-2", grade=2)}, message="Run 4")
    build_site(repo.path, folder / "site")
    return repo, folder / "site"


def points(site: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((site / "data/evals/faq.json").read_text())["points"]
    return found


def test_a_site_that_grew_is_the_site_built_at_once(project: tuple[GitRepo, Path], tmp_path: Path) -> None:
    repo, site = project
    build_site(repo.path, tmp_path / "site")
    assert differences(site, tmp_path / "site") == []
    assert broken_links(site) == []


def test_the_data_state_who_made_an_output_and_what_it_took(project: tuple[GitRepo, Path]) -> None:
    third, fourth = points(project[1])[2:]
    assert third["usage"] == {
        "answers": 8,
        "models": ["large"],
        "parameters": '{"temperature": 0}',
        "tokens_in": 800,
        "tokens_out": 40,
        "cost": 0.8,
        "latency_median": 0.5,
        "latency_p95": 0.5,
        "judges": ["j-1"],
        "graded": ["average_quality"],
    }
    assert third["delta"]["model"] == {"before": ["small"], "after": ["large"]}
    assert third["delta"]["cost"] == pytest.approx(0.64)
    assert "model" not in fourth["delta"]


def test_grades_of_two_judges_are_not_compared(project: tuple[GitRepo, Path]) -> None:
    third, fourth = points(project[1])[2:]
    assert third["delta"]["average_quality"] == 0
    assert fourth["delta"]["average_quality"] is None
    assert fourth["delta"]["judge"] == {"before": ["j-1"], "after": ["j-2"], "metrics": ["average_quality"]}
    assert fourth["delta"]["accuracy"] == -0.125
    report = text_of(project[1] / "evals/faq/0004.html")
    assert "The judge changed from j-1 to j-2. Its grades are not compared with earlier ones." in report


def test_a_report_names_the_model_and_that_it_is_another(project: tuple[GitRepo, Path]) -> None:
    report = text_of(project[1] / "evals/faq/0003.html")
    assert (
        "The model changed from small to large. How much of the change is due to it, and how much to edits, is unknown."
        in report
    )
    assert 'Model large Judge j-1 Parameters {"temperature": 0}' in report
    assert "Total cost 0.80 USD" in report
    assert "The model changed" not in text_of(project[1] / "evals/faq/0002.html")


def test_an_edit_is_not_credited_with_what_came_with_another_model(project: tuple[GitRepo, Path]) -> None:
    repo, site = project
    shas = repo.git("log", "--format=%H", "--", PROMPT).split()
    with_model, alone = (text_of(site / links.edit(PROMPT, sha)) for sha in shas[:2])
    assert "1 cannot tell the model changed too Last output" in with_model
    assert "The model changed from small to large." in with_model
    assert "The model changed" not in alone
    summary = (site / "summary.md").read_text()
    assert "made by large; the judge changed from j-1 to j-2; cost 0.80 USD, tokens in 800, out 40, median" in summary
    assert "`faq`: the model changed from small to large too, and the two effects cannot be separated" in summary


def test_the_gate_limits_cost_and_compares_no_grades_of_two_judges(tmp_path: Path) -> None:
    repo = committed(tmp_path / "repo")
    limits = "[gate.metrics]\ncost = {floor = 0.7, drop = 50.0}\naverage_quality = {drop = 0.0}\n"
    (repo.path / "sitegen.toml").write_text(limits)
    repo.commit({"evals/faq/responses.json": responses(7, "large", 0.1, judge="j-2", grade=2)})
    report = check(Options(repo=repo.path, cache=tmp_path / "memo"), "HEAD~2", exact=True)
    document = json.loads(schema_first(report))
    cost = next(each for each in document["evals"][0]["metrics"] if each["name"] == "cost")
    assert (cost["base"], cost["head"], cost["points"], cost["range"]) == (0.16, 0.8, pytest.approx(400), [0.0, None])
    assert cost["reasons"] == ["below the floor", "dropped"]
    grades = next(each for each in document["evals"][0]["metrics"] if each["name"] == "average_quality")
    assert (grades["verdict"], grades["reasons"]) == ("not comparable", ["another judge"])
    said = gate_markdown(report)
    assert "Total cost is 0.80 USD, above the ceiling of 0.7." in said
    assert "Total cost got worse by 0.64 USD (+400 %), and at most 50 % is allowed." in said
    assert "The model changed from `small` to `large`: how much of the change is due to it" in said
    assert gate_markdown(read_report(schema_first(report))) == said


def test_the_page_of_comparisons_names_model_and_judge(project: tuple[GitRepo, Path]) -> None:
    page = text_of(project[1] / "evals/faq/compare.html")
    assert "The judge changed from j-1 to j-2." in page
    data = re.search(r'"graded":\[(\d)\]', (project[1] / "evals/faq/compare.html").read_text(encoding="utf-8"))
    assert data
    assert data[1] == "2"


def test_variants_have_bars_of_what_they_took() -> None:
    specs = {spec.name: spec for spec in USAGE_METRICS}
    row: OfVariants = (specs["cost"], (0.5, 2.0, None))
    assert [place(row, value) for value in row[1]] == [250.0, 1000.0, 0.0]


def test_the_trend_is_split_by_model_and_draws_quality_against_cost(project: tuple[GitRepo, Path]) -> None:
    page = (project[1] / "evals/faq/index.html").read_text(encoding="utf-8")
    said = text_of(project[1] / "evals/faq/index.html")
    assert "Accuracy by model" in said
    assert said.count("another model") == 1
    assert said.count("another judge") == 1
    assert "Accuracy against total cost" in said
    assert re.findall(r'<circle class="dot (v\d(?: past)?)"[^>]*>\s*<title>([^<]*)', page)[:4] == [
        ("v1 past", "iteration-001: Accuracy 0.250, 0.08 USD, small"),
        ("v1", "iteration-002: Accuracy 0.500, 0.16 USD, small"),
        ("v0 past", "iteration-003: Accuracy 1.000, 0.80 USD, large"),
        ("v0", "iteration-004: Accuracy 0.875, 0.80 USD, large"),
    ]
    table = said.partition("95th percentile of latency, s ")[2]
    assert table.startswith("iteration-004 large 0.875 0.80 800 40 0.50 0.50 iteration-003 large 1.000 0.80")


def test_models_that_none_beats_in_quality_and_cost_are_named(repo: GitRepo, tmp_path: Path) -> None:
    took = {"small": (1, 0.01, 0.5), "middle": (3, 0.1, 2.0), "large": (4, 0.3, 1.0), "dear": (4, 0.4, 1.0)}
    rows = [
        {"id": f"c{case}", "model": model, "passed": case < right, "cost": cost, "latency": seconds}
        for model, (right, cost, seconds) in took.items()
        for case in range(4)
    ]
    repo.commit({"evals/manifest.yaml": "evals: {desk: {kind: judged, outputs: results.json}}", PROMPT: "Answer.\n"})
    repo.commit({"evals/desk/results.json": json.dumps(rows)})
    build_site(repo.path, tmp_path / "site")
    said = text_of(tmp_path / "site" / "evals/desk/index.html")
    by_cost, by_time = said.split("A ring marks what no other beats in both:")[1:]
    assert by_cost.startswith(" small 0.250, middle 0.750, large 1.000.")
    assert by_time.startswith(" small 0.250, dear 1.000, large 1.000.")
    table = said.partition("Total cost, USD Median latency, s ")[2]
    assert table.startswith(
        "iteration-001 dear 1.000 1.60 1.00 iteration-001 large 1.000 1.20 1.00 iteration-001 middle"
    )
