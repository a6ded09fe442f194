from msgspec.structs import replace

from sitegen.analysis.go_back import BestInstructions, EvalThen, FileThen
from sitegen.model.metrics import ErrorNumbers, MetricSpec
from sitegen.model.series import Headline
from sitegen.model.timeline import InstructionHistory
from sitegen.pages.effects import grade_counts
from sitegen.pages.instructions.page import FileRecord, InstructionsView, file_size, instructions_page
from sitegen.text.patch import PatchCounts
from tests import pages_sample_diffs as sample
from tests.sites import renderer_of

COUNTS = (
    PatchCounts(added=38, removed=0, version_before=None, version_after="1.0.0"),
    PatchCounts(added=6, removed=7, version_before="1.0.0", version_after="1.1.0"),
    PatchCounts(1, 2),
)
FILES = [
    FileRecord(
        history=replace(sample.FILE, path="prompts/b.md"),
        size=file_size(COUNTS),
        grades=grade_counts(["cannot tell", "worse", "cannot tell"]),
        newest_effects=sample.EFFECTS,
        newest_measured=sample.FILE.edits[1].commit,
    ),
    FileRecord(history=sample.FILE, size=file_size(COUNTS), grades=(("likely better", 4),)),
    FileRecord(history=replace(sample.FILE, path="prompts/a.md"), size=file_size((None, None, None)), grades=()),
    FileRecord(history=replace(sample.FILE, path="AGENTS.md", deleted=True), size=file_size(COUNTS), grades=()),
    FileRecord(history=replace(sample.FILE, path="CLAUDE.md"), size=file_size(COUNTS), grades=()),
]


def test_files_whose_edits_changed_evals_most_surely_come_first_and_deleted_ones_stand_apart():
    page = instructions_page(FILES)
    view = page.view
    assert isinstance(view, InstructionsView)
    assert page.path == "instructions/index.html"
    assert [(row.folder, row.name) for row in view.files] == [
        ("prompts", "b.md"),
        (".claude/instructions", "packet-reader/instructions.md"),
        ("", "CLAUDE.md"),
        ("prompts", "a.md"),
    ]
    assert view.files[0].grades == (("worse", 1), ("cannot tell", 2))
    assert [row.name for row in view.deleted] == ["AGENTS.md"]
    assert view.edits == 15


def test_a_row_says_the_size_the_version_and_the_newest_edit_with_outputs_around_it():
    view = instructions_page(FILES).view
    assert isinstance(view, InstructionsView)
    known, _, _, unknown = view.files
    assert (known.size.lines, known.size.after, known.size.version) == (36, (38, 37, 36), "1.1.0")
    assert (known.newest_measured, known.subject) == (
        sample.FILE.edits[1].commit,
        "Months as numbers; never guess; no currency",
    )
    assert (unknown.newest_measured, unknown.subject) == (None, "Convert inches after all")
    assert (unknown.size.lines, unknown.size.version) == (None, None)


def test_the_page_links_every_file():
    renderer = renderer_of(sample.SITE)
    html = renderer.render(instructions_page(FILES)).decode()
    for record in FILES:
        assert f"{record.history.path.split('/')[-1]}</a>" in html
    assert "4 files" in html


def test_without_files_the_page_says_where_they_are_looked_for():
    html = renderer_of(sample.SITE).render(instructions_page([])).decode()
    assert "No instruction file was found" in html


def numbered(count: int, folder: str, *, deleted: bool = False) -> list[FileRecord]:
    """Files ``FOLDER/000.md`` and so on, edited in this order."""
    commits = [replace(sample.FILE.edits[0].commit, position=position) for position in range(count)]
    return [
        FileRecord(
            history=InstructionHistory(
                f"{folder}/{number:03}.md", (replace(sample.FILE.edits[0], commit=commit),), deleted=deleted
            ),
            size=file_size(COUNTS),
            grades=(),
        )
        for number, commit in enumerate(commits)
    ]


def test_most_of_very_many_files_are_only_named_and_the_page_says_how_many_are_not(monkeypatch):
    for name in ("FILES", "DELETED", "NAMED"):
        monkeypatch.setattr(f"sitegen.pages.instructions.page.{name}", 2)
    page = instructions_page([*numbered(4, "a"), *numbered(5, "b", deleted=True)])
    view = page.view
    assert isinstance(view, InstructionsView)
    rows = [[record.history.path for record in part] for part in (view.files, view.deleted, view.named)]
    assert rows == [["a/000.md", "a/001.md"], ["b/003.md", "b/004.md"], ["a/002.md", "a/003.md"]]
    assert (view.living, view.gone, view.more) == (4, 5, 3)
    html = " ".join(renderer_of(sample.SITE).render(page).decode().split())
    assert "3 more files; search finds their pages." in html
    assert '<span class="note">the last 2 of 5</span>' in html


def test_of_many_best_versions_those_for_most_evals_are_shown_with_the_largest_losses(monkeypatch):
    monkeypatch.setattr("sitegen.pages.instructions.page.VERSIONS", 2)
    monkeypatch.setattr("sitegen.pages.instructions.page.COSTS", 1)
    spec = MetricSpec("f1", "F1", "")
    then = Headline(
        commit_position=1,
        sha="s",
        slug="0001",
        label="one",
        status="scored",
        values=(0.5,),
        errors=ErrorNumbers(omission=0, hallucination=0, wrong_value=0, format_error=0),
    )

    def version(position: int, best_for: int) -> BestInstructions:
        evals = tuple(
            EvalThen(
                eval_id=f"e{number}",
                name=f"E{number}",
                spec=spec,
                then=then,
                value=0.5,
                change=-0.25,
                decision=None,
                is_best=number < best_for,
            )
            for number in range(4)
        )
        commit = replace(sample.FILE.edits[0].commit, position=position, sha=f"{position:040}")
        return BestInstructions(commit=commit, evals=evals, files=(FileThen("a.md", "a.md"),))

    page = instructions_page(FILES, best=(version(9, 1), version(8, 2), version(7, 1), version(6, 2)))
    view = page.view
    assert isinstance(view, InstructionsView)
    assert [row.version.commit.position for row in view.best] == [8, 6]
    assert [[effect.name for effect in row.others] for row in view.best] == [["E2"], ["E2"]]
    assert ([row.more for row in view.best], view.other_versions) == ([1, 1], 2)
    html = " ".join(renderer_of(sample.SITE).render(page).decode().split())
    assert html.count("<li>and 1 more, each of which would lose less or gain</li>") == 2
    assert "2 more are the best for others" in html
