"""Whole projects whose files state verdicts, scores or numbers, as their tools write them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sitegen.api import history
from sitegen.model.series import Point
from tests.gitrepo import GitRepo
from tests.sites import run


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
    done = run("init", cwd=repo.path)
    assert done.returncode == 0, done.stderr
    repo.commit({"evals/manifest.yaml": (repo.path / "evals/manifest.yaml").read_text("utf-8")}, message="Add evals")
    return repo


def test_one_nan_in_the_newest_table_hides_one_cell_and_not_the_file(tmp_path: Path) -> None:
    table = "case,output,score\n1,a,0.8\n2,b,0.9\n3,c,{}\n"
    repo = initialised(project(tmp_path, "evals/t/results.csv", (table.format(1), table.format("nan"))))
    assert numbers(repo, "t", "score") == [(0.9,), (0.85,)]
    third = points(repo, "t")[1].scorecard.documents[2]
    assert (third.id, dict(third.metrics)["score"]) == ("3", None)
