"""The uncommitted state: one more revision that is never kept."""

import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from sitegen.config.models import EvalConfig, Manifest, SiteConfig
from sitegen.history.layout import Layout
from sitegen.history.patches import read_patches
from sitegen.history.repository import Repository
from sitegen.history.timeline import FoldedHistory, advance
from sitegen.model.commits import WORKTREE
from tests.gitrepo import GitRepo, put

TRUTH = "evals/shop/ground_truth.csv"
LAYOUT = Layout(SiteConfig(), Manifest())


def output(number: int) -> str:
    return f"evals/shop/results/iteration-{number:03d}/extracted.json"


@pytest.fixture
def repo(repo: GitRepo) -> GitRepo:
    repo.check_in(
        {TRUTH: "t", output(1): "1", "CLAUDE.md": "one\n", ".gitignore": "*.tmp\niteration-009\n", "src/x": "-"}
    )
    return repo


def look(repo: GitRepo) -> tuple[FoldedHistory, FoldedHistory]:
    repository = Repository.open(repo.path)
    head = repository.resolve("HEAD")
    committed = advance(repository, LAYOUT, head=head)
    return committed, advance(repository, LAYOUT, head=head, since=committed.end, files="uncommitted")


def test_after_an_uncommitted_state_everything_is_new(repo: GitRepo) -> None:
    put(repo.path / output(2), "2")
    repository, (_, before) = Repository.open(repo.path), look(repo)
    put(repo.path / output(3), "3")
    head = repository.resolve("HEAD")
    again = advance(repository, LAYOUT, head=head, since=before.end, files="uncommitted")
    assert (again.is_complete, again.changed, len(again.evals[0].snapshots)) == (True, {"shop": 0}, 3)
    again = advance(repository, LAYOUT, head=head, since=before.end)
    assert (again.is_complete, again.changed, len(again.evals[0].snapshots)) == (True, {"shop": 0}, 1)


def test_changed_new_and_deleted_files_are_one_more_revision(repo: GitRepo) -> None:
    put(repo.path / output(2), "2")
    put(repo.path / "CLAUDE.md", "two\n")
    (repo.path / output(1)).unlink()
    committed, advanced = look(repo)
    told = (advanced.head.sha, advanced.head.position, advanced.head.committed_at)
    assert told == (WORKTREE, 1, committed.head.committed_at)
    snapshots = advanced.evals[0].snapshots
    seen = [(each.iteration, each.commit.sha, each.deleted) for each in snapshots]
    assert seen == [(1, committed.head.sha, True), (2, WORKTREE, False)]
    assert [edit.status for edit in advanced.edited[0].edits] == ["added", "modified"]
    (record,) = advanced.new_records
    assert [(change.path, change.new) for change in record.changes] == [
        ("CLAUDE.md", repo.git("hash-object", "CLAUDE.md")),
        (output(1), None),
        (output(2), repo.git("hash-object", output(2))),
    ]
    assert dict(advanced.overlay) == {change.new: repo.path / change.path for change in record.changes if change.new}


def test_a_snapshot_that_is_scored_again_has_an_address_of_its_own(repo: GitRepo) -> None:
    put(repo.path / TRUTH, "corrected")
    _, advanced = look(repo)
    assert [each.slug for each in advanced.evals[0].snapshots] == ["0001", "0001-worktree"]


def test_an_output_that_is_renamed_without_a_commit_keeps_its_points(repo: GitRepo) -> None:
    for number in range(3):
        repo.commit({"evals/quiz/answers.jsonl": f"{number}" * 50})
    repo.checkout()
    (repo.path / "evals/quiz/answers.jsonl").rename(repo.path / "evals/quiz/renamed.jsonl")
    layout = Layout(SiteConfig(), Manifest(evals=(EvalConfig(id="quiz", kind="judged", outputs="renamed.jsonl"),)))
    repository = Repository.open(repo.path)
    found = advance(repository, layout, head=repository.resolve("HEAD"), files="uncommitted")
    assert [len(history.snapshots) for history in found.evals if history.id == "quiz"] == [3]


def test_what_git_ignores_does_not_count(repo: GitRepo) -> None:
    put(repo.path / output(9), "9")
    put(repo.path / "evals/shop/results/x.tmp", "-")
    assert look(repo)[1].overlay == {}


def test_a_file_that_was_only_touched_or_staged_and_put_back_is_no_change(repo: GitRepo) -> None:
    put(repo.path / "CLAUDE.md", "two\n")
    repo.git("add", "CLAUDE.md")
    put(repo.path / "CLAUDE.md", "one\n")
    repo.git("rm", "-q", "--cached", output(1))
    committed, advanced = look(repo)
    assert advanced.head == committed.head


def test_links_are_not_followed(repo: GitRepo, tmp_path: Path) -> None:
    put(tmp_path / "secret/extracted.json", "secret")
    (repo.path / "evals/shop/results/iteration-002").symlink_to(tmp_path / "secret")
    (repo.path / "CLAUDE.md").unlink()
    (repo.path / "CLAUDE.md").symlink_to(tmp_path / "secret/extracted.json")
    _, advanced = look(repo)
    assert advanced.overlay == {}
    assert [edit.status for edit in advanced.edited[0].edits] == ["added", "deleted"]
    assert {problem.path for problem in advanced.problems} == {"CLAUDE.md", "evals/shop/results/iteration-002"}


def test_contents_are_read_from_disk_while_they_are_what_was_seen(repo: GitRepo) -> None:
    put(repo.path / output(2), "uncommitted")
    _, advanced = look(repo)
    snapshots = advanced.evals[0].snapshots
    oids = [snapshots[1].outputs[0].oid, snapshots[0].outputs[0].oid, snapshots[1].outputs[0].oid]
    repository = Repository.open(repo.path).overlaid(dict(advanced.overlay))
    assert [read.content for read in repository.read_blobs(oids)] == [b"uncommitted", b"1", b"uncommitted"]
    put(repo.path / output(2), "changed since")
    assert [read.reason for read in repository.read_blobs(oids[:1])] == ["changed in the work tree while it was read"]
    (repo.path / output(2)).unlink()
    assert [read.content for read in repository.read_blobs(oids[:1])] == [None]


def test_a_file_over_the_limit_is_a_change_that_is_not_read_and_never_held(repo: GitRepo) -> None:
    put(repo.path / output(2), " " * 30_000_001)
    tracemalloc.start()
    _, advanced = look(repo)
    repository = Repository.open(repo.path, max_blob_bytes=30_000_000).overlaid(dict(advanced.overlay))
    (blob,) = advanced.evals[0].snapshots[1].outputs
    (read,) = repository.read_blobs([blob.oid])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert blob == (output(2), repo.git("hash-object", output(2)))
    assert peak < 15_000_000
    repo.git("add", output(2))
    (committed,) = Repository.open(repo.path, max_blob_bytes=30_000_000).read_blobs([blob.oid])
    assert (read.content, read.reason) == (None, committed.reason)
    assert read.reason.startswith("larger than 30 MB")


def test_an_uncommitted_edit_has_a_patch(repo: GitRepo) -> None:
    put(repo.path / "CLAUDE.md", "one\ntwo")
    _, advanced = look(repo)
    edits = advanced.edited[0].edits
    committed, uncommitted = read_patches(Repository.open(repo.path).overlaid(dict(advanced.overlay)), edits)
    assert committed.endswith(b"@@ -0,0 +1 @@\n+one\n")
    assert uncommitted == b"--- a\n+++ b\n@@ -1 +1,2 @@\n one\n+two\n\\ No newline at end of file\n"


def test_the_work_tree_stays_as_it_is(repo: GitRepo) -> None:
    put(repo.path / output(2), "2")
    (repo.path / "CLAUDE.md").touch()
    index = (repo.path / ".git/index").read_bytes()
    look(repo)
    assert (repo.path / ".git/index").read_bytes() == index


def test_a_bare_repository_has_no_uncommitted_state(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "bare", bare=True)
    repo.commit({TRUTH: "t"})
    committed, advanced = look(repo)
    assert advanced.head == committed.head


def test_a_build_that_finds_nothing_new_imports_no_library_but_the_base_of_values() -> None:
    program = (
        "import sys; import sitegen.history.repository_place, sitegen.history.worktree, sitegen.config;"
        "print({'git', 'pydantic', 'yaml'} & sys.modules.keys())"
    )
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "set()\n"
    )
