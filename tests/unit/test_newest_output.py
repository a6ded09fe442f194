"""The newest output of an eval is the same for ``verify-one`` and ``verify-all`` as for a site of the work tree."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from sitegen.project import Options
from sitegen.questions.study import read_series
from sitegen.questions.work_tree import WorktreeProject
from tests.gitrepo import GitRepo, put
from tests.scoring.test_tables import tables

TRUTH = {"evals/e/ground_truth.json": '{"a": 1, "b": 2}'}
RUNS = {"evals/manifest.yaml": "evals: {e: {outputs: 'runs/*.json'}}"}
HERE = {"evals/e/extracted.json": '{"a": 1, "b": 2}'}
NEWEST = tables(Path(__file__).with_name("newest_outputs.md").read_text(encoding="utf-8"))[0]


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
        put(repo.path / path, text)
    place = WorktreeProject.open(repo.path).place("e")
    files = place.paths_of(place.newest)
    assert all(file.is_file() for file in files)
    return files


def state(text: str) -> dict[str, Any]:
    """The files that the words of a commit in the table name."""
    found: dict[str, Any] = {}
    for word in text.split():
        rest, _, day = word.removeprefix("-").partition("@")
        name, _, value = rest.partition("=")
        named = {"truth": TRUTH, "runs": RUNS, "here": HERE, "failed-2": failed(2)}
        if name not in named:
            at = day and f"2026-{day}T10:00:00Z"
            b = int(value or 2)
            named[name] = one_run(name, b) if name.startswith("run-") else iteration(int(name), b, at=at)
        found |= dict.fromkeys(named[name]) if word.startswith("-") else named[name]
    return found


@pytest.mark.parametrize("row", NEWEST, ids=lambda row: row["case"])
def test_work_tree_and_site_have_one_newest_output(repo, row):
    repo.commits(map(state, row["commits"].split(" / ")))
    repo.checkout()
    found = newest_files(repo, state(row["uncommitted"]))
    assert [row["newest"] in path.parts for path in found] == [True] * bool(row["newest"])
    history = read_series(Options(repo=repo.path, worktree=True), "e").history
    assert history.without_output is not bool(row["newest"])
    if row["newest"]:
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
    repo.check_in({".gitignore": "iteration-002/\n", **TRUTH, **iteration(1, 0)})
    assert [path.parts[-2] for path in newest_files(repo, iteration(2))] == ["iteration-002"]
    history = read_series(Options(repo=repo.path, worktree=True), "e").history
    assert [snapshot.label for snapshot in history.snapshots] == ["iteration-001"]


def test_without_a_commit_the_last_number_is_the_newest(repo):
    assert "iteration-010" in newest_files(repo, TRUTH | iteration(9) | iteration(10))[0].parts
