"""Results that a model judged, when the judge changes: its grades are not compared with those of the judge before."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.analysis.change import best_points
from sitegen.analysis.deltas import Compared, comparable_since
from sitegen.importers import read_results
from sitegen.model.metrics import MetricSpec
from sitegen.model.scorecards import Scorecard
from sitegen.project import Options
from sitegen.questions.comparison import compare_iterations
from sitegen.questions.gate import check
from sitegen.text.values import schema_first
from tests import pages_sample as sample
from tests.gitrepo import GitRepo
from tests.scored import scored
from tests.sites import broken_links, build_site, text_of

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
    return scored("judged", {"o.json": results(*args, **options)}).scorecard


def judges(before: Scorecard, after: Scorecard) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    found = Compared(before, after).exchanges[1]
    assert found is None or found.metrics == ALL
    return (found.before, found.after) if found else None


def test_another_judge_is_another_model_another_prompt_or_another_question_about_a_case() -> None:
    assert judges(card(4), card(4, "j-2")) == (("j-1",), ("j-2",))
    told = judges(card(4, prompt="a"), card(4, prompt="b"))
    assert told == (("j-1 prompt ca978112ca1b",), ("j-1 prompt 3e23e8160039",))
    asked = judges(card(4), card(4, rubric="curt"))
    assert asked is not None
    assert [names[0] for names in asked] == ["j-1", "j-1"]
    assert [re.sub("[0-9a-f]{12}", "#", names[1]) for names in asked] == ["judges or rubrics of 8 of 8 cases (#)"] * 2
    assert judges(card(4, ""), card(4, "", rubric="curt")) is not None


def test_the_same_judge_silence_and_rules_are_no_other_judge() -> None:
    assert judges(card(4), card(7)) is None
    assert judges(card(4, cases=5), card(4, cases=8)) is None
    assert judges(card(4), card(4, "")) is None
    assert judges(card(4), card(4, None)) is None
    assert judges(card(4, None), card(4, None, rubric="curt")) is None


def test_what_is_best_is_asked_anew_where_another_judge_begins_and_silence_in_between_hides_none() -> None:
    cards = [card(7), card(4), card(5, ""), card(3, "j-2"), card(4, "j-2")]
    assert comparable_since(cards, ["score", "cost"]) == {"score": [0, 0, 0, 3, 3], "cost": [0] * 5}
    points = [replace(point, scorecard=each, now=None) for point, each in zip(sample.points(5), cards, strict=True)]
    assert best_points(points, [MetricSpec("score", "Score", "")]) == {"score": (0, 0, 0, 3, 4)}


def judged_by(content: str, settings: str = "{}", file: str = "o.jsonl") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The judges of an output, and the metrics that their opinions are part of."""
    usage = scored("judged", {file: content}, settings=settings).scorecard.usage
    return (usage.judges, usage.graded) if usage else ((), ())


def agentv(*evaluators: dict[str, Any]) -> str:
    line = {"test_id": "a", "target": "m-1", "score": 0.5, "execution_status": "ok", "scores": evaluators}
    return json.dumps(
        {**line, "scores": [{"name": f"e{at}", "score": 0.5, **each} for at, each in enumerate(evaluators)]}
    )


def test_the_judge_of_agentv_is_the_target_of_evaluators_that_ask_a_model() -> None:
    assert judged_by(agentv({"type": "llm-grader", "target": "j-1"}, {"type": "contains"})) == (("j-1",), ALL)
    assert judged_by(agentv({"type": "llm_judge", "target": "j-1"})) == (("j-1",), ALL)
    told = judged_by(agentv({"type": "llm-rubric", "input": {"system_prompt": "a", "user_prompt": "the answer"}}))
    assert told == (("prompt ca978112ca1b",), ALL)
    assert judged_by(agentv({"type": "llm-grader"})) == ((), ALL)
    inner = [{"type": "llm-grader", "target": "j-1"}, {"type": "llm-rubric", "target": "j-2"}, {"type": "regex"}]
    assert judged_by(agentv({"type": "assert-set", "scores": inner})) == (("j-1 and j-2",), ALL)
    counts = {"metrics": {"total": {"tp": 1, "fp": 0, "fn": 0}}}
    assert judged_by(agentv({"type": "llm-grader", "target": "j-1", "details": counts})) == (("j-1",), ALL)
    assert judged_by(agentv({"type": "script", "target": "t", "input": {"system_prompt": "a"}})) == ((), ())


def oaieval(arguments: dict[str, str], *models: str) -> str:
    spec = {"completion_fns": models, "run_config": {"eval_spec": {"args": {"samples_jsonl": "s", **arguments}}}}
    said = [("What?", "Paris", 3), ("Is Paris right?", "It is. Y", 50)]
    lines: list[dict[str, Any]] = [{"spec": spec}]
    for prompt, sampled, tokens in said:
        data = {"prompt": prompt, "sampled": [sampled], "usage": {"prompt_tokens": tokens, "completion_tokens": 1}}
        lines.append({"sample_id": "a", "type": "sampling", "data": data})
    lines.append({"sample_id": "a", "type": "metrics", "data": {"choice": "Y", "score": 1.0}})
    return "\n".join(map(json.dumps, lines))


def test_the_judge_of_openai_evals_is_the_last_model_of_a_run_that_states_a_spec_of_grading() -> None:
    fact = oaieval({"modelgraded_spec": "fact", "eval_type": "cot_classify"}, "m-1", "j-1")
    names = [
        judged_by(fact)[0],
        judged_by(oaieval({"modelgraded_spec": "closedqa"}, "m-1", "j-1"))[0],
        judged_by(oaieval({"modelgraded_spec": "fact", "eval_type": "cot_classify"}, "m-1"))[0],
    ]
    assert [[re.sub("[0-9a-f]{12}", "#", one) for one in each] for each in names] == [
        ["j-1 prompt #"],
        ["j-1 prompt #"],
        ["m-1 prompt #"],
    ]
    assert names[0] != names[1]
    assert judged_by(fact)[1] == ALL
    assert judged_by(oaieval({}, "m-1", "j-1")) == ((), ())


def test_what_the_grader_of_openai_evals_said_is_no_answer() -> None:
    graded = read_results("o.jsonl", oaieval({"modelgraded_spec": "fact"}, "m-1", "j-1").encode(), "{}").cases[0]
    assert (graded.input, graded.output, graded.call.model, graded.call.usage.tokens_in) == ("What?", "Paris", "m-1", 3)
    assert graded.judges[0].reasoning == "It is. Y"
    plain = read_results("o.jsonl", oaieval({}, "m-1").encode(), "{}").cases[0]
    assert (plain.input, plain.output, plain.call.usage.tokens_in) == ("Is Paris right?", "It is. Y", 53)


def test_columns_of_a_table_name_the_judge_and_what_it_was_asked_of_each_row() -> None:
    columns = {"id": "n", "scores": "s", "judge": "by", "rubric": "asked"}
    settings = json.dumps({"columns": columns})

    def table(judge: str, rubric: str = "kind") -> str:
        return f"n,s,by,asked,ok\na,0.25,{judge},{rubric},yes\nb,0.5,{judge},{rubric},no\n"

    assert judged_by(table("j-1"), settings, "o.csv") == (("j-1",), ("score",))
    stated = json.dumps({"columns": {**columns, "passed": "ok"}})
    assert judged_by(table("j-1"), stated, "o.csv") == (("j-1",), ALL)
    assert judged_by(table("", ""), stated, "o.csv") == ((), ())

    kind, curt = (scored("judged", {"o.csv": table("j-1", rubric)}, settings=settings) for rubric in ("kind", "curt"))
    found = Compared(kind.scorecard, curt.scorecard).exchanges[1]
    assert found is not None
    assert found.metrics == ("score",)
    assert Compared(kind.scorecard, kind.scorecard).exchanges[1] is None


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


def test_no_page_calls_it_worse_where_another_judge_begins(project: tuple[GitRepo, Path]) -> None:
    _, site = project
    ninth = json.loads((site / "data/evals/tone.json").read_text())["points"][8]
    assert ninth["delta"]["pass_rate"] is None
    assert ninth["delta"]["judge"] == {"before": ["j-1"], "after": ["j-2"], "metrics": list(ALL)}
    report = text_of(site / "evals/tone/0009.html")
    assert "The judge changed from j-1 to j-2. Its grades are not compared with earlier ones." in report
    assert "Worse" not in report
    assert "Failed 7 5 new" in report
    trend = text_of(site / "evals/tone/index.html")
    assert trend.count("another judge") == 1
    assert "A step takes at least five values of a metric" in text_of(site / "regressions.html")
    assert broken_links(site) == []


def test_the_best_point_is_one_of_the_newest_judge(project: tuple[GitRepo, Path]) -> None:
    _, site = project
    assert "the best until now among comparable outputs" in text_of(site / "evals/tone/index.html")
    assert "Best outputs" in text_of(site / "regressions.html")
    assert "tone 0.250 0.052 to 0.670 iteration-010" in text_of(site / "regressions.html")
    entries = text_of(site / "feed.xml")
    assert "Passed 0.125 to 0.250" in entries
    assert "Passed 0.875 to" not in entries
    assert "The best until now among comparable outputs." in entries
    compared = text_of(site / "evals/tone/compare.html")
    assert "The judge changed" not in compared
    data = re.search(r'"graded":\[([0-9,]+)\]', (site / "evals/tone/compare.html").read_text(encoding="utf-8"))
    assert data is not None
    assert data[1] == "0"


def test_the_gate_and_the_comparison_say_that_they_cannot_tell(project: tuple[GitRepo, Path], tmp_path: Path) -> None:
    repo, _ = project
    (repo.path / "sitegen.toml").write_text("[gate]\ndrop = 1.0\n")
    try:
        report = check(Options(repo=repo.path, cache=tmp_path / "memo"), "HEAD~8", exact=True)
    finally:
        (repo.path / "sitegen.toml").unlink()
    document = json.loads(schema_first(report))["evals"][0]
    metric = document["metrics"][0]
    assert (metric["name"], metric["verdict"], metric["reasons"]) == ("pass_rate", "not comparable", ["another judge"])
    assert document["judge"] == {"base": ["j-1"], "head": ["j-2"], "metrics": list(ALL)}
    change = compare_iterations(Options(repo=repo.path, cache=tmp_path / "memo"), "tone", ("8", "9"))[0].changes[0]
    assert {metric.change for metric in change.metrics if metric.name in ALL} == {None}
    assert change.verdict is not None
    verdict = change.verdict
    assert (verdict.decision, verdict.why, verdict.p_value) == ("cannot tell", "another judge", None)
    assert change.warnings == ("The judge changed from j-1 to j-2.",)
