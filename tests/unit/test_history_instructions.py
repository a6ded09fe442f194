"""Instruction files through history: their versions, where they went, and the globs that name them."""

import hashlib
from collections.abc import Iterable, Sequence
from functools import partial
from importlib import resources
from operator import attrgetter
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitegen.config.models import INSTRUCTIONS, Manifest, SiteConfig
from sitegen.history.instructions import InstructionHistories
from sitegen.history.layout import Layout
from sitegen.history.repository import Repository
from sitegen.history.timeline import advance
from sitegen.model.commits import WORKTREE, ChangedPath, Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import Effect, EvalInfo
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages.html.charts import track
from sitegen.pages.instruction import CountedEdit, InstructionView, way_back
from sitegen.recognition.initialising import SKELETONS
from sitegen.text.globs import literal_prefix, matches
from sitegen.text.patch import PatchCounts
from tests import pages_sample_diffs as sample
from tests.gitrepo import Content, GitRepo, Link
from tests.rows import in_table
from tests.scoring.test_tables import tables
from tests.unit.test_for_machines import commit, headline

EXTRACTOR = ".claude/instructions/extractors/instructions.md"
TEXT = "".join(f"{number}. A rule of some length\n" for number in range(10))


@pytest.fixture
def repo(repo: GitRepo) -> GitRepo:
    repo.commit({"evals/shop/ground_truth.csv": "t"})
    return repo


def files(repo: GitRepo) -> tuple[InstructionHistory, ...]:
    config = SiteConfig(instructions=(*INSTRUCTIONS, "prompts/*.py", "prompts/*.ts"))
    repository, layout = Repository.open(repo.path), Layout(config, Manifest())
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


CONTENTS: dict[str, Content] = {"T": TEXT, "aT": f"a{TEXT}", "bT": f"b{TEXT}", "link": Link("b.md")}
CONTENTS |= {f"regex-{n}": f"a = /`/;\nb = `{n}{TEXT}`" for n in (1, 2)} | {"crlf": TEXT.replace("\n", " \r\n")}
CONTENTS |= {f"python-{n}": f"A = {n}  # it's\nB = '''{TEXT}'''" for n in (1, 2)}
CONTENTS |= {f"script-{n}": f"a = {n} // it's {'`' * n}\nb = `{TEXT}`" for n in (1, 2)}
CONTENTS |= {"half": TEXT[: len(TEXT) // 2] + "x\n" * 5, "other": "Something else\n" * 9}
FOLLOWED = tables(Path(__file__).with_name("followed_files.md").read_text(encoding="utf-8"))[0]


@pytest.mark.parametrize("row", FOLLOWED, ids=lambda row: row["case"])
def test_files_are_followed_through_commits(repo, row):
    for change in row["commits"].split(" / "):
        written = (each.removeprefix("-").partition("=") for each in change.split())
        repo.commit({f"prompts/{name}": CONTENTS.get(word, word) if sign else None for name, sign, word in written})
    found = files(repo)
    assert "; ".join(map(stated, found)) == row["histories"]
    for history in found:
        renamed = [edit.old for edit in history.edits if edit.status == "renamed"]
        assert {*renamed} <= {edit.new for edit in history.edits}


@in_table
def test_a_glob_names_whole_paths(glob, yes, no):
    assert [path for path in (*yes, *no) if matches(path, [glob])] == yes


def test_what_a_glob_can_name_lies_below_its_literal_prefix():
    expected = ".claude/instructions .claude/agents .claude/skills CLAUDE.md AGENTS.md prompts templates  a docs p"
    assert " ".join(map(literal_prefix, (*INSTRUCTIONS, "*.md", "a/b*/c", "docs/", "p/{a,b}/c"))) == expected


def test_no_content_is_read_for_a_hash_that_the_newest_edit_left():
    histories = InstructionHistories(dict[str, bytes]().__getitem__, attrgetter("oid"))
    oids = [f"{number:040x}" for number in range(1, 5)]
    made = partial(Commit, author="Ann", committed_at="2026-01-01T00:00:00+00:00", subject="")
    commits = [made(sha=oid, position=at) for at, oid in enumerate(oids)]
    for sha, old, new in zip(commits, [None, *oids], oids, strict=False):
        histories.fold(sha, [ChangedPath("CLAUDE.md", old, new)])
    assert histories.with_hashes([("CLAUDE.md", oids[-1])]) == commits[-1]
    assert histories.with_hashes([("elsewhere.md", oids[-1]), ("", oids[-1])]) is None


def test_an_edit_has_the_hashes_of_all_forms_in_which_its_text_was_written():
    texts = {f"{number:040x}": text for number, text in enumerate((b"one\n", b"one\r\n", b"two\n"))}
    one, windows, two = texts
    histories = InstructionHistories(texts.__getitem__, lambda blob: texts[blob.oid].strip().decode())
    commits = [Commit(sha=f"{at:040x}", position=at) for at in range(4)]
    for made_by, old, new in zip(commits, (None, one, windows, one), (one, windows, one, two), strict=True):
        histories.fold(made_by, [ChangedPath("CLAUDE.md", old, new)])
    assert [edit.commit for edit in histories.histories()[0].edits] == [commits[0], commits[3]]
    of_texts = [hashlib.sha256(text).hexdigest() for text in (*texts.values(), b"three")]
    found = [histories.with_hashes([("CLAUDE.md", digest)]) for digest in of_texts]
    assert found == [commits[0], commits[0], commits[3], None]


F1 = MetricSpec("f1", "F1", "")


def edit(position: int, path: str = "a.md", *, gone: bool = False) -> Edit:
    text, status = str(position), "deleted" if gone else "modified"
    return sample.edit(commit(position), text, None if gone else text, path, status)  # type: ignore[arg-type]


def effect(eval_id: str, value: float | None, before: float | None = None) -> Effect:
    sides = (None if before is None else headline(1, before), headline(1, value))
    return Effect(info=EvalInfo(eval_id, eval_id.title()), before=sides[0], after=sides[1], specs=(F1,))


VERSIONS = ((None, "1.0"), ("1.0", "1.1"), ("1.1", None), (None, "1.2"))
FILE = InstructionHistory("a.md", (edit(1, "old name.md"), edit(2), edit(3)))


def view_of(
    file: InstructionHistory, counts: Sequence[PatchCounts], effects: Iterable[tuple[Effect, ...]] | None = None
) -> InstructionView:
    edits = tuple(CountedEdit(count, ()) for count in counts)
    of_edits = tuple(effects or [()] * len(edits))
    return InstructionView(file=file, edits=edits, effects=of_edits, text="")


@pytest.mark.parametrize(
    ("edited", "now", "command"),
    [
        (edit(2, "a.md"), "a.md", "git checkout 0000000~1 -- a.md"),
        (edit(2, "a.md", gone=True), "a.md", "git checkout 0000000~1 -- a.md"),
        (sample.edit(commit(1), None, "x", "a.md", "added"), "a.md", "git rm -q -- a.md"),
        (edit(2, "old name.md"), "a.md", "git show '0000000~1:old name.md' > a.md"),
        (edit(2, "it's $(x).md"), "it's $(x).md", "git checkout 0000000~1 -- 'it'\"'\"'s $(x).md'"),
        (edit(2, "*.md"), "*.md", "git --literal-pathspecs checkout 0000000~1 -- '*.md'"),
        (replace(edit(2), commit=replace(commit(2), sha=WORKTREE)), "a.md", None),
        (edit(2, "a\u202eb.md"), "a\u202eb.md", None),
        (edit(2, "old.md"), "a\nb.md", None),
    ],
)
def test_the_way_back_is_quoted_and_names_no_file_that_cannot_be_shown(edited, now, command):
    assert way_back([(edited, now)]) == command


def test_sizes_stand_beside_every_eval_that_was_measured_twice():
    grew, shrank = PatchCounts(added=2, words=None), PatchCounts(removed=1)
    effects = [(effect("b", 0.1), effect("a", 0.3)), (effect("b", None),), (effect("b", 0.2), effect("c", 0.9))]
    view = view_of(FILE, [PatchCounts(added=10, words=90), grew, shrank], effects)
    assert view.sizes == [("Lines", (10, 12, 11))]
    assert [(one.info.id, values) for one, values in view.tracks] == [("b", (0.1, None, 0.2))]


def test_a_file_with_one_version_has_no_growth():
    view = view_of(InstructionHistory("a.md", (edit(1),)), [PatchCounts(added=10, words=90)], [(effect("a", 0.5),)])
    assert (view.sizes, view.tracks) == ([], [])


def test_a_track_joins_what_is_known_and_a_size_holds_until_the_next():
    assert track((0.5, None, 1.0)) == ("M0 100L2 0", "M0 100h0M2 0h0")
    assert track((None, 0.5)) == ("", "M1 50h0")
    assert track((4, 8, 6), held=True) == ("M0 100H1V0H2V50h0.5", "")
    assert track((None, None)) == ("", "")
