"""What is followed, what is built when it changes, and how the command ends."""

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree

import pytest

from sitegen.engine.template_files import find_templates
from sitegen.history.repository_place import find_repository
from sitegen.project import Options
from sitegen.serve import watch
from sitegen.serve.watch import Board, ChangeWatcher, Followed, WatchedBuild, build_attempt, followed, rebuild_on_change
from tests.gitrepo import GitRepo
from tests.loops import run_loop
from tests.receipts import EVAL, SECOND, write_receipts
from tests.rows import in_table
from tests.sites import failing, run

NEWEST = f"{EVAL}/results/iteration-002/extracted.json"
SOON = 120.0
"""Seconds that a change may take on a busy machine before a test gives it up."""


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return write_receipts(tmp_path / "project")


def follows(repo: GitRepo) -> Followed:
    return followed(find_repository(repo.path)[0], repo.path / ".sitegen")


@in_table
def test_a_change_matters_if_the_site_is_made_from_it(case, repo, files, concerned, others):
    for path, text in files.items():
        (repo.path / path).parent.mkdir(parents=True, exist_ok=True)
        repo.put(path, text)
    found = follows(repo)
    paths = [*concerned.split(), *others.split()]
    assert [path for path in paths if found.concerns(repo.path / path)] == concerned.split()
    assert found.concerns(find_templates() / "pages" / "trend.html")


def test_a_linked_work_tree_is_followed_by_its_own_head_and_the_common_branches(repo, tmp_path):
    repo.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    found = followed(find_repository(tmp_path / "linked")[0], tmp_path / "linked" / ".sitegen")
    git = repo.path / ".git"
    paths = (git / "worktrees/linked/HEAD", git / "refs/heads/other", tmp_path / "linked" / NEWEST, repo.path / NEWEST)
    assert [found.concerns(path) for path in paths] == [True, True, True, False]


def test_of_a_bare_repository_the_branches_are_followed(repo, tmp_path):
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    found = followed(find_repository(tmp_path / "bare")[0], tmp_path / "bare" / ".sitegen")
    paths = ("refs/heads/main", "packed-refs", "objects/x", "evals/x")
    assert [found.concerns(tmp_path / "bare" / path) for path in paths] == [True, True, False, False]


def test_bursts_of_changes_are_told_once_and_only_what_matters(repo):
    told: asyncio.Queue[list[Path]] = asyncio.Queue()

    async def see() -> list[list[Path]]:
        follower = ChangeWatcher(told.put_nowait)
        assert await follower.follow(follows(repo))
        assert not await follower.follow(follows(repo))
        bursts = []
        for path in (NEWEST, "sitegen.toml", "prompts"):
            repo.put("README.md", "not followed")
            if path == "prompts":
                (repo.path / path).mkdir()
            else:
                repo.put(path, "")
            bursts.append(await asyncio.wait_for(told.get(), SOON))
        await follower.stop()
        return bursts

    assert run_loop(see()) == [[repo.path / path] for path in (NEWEST, "sitegen.toml", "prompts")]


def test_folders_that_the_system_does_not_let_be_looked_at_are_an_error(repo, monkeypatch):
    failing(monkeypatch, "watchfiles.awatch", OSError(28, "OS file watch limit reached"))
    with pytest.raises(OSError, match="watch limit"):
        run_loop(ChangeWatcher(lambda burst: None).follow(follows(repo)))


class Rebuilding:
    """``rebuild_on_change`` while a test changes files."""

    def __init__(self, repo: GitRepo) -> None:
        self.board = Board()
        self._built: asyncio.Queue[WatchedBuild] = asyncio.Queue()
        self._options = Options(repo=repo.path, jobs=1)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Rebuilding":
        self._task = asyncio.create_task(rebuild_on_change(self._options, self.board, self._built.put_nowait))
        return self

    async def __aexit__(self, *exception: object) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def built(self) -> WatchedBuild:
        """The next build."""
        return await asyncio.wait_for(self._built.get(), SOON)


def _has_uncommitted_report(built: WatchedBuild) -> bool:
    return built.layers is not None and (built.layers.folders[0] / "evals/receipts/0002-worktree.html").exists()


def test_a_repository_that_is_away_for_a_moment_does_not_end_the_watch(repo, monkeypatch):
    monkeypatch.setattr(watch, "RETRY", 0.05)

    async def see() -> None:
        async with Rebuilding(repo) as rebuilding:
            await rebuilding.built()
            (repo.path / ".git").rename(repo.path.parent / "away")
            repo.put(NEWEST, SECOND.replace("12.5", "13"))
            assert (await rebuilding.built()).layers is None
            while "There is no git repository here" not in rebuilding.board.error:
                await asyncio.sleep(0.05)
            (repo.path.parent / "away").rename(repo.path / ".git")
            while not _has_uncommitted_report(await rebuilding.built()):
                pass
            assert rebuilding.board.error == ""

    run_loop(see())


def test_a_folder_that_is_made_anew_is_followed_as_before(repo):
    async def see() -> None:
        async with Rebuilding(repo) as rebuilding:
            await rebuilding.built()
            (repo.path / "evals").rename(repo.path.parent / "away")
            copytree(repo.path.parent / "away", repo.path / "evals")
            repo.put("CLAUDE.md", "Read it all.\n")
            while repo.path / "CLAUDE.md" not in (await rebuilding.built()).paths:
                pass
            repo.put(NEWEST, SECOND.replace("12.5", "13"))
            while not _has_uncommitted_report(await rebuilding.built()):
                pass

    run_loop(see())


def test_what_changes_during_a_build_is_built_after_it(repo, monkeypatch):
    builds = []

    def slow(options: Options, paths: list[Path]) -> WatchedBuild:
        builds.append(tuple(paths))
        if len(builds) == 2:
            repo.put("CLAUDE.md", "Changed while this is built.\n")
        return WatchedBuild(layers=None, error="None was made.", seconds=0.0, paths=tuple(paths))

    monkeypatch.setattr(watch, "build_attempt", slow)

    async def see() -> None:
        async with Rebuilding(repo) as rebuilding:
            await rebuilding.built()
            repo.put(NEWEST, "{}")
            await rebuilding.built()
            await rebuilding.built()

    run_loop(see())
    assert builds == [(), (repo.path / NEWEST,), (repo.path / "CLAUDE.md",)]


def test_a_fault_of_sitegen_ends_the_build_but_not_the_watch(repo, monkeypatch, capsys):
    failing(monkeypatch, "sitegen.serve.watch.build_layers", ZeroDivisionError("division by zero"))
    built = build_attempt(Options(repo=repo.path))
    assert built.layers is None
    assert built.error.splitlines()[0] == "sitegen failed: ZeroDivisionError: division by zero"
    assert "Traceback" in capsys.readouterr().err


@contextmanager
def watching(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """The command as a user runs it, and its address."""
    command = [sys.executable, "-m", "sitegen", "watch", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = re.match(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
            assert address is not None
            yield process, address[0]
        finally:
            process.kill()


def test_ctrl_c_ends_the_command_well(repo):
    with watching(repo.path) as (process, _):
        assert process.stderr is not None
        assert process.stderr.readline().startswith("Up to date: built in ")
        process.send_signal(signal.SIGINT)
        assert (process.wait(SOON), process.stderr.read()) == (0, "")
    assert not (repo.path / "site").exists()


def test_the_terminal_tells_what_changed_and_what_is_wrong(repo):
    with watching(repo.path) as (process, _):
        assert process.stderr is not None
        process.stderr.readline()
        repo.put(NEWEST, "{}")
        assert process.stderr.readline().startswith(f"{NEWEST}: built in ")
        repo.put("sitegen.toml", "redcat = 1\n")
        assert process.stderr.readline() == "sitegen: The key 'redcat' is not known.\n"


def test_without_a_repository_there_is_nothing_to_watch(tmp_path):
    done = run("watch", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sitegen: There is no git repository here.\n")
