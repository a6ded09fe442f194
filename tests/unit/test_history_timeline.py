"""The fold goes on from any commit, with the result of starting from the root."""

import gc
import subprocess
from pathlib import Path

import pytest

from sitegen.config.models import EvalConfig, Manifest, SiteConfig
from sitegen.history.eval_state import EvalState
from sitegen.history.layout import Layout
from sitegen.history.repository import Repository
from sitegen.history.timeline import FoldedHistory, FoldEnd, advance
from tests.garbage import new_objects_alone
from tests.gitrepo import DAY, START, GitRepo, Link

TRUTH = "evals/shop/ground_truth.csv"
SITE = SiteConfig()


def output(number: int, name: str = "shop") -> str:
    return f"evals/{name}/results/iteration-{number:03d}/extracted.json"


class Past:
    """The end of the last build."""

    end: FoldEnd | None = None


def go(repo: GitRepo, past: Past, head: str, manifest: Manifest | None = None) -> FoldedHistory:
    layout = Layout(SITE, manifest or Manifest())
    advanced, whole = (advance(Repository.open(repo.path), layout, head=head, since=end) for end in (past.end, None))
    assert all(getattr(advanced, part) == getattr(whole, part) for part in ("records", "evals", "problems", "end"))
    past.end = advanced.end
    return advanced


def test_an_update_says_what_is_new(repo: GitRepo) -> None:
    shas = repo.commits(
        [
            {TRUTH: "t", output(1): "1", "prompts/a.md": "a\n", "evals/bank/ground_truth.csv": "t"},
            {output(2): "2", output(1): None, "src/x": "-", "evals/shop/notes.md": "-"},
            {"prompts/b.md": "b\n"},
            {"src/x": "+"},
        ]
    )
    past = Past()
    first = go(repo, past, shas[0])
    assert first.is_complete
    assert first.changed == {"bank": 0, "shop": 0}
    assert [each.path for each in first.edited] == ["prompts/a.md"]
    second = go(repo, past, shas[1])
    # The first iteration's folder is gone, which its own page shows: so it is the first that is new.
    assert second.changed == {"shop": 0}
    (record,) = second.new_records
    assert [change.path for change in record.changes] == [output(1), output(2)]
    assert (record.other_changes, record.snapshots, record.edits) == (1, (("shop", "0002"),), ())
    assert [change.path for change in record.others] == ["evals/shop/notes.md"]
    third = go(repo, past, shas[2])
    assert (third.changed, [each.path for each in third.edited]) == ({}, ["prompts/b.md"])
    assert third.new_records[0].edits == ("prompts/b.md",)
    fourth = go(repo, past, shas[3])
    assert (fourth.changed, fourth.edited, fourth.new_records) == ({}, (), ())
    assert (fourth.head.sha, fourth.head.position) == (shas[3], 3)


def test_a_commit_that_touches_nothing_that_is_read_has_no_record(repo: GitRepo) -> None:
    shas = repo.commits(
        [
            {TRUTH: "t", output(1): "1"},
            {"src/x": "-", "evals/shop/notes.md": "-", "evals/shop/results/odd/extracted.json": "-"},
            {},
            {"CLAUDE.md": "-"},
        ]
    )
    records = go(repo, Past(), shas[3]).records
    assert [record.commit.sha for record in records] == [shas[0], shas[3]]
    assert [record.commit.position for record in records] == [0, 3]


def test_no_state_of_an_eval_outlives_a_fold_until_garbage_is_looked_for(repo: GitRepo) -> None:
    head = repo.commit({TRUTH: "truth", output(1): "one", "prompts/a.md": "Write."})
    with new_objects_alone():
        go(repo, Past(), head)
        assert [each for each in gc.get_objects() if type(each) is EvalState] == []


def test_nothing_new_is_an_empty_update_with_all_problems(repo: GitRepo) -> None:
    sha = repo.commit({TRUTH: "t", output(1): "1", "CLAUDE.md": Link("x")})
    past = Past()
    first = go(repo, past, sha)
    again = go(repo, past, sha)
    assert (again.is_complete, again.changed, again.new_records) == (False, {}, ())
    assert (again.head, again.problems) == (first.head, first.problems)
    assert len(again.problems) == 1


def test_rewritten_history_is_read_from_the_root(repo: GitRepo) -> None:
    shas = repo.commits([{TRUTH: "t", output(1): "1"}, {output(2): "2"}, {output(3): "3"}])
    past = Past()
    go(repo, past, shas[2])
    other = repo.commit({output(4): "4"}, branch="other", parent=shas[0])
    advanced = go(repo, past, other)
    assert advanced.is_complete
    assert [each.iteration for each in advanced.evals[0].snapshots] == [1, 4]


def test_a_head_that_became_a_side_branch_is_read_from_the_root(repo: GitRepo) -> None:
    base = repo.commit({TRUTH: "t", output(1): "1"})
    main = repo.commit({output(2): "2"})
    past = Past()
    go(repo, past, main)
    feature = repo.commit({output(3): "3"}, branch="feature", parent=base)
    merge = repo.commit({output(2): "2"}, branch="feature", merge=main)
    advanced = go(repo, past, merge)
    assert advanced.is_complete
    snapshots = advanced.evals[0].snapshots
    assert [(each.iteration, each.commit.sha) for each in snapshots] == [(1, base), (3, feature), (2, merge)]


RENAMED = {TRUTH: None, output(1): None, "evals/store/ground_truth.csv": "t", output(1, "store"): "1"}


@pytest.mark.parametrize(
    ("first", "second", "snapshots"),
    [
        ({TRUTH: "t", output(1): "1"}, RENAMED, [(("store", "0001"),), ()]),
        ({TRUTH: "t", "evals/shop/extracted.json": "1"}, {output(1): "1"}, [(), (("shop", "0001"),)]),
    ],
    ids=["renamed", "turned to iterations"],
)
def test_an_eval_whose_past_is_another_one_now_is_read_from_the_root(repo, first, second, snapshots) -> None:
    shas = repo.commits([first, second])
    past = Past()
    go(repo, past, shas[0])
    advanced = go(repo, past, shas[1])
    assert (advanced.is_complete, len(advanced.evals)) == (True, 1)
    assert [record.snapshots for record in advanced.records] == snapshots


def test_going_back_to_an_older_commit_is_read_from_the_root(repo: GitRepo) -> None:
    shas = repo.commits([{TRUTH: "t", output(1): "1"}, {output(2): "2"}])
    past, fresh = Past(), Past()
    go(repo, past, shas[1])
    assert go(repo, past, shas[0]) == go(repo, fresh, shas[0])


def test_another_structure_is_read_from_the_root(repo: GitRepo) -> None:
    sha = repo.commit({TRUTH: "t", output(1): "1"})
    past = Past()
    go(repo, past, sha)
    renamed = Manifest(evals=(EvalConfig(id="store", dir="evals/shop"),))
    advanced = go(repo, past, sha, renamed)
    assert (advanced.is_complete, [*advanced.changed]) == (True, ["store"])


def test_a_shallow_history_is_folded_as_far_as_it_goes_and_again_once_whole(repo: GitRepo, tmp_path: Path) -> None:
    shas = repo.commits([{TRUTH: "t", output(1): "1"}, {output(2): "2"}, {output(3): "3"}])
    shallow = GitRepo(tmp_path / "empty")
    shallow.path = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth", "2", f"file://{repo.path}", str(shallow.path)], check=True)
    past = Past()
    advanced = go(shallow, past, shas[2])
    assert [(each.severity, each.commit) for each in advanced.problems] == [("warning", shas[1])]
    assert [each.commit.position for each in advanced.evals[0].snapshots] == [0, 0, 1]
    shallow.git("fetch", "-q", "--unshallow")
    deep = go(shallow, past, shas[2])
    assert (deep.is_complete, deep.head.position, deep.problems) == (True, 2, ())


def test_a_repository_of_instructions_alone_has_their_edits_and_a_note_that_there_is_no_eval(repo: GitRepo) -> None:
    past = Past()
    first = go(repo, past, repo.commit({"CLAUDE.md": "-"}))
    advanced = go(repo, past, repo.commit({"README.md": "nothing that is read"}))
    assert [(file.path, len(file.edits)) for file in first.edited] == [("CLAUDE.md", 1)]
    assert (first.changed, advanced.changed) == ({}, {})
    assert [(each.severity, each.message.partition(":")[0]) for each in advanced.problems] == [
        ("note", "There is no eval")
    ]


def test_dates_that_run_backwards_are_counted_in_one_note(repo: GitRepo) -> None:
    repo.commit({TRUTH: "t", output(1): "1"}, when=START)
    repo.commit({output(2): "2"}, when=START - DAY)
    repo.commit({output(3): "3"}, when=START - 2 * DAY)
    advanced = go(repo, Past(), repo.commit({output(4): "4"}, when=START + DAY))
    assert [(each.severity, each.message) for each in advanced.problems] == [
        ("note", "2 commits are dated before their predecessors.")
    ]
    assert [each.iteration for each in advanced.evals[0].snapshots] == [1, 2, 3, 4]


def test_a_merge_brings_the_iterations_of_its_side_branch(repo: GitRepo) -> None:
    base = repo.commit({TRUTH: "t", output(1): "1"})
    repo.commit({output(2): "2"}, branch="side", parent=base)
    side = repo.commit({output(3): "3"}, branch="side")
    merge = repo.commit({output(2): "2", output(3): "3"}, merge=side)
    history = go(repo, Past(), merge).evals[0]
    assert [(each.iteration, each.commit.sha) for each in history.snapshots] == [(1, base), (2, merge), (3, merge)]
