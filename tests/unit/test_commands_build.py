"""``sitegen build`` as a user runs it: what it says, where it writes, and how it ends."""

import errno
import json
import os
import re
import sys
import webbrowser
from pathlib import Path
from typing import Any

import pytest

from sitegen.commands.build import command
from sitegen.errors import file_system_error
from sitegen.project import Options
from tests.gitrepo import GitRepo, put
from tests.names import names_project, output
from tests.refusals import refusals
from tests.rows import in_table
from tests.sites import content, on_a_terminal, run

STAGES = (
    "Reading history ...\nScoring (2) ...\n{overview} can be opened; the other pages follow\nWriting evals (1) ...\n"
    "Writing instruction edits (2) ...\nWriting commits ...\nWriting older reports (1) ...\nWriting the site ...\n"
)


@pytest.fixture
def project(tmp_path: Path) -> GitRepo:
    return names_project(tmp_path / "project", 3, 1)


def series(out: Path, eval_id: str = "names") -> list[dict[str, Any]]:
    points: list[dict[str, Any]] = json.loads((out / "data" / "evals" / f"{eval_id}.json").read_bytes())["points"]
    return points


def files(out: Path) -> int:
    return len(content(out))


def refusal(*arguments: str | Path, cwd: Path | None = None) -> str:
    """What a build that ends with 2 says, without the plain lines of its stages."""
    done = run("build", *arguments, cwd=cwd)
    assert (done.returncode, done.stdout) == (2, "")
    return re.sub(r"^(?:[A-Z].*\.\.\.\n)*", "", done.stderr)


LAST = (
    "problems.html: none\nnames, iteration-002: F1 1.000, +0.250, cannot tell\nOpen this page, or run sitegen watch:\n"
)


def test_a_build_says_its_stages_and_ends_with_counts_and_where_to_look(project):
    """Without a terminal, in plain lines on standard error; where there is nothing to do, in none."""
    out = project.path / "site"
    for stages, counts in ((STAGES, "{} files written"), ("", "0 files written, {} kept")):
        done = run("build", cwd=project.path)
        said = f"3 commits, 1 eval, 2 iterations; {counts.format(files(out))}; {LAST}{out}/index.html\n"
        assert (done.returncode, done.stdout) == (0, said)
        assert done.stderr == stages.format(overview=out / "index.html")


def test_the_site_goes_to_the_top_and_a_relative_out_is_relative_to_where_the_command_runs(project, tmp_path):
    below = run("build", cwd=project.path / "evals" / "names")
    assert below.stdout.endswith(f"\n{project.path}/site/index.html\n")
    assert run("build", "project", "--out", "here", cwd=tmp_path).stdout.endswith(f"\n{tmp_path}/here/index.html\n")


def test_what_is_gone_from_history_is_counted_as_removed(project):
    run("build", project.path)
    project.git("update-ref", "refs/heads/main", "HEAD^")
    done = run("build", project.path)
    assert re.fullmatch(
        r"2 commits, 1 eval, 1 iteration; \d+ files written, \d+ kept, 4 removed; problems.html: none",
        done.stdout.splitlines()[0],
    )


def test_out_and_cache_name_other_folders_and_nothing_is_written_elsewhere(project, tmp_path):
    before = content(project.path)
    done = run("build", project.path, "-o", tmp_path / "a" / "site", "--cache", tmp_path / "b" / "memo")
    assert done.stdout.endswith(f"\n{tmp_path}/a/site/index.html\n")
    assert (tmp_path / "b" / "memo" / "memo.sqlite3").exists()
    assert content(project.path) == before


@pytest.mark.parametrize("name", ["other", "v1", "short"])
def test_rev_names_a_branch_a_tag_an_id_or_whatever_git_resolves(project, tmp_path, name):
    sha = project.git("rev-parse", "HEAD^")
    project.git("branch", "other", sha)
    project.git("-c", "user.name=Ann", "-c", "user.email=a@example.org", "tag", "-a", "-m", "First", "v1", sha)
    rev = sha[:8] if name == "short" else name
    done = run("build", project.path, "--rev", rev, "-o", tmp_path / "out")
    assert done.stdout.startswith("2 commits, 1 eval, 1 iteration; ")
    assert json.loads((tmp_path / "out" / "data" / "index.json").read_bytes())["head"] == sha


def test_a_folder_that_sitegen_did_not_make_is_refused_until_it_is_forced(project, tmp_path):
    out = tmp_path / "home"
    put(out / "letter.txt", "Dear")
    assert refusal(project.path, "-o", out) == (
        "sitegen: The output folder was not made by sitegen. It holds 1 file: letter.txt\n"
        f"  at: {out}\n"
        "  do: Choose another folder with -o; or --force, which keeps these files unless a page has their name.\n"
    )
    assert run("build", project.path, "-o", out, "--force").returncode == 0
    assert (out / "letter.txt").read_text() == "Dear"


def test_the_site_is_in_a_folder_that_web_frameworks_leave_free_and_that_git_ignores(project):
    put(project.path / "public" / "next.svg", "<svg/>")
    for _ in range(2):
        done = run("build", project.path)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, str(project.path / "site" / "index.html"))
    assert [path.name for path in (project.path / "public").iterdir()] == ["next.svg"]
    assert project.git("status", "--porcelain", "site") == ""


def test_a_site_that_an_earlier_version_left_in_public_is_named_once(project):
    assert run("build", project.path, "-o", project.path / "public").returncode == 0
    assert "The site is in site/ now. That in public/ is of an earlier build." in run("build", project.path).stderr
    assert "public/" not in run("build", project.path).stderr


@pytest.mark.parametrize("ignored", [None, "*.map\n"], ids=["deleted", "own"])
def test_a_site_is_committed_once_its_gitignore_is_deleted_or_the_projects_own(project, ignored):
    assert run("build", project.path, "-o", project.path / "docs").returncode == 0
    if ignored is None:
        (project.path / "docs" / ".gitignore").unlink()
    else:
        (project.path / "docs" / ".gitignore").write_text(ignored)
    assert run("build", project.path, "-o", project.path / "docs").returncode == 0
    project.git("add", "docs")
    assert "docs/index.html" in project.git("diff", "--cached", "--name-only").splitlines()


def test_a_folder_outside_of_the_project_is_the_users_to_ignore(project, tmp_path):
    assert run("build", project.path, "-o", tmp_path / "elsewhere").returncode == 0
    assert not (tmp_path / "elsewhere" / ".gitignore").exists()


@refusals(1)
def test_what_cannot_be_built_is_refused_with_what_to_do(project, tmp_path, arguments, printed):
    (tmp_path / "file").write_text("mine")
    GitRepo(tmp_path / "empty")
    GitRepo(tmp_path / "plain").commit({"a.txt": "a"})
    place, *options = arguments.split()
    found = refusal(tmp_path / place, *options, cwd=tmp_path)
    assert found == printed.replace("{}", str(tmp_path))


def test_a_misspelt_key_that_may_hide_values_names_its_file_its_line_and_the_nearest_key(project):
    (project.path / "sitegen.toml").write_text('title = "Names"\nredacted = ["a.b"]\n')
    assert refusal(project.path) == (
        "sitegen: The key 'redacted' is not known.\n  at: sitegen.toml:2\n  do: Did you mean 'redact'?\n"
    )


@pytest.mark.parametrize(
    ("error", "said", "do"),
    [
        (OSError(errno.ENOSPC, "No room", "a.html"), "No room.\n  at: a.html", "Make room on the disk, or name"),
        (PermissionError(errno.EACCES, "Denied", "site"), "Denied.\n  at: site", "Give the permission, or name"),
        (OSError("cannot read"), "cannot read.", "Name"),
    ],
)
def test_the_advice_suits_what_the_system_says(error, said, do):
    elsewhere = "another place to write to, with -o, --cache or the option that named this one."
    assert str(file_system_error(error)) == f"The system says: {said}\n  do: {do} {elsewhere}"


@pytest.fixture
def shallow(project: GitRepo, tmp_path: Path) -> Path:
    clone = tmp_path / "shallow"
    project.git("clone", "-q", "--depth", "1", f"file://{project.path}", str(clone))
    return clone


def test_a_shallow_clone_is_refused_with_both_ways_out(shallow):
    assert refusal(shallow) == (
        "sitegen: The history of this clone is cut off: its oldest commit would seem to have made everything.\n"
        f"  at: {shallow}\n"
        "  do: Run git fetch --unshallow; in a GitHub workflow, give actions/checkout the input fetch-depth: 0. "
        "Or add --allow-shallow.\n"
    )


def test_a_shallow_clone_that_is_allowed_has_a_banner_on_every_page_and_a_problem(shallow):
    done = run("build", shallow, "--allow-shallow")
    assert done.returncode == 0
    assert done.stdout.startswith("1 commit, 1 eval, 1 iteration; ")
    assert "; problems.html: 1 warning\n" in done.stdout
    pages = sorted((shallow / "site").rglob("*.html"))
    assert [page for page in pages if "The history is cut off." not in page.read_text()] == []
    assert "git fetch --unshallow" in (shallow / "site" / "problems.html").read_text()


@in_table
def test_every_command_that_reads_history_can_be_allowed_a_shallow_clone(shallow, command):
    for allowed, code in (((), 2), (("--allow-shallow",), 0)):
        assert run(*command.split(), "--repo", shallow, *allowed, cwd=shallow).returncode == code


def test_a_clone_that_was_completed_loses_its_banner(shallow, project):
    run("build", shallow, "--allow-shallow")
    project.git("-C", str(shallow), "fetch", "-q", "--unshallow")
    done = run("build", shallow)
    assert done.stdout.startswith("3 commits, 1 eval, 2 iterations; ")
    pages = sorted((shallow / "site").rglob("*.html"))
    assert [page for page in pages if "The history is cut off." in page.read_text()] == []


def test_the_work_tree_is_one_last_point_that_the_next_plain_build_removes(project):
    out = project.path / "site"
    run("build", project.path)
    plain = content(out)
    (project.path / "evals" / "names" / "extracted.json").write_text(output(7))
    done = run("build", project.path, "--worktree")
    assert done.stdout.startswith("3 commits, 1 eval, 3 iterations; ")
    assert [point["then"]["errors"] for point in series(out)][-1]["wrong_value"] == 1
    run("build", project.path)
    assert content(out) == plain
    project.checkout()
    assert run("build", project.path, "--worktree").stdout.startswith("3 commits, 1 eval, 2 iterations; ")


def test_a_project_of_all_kinds_of_places_gives_the_same_series(project, tmp_path):
    """From a bare clone, a linked work tree whose HEAD is detached, and a folder below the top."""
    run("build", project.path)
    wanted = series(project.path / "site")
    bare, linked = tmp_path / "bare.git", tmp_path / "linked"
    project.git("clone", "-q", "--bare", str(project.path), str(bare))
    project.git("worktree", "add", "-q", "--detach", str(linked), "main")
    places = {"bare": bare, "linked": linked, "below": project.path / "evals" / "names"}
    for name, place in places.items():
        done = run("build", "-o", tmp_path / "sites" / name, "--cache", tmp_path / "memos" / name, cwd=place)
        assert (done.returncode, series(tmp_path / "sites" / name)) == (0, wanted)


def test_on_a_terminal_a_bar_is_drawn_and_the_last_lines_are_the_same(project):
    printed, shown = on_a_terminal([sys.executable, "-m", "sitegen", "build", str(project.path)])
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert "Reading history ..." in text
    assert re.search(r"Scoring +\[#+\] +100%", text)
    assert re.search(r"Writing instruction edits +\[#+\] +100%", text)
    out = project.path / "site"
    assert printed == (f"3 commits, 1 eval, 2 iterations; {files(out)} files written; {LAST}{out}/index.html\n")


def test_a_dask_scheduler_is_named_by_the_command_line_or_the_environment_and_by_no_project(
    project, tmp_path, monkeypatch
):
    (tmp_path / "modules").mkdir()
    client = 'def Client(address, **options):\n    raise SystemExit(f"connecting to {address}")\n'
    (tmp_path / "modules" / "distributed.py").write_text(client)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"), prepend=os.pathsep)
    done = run("build", project.path, "--dask", "tcp://user.example:1")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "connecting to tcp://user.example:1")
    monkeypatch.setenv("SITEGEN_DASK", "tcp://user.example:2")
    assert run("build", project.path).stderr.splitlines()[-1] == "connecting to tcp://user.example:2"
    monkeypatch.delenv("SITEGEN_DASK")
    (project.path / "sitegen.toml").write_text('[engine]\ndask = "tcp://stranger.example:3"\n')
    done = run("build", project.path, "--out", tmp_path / "site")
    assert (done.returncode, "connecting" in done.stderr) == (0, False)
    problems = (tmp_path / "site" / "problems.html").read_text(encoding="utf-8")
    assert "A file cannot set engine.dask: whoever names a dask scheduler runs code on your machine." in problems
    assert "toml:2" in problems


def test_a_manifest_that_is_not_committed_is_named_with_what_to_do(repo, tmp_path):
    repo.check_in({"prompts/a.md": "Answer.\n"})
    told = "evals/manifest.yaml is not committed and was not read: commit it, or run sitegen build --worktree."
    assert told not in run("build", repo.path, "--out", tmp_path / "out").stdout
    put(repo.path / "evals/manifest.yaml", "evals: {tone: {kind: judged, outputs: results.jsonl}}\n")
    assert told in run("build", repo.path, "--out", tmp_path / "out").stdout
    note = re.sub(r"<[^>]+>", "", (tmp_path / "out/problems.html").read_text())
    assert "If evals/manifest.yaml is written but not committed, commit it, or run sitegen build --worktree." in note
    assert told not in run("build", repo.path, "--out", tmp_path / "out", "--worktree").stdout


@pytest.mark.parametrize("public", [False, True])
def test_open_shows_the_overview_once_as_soon_as_it_is_written_but_a_public_site_after_its_check(
    project, monkeypatch, capsys, public
):
    out = project.path / "site"
    opened: list[tuple[str, bool]] = []

    def browser(address: str) -> None:
        opened.append((address, any(b"not written yet" in body for body in content(out).values())))

    monkeypatch.setattr(webbrowser, "open", browser)
    command(Options(repo=project.path, jobs=1), public=public, open_browser=True)
    assert opened == [((out / "index.html").as_uri(), not public)]
    message = f"{out}/index.html can be opened; the other pages follow"
    assert message in capsys.readouterr().err.splitlines()
