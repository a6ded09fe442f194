import pytest

from sitegen.text.patch import LARGEST, Hunk, Patch, PatchCounts, PatchLine, read_patch
from sitegen.text.sections import count_words

HEADER = b"diff --git a/x b/x\nindex 1111111..2222222 100644\n--- a/x\n+++ b/x\n"


def test_a_patch_is_read_into_numbered_lines():
    patch = HEADER + b"@@ -3,3 +3,3 @@ # Title\n a\n-b <i>\n+c\n d\n"
    assert read_patch(patch) == Patch(
        PatchCounts(1, 1, words=-1),
        (
            Hunk(
                section="# Title",
                old_start=3,
                old_count=3,
                new_start=3,
                new_count=3,
                lines=(
                    PatchLine(kind="context", text="a", old=3, new=3),
                    PatchLine(kind="removed", text="b <i>", old=4, new=None),
                    PatchLine(kind="added", text="c", old=None, new=4),
                    PatchLine(kind="context", text="d", old=5, new=5),
                ),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("patch", "lines"),
    [
        pytest.param(
            b"@@ -1,2 +1,2 @@\n--- a/other\n-diff --git a/y b/y\n+++ b/other\n+@@ -1 +1 @@\n",
            "1 - removed -- a/other|2 - removed diff --git a/y b/y|- 1 added ++ b/other|- 2 added @@ -1 +1 @@",
            id="lines that look like headers",
        ),
        pytest.param(b"@@ -0,0 +1,2 @@\n+a\n+b\n", "- 1 added a|- 2 added b", id="an added file has one side"),
        pytest.param(b"@@ -1 +0,0 @@\n-a\n", "1 - removed a", id="a deleted file too"),
        pytest.param(
            b"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n",
            "1 - removed a|- - remark  No newline at end of file|- 1 added a",
            id="a line without end has a remark",
        ),
        pytest.param(
            b"@@ -1,3 +1,3 @@\n-a\r\n+a\n b\r\n-c\r\n+d\r\n",
            "1 1 context a|2 2 context b|3 - removed c|- 3 added d",
            id="a change beside a change of line ends",
        ),
        pytest.param(
            b"@@ -1,2 +1,2 @@ # T\r\n a\r\n-b\r\n+c\r\n",
            "1 1 context a|2 - removed b|- 2 added c",
            id="carriage returns throughout are not shown",
        ),
        pytest.param(
            "@@ -1 +1 @@\n-\u202eevil\x1b[31m\n+{}\n".format("x" * 100_000).encode(),
            f"1 - removed ‹U+202E›evil␛[31m|- 1 added {'x' * 4_000} … (96,000 more characters)",
            id="hidden characters are shown and long lines cut",
        ),
        pytest.param(b"@@ -0,0 +1 @@\n+\xff\xfe\n", "- 1 added \ufffd\ufffd", id="bytes that are no UTF-8"),
    ],
)
def test_each_line_has_its_numbers_its_kind_and_its_text(patch: bytes, lines: str):
    found = read_patch(HEADER + patch).hunks[0].lines
    assert "|".join(f"{line.old or '-'} {line.new or '-'} {line.kind} {line.text}" for line in found) == lines


def test_lines_that_differ_only_in_their_end_are_context_and_counted_apart():
    patch = HEADER + b"@@ -1,3 +1,3 @@\n-a\r\n-b\r\n-c\r\n+a\n+b\n+c\n"
    assert read_patch(patch) == Patch(PatchCounts(), (), line_endings=3)
    one = read_patch(HEADER + b"@@ -1,3 +1,3 @@\n-a\r\n+a\n b\r\n-c\r\n+d\r\n")
    assert (one.counts, one.line_endings) == (PatchCounts(1, 1), 1)


@pytest.mark.parametrize(
    "patch", [HEADER + b"Binary files a/x and b/x differ\n", HEADER + b"@@ -1 +1 @@\n-a\n+\x00\x01\n"]
)
def test_a_binary_file_has_no_lines(patch: bytes):
    assert read_patch(patch) == Patch(PatchCounts(), (), binary=True)


@pytest.mark.parametrize(
    "patch", [b"", b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", b"diff --git a/x b/y\nrename from x\n"]
)
def test_a_patch_without_hunks_is_empty(patch: bytes):
    assert read_patch(patch) == Patch(PatchCounts(), ())


def test_a_patch_that_is_cut_off_says_so_and_counts_what_is_there():
    read = read_patch(HEADER + b"@@ -1,9 +1,9 @@\n a\n-b\n+c\n+d\n")
    assert (read.counts, read.hunks) == (PatchCounts(2, 1, words=None), ())
    assert read.unread.startswith("The patch cannot be read: ")


def test_a_patch_too_large_to_draw_is_counted():
    count = LARGEST // 2 + 1
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
