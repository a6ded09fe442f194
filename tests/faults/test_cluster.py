"""A build on a dask cluster writes the bytes of a local one, and says what is wrong with the cluster."""

import errno
import importlib
import json
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from sitegen import __version__
from sitegen import build as stages
from sitegen.config.models import BuildLimits
from sitegen.engine import cluster
from sitegen.engine.cluster import BuildFiles, cluster_workers, result_of_task
from sitegen.engine.pool import Pool
from sitegen.engine.worker_context import WorkerContext
from sitegen.errors import ConfigurationError, WorkerError
from sitegen.history.files_at_commit import FilesAt
from sitegen.history.process import packed
from sitegen.history.repository import Repository
from sitegen.history.repository_place import find_repository
from sitegen.history.revisions import commits_up_to, walk
from sitegen.model.frozen import Frozen
from sitegen.model.site import SiteInfo
from tests.gitrepo import GitRepo
from tests.names import MAPPING, TRUTH, output
from tests.sites import build_site, differences

ANOTHER_USER = "GIT_TEST_ASSUME_DIFFERENT_OWNER"
"""With it, git treats every repository as another user's and does not open it by its path."""
REPORT = '{% extends "sitegen/pages/report.html" %}{% block title %}Ours{% endblock %}'


class Task(Frozen):
    """A task that does nothing of a build."""

    context: WorkerContext


def end(task: Task) -> None:
    """End the process as the system does for want of memory."""
    os._exit(1)


def do_nothing(task: Task) -> None:
    """Succeed."""


def fill_disk(task: Task) -> None:
    """Fail as a full disk does."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/scratch/page")


class Cluster(NamedTuple):
    """A scheduler and two workers, each a process of its own with its own working, temporary and home folder."""

    address: str
    folder: Path
    processes: list[subprocess.Popen[bytes]]

    def run(self, function: Any, *arguments: Any) -> None:
        """Run a function in both workers."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            assert len(client.run(function, *arguments)) == 2


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    processes = []
    for name in ("scheduler", "worker-1", "worker-2"):
        home = folder / name
        home.mkdir()
        environment = {"HOME": str(home), "TMPDIR": str(home), "PATH": os.environ["PATH"], ANOTHER_USER: "1"}
        environment["PYTHONPATH"] = f"{Path(__file__).parent}:{Path(__file__).parents[2]}"
        if name == "scheduler":
            environment["DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES"] = "0"
            options = ["scheduler", "--host", "127.0.0.1", "--port", "0"]
        else:
            options = ["worker", "--nthreads", "2", "--no-nanny", "--host", "127.0.0.1"]
        command = f"distributed.cli.dask_{options[0]}"
        arguments = [*options[1:], "--no-dashboard", "--scheduler-file", str(folder / "address.json")]
        with (home / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", command, *arguments], cwd=home, env=environment, stdout=log, stderr=log
            )
        processes.append(process)
    while not (folder / "address.json").exists() or not (folder / "address.json").read_text().endswith("}"):
        assert processes[0].poll() is None, (folder / "scheduler/log").read_text()
        time.sleep(0.05)
    yield Cluster(json.loads((folder / "address.json").read_text())["address"], folder, processes)
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()


@pytest.fixture(scope="module", autouse=True)
def time_to_start() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "CONNECT", 120)
        yield


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    """A project with everything that tasks read: history, own templates, and outputs that are not committed."""
    repo = GitRepo(tmp_path_factory.mktemp("project") / "project")
    repo.commit({"CLAUDE.md": "# Rules\n", "evals/field_mapping.yaml": MAPPING, ".gitignore": ".sitegen\npublic\n"})
    for total in (3, 1, 2):
        repo.commit({"evals/names/ground_truth.csv": TRUTH, "evals/names/extracted.json": output(total)})
        repo.commit({"CLAUDE.md": f"# Rules\n\nTotals are numbers, such as {total}.\n"})
    repo.checkout()
    (repo.path / "evals/names/extracted.json").write_text(output(7))
    (repo.path / "site_templates/pages").mkdir(parents=True)
    (repo.path / "site_templates/pages/report.html").write_text(REPORT)
    return repo


def test_workers_without_anything_in_common_with_the_builder_write_the_bytes_of_a_local_build(
    running, project, tmp_path, monkeypatch
):
    """While tasks run, the project is not at its place, and the results tell which files are still to be written."""

    def hide(name: str, place: Path) -> None:
        stage, elsewhere = getattr(stages, name), tmp_path / "elsewhere"

        def hidden(*arguments: Any, **named: Any) -> Any:
            place.rename(elsewhere)
            try:
                return stage(*arguments, **named)
            finally:
                elsewhere.rename(place)

        monkeypatch.setattr(stages, name, hidden)

    for stage in ("score_evals", "write_evals"):
        hide(stage, project.path)
    hide("write_instructions", project.path / ".git")
    hide("write_commits", project.path / ".git")
    far, near = tmp_path / "far", tmp_path / "near"
    build_site(project.path, far, dask=running.address, worktree=True)
    monkeypatch.undo()
    build_site(project.path, near, jobs=1, worktree=True)
    reports = [page.read_text() for page in (far / "evals/names").rglob("*.html")]
    assert len([page for page in reports if "<title>Ours" in page]) == 4
    assert differences(far, near) == []


def test_only_new_pages_come_back(running, project, tmp_path):
    far, near = tmp_path / "far", tmp_path / "near"
    for out, where in ((far, {"dask": running.address}), (near, {"jobs": 1})):
        build_site(project.path, out, rev="HEAD~1", **where)
    site, local = build_site(project.path, far, dask=running.address), build_site(project.path, near, jobs=1)
    assert differences(far, near) == []
    assert (site.written, site.unchanged) == (local.written, local.unchanged)
    assert 0 < site.written < site.unchanged


def test_short_reports_come_back_from_workers_too(running, project, tmp_path):
    (project.path / "sitegen.toml").write_text("[limits]\nreports_kept = 1\n")
    far, near = tmp_path / "far", tmp_path / "near"
    build_site(project.path, far, dask=running.address)
    build_site(project.path, near, jobs=1)
    (project.path / "sitegen.toml").unlink()
    assert differences(far, near) == []


@pytest.fixture
def context(project: GitRepo, tmp_path: Path) -> WorkerContext:
    return WorkerContext(
        place=find_repository(project.path)[0],
        overlay={},
        site=SiteInfo("", ""),
        own_templates=None,
        look="",
        out=tmp_path / "out",
        limits=BuildLimits(max_blob_bytes=1000, discrepancies_per_type=1),
        commits=(project.git("rev-parse", "HEAD"),),
    )


def test_an_error_in_a_template_names_the_file_where_the_build_runs(running, project, tmp_path):
    report = project.path / "site_templates/pages/report.html"
    report.write_text("{{ path }}\n{{ nothing }}")
    with pytest.raises(ConfigurationError, match="'nothing' is undefined") as error:
        build_site(project.path, tmp_path / "out", dask=running.address)
    report.write_text(REPORT)
    assert error.value.where == f"{report}:2"


def test_an_error_of_the_system_of_a_worker_is_not_taken_for_one_of_this_machine(running, context):
    with cluster_workers(running.address, context) as workers, pytest.raises(WorkerError) as error:
        list(Pool(*workers).map(fill_disk, [Task(context)]))
    assert re.sub("[0-9]+$", "", error.value.where or "") == "tcp://127.0.0.1:"
    assert (error.value.message, error.value.fix) == (
        "The system of a dask worker says: [Errno 28] No space left on device: '/scratch/page'.",
        "Make room on its disk or give it another --local-directory, and build again.",
    )


def test_what_a_build_sent_to_workers_is_deleted_at_its_end(running):
    assert list(running.folder.rglob("sitegen-*")) == []


def test_a_worker_with_another_version_is_refused_before_any_task(running, context):
    running.run(setattr, cluster, "__version__", "0.0.1")
    with pytest.raises(WorkerError) as error, cluster_workers(running.address, context):
        pass
    assert (error.value.message, error.value.fix) == (
        f"A dask worker would not write the same site: sitegen 0.0.1 there, {__version__} here.",
        "Install the same versions on both sides, and start the worker again.",
    )
    running.run(delattr, cluster, "installed_here")
    with pytest.raises(WorkerError) as error, cluster_workers(running.address, context):
        pass
    assert error.value.message.startswith("A dask worker cannot run this version of sitegen: ")
    running.run(importlib.reload, cluster)
    running.run(setattr, cluster, "__version__", __version__)


def test_a_worker_that_came_later_is_refused_too(context, tmp_path):
    sent = BuildFiles.of(context)
    worker = SimpleNamespace(address="tcp://a:1", local_directory=str(tmp_path))
    assert pickle.loads(pickle.dumps(sent)).context(context, worker).out is None
    sent = replace(sent, installed={**sent.installed, "Python": "3.9"})
    with pytest.raises(WorkerError) as error:
        pickle.loads(pickle.dumps(sent)).context(context, worker)
    found = (error.value.message.split(": ")[1], error.value.where)
    assert found == (f"Python {sys.version_info[0]}.{sys.version_info[1]} there, 3.9 here.", "tcp://a:1")


def test_a_scheduler_that_falls_silent_ends_the_wait_for_a_task(running, context, monkeypatch):
    monkeypatch.setattr(cluster, "SILENCE", 1)
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    scheduler = running.processes[0]
    with pytest.raises(WorkerError, match="says nothing for 1 s"), cluster_workers(running.address, context) as workers:
        scheduler.send_signal(signal.SIGSTOP)
        try:
            list(Pool(*workers).map(do_nothing, [Task(context)]))
        finally:
            scheduler.send_signal(signal.SIGCONT)


def test_a_worker_that_dies_and_a_scheduler_without_workers_end_the_build_with_what_to_do(
    running, context, monkeypatch
):
    with cluster_workers(running.address, context) as workers, pytest.raises(WorkerError) as error:
        list(Pool(*workers).map(end, [Task(context)]))
    assert error.value.message.endswith("while they ran one and the same task, most likely for want of memory.")
    for worker in running.processes[1:]:
        worker.kill()
    monkeypatch.setattr(cluster, "CONNECT", 1)
    with pytest.raises(WorkerError) as error, cluster_workers(running.address, context):
        pass
    assert (error.value.message, error.value.where) == ("The dask scheduler has no worker.", running.address)
    assert error.value.fix == (
        f"Start one where this version of sitegen is installed: dask worker {running.address} --nthreads 1"
    )


class WithoutWorkers:
    """A client, and a task that waits for a worker."""

    def __init__(self, scheduler: str) -> None:
        self.scheduler = SimpleNamespace(address=scheduler)

    def result(self, timeout: float) -> None:
        raise TimeoutError

    def wait_for_workers(self, number: int, timeout: float) -> None:
        raise TimeoutError

    def scheduler_info(self) -> None: ...


def test_a_task_that_no_worker_is_left_for_is_not_waited_for_for_ever():
    client = WithoutWorkers("tcp://a:1")
    with pytest.raises(WorkerError, match=re.escape("The dask scheduler has no worker.\n  at: tcp://a:1\n")):
        result_of_task(client, client)


@pytest.fixture
def half_a_second(monkeypatch):
    """Nothing is waited for longer when a connection is made."""
    monkeypatch.setattr(cluster, "CONNECT", 0.5)


def test_an_address_at_which_no_scheduler_answers_is_an_error_at_once(context, half_a_second):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
    for wrong in (address, "nonsense://a"):
        with pytest.raises(WorkerError, match="^No dask scheduler answers") as error, cluster_workers(wrong, context):
            pass
        assert error.value.where == wrong
        assert (error.value.fix or "").startswith("Start one (dask scheduler), or correct the address in --dask")


def test_an_address_that_accepts_and_says_nothing_is_an_error_soon(context, half_a_second):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(WorkerError, match="says nothing for 1.5 s") as error, cluster_workers(address, context):
            pass
    assert error.value.where == address


def clone(project: GitRepo, folder: Path, *options: str) -> Path:
    subprocess.run(["git", "clone", "-q", *options, project.path.as_uri(), str(folder)], check=True)
    return folder


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_history_is_unpacked_with_every_object_and_the_end_of_a_shallow_one(tmp_path, form):
    repo = GitRepo(tmp_path / "whole", object_format=form)
    older, newer = repo.commits([{"a.md": "one", "b/c.md": "two"}, {"a.md": "three"}])
    for name, place in (("whole", repo.path), ("cut", clone(repo, tmp_path / "shallow", "--bare", "--depth=1"))):
        history = packed(find_repository(place)[0], [newer])
        there = pickle.loads(pickle.dumps(history)).unpacked(tmp_path / "sent" / name)
        repository = Repository(there)
        assert [commit.commit.sha for commit in walk(repository.place, commits_up_to(repository.place, newer))] == (
            [older, newer] if name == "whole" else [newer]
        )
        assert FilesAt(there, "HEAD").read("a.md") == b"three"
        assert FilesAt(there, newer).read("b/c.md") == b"two"
        assert find_repository(there.git_dir)[1] == newer
