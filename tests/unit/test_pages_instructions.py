from sitegen.pages.instruction.page import impact
from sitegen.pages.instructions.page import FileRecord, InstructionsView, file_size, instructions_page
from sitegen.text.patch import PatchCounts
from tests import pages_sample_diffs as sample
from tests.sites import renderer_of

COUNTS = (PatchCounts(38, 0, None, "1.0.0"), PatchCounts(6, 7, "1.0.0", "1.1.0"), PatchCounts(1, 2))
FILES = [
    FileRecord(sample.FILE._replace(path="prompts/b.md"), file_size(COUNTS), impact(sample.EFFECTS)),
    FileRecord(sample.FILE, file_size(COUNTS), impact(())),
    FileRecord(sample.FILE._replace(path="prompts/a.md"), file_size((None, None, None)), impact(())),
    FileRecord(sample.FILE._replace(path="AGENTS.md", deleted=True), file_size(COUNTS), impact(())),
    FileRecord(sample.FILE._replace(path="CLAUDE.md"), file_size(COUNTS), impact(())),
]


def test_files_are_grouped_by_folder_and_deleted_ones_stand_apart():
    page = instructions_page(FILES)
    view = page.view
    assert isinstance(view, InstructionsView)
    assert page.path == "instructions/index.html"
    assert [(group.folder, [row.name for row in group.rows]) for group in view.groups] == [
        ("", ["CLAUDE.md"]),
        (".claude/instructions/packet-reader", ["instructions.md"]),
        ("prompts", ["a.md", "b.md"]),
    ]
    assert [row.name for row in view.deleted] == ["AGENTS.md"]
    assert view.edits == 15


def test_a_row_says_the_size_the_version_and_the_last_edit():
    view = instructions_page(FILES).view
    assert isinstance(view, InstructionsView)
    unknown, known = view.groups[2].rows
    assert (known.size.lines, known.size.after, known.size.version, known.edits) == (36, (38, 37, 36), "1.1.0", 3)
    assert (known.last, known.subject) == (sample.FILE.edits[2].commit, "Convert inches after all")
    assert (unknown.size.lines, unknown.size.version) == (None, None)


def test_the_page_links_every_file():
    renderer = renderer_of(sample.SITE)
    html = renderer.render(instructions_page(FILES)).decode()
    for record in FILES:
        assert f">{record.history.path.split('/')[-1]}</a>" in html
    assert "4 files" in html


def test_without_files_the_page_says_where_they_are_looked_for():
    html = renderer_of(sample.SITE).render(instructions_page([])).decode()
    assert "No instruction file was found" in html
