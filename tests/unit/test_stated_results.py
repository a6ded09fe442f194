"""Whole projects whose files state verdicts, scores or numbers, as their tools write them."""

import json
from collections.abc import Iterable
from pathlib import Path

from sitegen.api import history
from sitegen.model.series import Point
from tests.gitrepo import GitRepo
from tests.sites import build_site, differs_from_cold, problems_text, run


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


def test_one_number_has_one_name_in_the_table_of_fields(tmp_path):
    checks = [{"name": "polite", "passed": True}, {"name": "short", "score": 1}]
    cases = [{"id": n, "input": n, "output": "x", "checks": checks} for n in range(4)]
    repo = project(tmp_path, "evals/q/results.json", (json.dumps({"results": cases}),))
    assert {"f1", "recall"} & {*history(repo.path, "q").fields().columns} == {"f1"}


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


REGRESS = {"evals/manifest.yaml": "{evals: {regress: {kind: recorded, outputs: metrics.jsonl}}}"}


def appended(*rates: float) -> str:
    rows = [
        {"sha": f"s{n}", "date": f"2026-03-{n + 1:02d}", "model": "m", "pass_rate": rate, "total": 20}
        for n, rate in enumerate(rates)
    ]
    return "\n".join(map(json.dumps, rows)) + "\n"


def test_appended_runs_are_points_up_to_a_bound_and_not_while_the_clone_lacks_the_content_before(tmp_path):
    versions = [appended(0.5), appended(*[0.5, 0.9] * 27)]
    repo = project(tmp_path, "evals/regress/metrics.jsonl", versions, **REGRESS)
    oid = repo.git("rev-parse", "HEAD~1:evals/regress/metrics.jsonl")
    content = repo.path / ".git/objects" / oid[:2] / oid[2:]
    content.rename(tmp_path / "content")
    assert build_site(repo.path, tmp_path / "before", cache=tmp_path / "cache").iterations == 2
    (tmp_path / "content").rename(content)
    assert build_site(repo.path, tmp_path / "after", cache=tmp_path / "cache").iterations == 51
    assert "3 runs of this commit are left out: it adds 53 runs" in problems_text(tmp_path / "after")
    assert [rate for (rate,) in numbers(repo, "regress", "pass_rate")][-3:] == [0.9, 0.5, 0.9]
