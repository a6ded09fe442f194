"""The writer writes whole files, only what changed, and never into a folder that is not ours."""

import os

import pytest

from sitegen.analysis.memo import PageRow
from sitegen.errors import OutputFolderError
from sitegen.render.writer import MARKER, Claim, Writer, claimed, digest, folder_times, remove, same_times, sweep


def test_parts_of_a_digest_cannot_run_into_each_other():
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("ab") == digest(b"ab")


def test_a_new_file_is_written_and_an_equal_one_kept(tmp_path):
    writer = Writer(tmp_path)
    writer.write("eval:a", "evals/a/index.html", b"one")
    assert (tmp_path / "evals/a/index.html").read_bytes() == b"one"
    again = Writer(tmp_path)
    before = (tmp_path / "evals/a/index.html").stat().st_ino
    again.write("eval:a", "evals/a/index.html", b"one")
    assert (writer.written, writer.kept, again.written, again.kept) == (1, 0, 0, 1)
    assert (tmp_path / "evals/a/index.html").stat().st_ino == before


def test_a_file_whose_inputs_are_known_is_not_even_looked_at(tmp_path):
    writer = Writer(tmp_path, [PageRow("", "a.html", "key", 7)])
    assert writer.is_fresh("", "a.html", "key")
    assert not writer.is_fresh("", "a.html", "other")
    assert not writer.is_fresh("", "b.html", "key")
    assert writer.rows == [PageRow("", "a.html", "key", 7)]


def test_a_file_is_read_back_only_if_it_is_still_what_was_written(tmp_path):
    writer = Writer(tmp_path)
    writer.write("", "data/a.json", b"{}")
    assert writer.standing("data/a.json", digest(b"{}")) == b"{}"
    assert writer.standing("data/a.json", digest(b"[]")) is None
    assert writer.standing("data/b.json", digest(b"{}")) is None
    assert writer.standing("data/a.json", "") is None


def test_a_changed_file_is_replaced_as_a_whole(tmp_path):
    Writer(tmp_path).write("", "a.html", b"old" * 10)
    with open(tmp_path / "a.html", "rb") as reader:
        Writer(tmp_path).write("", "a.html", b"new" * 10)
        assert reader.read() == b"old" * 10, "a reader that has the file open sees the whole old one"
    assert (tmp_path / "a.html").read_bytes() == b"new" * 10
    assert sorted(os.listdir(tmp_path)) == ["a.html"]


def test_a_foreign_folder_is_refused_and_the_error_says_what_is_in_it(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("x")
    with (
        pytest.raises(OutputFolderError, match="It holds 1 file: thesis/chapter1.tex"),
        claimed(tmp_path, force=False),
    ):
        pass
    assert sorted(os.listdir(tmp_path)) == ["thesis"]


@pytest.mark.parametrize("placeholder", [".gitkeep", ".gitignore"])
def test_an_empty_folder_that_git_keeps_is_ours_to_use(tmp_path, placeholder):
    (tmp_path / placeholder).write_text("")
    with claimed(tmp_path, force=False) as claim:
        assert claim.foreign == frozenset()


def test_files_of_a_folder_that_was_forced_are_never_swept_away(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with claimed(tmp_path, force=True):
        pass
    with claimed(tmp_path, force=False) as claim:
        (tmp_path / "orphan.html").write_text("half a pa")
        (tmp_path / "index.html").write_text("page")
        assert sweep(claim, [PageRow("", "index.html", "k")]) == 1
    assert sorted(os.listdir(tmp_path)) == sorted([MARKER, "index.html", "notes.txt"])


def test_removing_the_last_page_of_a_folder_removes_the_folder(tmp_path):
    writer = Writer(tmp_path)
    writer.write("eval:a", "evals/a/0001.html", b"1")
    writer.write("eval:b", "evals/b/0001.html", b"1")
    assert (
        remove(tmp_path, [PageRow("eval:a", "evals/a/0001.html", ""), PageRow("eval:a", "evals/a/gone.html", "")]) == 1
    )
    assert [path.name for path in (tmp_path / "evals").iterdir()] == ["b"]


def test_a_file_that_was_added_or_removed_shows_in_the_times_of_its_folder(tmp_path):
    Writer(tmp_path).write("", "evals/a/0001.html", b"1")
    times = folder_times(tmp_path, ["gone"], ["evals/a/0001.html"])
    assert [path for path, _ in times] == ["", "evals", "evals/a"]
    assert same_times(tmp_path, times)
    os.utime(tmp_path / "evals", ns=(1, 1))
    assert not same_times(tmp_path, times)
    assert not same_times(tmp_path, ())


def test_an_output_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "public").write_text("")
    with pytest.raises(OutputFolderError, match="a file, not a folder"), claimed(tmp_path / "public", force=True):
        pass


def test_a_claim_lists_nothing_foreign_in_a_new_folder(tmp_path):
    with claimed(tmp_path / "new", force=False) as claim:
        assert claim == Claim(tmp_path / "new", frozenset())
