"""Cost, time and the model on pages: one site whose model changes together with an edit of the instructions."""

import json
import re
from pathlib import Path

import pytest

from sitegen.pages import links
from sitegen.pages.variants import OfVariants, place
from sitegen.scoring.usage import USAGE_METRICS
from tests.gitrepo import GitRepo
from tests.sites import build_site, text_of

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


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[GitRepo, Path]:
    """Four outputs: an edit alone, an edit with another model, and another judge alone."""
    folder = tmp_path_factory.mktemp("usage")
    repo = GitRepo(folder / "repo")
    repo.commit({PROMPT: "Answer.\n", "evals/faq/test_cases.json": json.dumps(CASES)})
    repo.commit({"evals/faq/responses.json": responses(2, "small", 0.01)})
    repo.commit({PROMPT: "Answer well.\n"})
    repo.commit({"evals/faq/responses.json": responses(4, "small", 0.02)})
    repo.commit({PROMPT: "Answer very well.\n"})
    repo.commit({"evals/faq/responses.json": responses(8, "large", 0.1)})
    repo.commit({"evals/faq/responses.json": responses(7, "large", 0.1, judge="j-2", grade=2)})
    build_site(repo.path, folder / "site")
    return repo, folder / "site"


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
