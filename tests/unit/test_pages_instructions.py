from msgspec.structs import replace

from sitegen.pages.edit.effects import GradeCount, grade_counts
from sitegen.pages.instructions import FileRecord, InstructionsView, file_size, instructions_page
from sitegen.text.patch import PatchCounts
from tests import pages_sample_diffs as sample
from tests.sites import renderer_of

COUNTS = (PatchCounts(38, 0, None, "1.0.0"), PatchCounts(6, 7, "1.0.0", "1.1.0"), PatchCounts(1, 2))
FILES = [
    FileRecord(
        history=replace(sample.FILE, path="prompts/b.md"),
        size=file_size(COUNTS),
        grades=grade_counts(["cannot tell", "worse", "cannot tell"]),
        newest_effects=sample.EFFECTS,
        newest_measured=sample.FILE.edits[1].commit,
    ),
    FileRecord(history=sample.FILE, size=file_size(COUNTS), grades=(GradeCount("likely better", 4),)),
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
