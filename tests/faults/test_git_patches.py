"""Patches from one stream: each belongs to its edit, whatever the edits, the files and the settings are."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitegen.history.patches import PATCH_BYTES, read_patches
from sitegen.history.process import share_processes
from sitegen.history.repository import Repository
from sitegen.history.revisions import commits_up_to, walk
from sitegen.model.commits import Commit
from sitegen.model.timeline import Blob, Edit
from tests.gitrepo import GitRepo


def edits_of(repo: GitRepo, rev: str = "HEAD") -> list[Edit]:
    repository = Repository.open(repo.path)
    edits = []
    for revision in walk(repository.place, commits_up_to(repository.place, repository.resolve(rev))):
        for path, old, new in revision.changes:
            status = "added" if old is None else "deleted" if new is None else "modified"
            edits.append(
                Edit(
                    commit=revision.commit,
                    path=path,
                    status=status,  # type: ignore[arg-type]
                    old=Blob(path, old) if old else None,
                    new=Blob(path, new) if new else None,
                )
            )
    return edits


def bodies(repo: GitRepo, edits: list[Edit]) -> list[str]:
    """Each patch from its first hunk on."""
    texts = [patch.decode() for patch in read_patches(Repository.open(repo.path), edits)]
    return [text[text.index("@@") :] if "@@" in text else text for text in texts]


def test_each_edit_gets_its_own_patch(repo: GitRepo) -> None:
    repo.commit({"a.md": "1\n", "b.md": "x\n", "other.txt": "o\n"})
    repo.commit({"a.md": "2\n", "b.md": None, "other.txt": "p\n"})
    edits = [edit for edit in edits_of(repo) if edit.path.endswith(".md")]
    assert bodies(repo, edits) == [
        "@@ -0,0 +1 @@\n+1\n",
        "@@ -0,0 +1 @@\n+x\n",
        "@@ -1 +1 @@\n-1\n+2\n",
        "@@ -1 +0,0 @@\n-x\n",
    ]
    assert bodies(repo, edits[::-1]) == bodies(repo, edits)[::-1]


@pytest.mark.parametrize("long", [10, 200_000])  # all patches of the commit are kept, or most are asked for again
@pytest.mark.parametrize("change", ["added", "line ends"])
def test_files_of_one_commit_may_be_patched_one_by_one(repo: GitRepo, long: int, change: str) -> None:
    names = [f"docs/{number:03d}.md" for number in range(60)]
    text, end = "t" * long, "\n" if change == "added" else "\r\n"
    before = repo.commit({"a.txt": ""} if change == "added" else {name: f"{name}\n{text}\n" for name in names})
    repo.commit({name: f"{name}{end}{text}{end}" for name in names})
    edits = [edit for edit in edits_of(repo) if edit.commit.sha != before]
    repository = Repository.open(repo.path)
    with share_processes():
        for edit in edits:
            (patch,) = read_patches(repository, [edit], ("docs",))
            assert patch.count(edit.path.encode()) == (4 if change == "added" else 0), patch[:200]


def test_renamed_files_of_one_commit_may_be_patched_one_by_one(repo: GitRepo) -> None:
    text = "".join(f"{number}\n" for number in range(8))
    first = repo.commit({f"docs/{number}.md": text + f"{number}\n" for number in range(9)})
    changes = {f"docs/{number}.md": None for number in range(9)}
    second = repo.commit(changes | {f"docs/new-{number}.md": text + f"{number} new\n" for number in range(9)})
    repository = Repository.open(repo.path)
    with share_processes():
        for number in range(9):
            old, new = f"docs/{number}.md", f"docs/new-{number}.md"
            blobs = Blob(old, repo.oid(first, old)), Blob(new, repo.oid(second, new))
            commit = Commit(sha=second, position=1, author="", committed_at="", subject="")
            (patch,) = read_patches(repository, [Edit(commit, new, "renamed", *blobs)], ("docs",))
            assert patch.endswith(f"-{number}\n+{number} new\n".encode())


def test_a_commit_may_be_asked_for_again_and_again(repo: GitRepo) -> None:
    repo.commit({"a.md": "a\n", "b.md": "b\n"})
    repo.commit({"a.md": "aa\n", "b.md": "bb\n"})
    edits = sorted(edits_of(repo), key=lambda edit: edit.path)
    assert bodies(repo, [*edits, edits[0]]) == [
        "@@ -0,0 +1 @@\n+a\n",
        "@@ -1 +1 @@\n-a\n+aa\n",
        "@@ -0,0 +1 @@\n+b\n",
        "@@ -1 +1 @@\n-b\n+bb\n",
        "@@ -0,0 +1 @@\n+a\n",
    ]
    assert bodies(repo, []) == []
    several = [replace(edit, status="combined") for edit in edits[1::2]]
    patches = read_patches(Repository.open(repo.path), several, since=edits[0].commit.sha)
    assert [patch.partition(b"@@\n")[2] for patch in patches] == [b"-a\n+aa\n", b"-b\n+bb\n"]


def test_a_shared_process_gives_the_same_patches_after_a_caller_that_gave_up(repo: GitRepo) -> None:
    for version in range(20):
        repo.commit({"docs/a.md": f"a{version}\n", "docs/b.md": f"b{version}\n", "large.txt": "x\n" * version})
    edits = [edit for edit in edits_of(repo) if edit.path.startswith("docs/")]
    repository = Repository.open(repo.path)
    alone = list(read_patches(repository, edits))
    with share_processes():
        given_up = read_patches(repository, edits, ("docs",))
        assert next(given_up) == alone[0]
        assert list(read_patches(repository, edits, ("docs",))) == alone
        del given_up
        assert list(read_patches(repository, edits[::-1], ("docs",))) == alone[::-1]


TRICKY = "diff --git a/b.md b/b.md\nindex 1111111..2222222 100644\n@@ -1 +1 @@\n-x\n" + "a" * 40 + "\n--- a\n+++ b\n"
SECOND = "@@ -1 +1 @@\n-1\n+2\n"


@pytest.mark.parametrize(
    ("commits", "patches"),
    [
        (  # line ends alone
            [
                {"a.md": "one\ntwo\n", "b.md": "b\n", "c.md": "one\n"},
                {"a.md": "one\r\ntwo\r\n", "b.md": "bb\n", "c.md": "one\r\n"},
                {"a.md": "one\ntwo\n", "b.md": "bb\r\n", "c.md": "three\n"},
            ],
            ["", "@@ -1 +1 @@\n-b\n+bb\n", "", "", "", "@@ -1 +1 @@\n-one\r\n+three\n"],
        ),
        (  # lines that look like headers of git
            [{"a.md": "", "b.md": "1\n"}, {"a.md": TRICKY, "b.md": "2\n"}],
            ["@@ -0,0 +1,7 @@\n" + "".join(f"+{line}\n" for line in TRICKY.splitlines()), SECOND],
        ),
        (  # binary content
            [{"a.md": b"a\0b\n", "b.md": "1\n"}, {"a.md": b"a\0c\n", "b.md": "2\n"}],
            ["@@ -1 +1 @@\n-a\0b\n+a\0c\n", SECOND],
        ),
    ],
)
def test_whatever_the_lines_of_an_edit_are_the_next_keeps_its_own(repo, commits, patches):
    repo.commits(commits)
    assert bodies(repo, edits_of(repo)[-len(patches) :]) == patches


def test_names_that_git_quotes_do_not_matter(repo: GitRepo) -> None:
    names = [b'quo"te.md', b"tab\t.md", b"line\nfeed.md", "ü.md".encode(), b"\xff.md", b"b/ a/x.md"]
    repo.commit({os.fsdecode(name): b"1 " + name.hex().encode() for name in names})
    repo.commit({os.fsdecode(name): b"2 " + name.hex().encode() for name in names})
    edits = edits_of(repo)[len(names) :]
    ends = "\n\\ No newline at end of file\n"
    expected = []
    for edit in edits:
        word = edit.path.encode("utf-8", "surrogateescape").hex()
        expected.append(f"@@ -1 +1 @@\n-1 {word}{ends}+2 {word}{ends}")
    assert bodies(repo, edits) == expected


def test_a_merge_is_patched_against_its_first_parent(repo: GitRepo) -> None:
    base = repo.commit({"a.md": "1\n", "b.md": "1\n"})
    repo.commit({"a.md": "2\n"})
    side = repo.commit({"b.md": "2\n"}, branch="side", parent=base)
    repo.commit({"b.md": "2\n"}, merge=side)
    assert bodies(repo, edits_of(repo)[-1:]) == ["@@ -1 +1 @@\n-1\n+2\n"]


def test_a_rename_is_patched_against_the_file_it_was(repo: GitRepo) -> None:
    text = "".join(f"{number}\n" for number in range(8))
    first = repo.commit({"old.md": text})
    second = repo.commit({"old.md": None, "new.md": text + "8\n"})
    commit = Commit(sha=second, position=1, author="", committed_at="", subject="")
    old, new = Blob("old.md", repo.oid(first, "old.md")), Blob("new.md", repo.oid(second, "new.md"))
    renamed = Edit(commit=commit, path="new.md", status="renamed", old=old, new=new)
    moved = Edit(commit=commit, path="new.md", status="renamed", old=old, new=Blob("new.md", old.oid))
    assert bodies(repo, [renamed, moved]) == ["@@ -6,3 +6,4 @@\n 5\n 6\n 7\n+8\n", ""]


def test_settings_and_attributes_of_the_user_change_no_patch(repo, tmp_path, monkeypatch):
    text = "# Title\n\none\ntwo\nthree\nfour\nfive\nsix\nseven\n"
    repo.commit({"a.md": text})
    repo.commit({"a.md": text.replace("five", "5"), ".gitattributes": "*.md -diff\n"})
    edits = [edit for edit in edits_of(repo) if edit.path == "a.md"]
    before = list(read_patches(Repository.open(repo.path), edits))
    assert b"@@ -4,6 +4,6 @@" in before[1]
    repo.checkout()
    ran = tmp_path / "ran"
    (tmp_path / "run").write_text(f'#!/bin/sh\ntouch {ran}\ncat "$1" | tr a-z A-Z\n')
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "attributes").write_text("*.md diff=loud\n")
    (tmp_path / "gitconfig").write_text(
        f"[core]\n attributesFile = {tmp_path}/attributes\n"
        f"[diff]\n external = {tmp_path}/run\n noprefix = true\n mnemonicPrefix = true\n context = 0\n"
        " interHunkContext = 9\n suppressBlankEmpty = true\n algorithm = minimal\n wsErrorHighlight = all\n"
        f'[diff "loud"]\n textconv = {tmp_path}/run\n command = {tmp_path}/run\n xfuncname = "^.*$"\n binary = true\n'
        "[color]\n ui = always\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(tmp_path / "run"))
    monkeypatch.setenv("GIT_DIFF_OPTS", "--unified=0")
    assert list(read_patches(Repository.open(repo.path), edits)) == before
    assert not ran.exists()


def test_a_patch_beyond_the_limit_is_cut_and_the_next_is_whole(repo: GitRepo) -> None:
    long_line = "diff --git " + "x" * PATCH_BYTES + "diff --git a/z b/z\n"
    repo.commit({"a.md": "1\n", "b.md": "1\n", "c.md": "1\n"})
    repo.commit({"a.md": f"{'line' * 200}\n" * (PATCH_BYTES // 800), "b.md": long_line, "c.md": "2\n"})
    found = list(read_patches(Repository.open(repo.path), edits_of(repo)[3:]))
    assert [len(patch) <= PATCH_BYTES for patch in found] == [True, True, True]
    assert found[2].endswith(b"@@ -1 +1 @@\n-1\n+2\n")


def test_repositories_of_sha_256_have_patches(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "repo", object_format="sha256")
    repo.commits([{"a.md": "1\n"}, {"a.md": "2\n"}])
    assert bodies(repo, edits_of(repo)) == ["@@ -0,0 +1 @@\n+1\n", "@@ -1 +1 @@\n-1\n+2\n"]
