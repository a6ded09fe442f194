"""Whole projects whose files state verdicts, scores or numbers, as their tools write them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from sitegen.api import history, score
from sitegen.model.series import Point
from sitegen.scoring.case_files import kind_of_case_file
from tests.gitrepo import LFS_POINTER, GitRepo
from tests.sites import build_site, differences, differs_from_cold, problems_text, run


def project(folder: Path, path: str, versions: Iterable[str], **files: str) -> GitRepo:
    """A repository whose file at a path has these contents, one commit after the other."""
    repo = GitRepo(folder / "project")
    for number, version in enumerate(versions):
        beside = {"prompts/a.md": "Answer.\n", **files} if not number else {}
        repo.commit({path: version, **beside}, message=f"Run {number}")
    return repo


def points(repo: GitRepo, eval_id: str) -> list[Point]:
    return list(history(repo.path, eval_id, cache=repo.path.with_name("memo")).points)


def numbers(repo: GitRepo, eval_id: str, *names: str) -> list[tuple[float | None, ...]]:
    """Metrics of each point, rounded as pages show them."""
    return [
        tuple(None if value is None else round(value, 3) for value in map(point.scorecard.metric, names))
        for point in points(repo, eval_id)
    ]


def initialised(repo: GitRepo) -> GitRepo:
    """The project with the manifest that ``init`` proposes for it."""
    repo.git("checkout", "-q", "-f", "main")
    done = run("init", "--skeletons", cwd=repo.path)
    assert done.returncode == 0, done.stderr
    repo.commit({"evals/manifest.yaml": (repo.path / "evals/manifest.yaml").read_text("utf-8")}, message="Add evals")
    return repo


@pytest.mark.parametrize(
    ("ending", "no_score"),
    [("csv", "nan"), ("csv", "-inf"), ("csv", "1e999"), ("jsonl", "-Infinity"), ("jsonl", "1e999")],
)
def test_what_is_no_score_in_the_newest_table_hides_one_cell_and_not_the_file(tmp_path, ending, no_score):
    table = "case,output,score\n1,a,0.8\n2,b,0.9\n3,c,{}\n"
    if ending == "jsonl":
        table = "".join(
            f'{{{{"case":{at},"output":"{at}","score":{score}}}}}\n' for at, score in ((1, 0.8), (2, 0.9), (3, "{}"))
        )
    repo = initialised(project(tmp_path, f"evals/t/results.{ending}", (table.format(1), table.format(no_score))))
    assert numbers(repo, "t", "score") == [(0.9,), (0.85,)]
    before, after = points(repo, "t")
    assert [document.id for document in after.scorecard.documents] == ["1", "2"]
    assert after.change is not None
    assert before.scorecard.metric("score") != after.scorecard.metric("score")
    assert after.change.metrics[0].change == 0, "only cases that both sides judge are compared"
    assert (after.change.overlap.common, after.change.overlap.verdict) == (2, "bridged")


@pytest.mark.parametrize("name", ["checks", "assertions", "evaluationResults", "metricsData"])
def test_a_list_of_checks_in_a_row_has_judges_by_name(tmp_path, name):
    def rows(polite: bool) -> str:
        checks = (
            [{"name": "polite", "passed": polite, "reason": "No."}, {"name": "short", "score": 1}],
            [{"name": "polite", "passed": True}],
        )
        cases = [{"id": f"c{at}", "input": f"q{at}", "output": "x", name: each} for at, each in enumerate(checks)]
        return json.dumps({"results": cases})

    repo = initialised(project(tmp_path, "evals/q/results.json", (rows(True), rows(False))))
    assert numbers(repo, "q", "score") == [(1.0,), (0.75,)]
    found = history(repo.path, "q")
    assert {field.attribute for field in found.points[-1].scorecard.fields} == {"polite", "short"}
    assert [spec.label for spec in found.series.specs] == ["Score", "Checks passed", "Passed"]
    assert {"f1", "recall"} & {*found.fields().columns} == {"f1"}, "one number has one name"


def judged_rows(right: int) -> str:
    rows = [{"id": n, "expected": "x", "actual": "x y", "passed": n < right} for n in range(9)]
    return json.dumps({"results": rows})


def test_the_verdict_that_a_case_states_decides_and_never_an_exact_match_beside_it(tmp_path):
    repo = project(tmp_path, "evals/results.json", (judged_rows(9), judged_rows(2)))
    assert numbers(repo, "evals", "pass_rate", "f1") == [(1.0, None), (0.222, None)]


@pytest.mark.parametrize(
    ("newest", "headline", "values", "status"),
    [
        (judged_rows(2), "pass_rate", [1.0, 0.222], "FAIL"),
        (judged_rows(9).replace('"passed"', '"score": 0.5, "passed"'), "score", [1.0, 0.5], "PASS"),
    ],
    ids=["verdicts", "scores"],
)
def test_the_share_that_passed_is_the_headline_if_no_output_states_anything_else(
    tmp_path, newest, headline, values, status
):
    repo = project(tmp_path, "evals/q/results.json", (judged_rows(9), newest))
    repo.commit({"evals/manifest.yaml": "evals: {q: {kind: judged, outputs: results.json, thresholds: {f1: 0.9}}}"})
    assert numbers(repo, "q", headline) == [(value,) for value in values]
    assert {point.scorecard.metrics[0].name for point in points(repo, "q")} == {headline}
    repo.git("checkout", "-q", "-f", "main")
    judged = score(repo.path, "q")
    (row,) = judged.verdict.rows
    document: Any = judged.document()
    assert (row.metric, row.status) == (headline if headline == "pass_rate" else "f1", status)
    assert [document.totals.f1, document.metrics.get("f1")] == [None if headline == "pass_rate" else 1.0] * 2
    listed = [line.split()[1] for line in run("verify-all", cwd=repo.path).stdout.splitlines()[1:3]]
    assert listed == (["Passed", "mean"] if headline == "pass_rate" else ["Score", "F1"])


def test_the_gate_sees_verdicts_that_change_alone(tmp_path):
    repo = project(tmp_path, "evals/results.json", (judged_rows(9),))
    repo.commit({"evals/results.json": judged_rows(2)}, branch="change", parent="main")
    repo.git("checkout", "-q", "-f", "change")
    done = run("check", "--base", "main", cwd=repo.path)
    assert done.returncode == 1, done.stdout
    assert "Nothing changed" not in done.stdout


CAPITALS = [
    {"id": "c1", "input": "capital of Peru", "expected": "Lima", "output": "It is Lima."},
    {"id": "c2", "input": "capital of Chad", "expected": "N'Djamena", "output": "Chad's capital is N'Djamena"},
]
GRADES = [({"Factuality": 1, "Brevity": 1}, {"Factuality": second, "Brevity": 0.5}) for second in (0.5, 0)]


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "{evals: {capitals: {kind: judged, outputs: results.jsonl, settings: {columns: {id: id, scores: scores.*}}}}}",
    ],
)
def test_scores_in_an_object_are_judges_by_name(tmp_path, manifest):
    versions = [
        "\n".join(json.dumps({**case, "scores": scores}) for case, scores in zip(CAPITALS, grades, strict=True))
        for grades in GRADES
    ]
    files = {"evals/manifest.yaml": manifest} if manifest else {}
    repo = project(tmp_path, "evals/capitals/results.jsonl", versions, **files)
    assert numbers(repo, "capitals", "score") == [(0.75,), (0.625,)]
    site = tmp_path / "site"
    build_site(repo.path, site)
    report = "".join(path.read_text("utf-8") for path in site.glob("evals/capitals/**/*.html"))
    assert "Factuality" in report
    assert "Brevity" in report
    assert "No problems" in problems_text(site)


def test_an_eval_of_kind_judged_without_any_score_or_verdict_is_an_error(tmp_path):
    lines = "\n".join(json.dumps({"id": n, "output": "x"}) for n in range(3))
    repo = project(tmp_path, "evals/capitals/results.jsonl", (lines,))
    build_site(repo.path, tmp_path / "site")
    assert "No case of the output has a score or a verdict" in problems_text(tmp_path / "site")


def test_columns_of_scores_that_are_missing_are_an_error_and_no_exact_match(tmp_path):
    columns = "{id: id, expected: expected, output: output, scores: grades.*}"
    manifest = f"{{evals: {{q: {{kind: judged, outputs: r.jsonl, settings: {{columns: {columns}}}}}}}}}"
    rows = "\n".join(json.dumps({"id": n, "expected": "x", "output": "x"}) for n in range(3))
    repo = project(tmp_path, "evals/q/r.jsonl", (rows,), **{"evals/manifest.yaml": manifest})
    assert numbers(repo, "q", "score", "pass_rate") == [(None, None)]
    build_site(repo.path, tmp_path / "site")
    assert "none of its columns says how good an answer is" in problems_text(tmp_path / "site")


DEEPEVAL = {
    "testCases": [
        {
            "name": f"test_case_{number}",
            "input": "Where?",
            "actualOutput": "In the cellar.",
            "expectedOutput": "In the cellar.",
            "success": passed,
            "metricsData": [{"name": "Answer Relevancy", "threshold": 0.7, "success": passed, "score": score}],
        }
        for number, (passed, score) in enumerate(((True, 0.9), (True, 0.8), (False, 0.2)))
    ],
    "testPassed": 2,
    "testFailed": 1,
}
PYDANTIC_EVALS = {
    "name": "cellar",
    "cases": [
        {
            "name": f"case {number}",
            "inputs": "Where?",
            "expected_output": "In the cellar.",
            "output": "In the cellar.",
            "metrics": {},
            "scores": {},
            "labels": {},
            "assertions": {"Polite": {"name": "Polite", "value": passed, "reason": "It greets."}},
            "task_duration": 0.1,
        }
        for number, passed in enumerate((True, True, False))
    ],
}


@pytest.mark.parametrize("report", [DEEPEVAL, PYDANTIC_EVALS], ids=["deepeval", "pydantic-evals"])
def test_a_report_has_the_verdicts_that_its_tool_gave(tmp_path, report):
    repo = project(tmp_path, "evals/cellar/results.json", (json.dumps(report),))
    assert numbers(repo, "cellar", "pass_rate") == [(0.667,)]


def test_a_report_of_a_tool_that_is_not_known_is_said_to_be_not_known(tmp_path):
    rows = [{"id": n, "expected": "x", "actual": "x", "evaluationResults": [{"grade": "B"}]} for n in range(3)]
    repo = project(tmp_path, "evals/cellar/results.json", (json.dumps(rows),))
    assert numbers(repo, "cellar", "score", "pass_rate") == [(None, None)]
    build_site(repo.path, tmp_path / "site")
    assert "it is in no format that is known" in problems_text(tmp_path / "site")


BOARD = [{"model": "m-1", "average": 43}, {"model": "m-2", "average": 50}]


def test_rows_that_change_places_are_the_same_series(tmp_path):
    manifest = '{version: "2.0", evals: {l: {kind: recorded, dir: board, outputs: l.json}}}'
    versions = [json.dumps({"results": rows}) for rows in (BOARD, BOARD[::-1])]
    repo = project(tmp_path, "board/l.json", versions, **{"evals/manifest.yaml": manifest})
    names = ("results.m-1.average", "results.m-2.average")
    assert numbers(repo, "l", *names) == [(43, 50), (43, 50)]
    delta = points(repo, "l")[1].change
    assert delta is not None
    assert [metric.change for metric in delta.metrics] == [0, 0]


FIRST: dict[str, Any] = {"a": {"f1": 0.8}}
SECOND: dict[str, Any] = {"b": {"f1": 0.6}}


@pytest.mark.parametrize(
    ("runs", "values"),
    [
        ((FIRST, FIRST | SECOND), [None, 0.6]),
        ((FIRST, SECOND), [None, 0.6]),
        ((FIRST | SECOND, FIRST), [0.6, None]),
        ((FIRST, FIRST | SECOND, FIRST), [None, 0.6, None]),
    ],
)
def test_the_headline_of_the_manifest_is_that_of_runs_without_it_too(tmp_path, runs, values):
    manifest = "{evals: {h: {kind: recorded, outputs: benchmark.json, settings: {headline: b.f1}}}}"
    repo = project(tmp_path, "evals/h/benchmark.json", [])
    repo.commit({"evals/manifest.yaml": manifest, "prompts/a.md": "Answer.\n"})
    for number, recorded in enumerate(runs):
        repo.commit({"evals/h/benchmark.json": json.dumps(recorded)}, message=f"Run {number}")
        build_site(repo.path, tmp_path / "parts")
    assert history(repo.path, "h", cache=tmp_path / "memo").points[0].scorecard.metrics[0].name == "b.f1"
    assert [value for (value,) in numbers(repo, "h", "b.f1")] == values
    built = build_site(repo.path, tmp_path / "once")
    assert built.problems == 0
    assert differences(tmp_path / "parts", tmp_path / "once") == []
    assert "Repair" not in (tmp_path / "once/index.html").read_text("utf-8")


JUDGED = {"evals/manifest.yaml": "{evals: {q: {kind: judged, outputs: r.json}}}"}
VERDICTS = [
    *(("PASS", "Fail"), ("yes", 0), ("1", "false"), ("richtig", "Falsch"), ("Bestanden", "nicht bestanden")),
    *(("re\u0301ussi", "ÉCHOUÉ"), ("✅", "❌"), ("✔\ufe0f", "✘"), ("通过", "未通过")),
]


def test_a_verdict_is_one_in_any_case_and_in_several_languages(tmp_path):
    outputs = [
        json.dumps([{"id": n, "output": "x", "verdict": right if n < 2 else wrong} for n in range(3)])
        for right, wrong in VERDICTS
    ]
    assert {kind_of_case_file("responses.json", output.encode()) for output in outputs} == {"judged"}
    repo = project(tmp_path, "evals/q/r.json", outputs, **JUDGED)
    assert numbers(repo, "q", "pass_rate") == [(0.667,)] * len(VERDICTS)


@pytest.mark.parametrize("beside", [{}, {"score": 0.5}])
def test_words_that_are_no_known_verdicts_are_named_and_left_out(tmp_path, beside):
    words = ("pass", "wunderbar", "meh", "naja")
    rows = json.dumps([{"id": n, "output": "x", "verdict": word, **beside} for n, word in enumerate(words)])
    repo = project(tmp_path, "evals/q/r.json", (rows,), **JUDGED)
    assert numbers(repo, "q", "pass_rate") == [(1.0,)]
    build_site(repo.path, tmp_path / "site")
    assert "Verdicts in the column 'verdict' are not known: 3 of 4" in problems_text(tmp_path / "site")


def test_the_gate_says_that_nothing_was_scored_where_no_side_has_a_score(tmp_path):
    versions = [json.dumps([{"id": n, "output": "x", "verdict": word} for n in range(3)]) for word in ("meh", "naja")]
    repo = project(tmp_path, "evals/q/r.json", versions, **JUDGED)
    repo.checkout()
    done = run("check", "--base", "HEAD~1", "--exact", cwd=repo.path)
    assert done.returncode == 1
    assert "Score is undefined on both sides" in done.stdout
    assert "in common" not in done.stdout.partition("### `q`")[2]


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv"])
def test_a_verdict_that_changes_beside_the_same_score_breaks(tmp_path, ending):
    def written(right: int) -> str:
        rows = [{"id": f"c{n}", "output": "x", "passed": n < right, "score": 0.5 + n / 20} for n in range(9)]
        if ending == "csv":
            return "\n".join(["id,output,passed,score", *(",".join(map(str, row.values())) for row in rows)])
        return json.dumps(rows) if ending == "json" else lines_of(rows)

    manifest = f"{{evals: {{q: {{kind: judged, outputs: results.{ending}}}}}}}"
    path = f"evals/q/results.{ending}"
    repo = project(tmp_path, path, (written(9), written(2)), **{"evals/manifest.yaml": manifest})
    assert numbers(repo, "q", "score", "pass_rate") == [(0.7, 1.0), (0.7, 0.222)]
    repo.checkout()
    done = run("check", "--base", "HEAD~1", "--exact", cwd=repo.path)
    assert done.returncode == 1, done.stdout
    assert "7 checks broken" in done.stdout


PLACES = ("config", "evaluator_model", "meta.json", "metadata.json")
WHERE = ("results.json", "runs/*/results.json", "runs/run-*.json")


@pytest.mark.parametrize(
    ("kind", "outputs", "place"),
    [
        *((kind, WHERE[at % 3], place) for kind in ("judged", "recorded") for at, place in enumerate(PLACES)),
        ("judged, settings: {list: results, columns: {id: id, output: output, score: score}}", WHERE[0], "rows"),
    ],
)
def test_the_judge_is_seen_beside_every_output_that_others_graded(repo, tmp_path, kind, outputs, place):
    repo.commit({"evals/manifest.yaml": f'{{evals: {{s: {{kind: {kind}, outputs: "{outputs}"}}}}}}'})
    for run_number, (judge, grade) in enumerate((("j-1", 0.6), ("j-1", 0.7), ("j-2", 0.5))):
        stated = {"judge_model": judge}
        own = stated if place == "rows" else {}
        rows = [{"id": f"c{n}", "output": "x", "score": grade + n / 10, **own} for n in range(3)]
        root: dict[str, Any] = {"results": rows} if "judged" in kind else {"score": grade, "cost_usd": 0.2, "cases": 9}
        if place in ("config", "evaluator_model"):
            root[place] = stated if place == "config" else judge
        path = f"evals/s/{outputs.replace('*', str(run_number))}"
        beside = {f"{path.rpartition('/')[0]}/{place}": json.dumps({"config": stated})} if "json" in place else {}
        repo.commit({path: json.dumps(root), **beside}, message=judge)
    first, second, third = points(repo, "s")
    assert [point.scorecard.usage and point.scorecard.usage.judges for point in (first, second, third)] == [
        ("j-1",),
        ("j-1",),
        ("j-2",),
    ]
    assert second.change is not None
    assert third.change is not None
    exchange = third.change.judge
    assert second.change.judge is None
    assert exchange is not None
    assert (exchange.before, exchange.after) == (("j-1",), ("j-2",))
    assert "score" in exchange.metrics
    assert {"cost_usd", "cases"}.isdisjoint(exchange.metrics)
    build_site(repo.path, tmp_path / "site")
    assert "No problems" in problems_text(tmp_path / "site")
    repo.checkout()
    assert "judge j-2" in run("verify-one", "s", cwd=repo.path).stdout


TOOLS = ((1, 1, 0, 1), (1, 0.5, 0, 1), (1, 1, 1, 0), (1, 0.75, 1, 1))


def tooled(*tools: float) -> str:
    rows = [{"id": f"c{n}", "out": "x", "tool": tool, "truth": 0.5 + n / 10} for n, tool in enumerate(tools)]
    return json.dumps(rows)


def test_a_column_is_a_verdict_or_a_grade_for_the_whole_series(tmp_path):
    columns = "{id: id, output: out, scores: [tool, truth]}"
    manifest = f"{{evals: {{q: {{kind: judged, outputs: results.json, settings: {{columns: {columns}}}}}}}}}"
    repo = project(tmp_path, "evals/q/results.json", (tooled(*TOOLS[0]),), **{"evals/manifest.yaml": manifest})
    assert numbers(repo, "q", "f1", "pass_rate") == [(0.75, 0.75)]
    build_site(repo.path, tmp_path / "parts")
    for number, tools in enumerate(TOOLS[1:], 1):
        repo.commit({"evals/q/results.json": tooled(*tools)}, message=f"Run {number}")
        build_site(repo.path, tmp_path / "parts")
    assert numbers(repo, "q", "f1", "pass_rate") == [(None, None)] * 4
    assert [cause for point in points(repo, "q") for cause in point.snapshot.cause] == ["outputs"] * 4
    assert differs_from_cold(tmp_path / "parts", repo.path) == []
    done = run("check", "--base", "HEAD~3", "--exact", cwd=repo.path)
    assert "not comparable" not in done.stdout


def test_commands_decide_verdict_or_grade_for_the_whole_series_as_the_site_does(tmp_path):
    """The newest output alone, and the first two together, have only zeros and ones in the column."""
    columns = "{id: id, output: out, scores: [tool, truth]}"
    manifest = f"{{evals: {{q: {{kind: judged, outputs: results.json, settings: {{columns: {columns}}}}}}}}}"
    versions = (tooled(1, 1, 0, 1), tooled(1, 1, 1, 0), tooled(1, 0.5, 0, 1), tooled(0, 0, 1, 1))
    repo = project(tmp_path, "evals/q/results.json", versions, **{"evals/manifest.yaml": manifest})
    repo.git("checkout", "-q", "-f", "main")
    (repo.path / "older.json").write_text(versions[0], "utf-8")
    for command in ("verify-one q", "verify-all", "verify-one q older.json"):
        found = json.loads(run(*command.split(), "--json", cwd=repo.path).stdout)
        metrics = found["evals"][0]["metrics"] if "evals" in found else found["metrics"]
        assert (metrics["f1"], metrics["pass_rate"]) == (None, None), command
        assert metrics["score"] is not None
    for base, head in (("HEAD~3", "HEAD~1"), ("HEAD~1", "HEAD"), ("HEAD~3", "HEAD~2")):
        (change,) = json.loads(run("compare", base, head, "--json", cwd=repo.path).stdout)["changes"]
        verdicts = head == "HEAD~2"
        assert bool(change["broken"] or change["fixed"]) is verdicts, (base, head)
        assert ([each["before"] for each in change["metrics"] if each["name"] == "f1"] == [0.75]) is verdicts
        (gated,) = json.loads(run("check", "--base", base, "--rev", head, "--exact", "--json", cwd=repo.path).stdout)[
            "evals"
        ]
        values = {each["name"]: (each["base"], each["head"]) for each in gated["metrics"]}
        assert (values["pass_rate"] == (0.75, 0.75)) is verdicts
        assert (values["pass_rate"] == (None, None)) is not verdicts


REGRESS = {"evals/manifest.yaml": "{evals: {regress: {kind: recorded, outputs: metrics.jsonl}}}"}


def appended(*rates: float) -> str:
    rows = [
        {"sha": f"s{n}", "date": f"2026-03-{n + 1:02d}", "model": "m", "pass_rate": rate, "total": 20}
        for n, rate in enumerate(rates)
    ]
    return "\n".join(map(json.dumps, rows)) + "\n"


def test_appended_runs_are_not_counted_while_the_clone_lacks_the_content_before(tmp_path):
    versions = [appended(0.5), appended(0.5, 0.9, 0.4, 0.6)]
    repo = project(tmp_path, "evals/regress/metrics.jsonl", versions, **REGRESS)
    oid = repo.git("rev-parse", "HEAD~1:evals/regress/metrics.jsonl")
    content = repo.path / ".git/objects" / oid[:2] / oid[2:]
    content.rename(tmp_path / "content")
    build_site(repo.path, tmp_path / "before", cache=tmp_path / "cache")
    assert "left out" not in problems_text(tmp_path / "before")
    (tmp_path / "content").rename(content)
    build_site(repo.path, tmp_path / "after", cache=tmp_path / "cache")
    assert "2 runs of this commit are left out" in problems_text(tmp_path / "after")


def test_steps_of_one_run_are_no_runs(tmp_path):
    lines = "\n".join(json.dumps({"step": n, "loss": 1 / (n + 1)}) for n in range(9))
    repo = project(tmp_path, "evals/regress/metrics.jsonl", [lines], **REGRESS)
    build_site(repo.path, tmp_path / "site")
    assert "No problems" in problems_text(tmp_path / "site")


def as_yaml(rows: list[dict[str, Any]]) -> str:
    return json.dumps({"results": rows})  # which is YAML too


def as_csv(rows: list[dict[str, Any]]) -> str:
    return "model,average\n" + "".join(f"{row['model']},{row['average']}\n" for row in rows)


@pytest.mark.parametrize(
    ("path", "versions", "headline", "value"),
    [
        ("board/l.json", [as_yaml(BOARD), as_yaml(BOARD[::-1])], "results.m-2.average", 50),
        ("board/l.yaml", [as_yaml(BOARD), as_yaml(BOARD[::-1])], "results.m-2.average", 50),
        ("board/l.csv", [as_csv(BOARD), as_csv(BOARD[::-1])], "m-2.average", 50),
        *(
            ("benchmarks/latest.json", [json.dumps({"runs": 12, name: value}) for value in (0.5, 0.6)], name, 0.6)
            for name in ("overall_pass_rate", "overall_accuracy", "avg_score", "mrr", "hit_rate", "rougeL", "win_rate")
        ),
    ],
)
def test_init_finds_numbers_by_any_word_of_a_metric_in_their_names(tmp_path, path, versions, headline, value):
    repo = initialised(project(tmp_path, path, versions))
    (eval_id,) = (line.strip().rstrip(":") for line in _entries(repo))
    found = points(repo, eval_id)
    assert [point.scorecard.metrics[0].name for point in found] == [headline] * 2
    assert found[1].scorecard.metrics[0].value == value


def _entries(repo: GitRepo) -> list[str]:
    lines = (repo.path / "evals/manifest.yaml").read_text("utf-8").splitlines()
    return [line for line in lines if line.startswith("  ") and line[2] not in " #" and line.endswith(":")]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("results/orders.csv", "order,vat,rate\na,3,0.19\nb,4,0.07\n"),
        ("results/info.json", '{"temperature": 0.7, "elapsed": 3.5}'),
        ("output/stats.json", '{"scores": 4000, "match_id": 17}'),
    ],
)
def test_init_takes_no_other_number_for_a_metric(tmp_path, path, content):
    assert _entries(initialised(project(tmp_path, path, [content, content.replace("0", "1")]))) == []


def responses(right: int, **stated: Any) -> list[dict[str, Any]]:
    """Responses of which some are right, each with a verdict or with a score."""
    rows: list[dict[str, Any]] = [{"case_id": f"c{n}", "output": "It is Paris."} for n in range(9)]
    for number, row in enumerate(rows):
        row |= stated or {"passed": number < right}
        if "score" in stated:
            row["score"] = float(number < right)
    return rows


TEST_CASES = json.dumps([{"id": f"c{n}", "input": "Capital of France?", "expected": "Paris"} for n in range(9)])


def lines_of(rows: list[dict[str, Any]]) -> str:
    return "\n".join(map(json.dumps, rows))


NAMED = "{evals: {q: {name: Capitals}}}"


@pytest.mark.parametrize(
    ("places", "written", "stated", "manifest"),
    [
        (("responses.json", "responses.json"), json.dumps, {}, NAMED),
        (("responses.jsonl", "responses.jsonl"), lines_of, {}, ""),
        (("responses.json", "responses.json"), json.dumps, {"score": 0}, ""),
        (("results/iteration-1/responses.jsonl", "results/iteration-2/responses.jsonl"), lines_of, {}, NAMED),
    ],
)
def test_verdicts_of_responses_beside_test_cases_decide(repo, tmp_path, places, written, stated, manifest):
    repo.commit({"prompts/a.md": "Answer.\n", "evals/q/test_cases.json": TEST_CASES})
    if manifest:
        repo.commit({"evals/manifest.yaml": manifest})
    for place, right in zip(places, (9, 2), strict=True):
        repo.commit({f"evals/q/{place}": written(responses(right, **stated))}, message=f"{right} are right")
    assert numbers(repo, "q", "pass_rate") == [(1.0,), (0.222,)]
    repo.git("checkout", "-q", "-f", "main")
    done = run("check", "--base", "HEAD~1", cwd=repo.path)
    assert done.returncode == 1, done.stdout
    assert "Nothing changed" not in done.stdout
    build_site(repo.path, tmp_path / "site")
    assert "No problems" in problems_text(tmp_path / "site")
    report = "".join(path.read_text("utf-8") for path in (tmp_path / "site").glob("evals/q/**/*.html"))
    assert "Capital of France?" in report


@pytest.mark.parametrize(
    ("manifest", "stated"), [("{evals: {q: {kind: responses}}}", {}), ("", {"status": "success", "success": True})]
)
def test_texts_are_compared_where_the_manifest_says_so_or_nothing_is_stated(tmp_path, manifest, stated):
    files = {"evals/q/test_cases.json": TEST_CASES, **({"evals/manifest.yaml": manifest} if manifest else {})}
    repo = project(tmp_path, "evals/q/responses.json", (json.dumps(responses(9, **stated)),), **files)
    assert numbers(repo, "q", "accuracy", "pass_rate") == [(0.0, None)]
    build_site(repo.path, tmp_path / "site")
    assert ("verdicts or scores, which do not count" in problems_text(tmp_path / "site")) == bool(manifest)


def test_no_iteration_is_lost_whose_responses_have_another_name(tmp_path):
    files = {
        "evals/q/test_cases.json": TEST_CASES,
        "evals/q/results/iteration-1/responses.json": json.dumps(responses(9)),
    }
    repo = project(tmp_path, "evals/q/results/iteration-2/responses.jsonl", (lines_of(responses(2)),), **files)
    assert numbers(repo, "q", "pass_rate") == [(1.0,), (0.222,)]


def test_responses_of_several_variants_are_compared_as_texts(tmp_path):
    rows = json.dumps(responses(9))
    files = {"evals/q/test_cases.json": TEST_CASES, "evals/q/responses-b.json": rows}
    repo = project(tmp_path, "evals/q/responses.json", (rows,), **files)
    assert numbers(repo, "q", "accuracy", "pass_rate") == [(0.0, None)]
    build_site(repo.path, tmp_path / "site")
    assert "verdicts or scores, which do not count" in problems_text(tmp_path / "site")


@pytest.mark.parametrize(
    "newest",
    [
        pytest.param(LFS_POINTER, id="not fetched"),
        pytest.param("[", id="truncated"),
        pytest.param("", id="empty"),
        pytest.param("[]", id="no responses"),
        pytest.param(json.dumps([{"case_id": "c0", "output": "It is Paris."}]), id="no verdict"),
    ],
)
@pytest.mark.parametrize(
    "places",
    [
        ("evals/q/responses.json", "evals/q/responses.json"),
        ("evals/q/results/iteration-1/responses.json", "evals/q/results/iteration-2/responses.json"),
    ],
)
def test_verdicts_that_an_earlier_output_states_decide_the_kind(repo, places, newest):
    repo.commit({"evals/q/test_cases.json": TEST_CASES, places[0]: json.dumps(responses(7))})
    repo.commit({places[1]: newest})
    assert numbers(repo, "q", "pass_rate", "accuracy") == [(0.778, None), (None, None)]
    repo.checkout()
    found = json.loads(run("verify-one", "q", "--json", cwd=repo.path).stdout)
    assert "pass_rate" in found["metrics"]
    done = run("check", "--base", "HEAD~1", "--exact", cwd=repo.path)
    assert done.returncode == 1
    assert "Its kind is not the same" not in done.stdout
    assert ("Run git lfs fetch --all" in done.stdout) is (newest == LFS_POINTER)


@pytest.mark.parametrize("newest", [LFS_POINTER, "[", "{}"])
def test_an_eval_of_cases_stays_found_when_its_newest_file_cannot_be_read(tmp_path, newest):
    repo = project(tmp_path, "evals/results.json", (judged_rows(9), newest))
    assert numbers(repo, "evals", "pass_rate") == [(1.0,), (None,)]
