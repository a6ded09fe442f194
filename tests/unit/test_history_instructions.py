"""Instruction files through history, and the globs that name them."""

from importlib import resources
from pathlib import Path

import pytest

from sitegen.config.models import INSTRUCTIONS, Manifest, SiteConfig
from sitegen.history.instructions import InstructionHistories
from sitegen.history.layout import Layout
from sitegen.history.repository import Repository
from sitegen.history.timeline import advance
from sitegen.model.commits import ChangedPath, Commit
from sitegen.model.timeline import InstructionHistory
from sitegen.recognition.initialising import SKELETONS
from sitegen.text.globs import literal_prefix, matches
from tests.gitrepo import GitRepo, Link

EXTRACTOR = ".claude/instructions/extractors/instructions.md"
TEXT = "".join(f"{number}. A rule of some length\n" for number in range(10))


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    repo = GitRepo(tmp_path / "repo")
    repo.commit({"evals/shop/ground_truth.csv": "t"})
    return repo


def files(repo: GitRepo) -> tuple[InstructionHistory, ...]:
    repository, layout = Repository.open(repo.path), Layout(SiteConfig(), Manifest())
    return advance(repository, layout, head=repository.resolve("HEAD")).update.instructions


def edits(history: InstructionHistory) -> list[tuple[int, str, str]]:
    return [(edit.commit.position, edit.status, edit.path) for edit in history.edits]


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_what_init_writes_is_nobodys_edit_until_somebody_changes_it(tmp_path: Path, object_format: str) -> None:
    repo = GitRepo(tmp_path / "repo", object_format=object_format)
    written = {
        path: resources.files("sitegen").joinpath("recognition", "skeletons", name).read_bytes()
        for name, path in SKELETONS
    }
    repo.commit({"evals/shop/ground_truth.csv": "t", **written})
    assert files(repo) == ()
    repo.commit({".claude/agents/critic.md": None, ".claude/instructions/a.md": written[".claude/agents/critic.md"]})
    assert files(repo) == ()
    kept = written[EXTRACTOR]
    repo.commits([{EXTRACTOR: kept + b"6. Look twice.\n"}, {EXTRACTOR: kept}])
    (history,) = files(repo)
    assert edits(history) == [(2, "modified", EXTRACTOR), (3, "modified", EXTRACTOR)]


def test_each_edit_of_a_file_is_listed_with_its_contents_before_and_after(repo: GitRepo) -> None:
    shas = repo.commits([{"CLAUDE.md": "1", "README.md": "-"}, {"CLAUDE.md": "2"}, {"CLAUDE.md": None}])
    (history,) = files(repo)
    one, two = (repo.oid(sha, "CLAUDE.md") for sha in shas[:2])
    assert (history.path, history.deleted) == ("CLAUDE.md", True)
    assert [(edit.status, edit.old and edit.old.oid, edit.new and edit.new.oid) for edit in history.edits] == [
        ("added", None, one),
        ("modified", one, two),
        ("deleted", two, None),
    ]


def test_a_file_that_is_added_again_continues_its_history(repo: GitRepo) -> None:
    repo.commits([{"CLAUDE.md": "1"}, {"CLAUDE.md": None}, {"CLAUDE.md": "3"}])
    (history,) = files(repo)
    assert not history.deleted
    assert [edit.status for edit in history.edits] == ["added", "deleted", "added"]


def test_a_rename_is_followed_by_equal_contents(repo: GitRepo) -> None:
    repo.commits([{"prompts/a.md": TEXT, "prompts/b.md": "b"}, {"prompts/a.md": None, "prompts/new/c.md": TEXT}])
    history = files(repo)
    assert [(each.path, edits(each)) for each in history] == [
        ("prompts/b.md", [(1, "added", "prompts/b.md")]),
        ("prompts/new/c.md", [(1, "added", "prompts/a.md"), (2, "renamed", "prompts/new/c.md")]),
    ]
    assert history[1].edits[1].old == history[1].edits[0].new


def test_a_rename_with_an_edit_is_followed_if_half_of_the_file_stayed(repo: GitRepo) -> None:
    half = "".join(TEXT.splitlines(keepends=True)[:5]) + "x\n" * 5
    repo.commits([{"prompts/a.md": TEXT}, {"prompts/a.md": None, "prompts/b.md": half}])
    assert [edits(each) for each in files(repo)] == [[(1, "added", "prompts/a.md"), (2, "renamed", "prompts/b.md")]]


def test_another_file_in_place_of_a_deleted_one_is_no_rename(repo: GitRepo) -> None:
    repo.commits([{"prompts/a.md": TEXT}, {"prompts/a.md": None, "prompts/b.md": "Something else\n" * 9}])
    assert [(each.path, each.deleted) for each in files(repo)] == [("prompts/a.md", True), ("prompts/b.md", False)]


def test_two_files_that_move_at_once_keep_their_own_histories(repo: GitRepo) -> None:
    repo.commits([{"prompts/a.md": "a" + TEXT, "prompts/b.md": "b" + TEXT}])
    repo.commits(
        [{"prompts/a.md": None, "prompts/b.md": None, "prompts/c/a.md": "a" + TEXT, "prompts/c/b.md": "b" + TEXT}]
    )
    assert [edits(each) for each in files(repo)] == [
        [(1, "added", "prompts/a.md"), (2, "renamed", "prompts/c/a.md")],
        [(1, "added", "prompts/b.md"), (2, "renamed", "prompts/c/b.md")],
    ]


def test_equal_files_are_paired_by_their_names_first(repo: GitRepo) -> None:
    repo.commits([{"prompts/a.md": "", "prompts/b.md": ""}])
    repo.commits([{"prompts/a.md": None, "prompts/b.md": None, "prompts/x/b.md": "", "prompts/x/a.md": ""}])
    assert [(each.path, each.edits[0].path) for each in files(repo)] == [
        ("prompts/x/a.md", "prompts/a.md"),
        ("prompts/x/b.md", "prompts/b.md"),
    ]


def test_files_that_swap_their_names_are_both_edited(repo: GitRepo) -> None:
    repo.commits([{"prompts/a.md": "a" + TEXT, "prompts/b.md": "b" + TEXT}])
    repo.commits([{"prompts/a.md": "b" + TEXT, "prompts/b.md": "a" + TEXT}])
    first, second = files(repo)
    assert edits(first) == [(1, "added", "prompts/a.md"), (2, "modified", "prompts/a.md")]
    assert edits(second) == [(1, "added", "prompts/b.md"), (2, "modified", "prompts/b.md")]
    assert first.edits[1].new is not None
    assert second.edits[0].new is not None
    assert first.edits[1].new.oid == second.edits[0].new.oid


def test_a_file_that_takes_a_name_of_the_past_has_both_histories(repo: GitRepo) -> None:
    repo.commits([{"prompts/a.md": "a"}, {"prompts/b.md": TEXT}, {"prompts/a.md": None}])
    repo.commits([{"prompts/b.md": None, "prompts/a.md": TEXT}])
    (history,) = files(repo)
    assert (history.path, history.deleted) == ("prompts/a.md", False)
    assert edits(history) == [
        (1, "added", "prompts/a.md"),
        (2, "added", "prompts/b.md"),
        (3, "deleted", "prompts/a.md"),
        (4, "renamed", "prompts/a.md"),
    ]


def test_a_name_that_is_used_again_after_a_rename_is_another_file(repo: GitRepo) -> None:
    repo.commits([{"prompts/a.md": TEXT}, {"prompts/a.md": None, "prompts/b.md": TEXT}, {"prompts/a.md": "new"}])
    assert [(each.path, len(each.edits)) for each in files(repo)] == [("prompts/a.md", 1), ("prompts/b.md", 2)]


def test_a_file_that_becomes_a_link_is_deleted(repo: GitRepo) -> None:
    repo.commits([{"CLAUDE.md": "1"}, {"CLAUDE.md": Link("AGENTS.md")}])
    assert [edit.status for edit in files(repo)[0].edits] == ["added", "deleted"]


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("prompts/**/*.md", ["prompts/a.md", "prompts/b/c/a.md"], ["prompts/a.txt", "x/prompts/a.md", "prompts.md"]),
        ("CLAUDE.md", ["CLAUDE.md"], ["x/CLAUDE.md", "CLAUDE_md", "claude.md"]),
        ("**/CLAUDE.md", ["CLAUDE.md", "a/b/CLAUDE.md"], ["aCLAUDE.md"]),
        ("**", ["a", "a/b"], []),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/a/c"]),
        ("a/", ["a/b", "a/b/c"], ["a"]),
        ("./a/*", ["a/b"], ["a/b/c"]),
        ("/a/*.md", ["a/.md"], ["a/b/c.md"]),
        ("a**b", ["ab", "axxb"], ["a/b"]),
        ("a?c", ["abc"], ["ac", "a/c"]),
        ("[a-c!].md", ["b.md", "!.md"], ["d.md"]),
        ("[!a-c].md", ["d.md"], ["b.md", "/.md"]),
        ("[]x].md", ["].md", "x.md"], ["[.md"]),
        ("[unclosed", ["[unclosed"], ["u"]),
        (r"\*.md", ["*.md"], ["a.md"]),
        ("a+(b).md", ["a+(b).md"], ["aab.md"]),
        ("line*", ["line\nfeed"], []),
        ("a/**/{grading,timing}.json", ["a/b/grading.json", "a/timing.json"], ["a/x.json", "a/{grading,timing}.json"]),
        ("{a+b,c}*{d,e}", ["a+bd", "cxe"], ["aabd", "c", "ad"]),
        ("{one}/{{name}}.md", ["{one}/{{name}}.md"], ["one/name.md"]),
    ],
)
def test_a_glob_names_whole_paths(glob: str, yes: list[str], no: list[str]) -> None:
    assert [path for path in (*yes, *no) if matches(path, [glob])] == yes


def test_no_globs_name_nothing() -> None:
    assert not matches("", [])
    assert not matches("a", [])


def test_what_a_glob_can_name_lies_below_its_literal_prefix() -> None:
    assert [literal_prefix(glob) for glob in (*INSTRUCTIONS, "*.md", "a/b*/c", "docs/", "p/{a,b}/c")] == [
        ".claude/instructions",
        ".claude/agents",
        ".claude/skills",
        "CLAUDE.md",
        "AGENTS.md",
        "prompts",
        "templates",
        "",
        "a",
        "docs",
        "p",
    ]


def test_no_content_is_read_for_a_hash_that_the_newest_edit_left() -> None:
    def read(oid: str) -> bytes | None:
        raise AssertionError(f"{oid} was read")

    histories = InstructionHistories(read)
    oids = [f"{number:040x}" for number in range(1, 5)]
    commits = [
        Commit(sha=oid, position=at, author="Ann", committed_at="2026-01-01T00:00:00+00:00", subject="")
        for at, oid in enumerate(oids)
    ]
    for commit, old, new in zip(commits, [None, *oids], oids, strict=False):
        histories.fold(commit, [ChangedPath("CLAUDE.md", old, new)])
    assert histories.with_hashes([("CLAUDE.md", oids[-1])]) == commits[-1]
    assert histories.with_hashes([("elsewhere.md", oids[-1]), ("", oids[-1])]) is None
