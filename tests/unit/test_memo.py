"""The memo remembers what was committed, forgets what was not, and survives damage and company."""

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import sitegen
from sitegen.engine.cached_kinds import EVAL_RECORDS
from sitegen.engine.memo import CachedRow, Memo, PageRow
from sitegen.errors import MemoUnreadableError, Notice


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "memo"


def test_values_come_back_by_key_and_unknown_keys_are_left_out(folder):
    with Memo.open(folder) as memo:
        with memo.transaction():
            memo.put_rows(CachedRow("scorecard", str(number), b"card %d" % number) for number in range(1200))
        wanted = [str(number) for number in range(1100, 1300)]
        known = [("scorecard", str(number), b"card %d" % number) for number in range(1100, 1200)]
        assert sorted(memo.rows("scorecard", wanted)) == known


def test_what_a_transaction_did_not_finish_never_happened(folder):
    with Memo.open(folder) as memo:
        with memo.transaction():
            memo.put("eval", "a", b"before")
        with pytest.raises(KeyboardInterrupt), memo.transaction():
            memo.put("eval", "a", b"after")
            memo.put("eval", "b", b"new")
            raise KeyboardInterrupt
        assert memo.all("eval") == (b"before",)


def test_what_was_saved_on_the_way_outlasts_the_end_of_its_transaction(folder):
    with Memo.open(folder) as memo:
        with pytest.raises(KeyboardInterrupt), memo.transaction():
            memo.put("eval", "a", b"saved")
            memo.save()
            memo.put("eval", "b", b"lost")
            raise KeyboardInterrupt
        with memo.tentative(lasting=["scorecard"]):
            memo.put("eval", "c", b"tried")
            memo.put("scorecard", "d", b"lasting")
            memo.save()
        assert (memo.all("eval"), memo.all("scorecard")) == ((b"saved",), (b"lasting",))


def test_parts_are_kept_by_kind_and_key_and_can_be_forgotten(folder):
    with Memo.open(folder) as memo:
        memo.put("eval", "b", b"2")
        memo.put("eval", "a", b"1")
        memo.put("walk", "a", b"3")
        memo.forget_others("eval", ["a"])
        assert (memo.keys("eval"), memo.get("eval", "b"), memo.get("walk", "a")) == (("a",), None, b"3")
        memo.forget("walk")
        assert (memo.keys("eval"), memo.keys("walk")) == (("a",), ())


def test_a_site_is_unknown_from_the_first_write_until_its_build_is_finished(folder):
    with Memo.open(folder) as memo:
        memo.keep_site("out", b"state")
        assert memo.site("out") == b"state"
        memo.mark_dirty("out")
        with Memo.open(folder) as second:
            assert second.site("out") is None


def test_pages_of_two_sites_and_two_owners_are_kept_apart(folder):
    with Memo.open(folder) as memo:
        memo.keep_pages("one", [PageRow("eval:a", "a.html", "1"), PageRow("", "index.html", "2")])
        memo.keep_pages("two", [PageRow("eval:a", "a.html", "3")])
        memo.forget_pages("one", [PageRow("", "index.html", "2")])
        assert tuple(memo.each_page("one")) == (PageRow("eval:a", "a.html", "1"),)
        assert tuple(memo.each_page("two", "eval:a")) == (PageRow("eval:a", "a.html", "3"),)
        assert memo.size_of_site("one")[0] == 1


def test_a_file_that_cannot_be_read_is_thrown_away_and_made_again(folder):
    folder.mkdir()
    (folder / "memo.sqlite3").write_bytes(b"this is no database, and long enough to be read as one" * 100)
    with pytest.warns(Notice, match="could not be read: it is made again"):
        memo = Memo.open(folder)
    with memo:
        memo.put("walk", "head", b"1")
        assert memo.get("walk", "head") == b"1"


def test_only_a_value_that_cannot_be_decoded_is_damage_and_no_other_wrong_value(folder):
    with pytest.raises(ValueError, match="a fault of sitegen"), Memo.open(folder) as memo:
        memo.put(EVAL_RECORDS.name, "bills", b"{")
        raise ValueError("a fault of sitegen")
    with pytest.warns(Notice, match="could not be read"), pytest.raises(MemoUnreadableError), Memo.open(folder) as memo:
        list(EVAL_RECORDS.all(memo))


def test_a_memo_of_other_code_is_emptied(folder):
    with Memo.open(folder) as memo:
        memo.put("walk", "head", b"1")
    with sqlite3.connect(folder / "memo.sqlite3") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with Memo.open(folder) as memo:
        assert memo.keys("walk") == ()


def test_only_other_code_has_another_memo(tmp_path):
    shutil.copytree(Path(sitegen.__file__).parent, tmp_path / "sitegen")

    def code() -> bytes:
        command = (sys.executable, "-c", "from sitegen.project import code_of_sitegen; print(code_of_sitegen())")
        return subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": "."}, check=True, stdout=subprocess.PIPE).stdout

    before, scorer = code(), tmp_path / "sitegen/scoring/fields.py"
    (tmp_path / "sitegen/notes.txt").write_text("no code")
    assert code() == before
    scorer.write_text(f"{scorer.read_text()}# other\n")
    assert code() != before


def test_the_folder_of_the_memo_ignores_itself(folder):
    Memo.open(folder).close()
    assert (folder / ".gitignore").read_text() == "*\n"
