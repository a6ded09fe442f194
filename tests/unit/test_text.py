"""Texts: their lines, words, sections and versions, and how two of them differ."""

from decimal import Decimal

import pytest

from sitegen.commands.verify import discrepancy
from sitegen.model.metrics import Nouns
from sitegen.model.outcomes import Judgement, Value
from sitegen.pages.html.cells import shown_pair, shown_run
from sitegen.text.patch import (
    MOST_LINES,
    MOST_PAIRS,
    READ_BYTES,
    DiffRow,
    Patch,
    PatchCounts,
    VersionStep,
    draw,
    pair,
    read_patch,
    rendered,
    version_steps,
)
from sitegen.text.plain import cut
from sitegen.text.sections import TextStats, count_words, stated_version, text_stats
from sitegen.text.values import texts_with_types
from sitegen.text.words import MOST_CHARACTERS, WordSpan, mark, tokens
from tests.rows import in_table


def test_a_cut_says_how_much_is_missing():
    assert cut("a" * 25, 2) == "a" * 25  # as long as what would say that 23 are missing
    assert cut("a" * 1_003, 2) == "aa … (1,001 more characters)"
    assert cut(cut("a" * 10_003, 1_003), 2) == "aa … (10,001 more characters)"


@pytest.mark.parametrize(
    ("expected", "actual", "said"),
    [
        (12, "12", ("12 (number)", '"12" (text)')),
        ("12", 12, ('"12" (text)', "12 (number)")),
        (Decimal("1.50"), " 1.50", ("1.50 (number)", '" 1.50" (text)')),
        (True, "True", ("true (boolean)", '"True" (text)')),
        ("[1]", [1], ('"[1]" (text)', "[1] (list)")),
        (None, "null", ("null (nothing)", '"null" (text)')),
        (12, "13", None),
        ("a", "A", None),
        (1, Decimal("1"), None),
    ],
)
def test_types_are_named_where_they_alone_tell_two_values_apart(expected: Value, actual: Value, said: object) -> None:
    assert texts_with_types(expected, actual) == said


def test_a_discrepancy_of_types_shows_them_in_the_terminal_and_on_pages() -> None:
    one = Judgement(document="", path="total", attribute="total", outcome="format_error", expected=12, actual="12")
    assert discrepancy(one, Nouns()) == 'format error   total: expected 12 (number), actual "12" (text)'
    assert ["".join(span.text for span in side.spans) for side in shown_pair(one)] == ["12 (number)", '"12" (text)']
    sides = shown_run("format_error", "12", '"12"')
    assert ["".join(span.text for span in side.spans) for side in sides] == ["12", '"12"']


@in_table
def test_a_version_is_found_where_a_file_states_one(line: str, version: str | None):
    assert stated_version(line) == version


def test_lines_are_what_git_counts_and_words_are_without_marks():
    assert text_stats(b"# Reader\r\n\r\n**Version:** v1.0\r\n- `a.b` isn't *it*\n") == TextStats(4, 6, "1.0")
    assert text_stats(b"") == TextStats(0, 0, None)
    assert text_stats(b"one\x0cline\xe2\x80\xa8only") == TextStats(1, 3, None)


FIRST = PatchCounts(added=9, removed=0, version_before=None, version_after="1.0")


@in_table
def test_an_edit_of_a_file_that_states_a_version(edit, step):
    counts = None if edit is None else PatchCounts(**edit)
    assert version_steps((FIRST, counts)) == (VersionStep("1.0"), VersionStep(*step))


def test_a_file_without_a_version_forgets_none():
    unknown = VersionStep(None)
    assert version_steps((PatchCounts(9, 0), PatchCounts(1, 1), FIRST)) == (unknown, unknown, VersionStep("1.0"))


def bracketed(spans: tuple[WordSpan, ...]) -> str:
    return "".join(f"[{text}]" if changed else text for text, changed in spans)


@in_table
def test_the_words_that_differ_are_marked(old: str, new: str, marked_old: str, marked_new: str):
    a, b = mark(old, new)
    assert (bracketed(a), bracketed(b)) == (marked_old, marked_new)


def test_a_small_island_between_two_changes_becomes_part_of_them():
    old, new = mark("take the first word of it", "take every second letter of it")
    assert (bracketed(old), bracketed(new)) == ("take [the first word] of it", "take [every second letter] of it")
    old, _ = mark("xxxxxxxx a yyyyyyyy same words here", "pppppppp a qqqqqqqq same words here")
    assert bracketed(old) == "[xxxxxxxx a yyyyyyyy] same words here"


def test_of_texts_beyond_the_bound_only_start_and_end_are_kept():
    middle = "a b " * MOST_CHARACTERS
    marked = map(bracketed, mark(f"start {middle} end", f"start x{middle}y end"))
    assert [*marked] == [f"start [{middle.rstrip()}]  end", f"start [x{middle}y] end"]


def test_a_token_is_a_word_with_its_inner_punctuation_or_spaces_or_one_mark():
    assert tokens("it's  `header.due_date`, 1.5!") == ["it's", "  ", "`", "header.due_date", "`", ",", " ", "1.5", "!"]


def test_lines_that_are_alike_share_a_row_and_the_rest_fills_up_between_them():
    removed = ["Depths are in centimetres.", "Gone for good.", "Also gone!", "Give months as words."]
    added = ["Depths are in millimetres.", "Brand new: %%%", "Give months as numbers."]
    assert pair(removed, added) == [(0, 0, True), (1, 1, False), (2, None, False), (3, 2, True)]


def test_a_passage_written_anew_is_not_compared():
    side = ["same line"] * (int(MOST_PAIRS**0.5) + 1)
    assert pair(side, side) == [(index, index, False) for index in range(len(side))]


def test_one_side_alone_has_rows_of_its_own_and_blank_lines_are_like_nothing():
    assert pair([], ["a", "b"]) == [(None, 0, False), (None, 1, False)]
    assert pair(["a"], []) == [(0, None, False)]
    assert (pair([], []), pair([""], [""])) == ([], [(0, 0, False)])


HEADER = b"diff --git a/x b/x\nindex 1111111..2222222 100644\n--- a/x\n+++ b/x\n"


@in_table
def test_each_line_has_its_numbers_its_kind_and_its_text(case: str, patch: str, lines: list[str]):
    found = read_patch(HEADER + patch.encode("utf-8", "surrogateescape")).hunks[0].lines
    assert [f"{line.old or '-'} {line.new or '-'} {line.kind} {line.text}" for line in found] == lines


def test_of_a_long_line_the_start_is_shown():
    (line,) = read_patch(HEADER + b"@@ -0,0 +1 @@\n+" + b"x" * 100_000 + b"\n").hunks[0].lines
    assert line.text == f"{'x' * 4_000} … (96,000 more characters)"


def test_lines_that_differ_only_in_their_end_are_context_and_counted_apart():
    patch = HEADER + b"@@ -1,3 +1,3 @@\n-a\r\n-b\r\n-c\r\n+a\n+b\n+c\n"
    assert read_patch(patch) == Patch(PatchCounts(), (), line_endings=3)
    one = read_patch(HEADER + b"@@ -1,3 +1,3 @@\n-a\r\n+a\n b\r\n-c\r\n+d\r\n")
    assert (one.counts, one.line_endings) == (PatchCounts(1, 1), 1)


@pytest.mark.parametrize(
    ("patch", "binary"),
    [
        (HEADER + b"Binary files a/x and b/x differ\n", True),
        (HEADER + b"@@ -1 +1 @@\n-a\n+\x00\x01\n", True),
        (b"", False),
        (b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", False),
        (b"diff --git a/x b/y\nrename from x\n", False),
    ],
)
def test_a_patch_of_a_binary_file_or_without_hunks_has_no_lines(patch: bytes, binary: bool):
    assert read_patch(patch) == Patch(PatchCounts(), (), binary=binary)


def test_a_patch_that_is_cut_off_says_so_and_counts_what_is_there():
    read = read_patch(HEADER + b"@@ -1,9 +1,9 @@\n a\n-b\n+c\n+d\n")
    assert (read.counts, read.hunks) == (PatchCounts(2, 1, words=None), ())
    assert read.unread.startswith("The patch cannot be read: ")


def test_a_patch_too_large_to_draw_is_counted():
    count = READ_BYTES // 2 + 1
    read = read_patch(HEADER + f"@@ -0,0 +1,{count} @@\n".encode() + b"+\n" * count)
    assert (read.counts, read.hunks) == (PatchCounts(count, 0, words=None), ())
    assert "too many to draw" in read.unread


def test_the_version_that_the_first_lines_state_is_told_and_whether_a_title_changed_with_it():
    lines = b"@@ -3 +3 @@\n-**Version:** v1.2\n+**Version:** v1.3\n@@ -900 +900 @@\n-version: 7\n+version: 8\n"
    one = PatchCounts(added=1, removed=1, version_before="1.2", version_after="1.3", words=1)
    assert read_patch(HEADER + b"@@ -1 +1 @@\n-# Reader v1.2\n+# Packet reader v1.3\n").counts == one
    assert read_patch(HEADER + lines).counts == one._replace(added=2, removed=2, words=0, only_version=True)


def test_words_added_less_words_removed_are_those_of_the_texts():
    old, new = "One, two.\n\n- three\n", "One, two and a half.\n\n- three\n" + "long " * 2_000 + "a\u200bb\n"
    patch = HEADER + b"@@ -1,3 +1,4 @@\n-One, two.\n+One, two and a half.\n \n - three\n"
    counts = read_patch(patch + b"+" + new.split("\n")[3].encode() + b"\n").counts
    assert counts.words == sum(map(count_words, new.split("\n"))) - sum(map(count_words, old.split("\n")))


def test_a_patch_becomes_rows_with_changed_words_marked():
    patch = b"@@ -1,3 +1,3 @@ # T\n a\n-use the red one\n+use the blue one\n b\n\\ No newline at end of file\n"
    rows, hunks, left_out = draw(read_patch(patch))
    assert rows == (
        DiffRow("hunk", old=(WordSpan("@@ −1,3 +1,3 @@ # T", False),)),
        DiffRow(kind="context", old_line=1, new_line=1, old=(WordSpan("a", False),)),
        DiffRow(
            kind="change",
            old_line=2,
            new_line=2,
            old=(WordSpan("use the ", False), WordSpan("red", True), WordSpan(" one", False)),
            new=(WordSpan("use the ", False), WordSpan("blue", True), WordSpan(" one", False)),
        ),
        DiffRow(kind="context", old_line=3, new_line=3, old=(WordSpan("b", False),)),
        DiffRow("remark", old=(WordSpan("No newline at end of file", False),)),
    )
    html = '<p class="gone"><del>use the red one</del></p>\n<p class="chg">a\nuse the blue one\nb</p>\n'
    assert (list(map(rendered, hunks)), left_out) == ([html], 0)


def test_the_first_lines_of_a_long_patch_are_drawn():
    count = MOST_LINES + 500
    patch = f"@@ -0,0 +1,{count} @@\n".encode() + b"+a\n" * count + b"@@ -9 +9 @@\n-b\n+c\n"
    rows, hunks, left_out = draw(read_patch(patch))
    assert (len(rows), len(hunks), left_out) == (MOST_LINES + 1, 1, 502)


def test_words_are_compared_as_long_as_the_budget_lasts():
    line = "word " * 700
    lines = b"".join(f"-{line}{n} old\n+{line}{n} new\n c\n".encode() for n in range(60))
    rows, _, _ = draw(read_patch(b"@@ -1,120 +1,120 @@\n" + lines))
    marked = [any(span.changed for span in row.new or ()) for row in rows if row.kind == "change"]
    assert marked[:10] == [True] * 10
    assert marked[-20:] == [False] * 20
