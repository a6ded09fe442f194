import pytest
from markupsafe import Markup

from sitegen.pages.edit.effect_rows import plus_minus, size, version
from sitegen.text.patch import PatchCounts
from sitegen.text.sections import TextStats


def words(html: Markup) -> str:
    return " ".join(html.replace("</span><span>", ", ").striptags().split())


@pytest.mark.parametrize(
    ("counts", "before", "after", "stated"),
    [
        (PatchCounts(version_before="1.0", version_after="1.1"), None, None, "version 1.0 → then 1.1"),
        (PatchCounts(), TextStats(version="1.0"), TextStats(version="1.1"), "version 1.0 → then 1.1"),
        (PatchCounts(version_after="2"), TextStats(version="2"), None, "version 2"),
        (PatchCounts(), TextStats(version="3"), None, "version 3"),
        (PatchCounts(), TextStats(), TextStats(), ""),
    ],
)
def test_the_version_is_that_of_the_patch_or_else_of_the_text(
    counts: PatchCounts, before: TextStats | None, after: TextStats | None, stated: str
):
    assert words(version(counts, before, after)) == stated


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (TextStats(1_000, 20), TextStats(1_001, 20), "1,000 → then 1,001 lines, 20 words"),
        (None, TextStats(3, 0), "3 lines, 0 words"),
        (TextStats(3), None, "3 lines"),
        (None, None, ""),
    ],
)
def test_a_size_that_did_not_change_stands_once_and_an_unknown_one_not_at_all(
    before: TextStats | None, after: TextStats | None, shown: str
):
    assert words(size(before, after)) == shown


def test_lines_of_an_edit_that_cannot_be_read_are_a_dash():
    assert (words(plus_minus(PatchCounts(1_200, 3))), words(plus_minus(None))) == ("+1,200 −3 lines", "—")
