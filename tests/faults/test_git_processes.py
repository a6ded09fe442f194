"""How many processes of git a build starts: one that reads objects for each process that runs tasks, and few others."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sitegen.history.repository import Repository
from tests.gitrepo import GitRepo, put
from tests.sites import build_site, content


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    """Three evals and two instruction files, each of several versions."""
    repo = GitRepo(tmp_path_factory.mktemp("git") / "repo")
    for version in range(3):
        files = {f"evals/{name}/extracted.json": f'{{"x": {version}}}' for name in "abc"}
        truths = {f"evals/{name}/ground_truth.json": '{"x": 1}' for name in "abc"}
        texts = {f".claude/instructions/{name}.md": f"# Read\n\nVersion {version}.\n" for name in "pq"}
        repo.commit({**files, **truths, **texts})
    return repo


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that gets one line for each process of git, with its arguments."""
    git, log = shutil.which("git"), tmp_path / "started"
    wrapper = tmp_path / "bin" / "git"
    put(wrapper, f'#!/bin/sh\necho "$@" >> {log}\nexec {git} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
    return log


def processes_of(command: str, log: Path) -> int:
    return sum(f" {command} " in line for line in log.read_text().splitlines())


def test_a_build_reads_all_objects_from_one_process_for_each_process_that_runs_tasks(repo, started, tmp_path):
    build_site(repo.path, tmp_path / "alone", jobs=1)
    assert processes_of("cat-file", started) == 1
    walk, all_patches = 1, 1
    assert processes_of("diff-tree", started) == walk + all_patches
    assert processes_of("rev-list", started) == walk
    started.write_text("")
    build_site(repo.path, tmp_path / "beside", jobs=2)
    workers, before, after = 2, 1, 1  # the configuration and history; what the configuration names and nothing fits
    assert processes_of("cat-file", started) <= before + workers + after
    overview = 1  # the edit that its first sentence names
    assert processes_of("diff-tree", started) <= walk + workers + overview
    assert content(tmp_path / "alone") == content(tmp_path / "beside")


def test_a_build_of_one_more_commit_starts_six_processes(started: Path, tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "repo")
    repo.commit(
        {
            "evals/a/extracted.json": '{"x": 2}',
            "evals/a/ground_truth.json": '{"x": 1}',
            ".claude/instructions/p.md": "# Read\n",
        }
    )
    build_site(repo.path, tmp_path / "site", jobs=1)
    repo.commit({"evals/a/extracted.json": '{"x": 1}', ".claude/instructions/p.md": "# Read all\n"})
    started.write_text("")
    build_site(repo.path, tmp_path / "site", jobs=1)
    commands = ("rev-parse", "cat-file", "rev-list", "diff-tree", "config")
    assert {command: processes_of(command, started) for command in commands} == {
        "rev-parse": 1,
        "cat-file": 1,
        "rev-list": 1,
        "diff-tree": 2,  # the walk, and the patches
        "config": 1,
    }
    assert len(started.read_text().splitlines()) == 6


def test_a_program_that_ends_while_a_process_answers_ends_as_usual(repo: GitRepo) -> None:
    program = (
        "import sys; from pathlib import Path; from sitegen.history.process import Process\n"
        "from sitegen.history.repository_place import find_repository\n"
        "def answers(place):\n"
        "    with Process(place, ['cat-file', '--batch']) as process: yield process\n"
        "begun = answers(find_repository(Path(sys.argv[1]))[0]); next(begun)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, repo.path], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_variables_that_steer_git_elsewhere_reach_none_of_its_processes(repo, monkeypatch, tmp_path):
    oid = repo.oid("HEAD", "evals/a/extracted.json")
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "elsewhere"))
    assert Repository.open(repo.path).read_blob(oid).content == b'{"x": 2}'
