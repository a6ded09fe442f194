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
    return advance(repository, layout, head=repository.resolve("HEAD")).instructions


def stated(history: InstructionHistory) -> str:
    """A history as the table states it: what each commit did, and the path since then."""
    done = [f"{edit.commit.position} {edit.status} {edit.path.removeprefix('prompts/')}" for edit in history.edits]
    return f"{'deleted: ' * history.deleted}{', '.join(done)}"


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_what_init_writes_is_nobodys_edit_until_somebody_changes_it(tmp_path, object_format):
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
    assert stated(history) == f"2 modified {EXTRACTOR}, 3 modified {EXTRACTOR}"


HALF = "".join(TEXT.splitlines(keepends=True)[:5]) + "x\n" * 5


@pytest.mark.parametrize(
    ("commits", "expected"),
    [
        pytest.param(
            [{"a.md": "1"}, {"a.md": None}, {"a.md": "3"}],
            ["1 added a.md, 2 deleted a.md, 3 added a.md"],
            id="a file that is added again continues its history",
        ),
        pytest.param(
            [{"a.md": TEXT, "b.md": "b"}, {"a.md": None, "new/c.md": TEXT}],
            ["1 added b.md", "1 added a.md, 2 renamed new/c.md"],
            id="a rename is followed by equal contents",
        ),
        pytest.param(
            [{"a.md": TEXT}, {"a.md": None, "b.md": HALF}],
            ["1 added a.md, 2 renamed b.md"],
            id="a rename with an edit is followed if half of the file stayed",
        ),
        pytest.param(
            [{"a.md": TEXT}, {"a.md": None, "b.md": "Something else\n" * 9}],
            ["deleted: 1 added a.md, 2 deleted a.md", "2 added b.md"],
            id="another file in place of a deleted one is no rename",
        ),
        pytest.param(
            [
                {"a.md": "a" + TEXT, "b.md": "b" + TEXT},
                {"a.md": None, "b.md": None, "c/a.md": "a" + TEXT, "c/b.md": "b" + TEXT},
            ],
            ["1 added a.md, 2 renamed c/a.md", "1 added b.md, 2 renamed c/b.md"],
            id="two files that move at once keep their own histories",
        ),
        pytest.param(
            [{"a.md": "", "b.md": ""}, {"a.md": None, "b.md": None, "x/b.md": "", "x/a.md": ""}],
            ["1 added a.md, 2 renamed x/a.md", "1 added b.md, 2 renamed x/b.md"],
            id="equal files are paired by their names first",
        ),
        pytest.param(
            [{"a.md": "a" + TEXT, "b.md": "b" + TEXT}, {"a.md": "b" + TEXT, "b.md": "a" + TEXT}],
            ["1 added a.md, 2 modified a.md", "1 added b.md, 2 modified b.md"],
            id="files that swap their names are both edited",
        ),
        pytest.param(
            [{"a.md": "a"}, {"b.md": TEXT}, {"a.md": None}, {"b.md": None, "a.md": TEXT}],
            ["1 added a.md, 2 added b.md, 3 deleted a.md, 4 renamed a.md"],
            id="a file that takes a name of the past has both histories",
        ),
        pytest.param(
            [{"a.md": TEXT}, {"a.md": None, "b.md": TEXT}, {"a.md": "new"}],
            ["3 added a.md", "1 added a.md, 2 renamed b.md"],
            id="a name that is used again after a rename is another file",
        ),
        pytest.param(
            [{"a.md": "1"}, {"a.md": Link("b.md")}],
            ["deleted: 1 added a.md, 2 deleted a.md"],
            id="a file that becomes a link is deleted",
        ),
    ],
)
def test_files_are_followed_through_commits(repo, commits, expected):
    for changes in commits:
        repo.commit({f"prompts/{name}": content for name, content in changes.items()})
    found = files(repo)
    assert [stated(history) for history in found] == expected
    for history in found:
        renamed = [edit.old for edit in history.edits if edit.status == "renamed"]
        assert {*renamed} <= {edit.new for edit in history.edits}


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
def test_a_glob_names_whole_paths(glob, yes, no):
    assert [path for path in (*yes, *no) if matches(path, [glob])] == yes


def test_what_a_glob_can_name_lies_below_its_literal_prefix():
    globs = (*INSTRUCTIONS, "*.md", "a/b*/c", "docs/", "p/{a,b}/c")
    assert " ".join(map(literal_prefix, globs)) == (
        ".claude/instructions .claude/agents .claude/skills CLAUDE.md AGENTS.md prompts templates  a docs p"
    )


def test_no_content_is_read_for_a_hash_that_the_newest_edit_left():
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
