"""The writer writes whole files, only what changed, and never into a folder that is not ours."""

import errno
import json
import os
import warnings
from pathlib import Path

import pytest

from sitegen.engine.memo import PageRow
from sitegen.engine.output_folder import (
    LIST,
    claimed,
    content_digest,
    files_not_in_memo,
    folder_times,
    read_list,
    remove,
    same_times,
    shorten_list,
)
from sitegen.engine.writer import Writer, WrittenFiles, digest
from sitegen.errors import OutputFolderError
from sitegen.project import MARKER
from tests.gitrepo import put
from tests.rows import in_table
from tests.sites import failing


def test_parts_of_a_digest_cannot_run_into_each_other():
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("ab") == digest(b"ab")


def test_a_new_file_is_written_and_an_equal_one_kept(tmp_path):
    writer = Writer(tmp_path)
    writer.write("evals/a/index.html", b"one")
    assert (tmp_path / "evals/a/index.html").read_bytes() == b"one"
    again = Writer(tmp_path)
    before = (tmp_path / "evals/a/index.html").stat().st_ino
    again.write("evals/a/index.html", b"one")
    assert (writer.files.written, len(writer.rows), again.files.written, len(again.rows)) == (1, 1, 0, 1)
    assert (tmp_path / "evals/a/index.html").stat().st_ino == before


def test_each_file_is_in_the_list_of_the_folder_as_soon_as_it_stands(tmp_path):
    writer, listed = Writer(tmp_path), []
    for path in ("a.html", "evals/b.html"):
        writer.write(path, path.encode())
        listed.append(read_list(tmp_path).keys())
    assert listed == [{"a.html"}, {"a.html", "evals/b.html"}]
    (tmp_path / "evals/b.html").write_bytes(b"changed")
    assert files_not_in_memo(tmp_path, ()) == (("evals/",), ("a.html",))


def test_a_file_whose_inputs_are_known_is_not_even_looked_at(tmp_path):
    writer = Writer(tmp_path, present=[PageRow(owner="", path="a.html", key="key", size=7)])
    assert writer.is_fresh("a.html", "key")
    assert not writer.is_fresh("a.html", "other")
    assert not writer.is_fresh("b.html", "key")
    assert writer.rows == [PageRow(owner="", path="a.html", key="key", size=7)]


def test_a_file_that_is_written_twice_has_the_second_content_and_counts_once(tmp_path):
    Writer(tmp_path).write("a.html", b"old", "key")
    writer = Writer(tmp_path, present=[PageRow(owner="", path="a.html", key="key", size=3)])
    writer.write("a.html", b"early")
    writer.write("a.html", b"old", "key")
    assert (tmp_path / "a.html").read_bytes() == b"old"
    assert writer.files == WrittenFiles(
        (PageRow(owner="", path="a.html", key="key", size=3, content=content_digest(b"old")),), 1
    )


def test_placeholders_are_one_file_with_many_names_and_take_no_place_of_another(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "b.html").write_bytes(b"there")
    writer = Writer(tmp_path, foreign=["notes/"])
    writer.reserve(["a.html", "b.html", "c.html", "notes/d.html"], lambda: b"soon")
    assert os.listdir(tmp_path / "notes") == []
    assert os.path.samefile(tmp_path / "a.html", tmp_path / "c.html")
    writer.write("a.html", b"page")
    assert [(tmp_path / name).read_bytes() for name in ("a.html", "b.html", "c.html")] == [b"page", b"there", b"soon"]
    assert files_not_in_memo(tmp_path, ["a.html"])[1] == ("c.html",)


def test_without_links_of_the_file_system_each_placeholder_is_a_file(tmp_path, monkeypatch):
    failing(monkeypatch, "os.link", OSError(1, "Operation not permitted"))
    Writer(tmp_path).reserve(["a.html", "b.html"], lambda: b"soon")
    assert [(tmp_path / name).read_bytes() for name in ("a.html", "b.html")] == [b"soon", b"soon"]


def test_an_error_of_a_full_disk_names_the_file(tmp_path, monkeypatch):
    writer = Writer(tmp_path, listed=False)
    failing(monkeypatch, "os.write", OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(OSError, match="No space left") as raised:
        writer.write("evals/a.html", b"page")
    assert Path(raised.value.filename).parent == tmp_path / "evals"


def test_a_changed_file_is_replaced_as_a_whole(tmp_path):
    Writer(tmp_path).write("a.html", b"old" * 10)
    with open(tmp_path / "a.html", "rb") as reader:
        Writer(tmp_path).write("a.html", b"new" * 10)
        assert reader.read() == b"old" * 10, "a reader that has the file open sees the whole old one"
    assert (tmp_path / "a.html").read_bytes() == b"new" * 10
    assert sorted(os.listdir(tmp_path)) == [LIST, "a.html"]


def test_a_foreign_folder_is_refused_and_the_error_says_what_is_in_it(tmp_path):
    put(tmp_path / "thesis" / "chapter1.tex", "x")
    with pytest.raises(OutputFolderError, match="It holds 1 file: thesis/chapter1.tex"), claimed(tmp_path, force=False):
        pass
    assert sorted(os.listdir(tmp_path)) == ["thesis"]


@pytest.mark.parametrize("placeholder", [None, ".gitkeep", ".gitignore"])
def test_a_new_folder_and_an_empty_one_that_git_keeps_are_ours_to_use(tmp_path, placeholder):
    if placeholder:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / placeholder).touch()
    with claimed(tmp_path / "out", force=False):
        assert files_not_in_memo(tmp_path / "out", ()) == ((), ())


def test_what_a_build_wrote_is_told_from_everything_else(tmp_path):
    Writer(tmp_path).write("evals/a/index.html", b"ours, by the list")
    Writer(tmp_path).write("evals/a/changed.html", b"ours, and then written over")
    for path in ("evals/a/changed.html", "evals/a/mine.txt", "index.html", "CNAME", ".git/HEAD", "mine/deep/a.txt"):
        put(tmp_path / path, "theirs")
    (tmp_path / ".~sitegen-12").write_text("half a page")
    foreign = (".git/", "CNAME", "evals/a/changed.html", "evals/a/mine.txt", "mine/")
    assert files_not_in_memo(tmp_path, ["index.html"]) == (foreign, (".~sitegen-12", "evals/a/index.html"))


def test_a_list_that_another_key_signed_speaks_for_no_file(tmp_path, monkeypatch):
    Writer(tmp_path).write("a.html", b"ours")
    assert files_not_in_memo(tmp_path, ()) == ((), ("a.html",))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path.with_name("another")))
    assert files_not_in_memo(tmp_path, ()) == (("a.html",), ())
    monkeypatch.setenv("XDG_STATE_HOME", os.devnull)  # no key can be kept there
    Writer(tmp_path).write("b.html", b"ours")
    assert files_not_in_memo(tmp_path, ()) == (("a.html", "b.html"), ())


@pytest.mark.parametrize("line", [b"", b"\n", b"\nabc", b"\nx CNAME", b"\n\xff CNAME", b"\n" + b"0" * 32 + b" CNAME"])
def test_an_odd_list_speaks_for_no_file(tmp_path, line):
    (tmp_path / LIST).write_bytes(line)
    (tmp_path / "CNAME").write_text("example.org")
    assert files_not_in_memo(tmp_path, ()) == (("CNAME",), ())


def test_a_shortened_list_has_each_file_of_the_site_once_with_its_newest_content(tmp_path):
    Writer(tmp_path).write("a.html", b"of an earlier build")
    writer = Writer(tmp_path)
    for path in ("a.html", "b.html"):
        writer.write(path, b"new")
    length = shorten_list(tmp_path, lambda: writer.rows, None)
    assert length == (tmp_path / LIST).stat().st_size
    assert {path: len(signatures) for path, signatures in read_list(tmp_path).items()} == {"a.html": 1, "b.html": 1}
    assert files_not_in_memo(tmp_path, ())[1] == ("a.html", "b.html")


def test_removing_the_last_page_of_a_folder_removes_the_folder(tmp_path):
    writer = Writer(tmp_path)
    writer.write("evals/a/0001.html", b"1")
    writer.write("evals/b/0001.html", b"1")
    assert remove(tmp_path, {"evals/a/0001.html": 1, "evals/a/gone.html": 1}) == (1, ())
    assert [path.name for path in (tmp_path / "evals").iterdir()] == ["b"]


def test_a_file_that_was_added_or_removed_shows_in_the_times_of_its_folder(tmp_path):
    Writer(tmp_path).write("evals/a/0001.html", b"1")
    times = folder_times(tmp_path, ["gone"], ["evals/a/0001.html"])
    assert list(times) == ["", "evals", "evals/a"]
    assert same_times(tmp_path, times)
    os.utime(tmp_path / "evals", ns=(1, 1))
    assert not same_times(tmp_path, times)
    assert not same_times(tmp_path, {})


@in_table
def test_no_path_leads_out_of_the_folder_that_is_cleaned(tmp_path, path):
    out = tmp_path / "out"
    (out / ".git").mkdir(parents=True)
    (out / "link").symlink_to(tmp_path)
    for file in (tmp_path / "outside.txt", out / ".git" / "HEAD"):
        file.write_text("keep")
    before = sorted(str(one) for one in tmp_path.rglob("*"))
    removed, _ = remove(out, {path.replace("/outside", f"{tmp_path}/outside") if path[:1] == "/" else path: None})
    assert (removed, sorted(str(one) for one in tmp_path.rglob("*"))) == (0, before)


def test_a_file_that_somebody_changed_is_not_deleted(tmp_path):
    (tmp_path / "a.html").write_text("longer than it was")
    assert remove(tmp_path, {"a.html": 3}) == (0, ("a.html",))
    assert (tmp_path / "a.html").exists()


def test_no_link_is_followed_to_write(tmp_path):
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    put(elsewhere / "a.html", "theirs")
    (out / "evals").symlink_to(elsewhere)
    (out / "index.html").symlink_to(elsewhere / "a.html")
    writer = Writer(out)
    with pytest.raises(OutputFolderError, match="is a link or a file"):
        writer.write("evals/b.html", b"ours")
    writer.write("index.html", b"ours")
    assert (out / "index.html").is_symlink() is False
    assert [(path.name, path.read_text()) for path in elsewhere.iterdir()] == [("a.html", "theirs")]


def test_a_temporary_file_is_never_written_through(tmp_path):
    (tmp_path / "theirs").write_text("theirs")
    os.link(tmp_path / "theirs", tmp_path / f".~sitegen-{os.getpid()}")
    Writer(tmp_path).write("a.html", b"ours")
    assert (tmp_path / "theirs").read_text() == "theirs"


def test_a_file_of_others_is_not_replaced_by_a_page(tmp_path):
    (tmp_path / "index.html").write_text("theirs")
    put(tmp_path / "mine" / "page.html", "theirs")
    writer = Writer(tmp_path, foreign=("index.html", "mine/"))
    for path in ("index.html", "mine/page.html"):
        with pytest.raises(OutputFolderError, match="that no build wrote stands where a page goes"):
            writer.write(path, b"ours")
        assert (tmp_path / path).read_text() == "theirs"
        writer.write(path, b"theirs")
    writer.write("mine/other.html", b"ours")
    assert writer.files.written == 1


@pytest.mark.parametrize("text", ["", "{}", "[]", "no JSON", '{"foreign": 3}', "\0" * 9])
def test_a_marker_that_cannot_be_read_is_written_anew(tmp_path, text):
    (tmp_path / MARKER).write_text(text)
    with warnings.catch_warnings(record=True, action="always") as said, claimed(tmp_path, force=False):
        pass
    assert [str(one.message) for one in said] == (
        [f"{tmp_path / MARKER} could not be read, and was written anew."] if text else []
    )
    assert json.loads((tmp_path / MARKER).read_text()) == {"schema": "sitegen/site/2"}


@pytest.mark.parametrize("name", [MARKER, LIST])
@pytest.mark.parametrize("link", [os.symlink, os.link, lambda theirs, place: os.mkfifo(place)])
def test_a_marker_or_list_that_is_a_link_or_a_pipe_is_refused(tmp_path, name, link):
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "out").mkdir()
    link(tmp_path / "theirs", tmp_path / "out" / name)
    with (
        pytest.raises(OutputFolderError, match="A file that marks the folder as a site is a link, or no file"),
        claimed(tmp_path / "out", force=True),
    ):
        pass
    assert (tmp_path / "theirs").read_text() == "theirs"


def test_a_writer_without_a_folder_collects_what_the_folder_lacks_for_another_one_to_write(tmp_path):
    standing = [PageRow(owner="x", path=path, key=content_digest(b"same"), size=4) for path in ("a.html", "b.html")]
    far = Writer(None, "x", standing)
    for path, content in (("a.html", b"same"), ("b.html", b"new"), ("c/d.html", b"new")):
        far.write(path, content)
    assert far.files.written == 0
    assert [path for path, _ in far.files.contents] == ["b.html", "c/d.html"]
    near = Writer(tmp_path, foreign={"c/"})
    (tmp_path / "b.html").write_bytes(b"new")
    assert near.write_contents(far.files) == 1
    assert (tmp_path / "c/d.html").read_bytes() == b"new"
    (tmp_path / "c/d.html").write_bytes(b"of nobody")
    with pytest.raises(OutputFolderError, match="A file that no build wrote"):
        near.write_contents(far.files)
