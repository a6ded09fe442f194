"""Whole projects whose files state verdicts, scores or numbers, as their tools write them."""

import json
from collections.abc import Iterable
from pathlib import Path

from sitegen.api import history
from tests.gitrepo import GitRepo
from tests.sites import build_site, problems_text


def project(folder: Path, path: str, versions: Iterable[str], **files: str) -> GitRepo:
    """A repository whose file at a path has these contents, one commit after the other."""
    repo = GitRepo(folder / "project")
    for number, version in enumerate(versions):
        beside = {"prompts/a.md": "Answer.\n", **files} if not number else {}
        repo.commit({path: version, **beside}, message=f"Run {number}")
    return repo


def test_one_number_has_one_name_in_the_table_of_fields(tmp_path):
    checks = [{"name": "polite", "passed": True}, {"name": "short", "score": 1}]
    cases = [{"id": n, "input": n, "output": "x", "checks": checks} for n in range(4)]
    repo = project(tmp_path, "evals/q/results.json", (json.dumps({"results": cases}),))
    assert {"f1", "recall"} & {*history(repo.path, "q").fields().columns} == {"f1"}


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
    points = history(repo.path, "regress", cache=tmp_path / "memo").points
    assert [point.scorecard.metric("pass_rate") for point in points[-3:]] == [0.9, 0.5, 0.9]
