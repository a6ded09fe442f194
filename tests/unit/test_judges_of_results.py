"""Results that a model judged, when the judge changes: nothing of what it judged is held against what was before."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from sitegen.analysis.champion import champions
from sitegen.analysis.deltas import exchanges, graded_since
from sitegen.comparing.gate.document import to_json_bytes
from sitegen.model.scorecards import Scorecard
from sitegen.project import Options
from sitegen.questions.comparison import compare_iterations
from sitegen.questions.gate import check
from sitegen.scoring.kinds import scorer
from sitegen.scoring.scorer import File, ScoringInputs
from tests.gitrepo import GitRepo
from tests.sites import broken_links, build_site

PATH = "evals/tone/results.json"
MANIFEST = {"evals/manifest.yaml": "evals: {tone: {kind: judged, outputs: results.json}}\n"}
ALL = ("score", "f1", "precision", "recall", "pass_rate")


def results(right: int, judge: str | None = "j-1", *, prompt: str = "", rubric: str = "kind", cases: int = 8) -> str:
    """So many answers, so many of them right: judged by a model, or by a rule if it is None."""
    kind = {"type": "contains", "value": rubric} if judge is None else {"type": "llm-rubric", "value": rubric}
    options = {"provider": judge, "rubricPrompt": prompt}
    rows: list[dict[str, Any]] = []
    for number in range(cases):
        passed = number < right
        component = {"pass": passed, "score": float(passed), "reason": "said", "assertion": kind}
        grading = {"pass": passed, "score": float(passed), "reason": "said", "componentResults": [component]}
        test = {"description": f"c{number}", "options": options}
        rows.append({"promptIdx": 0, "testIdx": number, "success": passed, "score": float(passed), "testCase": test})
        rows[-1]["gradingResult"] = grading
    prompts = [{"id": "p", "raw": "p", "label": "p", "provider": "echo"}]
    return json.dumps({"results": {"version": 3, "prompts": prompts, "results": rows}})


def card(*args: Any, **options: Any) -> Scorecard:
    content = results(*args, **options).encode()
    return scorer("judged").score(ScoringInputs((File("o.json", content),), None, None, None, "{}")).scorecard


def judges(before: Scorecard, after: Scorecard) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    found = exchanges(before, after)[1]
    assert found is None or found.metrics == ALL
    return found and (found.before, found.after)


def test_another_judge_is_another_model_another_prompt_or_another_question_about_a_case() -> None:
    assert judges(card(4), card(4, "j-2")) == (("j-1",), ("j-2",))
    assert judges(card(4, prompt="a"), card(4, prompt="b")) == (
        ("j-1 prompt ca978112ca1b",),
        ("j-1 prompt 3e23e8160039",),
    )
    asked = judges(card(4), card(4, rubric="curt"))
    assert asked is not None
    assert [names[0] for names in asked] == ["j-1", "j-1"]
    assert [re.sub("[0-9a-f]{12}", "#", names[1]) for names in asked] == ["rubrics #", "rubrics #"]
    assert judges(card(4, ""), card(4, "", rubric="curt")) is not None


def test_the_same_judge_silence_and_rules_are_no_other_judge() -> None:
    assert judges(card(4), card(7)) is None
    assert judges(card(4, cases=5), card(4, cases=8)) is None
    assert judges(card(4), card(4, "")) is None
    assert judges(card(4), card(4, None)) is None
    assert judges(card(4, None), card(4, None, rubric="curt")) is None


def test_what_is_best_is_asked_anew_where_another_judge_begins_and_silence_in_between_hides_none() -> None:
    cards = [card(7), card(4), card(5, ""), card(3, "j-2"), card(4, "j-2")]
    since = graded_since(cards, "score")
    assert since == [0, 0, 0, 3, 3]
    assert champions([each.metric("score") for each in cards], since) == (0, 0, 0, 3, 4)
    assert graded_since(cards, "cost") == [0] * 5


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[GitRepo, Path]:
    """Eight outputs of which most are right by one judge, then eight of which few are by another."""
    folder = tmp_path_factory.mktemp("judges")
    repo = GitRepo(folder / "repo")
    repo.commit({**MANIFEST, "prompts/a.md": "Answer.\n", PATH: results(7)}, message="Run")
    for number in range(1, 8):
        repo.commit({PATH: results(7 - number % 2)}, message="Run again")
    for number in range(8):
        repo.commit({PATH: results(1 + number % 2, "j-2")}, message="Another judge")
    build_site(repo.path, folder / "site")
    return repo, folder / "site"


def text(site: Path, page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", (site / page).read_text(encoding="utf-8"))).split())


def test_no_page_calls_it_worse_where_another_judge_begins(project: tuple[GitRepo, Path]) -> None:
    _, site = project
    ninth = json.loads((site / "data/evals/tone.json").read_text())["points"][8]
    assert [ninth["delta"][name] for name in ALL] == [None] * 5
    assert ninth["delta"]["judge"] == {"before": ["j-1"], "after": ["j-2"], "metrics": list(ALL)}
    report = text(site, "evals/tone/0009.html")
    assert "The judge changed from j-1 to j-2. Its grades are not held against those before." in report
    assert "Worse" not in report
    assert "Discrepancies 7 5 new" in report
    trend = text(site, "evals/tone/index.html")
    assert trend.count("another judge") == 1
    assert "No step beyond noise in 3 series" in text(site, "regressions.html")
    assert broken_links(site) == []


def test_the_best_point_is_one_of_the_newest_judge(project: tuple[GitRepo, Path]) -> None:
    _, site = project
    assert "the best so far by this judge" in text(site, "evals/tone/index.html")
    assert "Best so far" in text(site, "regressions.html")
    assert "tone 0.250 0.052 to 0.670 iteration-010" in text(site, "regressions.html")
    entries = text(site, "feed.xml")
    assert "Score 0.125 to 0.250" in entries
    assert "Score 0.875 to" not in entries
    assert "The best value so far by this judge." in entries
    compared = text(site, "evals/tone/compare.html")
    assert "The judge changed" not in compared
    data = re.search(r'"graded":\[([0-9,]+)\]', (site / "evals/tone/compare.html").read_text(encoding="utf-8"))
    assert data is not None
    assert data[1] == "0,1,2,3,4"


def test_the_gate_and_the_comparison_say_that_they_cannot_tell(project: tuple[GitRepo, Path], tmp_path: Path) -> None:
    repo, _ = project
    (repo.path / "sitegen.toml").write_text("[gate]\ndrop = 1.0\n")
    try:
        report = check(Options(repo=repo.path, cache=tmp_path / "memo"), "HEAD~8", exact=True)
    finally:
        (repo.path / "sitegen.toml").unlink()
    document = json.loads(to_json_bytes(report))["evals"][0]
    metric = document["metrics"][0]
    assert (metric["name"], metric["verdict"], metric["reasons"]) == ("score", "not comparable", ["another judge"])
    assert document["judge"] == {"base": ["j-1"], "head": ["j-2"], "metrics": list(ALL)}
    change = compare_iterations(Options(repo=repo.path, cache=tmp_path / "memo"), "tone", (8, 9)).document.changes[0]
    assert {metric.change for metric in change.metrics if metric.name in ALL} == {None}
    assert change.chance is not None
    assert (change.chance.decision, change.chance.why, change.chance.bootstrap_change) == (
        "inconclusive",
        "another judge",
        None,
    )
    assert (change.judgements.p_value, change.by_document.p_value) == (None, None)
    assert change.warnings == (
        "Graded were iteration-008 by j-1, iteration-009 by j-2: not compared is what grades are part of "
        "(Score, F1, Precision, Recall, Pass rate).",
    )
