"""What lies in a work tree chooses neither what is read nor where something is written."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import pytest

from sitegen.config.manifest import manifest_in_force
from sitegen.config.models import INSTRUCTIONS, MAPPINGS, EvalConfig, SiteConfig
from sitegen.config.site import read_rules, read_site
from sitegen.errors import ConfigurationError, Notice, RepositoryError
from sitegen.history import repository_place
from sitegen.history.repository import Repository
from sitegen.history.worktree import work_tree_paths
from sitegen.llm.files import ResponsesFile, Slot, read_prompt_cases
from sitegen.project import own_templates
from tests.gitrepo import GitRepo
from tests.rows import in_table
from tests.sites import build_site, run


@pytest.fixture
def repo(repo: GitRepo) -> GitRepo:
    repo.check_in({"evals/a/ground_truth.json": '{"x": 1}', "evals/a/extracted.json": '{"x": 1}'})
    return repo


@pytest.mark.parametrize("kind", ["link", "device", "pipe", "large"])
def test_a_configuration_that_is_no_regular_file_is_an_error(tmp_path, kind):
    (tmp_path / "outside").write_text('title = "outside"')
    file = tmp_path / "project" / "sitegen.toml"
    file.parent.mkdir()
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "large":
            with file.open("wb") as stream:
                stream.truncate(20_000_000_000)
        case _:
            file.symlink_to("/dev/zero" if kind == "device" else tmp_path / "outside")
    with pytest.raises(ConfigurationError, match=r"sitegen\.toml cannot be read: it is "):
        read_site(partial(read_rules, file.parent))


@in_table
def test_a_path_outside_that_a_manifest_names_does_not_count(entry):
    content = f"evals:\n  a:\n    name: A\n    {entry}\n".encode()
    manifest, [finding] = manifest_in_force(content, "evals/manifest.yaml", "evals")
    assert manifest.evals == (EvalConfig(id="a", name="A"),)
    assert (finding.severity, finding.line) == ("error", 4)
    assert finding.message.endswith("it leads out of the project. It does not count.")


def test_a_ground_truth_beside_its_folder_is_inside():
    text = b"evals: {a: {ground_truth: ../shared/truth.csv}}\n"
    assert (
        manifest_in_force(text, "evals/manifest.yaml", "evals").value.entry("a").ground_truth == "../shared/truth.csv"
    )


@pytest.mark.parametrize("line", ['evals_dir = "../evals"', 'mapping = ["../m.yaml"]', 'instructions = ["/../*.md"]'])
def test_a_path_outside_that_a_configuration_names_does_not_count(tmp_path, line):
    (tmp_path / "sitegen.toml").write_text(f'title = "x"\n{line}\n')
    site, [finding] = read_site(partial(read_rules, tmp_path))
    assert replace(site, instructions=INSTRUCTIONS, mapping=MAPPINGS) == SiteConfig(title="x")
    assert all("../" not in path for path in (*site.instructions, *site.mapping, site.evals_dir))
    assert (finding.severity, finding.line) == ("error", 2)
    assert finding.message.endswith("it leads out of the project. It does not count.")


@in_table
def test_nothing_is_written_through_a_link(repo, tmp_path, command, folder):
    (tmp_path / "elsewhere").mkdir()
    (repo.path / folder).symlink_to(tmp_path / "elsewhere")
    done = run(*command, cwd=repo.path)
    assert (done.returncode, list((tmp_path / "elsewhere").iterdir())) == (2, [])
    assert "a symbolic link" in done.stderr


def test_a_linked_folder_of_templates_is_none(repo, tmp_path):
    (tmp_path / "theme").mkdir()
    (repo.path / "site_templates").symlink_to(tmp_path / "theme")
    assert own_templates(repo.path) is None


def test_a_ground_truth_that_is_a_link_is_not_read(repo, tmp_path):
    (tmp_path / "private.json").write_text('{"private": 1}')
    (repo.path / "evals/a/ground_truth.json").unlink()
    (repo.path / "evals/a/ground_truth.json").symlink_to(tmp_path / "private.json")
    done = run("verify-one", "a", "--json", cwd=repo.path)
    assert 'private"' not in done.stdout
    assert "a symbolic link" in done.stdout + done.stderr


@pytest.mark.parametrize("name", ["responses.jsonl", "responses.jsonl.partial"])
def test_responses_are_not_read_through_a_link_nor_written_through_one(tmp_path, name):
    secret = tmp_path / "secret"
    secret.write_text('{"case_id": "a"}\n', encoding="utf-8")
    folder = tmp_path / "evals"
    folder.mkdir()
    (folder / name).symlink_to(secret)
    with pytest.raises(ConfigurationError, match="symbolic link"):
        ResponsesFile.read(folder / "responses.jsonl", [])
    with ResponsesFile(folder / "responses.jsonl", {}, []) as file, suppress(OSError):
        file.put(Slot("a"), {"case_id": "a"})
    assert secret.read_text(encoding="utf-8") == '{"case_id": "a"}\n'


def test_test_cases_in_a_pipe_are_an_error(tmp_path):
    os.mkfifo(tmp_path / "cases.json")
    with pytest.raises(ConfigurationError, match="not a regular file"):
        read_prompt_cases(tmp_path / "cases.json")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Git may be silent for half a second, and for no longer where it is waited for."""
    monkeypatch.setattr(repository_place, "PATIENCE", 0.5)
    monkeypatch.setattr(repository_place, "_LONGEST_SILENCE", 0.6)


def test_git_that_waits_for_a_pipe_called_gitignore_is_ended(repo, impatient):
    os.mkfifo(repo.path / ".gitignore")
    with pytest.raises(
        RepositoryError, match=r"git ls-files was silent for 0.5 s. This file is a pipe[^/]*at: .*/.gitignore"
    ):
        work_tree_paths(Repository.open(repo.path))


def test_git_that_waits_for_a_pipe_its_configuration_includes_is_ended(repo, impatient):
    os.mkfifo(repo.path / "pipe")
    with (repo.path / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write("[include]\npath = ../pipe\n")
    with (
        pytest.warns(Notice, match=r"git rev-parse was silent for 0.5 s; waiting for 0.6 s at most\."),
        pytest.raises(RepositoryError, match=r"(?s)git rev-parse was silent for 0.6 s\..*include.path"),
    ):
        repository_place.find_repository(repo.path)


def _loose(repo: GitRepo, name: str) -> str:
    oid = repo.git("rev-parse", name).strip()
    return f"objects/{oid[:2]}/{oid[2:]}"


PIPES: dict[str, Callable[[GitRepo], str]] = {
    "a blob": lambda repo: _loose(repo, "HEAD:evals/a/extracted.json"),
    "a tree": lambda repo: _loose(repo, "HEAD:evals/a"),
    "a commit": lambda repo: _loose(repo, "HEAD"),
    "attributes": lambda repo: "info/attributes",
    "excluded files": lambda repo: "info/exclude",
    "a branch": lambda repo: "refs/heads/main",
    "a graph of commits": lambda repo: "objects/info/commit-graphs/commit-graph-chain",
    "another repository": lambda repo: "commondir",
}


@pytest.mark.parametrize("name", PIPES)
@pytest.mark.parametrize("worktree", [False, True])
def test_a_pipe_in_the_folder_of_git_is_named_and_not_waited_for(repo, tmp_path, impatient, name, worktree):
    pipe = repo.path / ".git" / PIPES[name](repo)
    pipe.parent.mkdir(parents=True, exist_ok=True)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    with pytest.raises(RepositoryError, match="(?s)a pipe or a device, for which git") as refused:
        build_site(repo.path, tmp_path / "site", jobs=1, worktree=worktree)
    assert refused.value.where == str(pipe)


def test_a_silent_git_of_a_process_that_runs_tasks_ends_the_build(repo, tmp_path, impatient):
    (repo.path / ".git/objects/pack").mkdir(exist_ok=True)
    pipe = repo.path / ".git" / _loose(repo, "HEAD:evals/a/extracted.json")
    pipe.unlink()
    os.mkfifo(pipe)
    with pytest.raises(RepositoryError, match="git cat-file was silent for 0.5 s"):
        build_site(repo.path, tmp_path / "site", jobs=2)


def test_a_file_of_git_that_leads_to_dev_null_is_read_as_empty(repo):
    exclude = repo.path / ".git/info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.unlink(missing_ok=True)
    exclude.symlink_to(os.devnull)
    assert work_tree_paths(Repository.open(repo.path))
