"""Where a repository can lie, what a revision can be, and what is said if there is none."""

import os
import shutil
from pathlib import Path

import pytest

from sitegen.errors import NothingToReportError, RepositoryError
from sitegen.history.repository import Repository
from sitegen.history.repository_place import find_repository
from sitegen.history.revisions import commits_up_to, walk
from sitegen.text.plain import web_address
from tests.gitrepo import GitRepo
from tests.rows import in_table
from tests.sites import build_site


def test_a_repository_is_found_from_any_folder_below_its_root_and_from_inside_its_own(repo: GitRepo) -> None:
    sha = repo.check_in({"deep/er/a": "1"})
    found = Repository.open(repo.path / "deep/er")
    assert (found.place.root, found.place.git_dir, found.name) == (repo.path, repo.path / ".git", "project")
    place, head = find_repository(repo.path / ".git" / "refs")
    assert (place.root, place.git_dir, head) == (repo.path, repo.path / ".git", sha)


def test_a_bare_repository_has_no_work_tree(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "project.git", bare=True)
    sha = repo.commit({"a": "1"})
    found = Repository.open(repo.path)
    assert (found.place.root, found.place.git_dir, found.name) == (None, repo.path, "project")
    place, head = find_repository(repo.path)
    assert (place.root, place.top, head, found.resolve("HEAD")) == (None, repo.path, sha, sha)


def test_a_linked_work_tree_has_its_own_head_and_the_objects_of_all(repo: GitRepo, tmp_path: Path) -> None:
    shas = repo.commits([{"a": "1"}, {"a": "2"}])
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"), shas[0])
    found = Repository.open(tmp_path / "linked")
    assert (found.place.root, found.resolve("HEAD"), found.resolve("main")) == (tmp_path / "linked", shas[0], shas[1])
    assert [each.commit.sha for each in walk(found.place, commits_up_to(found.place, shas[1]))] == shas


def test_a_repository_of_another_user_is_refused_in_the_words_of_git(repo, monkeypatch):
    repo.commit({"a": "1"})
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    with pytest.raises(RepositoryError) as caught:
        Repository.open(repo.path)
    assert "dubious ownership" in caught.value.message
    assert f"git config --global --add safe.directory {repo.path}" in (caught.value.fix or "")


def test_a_repository_of_another_user_is_read_if_the_user_says_so(repo, tmp_path, monkeypatch):
    sha = repo.commit({"a": "1"})
    (tmp_path / "gitconfig").write_text(f"[safe]\n directory = {repo.path}\n")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    found = Repository.open(repo.path)
    assert [each.commit.sha for each in walk(found.place, commits_up_to(found.place, found.resolve("HEAD")))] == [sha]


def test_revisions_of_every_form_are_resolved(repo: GitRepo) -> None:
    shas = repo.commits([{"a": "1"}, {"a": "2"}, {"a": "3"}])
    repo.git("-c", "user.name=A", "-c", "user.email=a@example.org", "tag", "-a", "-m", "Annotated", "v1", shas[0])
    repo.git("tag", "light", shas[1])
    repo.git("pack-refs", "--all")
    repo.git("checkout", "-q", "--detach", shas[1])
    revs = ["HEAD", "main", "refs/heads/main", "v1", "light", "main~2", shas[2][:9], shas[2]]
    wanted = [shas[1], shas[2], shas[2], shas[0], shas[1], shas[0], shas[2], shas[2]]
    found = Repository.open(repo.path)
    assert [found.resolve(rev) for rev in revs] == wanted
    assert [find_repository(repo.path, rev)[1] for rev in revs] == wanted


@pytest.mark.parametrize("rev", ["nowhere", "-h", "--all", "main..main", "HEAD:a", "", "HEAD~9", "a\nb"])
def test_an_unknown_revision_is_an_error_that_names_it(repo: GitRepo, rev: str) -> None:
    repo.commit({"a": "1"})
    with pytest.raises(RepositoryError, match="There is no revision"):
        Repository.open(repo.path).resolve(rev)
    assert find_repository(repo.path, rev)[1] is None


def test_a_repository_without_commits_has_nothing_to_report(repo: GitRepo) -> None:
    with pytest.raises(NothingToReportError, match="no commits yet"):
        Repository.open(repo.path).resolve("HEAD")
    assert find_repository(repo.path, "HEAD")[1] is None


@in_table
def test_the_web_address_of_a_remote_has_no_credentials(url: str, address: str | None) -> None:
    assert web_address(url) == address


def test_the_address_of_origin_is_read_from_the_configuration(repo: GitRepo) -> None:
    assert Repository.open(repo.path).origin_url() is None
    repo.git("remote", "add", "origin", "https://me:secret@example.org/org/repo.git")
    repo.git("config", "url.https://elsewhere.invalid/.insteadOf", "https://me:secret@example.org/")
    assert Repository.open(repo.path).origin_url() == "https://example.org/org/repo"


def test_references_that_git_cannot_read_are_no_work_tree_elsewhere(repo: GitRepo) -> None:
    (repo.path / ".git" / "packed-refs").write_bytes(b"\xff\0garbage\n")
    with pytest.raises(RepositoryError) as caught:
        find_repository(repo.path)
    assert "core.worktree" not in str(caught.value)


@in_table
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_among_the_files_of_git_is_named(repo: GitRepo, tmp_path: Path, name: str) -> None:
    """Git would open it, and wait for a writer."""
    repo.check_in({"deep/a": "1"})
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    pipe = repo.path / ".git" / name
    pipe.unlink(missing_ok=True)
    pipe.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(pipe)
    for folder in (repo.path, repo.path / "deep", repo.path / ".git", tmp_path / "linked"):
        with pytest.raises(RepositoryError, match="is a pipe or a device") as caught:
            find_repository(folder)
        assert Path(str(caught.value.where)) == pipe


def test_an_error_of_git_is_not_hidden_behind_hints_about_our_own_settings(repo, tmp_path):
    repo.check_in({"evals/a/ground_truth.json": '{"x": 1}', "evals/a/extracted.json": '{"x": 1}'})
    (repo.path / ".git/index").write_bytes(b"no index")
    with pytest.raises(RepositoryError) as refused:
        build_site(repo.path, tmp_path / "site", worktree=True)
    assert "grafts" not in refused.value.message
    assert "index" in refused.value.message


def _git_file(folder: Path, private: GitRepo) -> None:
    (folder / ".git").write_text(f"gitdir: {private.path}/.git\n")


def _git_link(folder: Path, private: GitRepo) -> None:
    (folder / ".git").symlink_to(private.path / ".git")


def _git_file_of_a_bare_repository(folder: Path, private: GitRepo) -> None:
    private.git("clone", "-q", "--bare", ".", str(folder.parent / "bare.git"))
    (folder / ".git").write_text("gitdir: ../bare.git\n")


def _common_folder(folder: Path, private: GitRepo) -> None:
    shutil.copytree(private.path / ".git", folder / ".git")
    (folder / ".git/commondir").write_text(f"{private.path}/.git\n")


def _work_tree_that_names_itself(folder: Path, private: GitRepo) -> None:
    own = folder / "store/worktrees/x"
    own.mkdir(parents=True)
    (folder / ".git").write_text("gitdir: store/worktrees/x\n")
    (own / "gitdir").write_text(f"{folder}/.git\n")
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "commondir").write_text(f"{private.path}/.git\n")


def _linked_branch(folder: Path, private: GitRepo) -> None:
    GitRepo(folder)
    (folder / ".git/objects/info/alternates").write_text(f"{private.path}/.git/objects\n")
    (folder / ".git/refs/heads/main").symlink_to(private.path / ".git/refs/heads/main")


def _linked_folders(folder: Path, private: GitRepo) -> None:
    GitRepo(folder)
    for name in ("refs", "objects"):
        shutil.rmtree(folder / ".git" / name)
        (folder / ".git" / name).symlink_to(private.path / ".git" / name)


@pytest.mark.parametrize(
    "lead",
    [
        _git_file,
        _git_link,
        _git_file_of_a_bare_repository,
        _common_folder,
        _work_tree_that_names_itself,
        _linked_branch,
        _linked_folders,
    ],
)
def test_a_folder_that_leads_to_a_repository_elsewhere_does_not_show_it(repo, tmp_path, lead):
    """Whoever wrote such a folder would have a repository of the user published."""
    repo.commit({"evals/a/extracted.json": '{"x": "private"}', "evals/a/ground_truth.json": '{"x": 1}'})
    folder = tmp_path / "unpacked"
    folder.mkdir()
    lead(folder, repo)
    with pytest.raises(RepositoryError, match="history of another repository, which does not name it: /"):
        find_repository(folder)


def test_a_folder_of_git_that_was_moved_is_read_where_its_configuration_names_the_work_tree(repo, tmp_path):
    sha = repo.commit({"a": "1"})
    repo.git("init", "-q", "--separate-git-dir", str(tmp_path / "moved.git"), str(repo.path))
    with pytest.raises(RepositoryError, match="git config core.worktree") as refused:
        find_repository(repo.path)
    folder, name, value = str(refused.value.fix).rsplit(maxsplit=2)
    repo.git("config", name, value)
    assert folder.endswith("git config")
    assert find_repository(repo.path)[1] == sha


def test_a_submodule_and_its_work_trees_are_read(repo: GitRepo, tmp_path: Path) -> None:
    sha = repo.commit({"a": "1"})
    outer = GitRepo(tmp_path / "outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo.path), "inner")
    outer.git("-C", "inner", "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    (tmp_path / "by link").symlink_to(outer.path / "inner")
    for folder in (outer.path / "inner", tmp_path / "linked", tmp_path / "by link"):
        assert find_repository(folder)[1] == sha
