"""Contents of blobs: whatever git cannot or must not give is answered with a reason, and nothing hangs."""

import hashlib
import subprocess
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitegen.errors import POINTER, MissingObjectsError
from sitegen.history.files_at_commit import FilesAt
from sitegen.history.patches import read_patches
from sitegen.history.process import share_processes
from sitegen.history.repository import MISSING, BlobRead, Repository
from sitegen.history.revisions import commits_up_to, walk
from sitegen.model.timeline import Blob, Edit
from tests.gitrepo import GitRepo

NOWHERE = "1" * 40
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"


def test_blobs_are_answered_in_the_order_in_which_they_are_asked(repo: GitRepo) -> None:
    contents = [b"", b"one\n", b"a\0b", b"no end", "ü".encode(), b"one\n", b"\n\n"]
    sha = repo.commit({f"f{number}": content for number, content in enumerate(contents)})
    oids = [repo.oid(sha, f"f{number}") for number in range(len(contents))]
    expected = [BlobRead(oid, content) for oid, content in zip(oids, contents, strict=True)]
    repository = Repository.open(repo.path)
    assert list(repository.read_blobs(oids)) == expected
    assert [repository.read_blob(oid) for oid in oids] == expected


def test_what_is_no_blob_is_answered_with_a_reason_and_step_is_kept(repo: GitRepo) -> None:
    sha = repo.commit({"folder/a": "1", "lfs": LFS})
    blob, lfs, tree = (repo.git("rev-parse", f"{sha}:{path}") for path in ("folder/a", "lfs", "folder"))
    asked = [NOWHERE, blob, tree, blob, sha, "HEAD", f"{sha}:lfs", "", "a\nb", lfs, blob]
    one = BlobRead(blob, b"1")
    expected = [
        BlobRead(NOWHERE, None, MISSING),
        one,
        BlobRead(tree, None, "no file but a tree"),
        one,
        BlobRead(sha, None, "no file but a commit"),
        *(BlobRead(text, None, MISSING) for text in ("HEAD", f"{sha}:lfs", "", "a\nb")),
        BlobRead(lfs, None, POINTER),
        one,
    ]
    repository = Repository.open(repo.path)
    assert list(repository.read_blobs(asked)) == expected
    with share_processes():
        assert [repository.read_blob(oid) for oid in asked] == expected


def test_text_that_only_begins_like_a_pointer_is_a_content(repo: GitRepo) -> None:
    content = LFS + "x" * 1_000
    oid = repo.oid(repo.commit({"a": content}), "a")
    assert [read.content for read in Repository.open(repo.path).read_blobs([oid])] == [content.encode()]


def test_a_fetched_content_of_a_pointer_is_read_within_the_limit_and_not_through_a_link(repo: GitRepo) -> None:
    content = b"x" * 1_000
    name = hashlib.sha256(content).hexdigest()
    oid = repo.oid(repo.commit({"a": LFS.replace("a" * 64, name)}), "a")
    stored = repo.path / ".git/lfs/objects" / name[:2] / name[2:4] / name
    stored.parent.mkdir(parents=True)
    stored.write_bytes(content)
    assert Repository.open(repo.path).read_blob(oid) == BlobRead(oid, content)
    assert Repository.open(repo.path, max_blob_bytes=999).read_blob(oid) == BlobRead(oid, None, POINTER)
    stored.rename(repo.path / "elsewhere")
    stored.symlink_to(repo.path / "elsewhere")
    assert Repository.open(repo.path).read_blob(oid) == BlobRead(oid, None, POINTER)


def test_a_blob_at_the_limit_is_read_and_one_above_it_is_not(repo: GitRepo) -> None:
    sha = repo.commit({"at": b"x" * 1_000_000, "above": b"x" * 1_000_001, "small": "s"})
    at, above, small = (repo.oid(sha, path) for path in ("at", "above", "small"))
    reads = list(Repository.open(repo.path, max_blob_bytes=1_000_000).read_blobs([at, above, small]))
    found = [len(read.content) if read.content is not None else read.reason for read in reads]
    assert found == [1_000_000, "larger than 1 MB (1 MB)", 1]


def peak_memory(repository: Repository, oids: list[str]) -> int:
    """Bytes that Python held at most while it read, one content at a time."""
    tracemalloc.start()
    for _ in repository.read_blobs(oids):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_a_huge_blob_is_passed_over_without_being_held(repo: GitRepo) -> None:
    sha = repo.commit({"huge": b"\0" * 60_000_000, "small": "s"})
    oids = [repo.oid(sha, path) for path in ("huge", "small")]
    repository = Repository.open(repo.path)
    assert [read.content for read in repository.read_blobs(oids)] == [None, b"s"]
    assert peak_memory(repository, oids) < 5_000_000


def test_no_more_than_a_content_or_two_are_held_at_a_time(repo: GitRepo) -> None:
    sha = repo.commit({"a": b"x" * 5_000_000, "b": b"y" * 5_000_000})
    oids = [repo.oid(sha, "a"), repo.oid(sha, "b")]
    assert peak_memory(Repository.open(repo.path), oids * 10) < 16_000_000


def test_thousands_of_blobs_larger_than_any_pipe_do_not_hang(repo: GitRepo) -> None:
    sha = repo.commit({f"f{number}": b"%d " % number * 20_000 for number in range(40)})
    lines = repo.git("ls-tree", sha).splitlines()
    oids = [line.split()[2] for line in lines] * 100
    sizes = [len(read.content or b"") for read in Repository.open(repo.path).read_blobs(oids)]
    assert (len(sizes), sum(sizes)) == (4_000, 220_000_000)


def test_objects_that_a_partial_clone_left_out_are_answered_and_never_fetched(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha = repo.commit({"a": "1", "b": "2"})
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    partial = tmp_path / "partial"
    subprocess.run(
        ["git", "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repo.path}", str(partial)], check=True
    )
    oids = [repo.oid(sha, "a"), repo.oid(sha, "b"), NOWHERE]
    repo.path.rename(tmp_path / "gone")
    (tmp_path / "traced").write_text(f"[trace2]\n\tnormalTarget = {tmp_path / 'trace'}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "traced"))
    repository = Repository.open(partial)
    for asked in (oids, *([oid] for oid in oids[:2])):
        with share_processes():
            assert list(repository.read_blobs(asked * 9)) == [BlobRead(oid, None, MISSING) for oid in asked * 9]
    (revision,) = walk(repository.place, commits_up_to(repository.place, sha))
    assert [change.new for change in revision.changes] == oids[:2]
    # Git ends at each that the remote has promised, which takes long in a large clone: it is asked for one at most.
    edit = Edit(commit=revision.commit, path="a", status="added", old=None, new=Blob("a", oids[0]))
    with pytest.raises(MissingObjectsError, match="partial"):
        list(read_patches(repository, [edit]))
    assert (tmp_path / "trace").read_text().count("error could not fetch") == 3


def test_a_damaged_object_is_answered_and_the_others_are_read(repo: GitRepo) -> None:
    oids = [repo.git("hash-object", "-w", "--stdin", stdin=b"content %d" % number) for number in range(5)]
    damaged = repo.path / ".git/objects" / oids[2][:2] / oids[2][2:]
    damaged.chmod(0o644)
    damaged.write_bytes(b"nothing that git wrote")
    reads = list(Repository.open(repo.path).read_blobs(oids))
    assert [read.oid for read in reads] == oids
    assert [read.content for read in reads] == [b"content 0", b"content 1", None, b"content 3", b"content 4"]


def test_an_error_of_the_one_who_asks_comes_back_to_him(repo: GitRepo) -> None:
    oid = repo.oid(repo.commit({"a": "1"}), "a")

    def asking() -> Iterator[str]:
        yield oid
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(Repository.open(repo.path).read_blobs(asking()))


def test_files_of_a_commit_are_read_by_name_and_no_odd_name_loses_step(repo: GitRepo) -> None:
    sha = repo.commit({"a b.txt": "first", "folder/c.txt": "second"})
    files = FilesAt(Repository.open(repo.path).place, sha)
    names = ("a b.txt", "a b.txt\nHEAD:folder/c.txt", "folder", "none.txt", "folder/c.txt")
    assert [files.read(name) for name in names] == [b"first", None, None, None, b"second"]
    assert (files.read("a b.txt", 4), files.read("a b.txt", 5)) == (None, b"first")


def test_names_of_folders_are_told_whether_the_folder_above_was_listed_or_not(repo: GitRepo) -> None:
    sha = repo.commit({"folder/c.txt": "second", "folder/below/d.txt": "third"})
    files = FilesAt(Repository.open(repo.path).place, sha)
    folders = ("folder", "folder/none", "folder/c.txt", "folder/below", "none")
    assert [sorted(files.names(folder)) for folder in folders] == [["below", "c.txt"], [], [], ["d.txt"], []]
