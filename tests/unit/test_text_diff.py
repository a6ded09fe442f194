from sitegen.text.diff import MOST_LINES, DiffRow, draw
from sitegen.text.patch import read_patch
from sitegen.text.words import WordSpan


def test_a_patch_becomes_rows_with_changed_words_marked():
    drawn = draw(
        read_patch(b"@@ -1,3 +1,3 @@ # T\n a\n-use the red one\n+use the blue one\n b\n\\ No newline at end of file\n")
    )
    assert drawn.rows == (
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
    assert drawn.passages == (
        '<p class="gone"><del>use the red one</del></p>\n<p class="chg">a\nuse the blue one\nb</p>\n',
    )
    assert drawn.left_out == 0


def test_the_first_lines_of_a_long_patch_are_drawn():
    count = MOST_LINES + 500
    patch = f"@@ -0,0 +1,{count} @@\n".encode() + b"+a\n" * count + b"@@ -9 +9 @@\n-b\n+c\n"
    drawn = draw(read_patch(patch))
    assert (len(drawn.rows), len(drawn.passages), drawn.left_out) == (MOST_LINES + 1, 1, 502)


def test_words_are_compared_as_long_as_the_budget_lasts():
    line = "word " * 700
    lines = b"".join(f"-{line}{n} old\n+{line}{n} new\n c\n".encode() for n in range(60))
    rows = draw(read_patch(b"@@ -1,120 +1,120 @@\n" + lines)).rows
    marked = [any(span.changed for span in row.new or ()) for row in rows if row.kind == "change"]
    assert marked[:10] == [True] * 10
    assert marked[-20:] == [False] * 20
