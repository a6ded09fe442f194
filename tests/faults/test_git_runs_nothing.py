"""A repository's own configuration names programs in many places: no command of sitegen makes git run one of them."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from sitegen.errors import RepositoryError
from sitegen.history.repository_place import find_repository
from sitegen.project import Options
from sitegen.serve.watch import build_layers
from tests.gitrepo import GitRepo
from tests.sites import run

TRUTH, OUTPUT = "evals/a/ground_truth.json", "evals/a/extracted.json"
LACKING = "evals/lacking/extracted.json"
"""The output of another eval, whose first content may be missing: the first eval is built all the same."""


class Program:
    """A program that leaves a file behind when it runs, and ends."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.ran = folder / f"{name}.ran"
        self.path = folder / name
        self.path.write_text(f"#!/bin/sh\ntouch '{self.ran}'\n")
        self.path.chmod(0o755)

    def __str__(self) -> str:
        return str(self.path)


def attributes(repo: GitRepo, line: str) -> None:
    """A line of ``.gitattributes`` on disk."""
    with (repo.path / ".gitattributes").open("a") as file:
        file.write(f"{line}\n")


def unsure(repo: GitRepo) -> None:
    """An index whose times prove nothing, so that git looks at contents."""
    repo.git("config", "core.trustctime", "false")
    oldest = min((repo.path / name).stat().st_mtime_ns for name in (TRUTH, OUTPUT, "CLAUDE.md"))
    os.utime(repo.path / ".git" / "index", ns=(oldest, oldest))


def filtered(key: str) -> Callable[[GitRepo, Program], None]:
    def set_up(repo: GitRepo, program: Program) -> None:
        repo.git("config", f"filter.{key}.{key}", str(program))
        attributes(repo, f"{TRUTH if key == 'clean' else OUTPUT} filter={key}")
        unsure(repo)

    return set_up


def setting(*names: str, value: str = "{}") -> Callable[[GitRepo, Program], None]:
    def set_up(repo: GitRepo, program: Program) -> None:
        for name in names:
            repo.git("config", name, value.format(program))

    return set_up


def monitored(repo: GitRepo, program: Program) -> None:
    repo.git("config", "core.fsmonitor", str(program))
    repo.git("update-index", "--fsmonitor")


def included(repo: GitRepo, program: Program) -> None:
    (repo.path / ".git" / "more").write_text(f"[core]\nfsmonitor = {program}\n")
    repo.git("config", "include.path", "more")
    repo.git("update-index", "--fsmonitor")


def of_the_work_tree(repo: GitRepo, program: Program) -> None:
    repo.git("config", "extensions.worktreeConfig", "true")
    repo.git("config", "--worktree", "core.fsmonitor", str(program))
    repo.git("update-index", "--fsmonitor")


def of_a_submodule(repo: GitRepo, program: Program) -> None:
    inner = GitRepo(repo.path / "inner")
    head = inner.check_in({"x": "1"})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{head},inner")
    monitored(inner, program)


def hooks(repo: GitRepo, program: Program) -> None:
    for name in ("pre-commit", "post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc"):
        (program.path.parent / name).symlink_to(program.path)
    repo.git("config", "core.hooksPath", str(program.path.parent))


def promised(url: str, *settings: tuple[str, str]) -> Callable[[GitRepo, Program], None]:
    """An object that is not there, and a remote that git would ask for it."""

    def set_up(repo: GitRepo, program: Program) -> None:
        name = program.path.name
        values = [("url", url.format(program)), ("promisor", "true")]
        for key, value in values:
            repo.git("config", f"remote.{name}.{key}", value)
        for key, value in settings:
            repo.git("config", key.format(name), value.format(program))
        oid = repo.oid("HEAD~1", LACKING)
        (repo.path / ".git" / "objects" / oid[:2] / oid[2:]).unlink(missing_ok=True)

    return set_up


def alternates(repo: GitRepo, program: Program) -> None:
    other = GitRepo(program.path.parent / "other")
    other.commit({"x": "1"})
    (repo.path / ".git/objects/info").mkdir(exist_ok=True)
    (repo.path / ".git/objects/info/alternates").write_text(f"{other.path}/.git/objects\n")
    repo.git("config", "core.alternateRefsCommand", str(program))


def shown_by(key: str) -> Callable[[GitRepo, Program], None]:
    def set_up(repo: GitRepo, program: Program) -> None:
        repo.git("config", key.format("drawn"), str(program))
        attributes(repo, "*.md diff=drawn")

    return set_up


class Key(NamedTuple):
    """A place where a program is named, and a command of plain git that runs it."""

    set_up: Callable[[GitRepo, Program], None]
    control: tuple[str, ...]
    stdin: bytes = b""


PASSWORD = b"protocol=https\nhost=example.invalid\n\n"
OLD = f"HEAD~1:{LACKING}"

KEYS: dict[str, Key] = {
    "fsmonitor": Key(monitored, ("status",)),
    "fsmonitor-of-an-include": Key(included, ("status",)),
    "fsmonitor-of-the-work-tree": Key(of_the_work_tree, ("status",)),
    "fsmonitor-of-a-submodule": Key(of_a_submodule, ("status",)),
    "hooks": Key(hooks, ("commit", "--allow-empty", "-m", "x")),
    "ssh-command": Key(promised("ssh://example.invalid/x", ("core.sshCommand", "{}")), ("cat-file", "-p", OLD)),
    "git-proxy": Key(promised("git://example.invalid/x", ("core.gitProxy", "{}")), ("cat-file", "-p", OLD)),
    "transport": Key(promised("ext::{}", ("protocol.ext.allow", "always")), ("cat-file", "-p", OLD)),
    "upload-pack": Key(promised(".", ("remote.{}.uploadpack", "{}")), ("cat-file", "-p", OLD)),
    "credential-helper": Key(setting("credential.helper", value="!{}"), ("credential", "fill"), PASSWORD),
    "ask-pass": Key(setting("core.askPass"), ("credential", "fill"), PASSWORD),
    "alternate-refs": Key(alternates, ("rev-list", "--alternate-refs")),
    "text-conversion": Key(shown_by("diff.{}.textconv"), ("--no-pager", "diff", "HEAD~1")),
    "diff-driver": Key(shown_by("diff.{}.command"), ("--no-pager", "diff", "HEAD~1")),
    "external-diff": Key(setting("diff.external"), ("--no-pager", "diff", "HEAD~1")),
    "pager": Key(setting("core.pager", "pager.diff"), ("diff", "HEAD~1")),
    "signatures": Key(setting("gpg.program"), ("commit-tree", "-S", "-m", "x", "HEAD^{tree}")),
    "alias": Key(setting("alias.known", "alias.rev-parse", value="!{}"), ("known",)),
    "filter-clean": Key(filtered("clean"), ("diff-index", "HEAD")),
    "filter-process": Key(filtered("process"), ("diff-index", "HEAD")),
}


def project(folder: Path) -> GitRepo:
    repo = GitRepo(folder)
    repo.commit(
        {
            "CLAUDE.md": "# Read\n\nSlowly.\n",
            ".gitattributes": "",
            ".gitignore": "/public\n/.sitegen\n/inner\n",
            TRUTH: '{"x": 1}',
            OUTPUT: '{"x": 2}',
            "evals/lacking/ground_truth.json": '{"y": 1}',
            LACKING: '{"y": 2}',
        }
    )
    repo.check_in({"CLAUDE.md": "# Read\n\nWell.\n", OUTPUT: '{"x": 3}', LACKING: '{"y": 3}'})
    return repo


def plain_git(repo: GitRepo, key: Key) -> None:
    """git as a user runs it on a terminal, without settings of the user."""
    terminal, end = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SSH_"))}
    person = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    with subprocess.Popen(
        ["git", *person, *key.control],
        cwd=repo.path,
        env={**environment, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "TERM": "dumb"},
        stdin=subprocess.PIPE,
        stdout=end,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            process.communicate(key.stdin, timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    os.close(end)
    os.close(terminal)


@pytest.mark.parametrize("name", KEYS)
def test_plain_git_runs_what_each_key_names_which_shows_that_the_trap_works(tmp_path: Path, name: str) -> None:
    repo, program = project(tmp_path / "project"), Program(tmp_path / "programs", name)
    KEYS[name].set_up(repo, program)
    program.ran.unlink(missing_ok=True)
    plain_git(repo, KEYS[name])
    assert program.ran.exists()


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("verify-one", "a", "--debug"),
    ("verify-one", "a", "--json"),
    ("verify-all",),
    ("build",),
    ("build", "--worktree", "--rev", ":CLAUDE.md"),
    ("build", "--worktree"),
    ("check", "--base", "HEAD~1"),
    ("check", "--worktree", "--base", "HEAD~1"),
    ("history", "a"),
    ("blame", "a", "x"),
    ("compare", "HEAD~1", "HEAD"),
    ("export", "--format", "sqlite", "-o", "../export.sqlite"),
    ("init",),
    ("verify-one", "a", "--save"),
)


def _an_output_lacks_contents(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether a build made both evals, and ended with the code of a problem for an output that the clone lacks."""
    return done.returncode == 3 and ", 2 evals, " in done.stdout


def test_no_command_runs_what_a_repository_names(tmp_path: Path) -> None:
    repo = project(tmp_path / "project")
    programs = {name: Program(tmp_path / "programs" / name, name) for name in KEYS}
    for name, key in KEYS.items():
        key.set_up(repo, programs[name])
    for program in programs.values():
        program.ran.unlink(missing_ok=True)
    codes = {}
    for command in COMMANDS:
        done = run(*command, cwd=repo.path)
        codes[" ".join(command)] = done.returncode
        assert [name for name, program in programs.items() if program.ran.exists()] == [], command
        refused = "There is no revision" in done.stderr or "This clone is partial or damaged" in done.stderr
        assert done.returncode in (0, 1) or refused or _an_output_lacks_contents(done), (command, done.stderr)
    build_layers(Options(repo=repo.path, cache=tmp_path / "watched"))
    assert [name for name, program in programs.items() if program.ran.exists()] == []


@pytest.mark.parametrize("place", ["home", "other"], ids=["around it", "beside it"])
def test_a_work_tree_that_a_repository_puts_elsewhere_is_refused(tmp_path: Path, place: str) -> None:
    for folder in ("home", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "CLAUDE.md").write_text("private")
    repo = project(tmp_path / "home" / "project")
    repo.git("config", "core.worktree", str(tmp_path / place))
    with pytest.raises(RepositoryError, match=r"puts its work tree elsewhere \(core\.worktree\)"):
        find_repository(repo.path)
