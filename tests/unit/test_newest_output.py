"""The newest output of an eval is the same for ``verify-one`` and ``verify-all`` as for a site of the work tree."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from sitegen.project import Options
from sitegen.questions.study import read_series
from sitegen.questions.work_tree import WorktreeProject
from tests.gitrepo import GitRepo
from tests.sites import build_site, run

TRUTH = {"evals/e/ground_truth.json": '{"a": 1, "b": 2}'}
RUNS = {"evals/manifest.yaml": "evals: {e: {outputs: 'runs/*.json'}}"}


def iteration(number: int, b: int = 2, *, at: str = "") -> dict[str, str]:
    """The files of an iteration, with the time of its run if it records one."""
    folder = f"evals/e/results/iteration-{number:03d}"
    recorded = {f"{folder}/eval-results.json": json.dumps({"metadata": {"timestamp": at}})} if at else {}
    return {f"{folder}/extracted.json": json.dumps({"a": 1, "b": b})} | recorded


def failed(number: int) -> dict[str, str]:
    """The record of a run that made no output."""
    return {f"evals/e/results/iteration-{number:03d}/eval-results.json": '{"metrics": {"f1": 0.5}}'}


def one_run(name: str, b: int = 2) -> dict[str, str]:
    return {f"evals/e/runs/{name}.json": json.dumps({"a": 1, "b": b})}


def newest_files(repo: GitRepo, uncommitted: Mapping[str, str] = MappingProxyType({})) -> tuple[Path, ...]:
    for path, text in uncommitted.items():
        (repo.path / path).parent.mkdir(parents=True, exist_ok=True)
        (repo.path / path).write_text(text)
    place = WorktreeProject.open(repo.path).place("e")
    files = place.paths_of(place.newest)
    assert all(file.is_file() for file in files)
    return files


@pytest.mark.parametrize(
    ("commits", "uncommitted", "newest"),
    [
        pytest.param([TRUTH | iteration(1, 0) | iteration(2)], {}, "iteration-002", id="by number"),
        pytest.param([TRUTH | iteration(1, 0) | iteration(2), iteration(1, 1)], {}, "iteration-001", id="by commit"),
        pytest.param(
            [TRUTH | iteration(1, 0, at="2026-02-02T10:00:00Z") | iteration(2, at="2026-02-01T10:00:00Z")],
            {},
            "iteration-001",
            id="by recorded time within one commit",
        ),
        pytest.param(
            [TRUTH | iteration(2, at="2026-02-01T10:00:00Z"), iteration(3, 1, at="2026-01-01T10:00:00Z")],
            {},
            "iteration-003",
            id="by commit, whatever times are recorded",
        ),
        pytest.param(
            [TRUTH | iteration(1, 0) | iteration(2)], iteration(1, 1), "iteration-001", id="made again, uncommitted"
        ),
        pytest.param(
            [TRUTH | iteration(1, 0) | iteration(3), iteration(1, 1)],
            iteration(2, 5),
            "iteration-002",
            id="new, uncommitted",
        ),
        pytest.param(
            [RUNS | TRUTH | one_run("run-1", 0) | one_run("run-2"), one_run("run-1", 1)],
            {},
            "run-1.json",
            id="runs of a glob",
        ),
        pytest.param(
            [RUNS | TRUTH | one_run("run-9", 0) | one_run("run-10")], {}, "run-10.json", id="runs of a glob, by number"
        ),
        pytest.param(
            [TRUTH | iteration(1, 0), iteration(2), dict.fromkeys(iteration(2))], {}, "iteration-001", id="deleted"
        ),
        pytest.param([TRUTH | iteration(1, 0), failed(2)], {}, None, id="a run that made none"),
        pytest.param(
            [TRUTH | iteration(1, 0) | failed(2), iteration(3)], {}, "iteration-003", id="after a run that made none"
        ),
        pytest.param(
            [TRUTH | {"evals/e/extracted.json": "{}"}, {"evals/e/extracted.json": None}], {}, None, id="removed"
        ),
    ],
)
def test_work_tree_and_site_have_one_newest_output(repo, commits, uncommitted, newest):
    repo.commits(commits)
    repo.checkout()
    found = newest_files(repo, uncommitted)
    assert [newest in path.parts for path in found if newest] == [True] * (newest is not None)
    history = read_series(Options(repo=repo.path, worktree=True), "e").history
    assert history.without_output is (newest is None)
    if newest:
        shown = [snapshot for snapshot in history.snapshots if not snapshot.deleted][-1]
        assert found == tuple(repo.path / blob.path for blob in shown.outputs)


def test_an_eval_whose_folder_was_renamed_keeps_its_newest_output(repo):
    states = [TRUTH | iteration(1, 0) | iteration(2), iteration(1, 1)]
    repo.commits([{path.replace("evals/e", "evals/former"): text for path, text in state.items()} for state in states])
    last = states[0] | states[1]
    repo.commits([{**{path.replace("evals/e", "evals/former"): None for path in last}, **last}])
    repo.checkout()
    assert [path.parts[-2] for path in newest_files(repo)] == ["iteration-001"]
    assert read_series(Options(repo=repo.path), "e").points[-1].snapshot.label == "iteration-001"


def test_an_output_that_git_ignores_is_scored_by_commands_alone(repo):
    repo.commit({".gitignore": "iteration-002/\n", **TRUTH, **iteration(1, 0)})
    repo.checkout()
    assert [path.parts[-2] for path in newest_files(repo, iteration(2))] == ["iteration-002"]
    history = read_series(Options(repo=repo.path, worktree=True), "e").history
    assert [snapshot.label for snapshot in history.snapshots] == ["iteration-001"]


def test_without_a_commit_the_last_number_is_the_newest(repo):
    assert "iteration-010" in newest_files(repo, TRUTH | iteration(9) | iteration(10))[0].parts


def test_site_and_terminal_leave_evals_without_an_output_out_of_one_mean(repo):
    def of(eval_id: str, files: Mapping[str, str | None]) -> dict[str, str | None]:
        return {path.replace("evals/e/", f"evals/{eval_id}/"): text for path, text in files.items()}

    half, whole, made = iteration(1, 0), iteration(1), {"evals/e/extracted.json": '{"a": 1, "b": 2}'}
    repo.commits(
        [
            of("half", TRUTH | half) | of("whole", TRUTH | whole) | of("never", TRUTH),
            of("failed", TRUTH | whole) | of("removed", TRUTH | made),
            of("failed", failed(2)) | of("removed", dict.fromkeys(made)),
            of("broken", TRUTH | {"evals/e/extracted.json": "{"}),
        ]
    )
    repo.checkout()
    done = run("verify-all", "--json", "--repo", repo.path)
    read = json.loads(done.stdout)
    assert [each["eval_id"] for each in read["evals"]] == ["broken", "half", "whole"]
    assert [word for word in ("never", "failed", "removed") if f"'{word}' has no output" not in done.stderr] == []
    build_site(repo.path, repo.path / "public")
    overview = (repo.path / "public" / "index.html").read_text()
    assert f'<span class="v">{read["macro_f1"]:.3f}' in overview
    assert "of 3 evals" in overview
    assert "3 left out, no output" in overview


def test_an_eval_that_lost_its_output_is_named_among_what_got_worse(repo):
    made = {"evals/e/extracted.json": '{"a": 1, "b": 2}'}
    repo.commits([TRUTH | made, dict.fromkeys(made)])
    build_site(repo.path, repo.path / "public")
    overview = " ".join((repo.path / "public" / "index.html").read_text().split())
    assert "</a>: its newest output is missing.</p>" in overview
    assert "Nothing can be worse yet" not in overview
