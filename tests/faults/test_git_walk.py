"""What git can do to a reader of history: every trap is one repository and one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sitegen.history import revisions as history_revisions
from sitegen.history.repository import Repository
from sitegen.history.revisions import commits_up_to
from sitegen.model.commits import ChangedPath, Commit, Revision
from tests.gitrepo import START, Executable, GitRepo, Link, Submodule


def walk(repo: GitRepo, **options: object) -> list[Revision]:
    repository = Repository.open(repo.path)
    commits = commits_up_to(repository.place, repository.resolve("HEAD"))
    return list(history_revisions.walk(repository.place, commits, **options))  # type: ignore[arg-type]


def paths(revisions: list[Revision]) -> list[list[str]]:
    return [[change.path for change in revision.changes] for revision in revisions]


def test_a_walk_yields_each_commit_with_its_changes_oldest_first(repo: GitRepo) -> None:
    first = repo.commit({"a.txt": "1\n", "b.txt": "2\n"}, message="Start\n\nWith a body.\n", zone="-0800")
    second = repo.commit({"a.txt": "3\n", "b.txt": None}, message="Go on")
    one, two, three = (repo.git("hash-object", "--stdin", stdin=text) for text in (b"1\n", b"2\n", b"3\n"))
    assert walk(repo) == [
        Revision(
            Commit(
                sha=first,
                position=0,
                author="Ann",
                committed_at="2023-11-15T14:13:20-08:00",
                subject="Start",
                body="With a body.",
            ),
            (ChangedPath("a.txt", None, one), ChangedPath("b.txt", None, two)),
        ),
        Revision(
            Commit(sha=second, position=1, author="Ann", committed_at="2023-11-16T22:13:20+00:00", subject="Go on"),
            (ChangedPath("a.txt", one, three), ChangedPath("b.txt", two, None)),
        ),
    ]


def test_a_walk_from_a_known_commit_yields_what_follows(repo: GitRepo) -> None:
    shas = repo.commits([{"a": str(number)} for number in range(5)])
    repository = Repository.open(repo.path)
    commits = commits_up_to(repository.place, shas[4], since=shas[2])
    revisions = list(history_revisions.walk(repository.place, commits))
    assert [each.commit.sha for each in revisions] == shas[3:]


def test_commits_without_changes_are_yielded_with_none(repo: GitRepo) -> None:
    repo.commits([{"a": "1"}, {}, {}, {"a": "2"}, {}])
    assert paths(walk(repo)) == [["a"], [], [], ["a"], []]


def test_pathspecs_are_literal_and_leave_out_changes_but_no_commits(repo: GitRepo) -> None:
    repo.commits([{"evals/a": "1", "src/b": "2"}, {"src/b": "3"}, {"ev*": "4", ":(top)x": "5"}])
    assert paths(walk(repo, pathspecs=("evals", "ev*"))) == [["evals/a"], [], ["ev*"]]


def test_replace_refs_change_nothing(repo: GitRepo) -> None:
    shas = repo.commits([{"a": "1"}, {"b": "2"}, {"c": "3"}])
    before = walk(repo)
    repo.git("replace", "--graft", shas[2], shas[0])
    repo.git("replace", repo.oid(shas[2], "a"), repo.oid(shas[2], "c"))
    assert repo.git("rev-list", "--count", "HEAD") == "2"
    assert walk(repo) == before
    assert [read.content for read in Repository.open(repo.path).read_blobs([repo.oid(shas[0], "a")])] == [b"1"]


def test_grafts_change_nothing(repo: GitRepo) -> None:
    shas = repo.commits([{"a": "1"}, {"b": "2"}, {"c": "3"}])
    (repo.path / ".git/info").mkdir(exist_ok=True)
    (repo.path / ".git/info/grafts").write_text(f"{shas[2]}\n")
    assert repo.git("rev-list", "--count", "HEAD") == "1"
    assert [each.commit.sha for each in walk(repo)] == shas


def test_renames_are_a_deletion_and_an_addition_whatever_is_configured(repo: GitRepo) -> None:
    repo.git("config", "diff.renames", "copies")
    first = repo.commit({"old.md": "text\n" * 20})
    repo.commit({"old.md": None, "new.md": "text\n" * 20})
    oid = repo.oid(first, "old.md")
    assert walk(repo)[1].changes == (ChangedPath("new.md", None, oid), ChangedPath("old.md", oid, None))


def test_a_merge_counts_against_its_first_parent_with_the_edits_of_its_side_branch(repo: GitRepo) -> None:
    base = repo.commit({"a": "1", "b": "1"})
    main = repo.commit({"a": "2"})
    repo.commit({"b": "2"}, branch="side", parent=base)
    side = repo.commit({"c": "1"}, branch="side")
    merge = repo.commit({"b": "2", "c": "1"}, merge=side, message="Merge side")
    revisions = walk(repo)
    assert [each.commit.sha for each in revisions] == [base, main, merge]
    assert paths(revisions) == [["a", "b"], ["a"], ["b", "c"]]


def test_messages_and_names_of_any_characters_encoding_and_length_are_read_and_do_not_lose_step(repo: GitRepo) -> None:
    repo.git("config", "i18n.logOutputEncoding", "latin-1")
    told: dict[str | bytes, tuple[str, str]] = {
        "One\x01two\x1fthree\n\n\n:100644 100644 a b M\nbody\n": ("One\x01two\x1fthree", ":100644 100644 a b M\nbody"),
        "": ("", ""),
        "Folded\nsubject\n\ncommit " + "a" * 40: ("Folded subject", "commit " + "a" * 40),
        b"Gr\xf6\xdfe": ("Gr��e", ""),
        "s" * 5_000 + "\n\n" + "b" * 100_000: ("s" * 999 + "…", "b" * 9_999 + "…"),
    }
    for number, message in enumerate(told):
        repo.commit({str(number): "1"}, author=b"Zo\xeb", message=message)
    repo.commit({"9": "1"}, author="Zoë".encode("latin-1"), message="Größe".encode("latin-1"), encoding="ISO-8859-1")
    *others, declared = walk(repo)
    assert [(each.commit.author, each.commit.subject, each.commit.body) for each in others] == [
        ("Zo�", *texts) for texts in told.values()
    ]
    assert (declared.commit.author, declared.commit.subject) == ("Zoë", "Größe")
    assert paths([*others, declared]) == [["0"], ["1"], ["2"], ["3"], ["4"], ["9"]]


@pytest.mark.parametrize(
    "name",
    [
        b"with space",
        b'with "quotes"',
        b"with\ttab",
        b"with\nline feed",
        "mit Ümläut ☃".encode(),
        b"undecodable \xff\xfe",
        b":100644 a",
        b"-dash",
        b"back\\slash",
    ],
)
def test_paths_are_taken_byte_for_byte(repo: GitRepo, name: bytes) -> None:
    repo.commit({os.fsdecode(b"evals/" + name): "1", "evals/zz": "2"})
    (changes,) = (each.changes for each in walk(repo, pathspecs=(os.fsdecode(b"evals/" + name), "evals/zz")))
    assert [os.fsencode(change.path) for change in changes] == [b"evals/" + name, b"evals/zz"]


def test_dates_of_any_kind_become_iso_8601(repo: GitRepo) -> None:
    zones = ["+0530", "-0330", "+0000", "-1200", "+1400", "+5180"]
    for zone in zones:
        repo.commit({"a": zone}, when=START, zone=zone)
    repo.commit({"a": "z"}, when=0)
    assert [each.commit.committed_at for each in walk(repo)] == [
        *("2023-11-15T03:43:20+05:30", "2023-11-14T18:43:20-03:30", "2023-11-14T22:13:20+00:00"),
        *("2023-11-14T10:13:20-12:00", "2023-11-15T12:13:20+14:00", "2023-11-14T22:13:20+00:00"),
        "1970-01-01T00:00:00+00:00",
    ]


def test_symbolic_links_and_submodules_are_no_files_and_are_told_of(repo: GitRepo) -> None:
    first = repo.commit({"a": "1", "link": Link("a"), "sub": Submodule("1" * 40)})
    second = repo.commit({"a": Link("b"), "link": "now a file"})
    revisions = walk(repo)
    assert revisions[0].changes == (ChangedPath("a", None, repo.oid(first, "a")),)
    assert revisions[1].changes == (
        ChangedPath("a", repo.oid(first, "a"), None),
        ChangedPath("link", None, repo.oid(second, "link")),
    )
    assert [each.irregular for each in revisions] == [
        (("link", "a symbolic link"), ("sub", "a submodule")),
        (("a", "a symbolic link"), ("link", "")),
    ]


def test_a_change_of_mode_alone_is_no_change(repo: GitRepo) -> None:
    repo.commit({"a": "1"})
    repo.commit({"a": Executable(b"1")})
    assert paths(walk(repo)) == [["a"], []]


def test_repositories_of_sha_256_are_read_like_any_other(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "repo", object_format="sha256")
    shas = repo.commits([{"a": "1"}, {"a": "2", "b": "3"}])
    revisions = walk(repo)
    assert [(each.commit.sha, len(each.commit.sha)) for each in revisions] == [(sha, 64) for sha in shas]
    oids = [change.new for each in revisions for change in each.changes if change.new]
    assert [read.content for read in Repository.open(repo.path).read_blobs(oids)] == [b"1", b"2", b"3"]


def test_hostile_settings_of_the_user_change_nothing(repo, tmp_path, monkeypatch):
    repo.commits([{"a.md": "one\ntwo\n"}, {"a.md": "one\n2\n", "b.md": "x\n"}, {"b.md": None, "c.md": "x\n"}])
    before = walk(repo)
    config = tmp_path / "gitconfig"
    config.write_text(
        "[diff]\n external = false\n noprefix = true\n mnemonicPrefix = true\n renames = copies\n"
        " orderFile = /nowhere\n"
        " algorithm = patience\n ignoreSubmodules = all\n context = 0\n"
        "[color]\n ui = always\n diff = always\n"
        "[log]\n showSignature = true\n showRoot = false\n follow = true\n date = relative\n mailmap = true\n"
        "[core]\n quotePath = false\n pager = false\n abbrev = 4\n fsmonitor = false-hook\n"
        "[format]\n pretty = oneline\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_DIFF_OPTS", "--unified=0")
    monkeypatch.setenv("GIT_ICASE_PATHSPECS", "1")
    assert walk(repo) == before


def test_variables_that_git_gives_to_hooks_do_not_lead_to_another_repository(repo, tmp_path, monkeypatch):
    shas = repo.commits([{"a": "1"}])
    other = GitRepo(tmp_path / "other")
    other.commit({"b": "1"})
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git/index"))
    assert [each.commit.sha for each in walk(repo)] == shas


def test_the_history_of_a_shallow_clone_begins_at_its_boundary(repo: GitRepo, tmp_path: Path) -> None:
    shas = repo.commits([{"a": "1"}, {"b": "1"}, {"c": "1"}])
    subprocess.run(["git", "clone", "-q", "--depth", "2", f"file://{repo.path}", str(tmp_path / "shallow")], check=True)
    shallow = Repository.open(tmp_path / "shallow")
    assert shallow.shallow_boundary == (shas[1],)
    revisions = list(history_revisions.walk(shallow.place, commits_up_to(shallow.place, shas[2])))
    assert paths(revisions) == [["a", "b"], ["c"]]
    assert Repository.open(repo.path).shallow_boundary == ()


def test_a_reader_that_stops_early_leaves_no_process_behind(repo: GitRepo) -> None:
    repo.commits([{"a": str(number)} for number in range(300)])
    code = """if True:
        import os, sys
        from pathlib import Path
        from sitegen.history.repository import Repository
        from sitegen.history.revisions import commits_up_to, walk

        repository = Repository.open(Path(sys.argv[1]))
        revisions = walk(repository.place, commits_up_to(repository.place, repository.resolve("HEAD")))
        next(iter(revisions))
        revisions.close()
        try:
            print(os.waitpid(-1, os.WNOHANG))
        except ChildProcessError:
            print("no child")
    """
    done = subprocess.run([sys.executable, "-c", code, str(repo.path)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("no child\n", "")
