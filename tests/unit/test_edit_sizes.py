import pytest
from markupsafe import Markup
from msgspec.structs import replace

from sitegen.pages.edit import EditView, draw_edit
from sitegen.text.patch import PatchCounts
from sitegen.text.sections import TextStats
from tests import pages_sample_diffs as sample
from tests.sites import renderer_of


def facts(counts: PatchCounts, before: TextStats | None, after: TextStats | None) -> str:
    """What stands below the subject of an edit, after its number."""
    drawn = draw_edit(sample.FILE.edits[1], sample.patch_of(sample.V1, sample.V2))
    page = EditView(
        file=sample.FILE, index=1, patch=replace(drawn, counts=counts), effects=(), before=before, after=after
    ).page
    assert isinstance(page.view, EditView)
    html = renderer_of(sample.SITE).render(page).decode().partition("edit 2 of the file</span>")[2].partition("</p>")[0]
    return " ".join(Markup(html.replace("</span>\n<span>", ", ").replace("</span><span>", ", ")).striptags().split())


@pytest.mark.parametrize(
    ("counts", "before", "after", "stated"),
    [
        (PatchCounts(version_before="1.0", version_after="1.1"), None, None, "version 1.0 → then 1.1"),
        (PatchCounts(), TextStats(version="1.0"), TextStats(version="1.1"), "version 1.0 → then 1.1"),
        (PatchCounts(version_after="2"), TextStats(version="2"), None, "version 2"),
        (PatchCounts(), TextStats(version="3"), None, "version 3"),
        (PatchCounts(), TextStats(), TextStats(), ""),
        (PatchCounts(), TextStats(1_000, 20), TextStats(1_001, 20), "1,000 → then 1,001 lines, 20 words"),
        (PatchCounts(), None, TextStats(3, 0), "3 lines, 0 words"),
        (PatchCounts(), TextStats(3), None, "3 lines"),
        (PatchCounts(), None, None, ""),
    ],
)
def test_an_edit_says_the_version_and_the_size_of_its_file(
    counts: PatchCounts, before: TextStats | None, after: TextStats | None, stated: str
):
    """The version is that of the patch or else of the text; a size that did not change stands once."""
    assert facts(counts, before, after) == stated
