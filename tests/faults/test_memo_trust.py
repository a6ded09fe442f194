"""A memo is believed only if this user made it here, and one that cannot be read costs time and nothing else."""

import os
import sqlite3
import subprocess
import warnings
from pathlib import Path

import pytest

from sitegen.engine.memo import Memo
from sitegen.engine.pool import pool_for
from sitegen.errors import Notice, OutputFolderError, SitegenError, WorkerError
from sitegen.history.cache_folder import cache_folder
from tests.gitrepo import GitRepo
from tests.names import names_project, output
from tests.sites import build_site, content, differences, differs_from_cold, run


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepo:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return names_project(tmp_path / "project", 3)


def test_a_memo_of_this_user_is_used_again(small):
    assert run("build", small.path).returncode == 0
    again = run("build", small.path)
    assert (again.returncode, again.stderr, " 0 files written" in again.stdout) == (0, "", True)


def test_a_memo_that_git_tracks_is_not_used(small, tmp_path):
    run("build", small.path)
    subprocess.run(["git", "add", "--force", ".sitegen"], cwd=small.path, check=True)
    before = content(small.path / ".sitegen")
    done = run("build", small.path, "-o", tmp_path / "public")
    assert (done.returncode, done.stderr.count(".sitegen is tracked by git, and is not used")) == (0, 1)
    assert content(small.path / ".sitegen") == before
    assert run("build", small.path, "-o", tmp_path / "public").stdout.count(" 0 files written") == 1


def test_a_memo_that_came_with_the_project_is_put_aside(small, monkeypatch, tmp_path):
    run("build", small.path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another user"))
    done = run("build", small.path, "-o", tmp_path / "public")
    assert (done.returncode, done.stderr.count("was not made by this user")) == (0, 1)
    assert run("build", small.path, "-o", tmp_path / "public").stderr == ""


def test_no_mark_that_another_one_wrote_is_read_to_its_end(small, tmp_path):
    """One may have eight terabytes, of which the disk holds a page."""
    run("build", small.path)
    mark = small.path / ".sitegen" / "mark"
    lines = b"\n" * 1_000_000
    for odd, size in ((b"", None), (b"\xff\xfe", None), (lines, None), (lines, 2**43)):
        mark.write_bytes(odd)
        if size:
            try:
                os.truncate(mark, size)
            except OSError:
                pytest.skip("the file system holds no such file")
        done = run("build", small.path, "-o", tmp_path / "public")
        assert (done.returncode, done.stderr.count("was not made by this user")) == (0, 1), (odd[:3], size)
        assert mark.stat().st_size < 200
        assert run("build", small.path, "-o", tmp_path / "public").stderr == ""


def test_a_folder_of_the_memo_that_is_a_link_is_not_used(small, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (small.path / ".sitegen").symlink_to(elsewhere)
    with pytest.warns(Notice, match="is a link, and is not used"):
        folder = cache_folder(None, small.path)
    assert folder.is_relative_to(tmp_path / "home")
    assert list(elsewhere.iterdir()) == []


def test_a_folder_that_holds_other_files_is_no_folder_of_the_memo(small, tmp_path):
    with pytest.raises(OutputFolderError, match=r"CLAUDE\.md"):
        build_site(small.path, tmp_path / "public", cache=small.path)
    assert not (small.path / ".gitignore").exists()


@pytest.mark.parametrize("name", ["mark", "memo.sqlite3", "memo.sqlite3-wal", "memo.sqlite3-shm", "lock"])
@pytest.mark.parametrize("link", [os.symlink, os.link, lambda theirs, place: os.mkfifo(place)])
def test_no_file_of_the_memo_may_be_a_link_or_a_pipe(small, tmp_path, name, link):
    folder, theirs = tmp_path / "memo", tmp_path / "theirs"
    folder.mkdir()
    theirs.write_text("theirs")
    link(theirs, folder / name)
    with pytest.raises(OutputFolderError, match="A file of the memo is a link, or no file"):
        build_site(small.path, tmp_path / "public", cache=folder)
    assert theirs.read_text() == "theirs"


def test_a_memo_that_another_build_is_creating_is_no_file_of_others(small, tmp_path):
    (tmp_path / "memo").mkdir()
    (tmp_path / "memo" / "memo.sqlite3-journal").touch()
    build_site(small.path, tmp_path / "public", cache=tmp_path / "memo")
    assert (tmp_path / "public" / "index.html").exists()


def test_a_memo_that_cannot_be_read_is_thrown_away_and_the_build_is_begun_again(small, tmp_path):
    out, file = tmp_path / "public", tmp_path / "public-memo" / "memo.sqlite3"
    build_site(small.path, out)
    whole = file.read_bytes()
    damages = [b"", *(whole[: len(whole) * part // 5] for part in range(1, 5))]
    step = max(1, len(whole) // 12 // 4096) * 4096
    damages += [whole[:at] + bytes(4096) + whole[at + 4096 :] for at in range(0, len(whole), step)]
    for number, damage in enumerate(damages):
        for name in ("memo.sqlite3-wal", "memo.sqlite3-shm"):
            file.with_name(name).unlink(missing_ok=True)
        file.write_bytes(damage)
        with warnings.catch_warnings(action="ignore", category=Notice):
            build_site(small.path, out, jobs=1, force=number % 2 == 0)
    assert differs_from_cold(out, small.path) == []


def test_a_value_that_cannot_be_decoded_is_met_with_a_new_memo(small, tmp_path):
    out, memo = tmp_path / "public", tmp_path / "public-memo" / "memo.sqlite3"
    build_site(small.path, out)
    small.commit({"evals/names/extracted.json": output(2)})
    with sqlite3.connect(memo) as database:
        assert database.execute("UPDATE parts SET body = CAST('{' AS BLOB) WHERE kind = 'eval record'").rowcount
    database.close()
    with pytest.warns(Notice, match="could not be read: it is made again"):
        build_site(small.path, out, jobs=1)
    assert differs_from_cold(out, small.path) == []


def test_a_full_disk_is_said_and_throws_nothing_away(tmp_path):
    with Memo.open(tmp_path) as memo:
        memo.put("walk", "tail", b"kept")
    with pytest.raises(SitegenError, match="disk is full"), Memo.open(tmp_path) as memo:
        memo._db.execute("PRAGMA max_page_count = 12")
        with memo.transaction():
            memo.put("walk", "head", bytes(1_000_000))
    with Memo.open(tmp_path) as memo:
        assert memo.get("walk", "tail") == b"kept"


def test_waiting_for_another_program_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("sitegen.engine.memo.PATIENCE", 0.1)
    monkeypatch.setattr("sitegen.engine.memo._WAIT", 100)
    Memo.open(tmp_path).close()
    other = sqlite3.connect(tmp_path / "memo.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.warns(Notice, match="in use by another process"), pytest.raises(SitegenError, match="is held by"):  # noqa: SIM117
        with Memo.open(tmp_path) as memo, memo.transaction():
            pass
    other.close()


def end(code: int) -> None:
    import os

    os._exit(code)


def test_a_worker_that_was_killed_is_said(small):
    with pytest.raises(WorkerError, match="for want of memory"), pool_for(1000, jobs=2) as pool:
        list(pool.map(end, [9]))


ODD_VALUES = [
    "UPDATE parts SET body = CAST(substr(body, 1, length(body) - 9) || 'not zlib.' AS BLOB) WHERE kind = 'eval record'",
    *("UPDATE parts SET key = CAST(key AS BLOB)", "UPDATE sites SET site = CAST(site AS BLOB)"),
    *("UPDATE parts SET kind = x'ff' WHERE kind = (SELECT min(kind) FROM parts)", "UPDATE parts SET body = 'text'"),
    *("UPDATE parts SET body = 1.5 WHERE rowid % 2", "UPDATE pages SET path = x'ff' WHERE path = 'index.html'"),
    *("UPDATE pages SET owner = x'ff'", "UPDATE pages SET size = 'many'", "UPDATE pages SET content = x'ff'"),
    *("UPDATE folders SET path = x'ff' WHERE path = ''", "UPDATE folders SET mtime = 'long ago'"),
    *("UPDATE folders SET site = x'ff' WHERE path = ''", "UPDATE sites SET body = 'text'"),
]


@pytest.mark.filterwarnings("ignore::sitegen.errors.Notice")
def test_a_value_of_another_type_is_damage_and_costs_one_build(small, tmp_path):
    out = tmp_path / "public"
    build_site(small.path, out)
    build_site(small.path, tmp_path / "cold 0")
    shas = [small.git("rev-parse", "HEAD"), small.commit({"evals/names/extracted.json": output(2)})]
    build_site(small.path, tmp_path / "cold 1")
    for number, statement in enumerate(ODD_VALUES, 1):
        with sqlite3.connect(tmp_path / "public-memo/memo.sqlite3") as memo:
            memo.execute("PRAGMA ignore_check_constraints = ON")
            assert memo.execute(statement).rowcount
        memo.close()
        small.git("update-ref", "refs/heads/main", shas[number % 2])
        build_site(small.path, out)
        assert differences(out, tmp_path / f"cold {number % 2}") == [], statement


def test_a_time_that_sqlite_cannot_store_is_a_time_like_any_other(small, tmp_path):
    out, seconds = tmp_path / "public", -9_300_000_000
    build_site(small.path, out)
    try:
        os.utime(out / "evals", (seconds, seconds))
    except OverflowError:
        pytest.skip("the file system has no such time")
    assert build_site(small.path, out).written >= 0
    small.commit({"evals/names/extracted.json": output(2)})
    os.utime(out / "evals", (seconds, seconds))
    build_site(small.path, out)
    assert run("build", small.path, "-o", out, "--cache", tmp_path / "public-memo").returncode == 0


def test_folders_whose_names_are_not_utf_8_have_projects_sites_and_memos(tmp_path):
    odd = tmp_path / os.fsdecode(b"\xff")
    repo = names_project(odd / "project", 3)
    for command in (
        ["build"],
        ["build"],
        ["build", "-o", os.fsdecode(b"out\xff")],
        ["build", "--worktree", "-o", "site"],
        ["check", "--base", "HEAD", "--markdown", os.fsdecode(b"gate\xff.md")],
        ["verify-all"],
        ["verify-one", "names", "--output-dir", os.fsdecode(b"saved\xff")],
        ["history", "names"],
        ["export", "--format", "csv", "-o", os.fsdecode(b"tables\xff")],
        ["init"],
    ):
        ended = run(*command, cwd=repo.path)
        assert ended.returncode == 0, (command, ended.stderr)
        assert "Traceback" not in ended.stderr
