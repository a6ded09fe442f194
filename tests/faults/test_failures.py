"""When sitegen itself fails at a part of the site: a problem, a page in its place, and everything else as ever."""

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import jinja2
import pytest

from sitegen.commands.build import command
from sitegen.engine.failures import FIX, attempt
from sitegen.errors import ConfigurationError, MissingObjectsError
from sitegen.history.repository_place import SAFE
from sitegen.model.problems import Problem
from sitegen.project import Options
from sitegen.questions.study import read_series
from tests.gitrepo import LFS_POINTER, GitRepo, put
from tests.names import MAPPING, TRUTH, output
from tests.rows import in_table
from tests.sites import broken_links, build_site, content, differences, differs_from_cold, failing, problems_text, run


@pytest.fixture
def project(repo: GitRepo) -> GitRepo:
    """Two evals, an instruction file with two edits."""
    repo.commit({"CLAUDE.md": "# Rules\n\nRead well.\n", "evals/field_mapping.yaml": MAPPING})
    repo.commit({f"evals/{name}/ground_truth.csv": TRUTH for name in ("good", "bad")})
    repo.commit({f"evals/{name}/extracted.json": output(3) for name in ("good", "bad")})
    repo.commit({"CLAUDE.md": "# Rules\n\nRead twice.\n", "evals/bad/extracted.json": output(1)})
    return repo


def is_bad(series: Any, *_: Any) -> bool:
    return bool(series.info.id == "bad")


def test_an_eval_that_fails_is_a_problem_and_everything_else_is_built(project, tmp_path, monkeypatch, capfd):
    failing(monkeypatch, "sitegen.engine.eval_job.weak_sections", ValueError("at 0x7f03 in /tmp/x"), is_bad)
    out = tmp_path / "public"
    site = build_site(project.path, out, jobs=1)
    assert (site.failed, site.errors, site.evals) == (1, 1, 1)
    what = (
        "sitegen failed while it made the pages of this eval: ValueError in sitegen.engine.eval_job._EvalJob._summary."
    )
    assert f"{what} bad the newest scores of 1 eval {FIX}" in problems_text(out)
    assert what in (out / "evals/bad/index.html").read_text()
    assert sorted(path.name for path in (out / "evals/bad").iterdir()) == ["index.html"]
    assert (out / "evals/good/index.html").is_file()
    assert broken_links(out) == []
    assert not [path for path, body in content(out).items() if b"0x7f03" in body]
    assert "ValueError: at 0x7f03 in /tmp/x" in capfd.readouterr().err


def test_an_eval_whose_pages_fail_keeps_its_numbers_and_each_of_its_pages_says_why(project, tmp_path, monkeypatch):
    failing(monkeypatch, "sitegen.engine.eval_pages.trend_page", ValueError(), is_bad)
    out = tmp_path / "public"
    site = build_site(project.path, out, jobs=1)
    assert (site.failed, site.errors, site.evals) == (1, 1, 2)
    what = "sitegen failed while it made the pages of this eval: ValueError in"
    assert what in problems_text(out)
    for page in ("index", "0001", "0002", "compare"):
        assert what in (out / f"evals/bad/{page}.html").read_text()
    assert broken_links(out) == []


@in_table
def test_a_failure_has_the_same_bytes_after_any_build_and_is_made_good_by_the_next(
    project, tmp_path, monkeypatch, before, part
):
    line = project.git("rev-list", "--reverse", "main").split()
    out, cold, fine = tmp_path / "public", tmp_path / "cold", tmp_path / "fine"
    if before:
        build_site(project.path, out, jobs=1, rev=line[before])
    with monkeypatch.context() as patched:
        failing(patched, f"sitegen.engine.{part}", ValueError(), is_bad)
        build_site(project.path, out, jobs=2, rev=line[-1])
        assert build_site(project.path, cold, jobs=1, rev=line[-1]).failed == 1
        assert differences(out, cold) == []
        assert build_site(project.path, out, jobs=1, rev=line[-1]).failed == 1
    assert build_site(project.path, out, jobs=1, rev=line[-1]).failed == 0
    build_site(project.path, fine, jobs=1, rev=line[-1])
    assert differences(out, fine) == []


@pytest.mark.parametrize("at_once", [1, 100])
def test_a_report_that_fails_is_a_problem_and_every_other_page_of_its_eval_is_built(
    project, tmp_path, monkeypatch, at_once
):
    monkeypatch.setattr("sitegen.engine.evals.AT_ONCE", at_once)
    for total in (2, 5):
        project.commit({"evals/bad/extracted.json": output(total)})
    with monkeypatch.context() as patched:
        failing(
            patched,
            "sitegen.engine.eval_pages.ReportView",
            ValueError(),
            lambda info, point, **_: info.id == "bad" and point.snapshot.iteration < 3,
        )
        out = tmp_path / "public"
        site = build_site(project.path, out, jobs=1)
    assert (site.failed, site.errors, site.evals) == (2, 1, 2)
    assert "sitegen failed while it made the report of this iteration: ValueError in" in problems_text(out)
    said = {name for name in ("0001", "0002", "0003", "0004", "index") if "sitegen failed" in page_of(out, name)}
    assert said == {"0001", "0002"}
    assert broken_links(out) == []
    assert build_site(project.path, out, jobs=1).failed == 0
    assert differs_from_cold(out, project.path) == []


def page_of(out: Path, name: str) -> str:
    return (out / f"evals/bad/{name}.html").read_text()


def test_a_failure_names_the_output_and_the_commit_that_it_came_up_at(project, tmp_path, monkeypatch):
    sha = project.git("rev-parse", "main")

    def is_newest(scorer: Any, inputs: Any) -> bool:
        return any(b'"total": 1}' in file.content for file in inputs.outputs)

    failing(monkeypatch, "sitegen.engine.scorecard_store.scored_with_own_metrics", ZeroDivisionError(), is_newest)
    build_site(project.path, tmp_path / "public", jobs=1)
    where = "sitegen.engine.scorecard_store.EvalScorecards._scored. bad evals/bad/extracted.json"
    said = f"the pages of this eval: ZeroDivisionError in {where}"
    assert f"{said} at {sha[:7]}" in problems_text(tmp_path / "public")


def test_an_instruction_file_that_fails_is_a_problem_and_everything_else_is_built(project, tmp_path, monkeypatch):
    out, fine = tmp_path / "public", tmp_path / "fine"
    with monkeypatch.context() as patched:
        failing(patched, "sitegen.engine.instructions.draw_edit", KeyError("secret"))
        assert build_site(project.path, out, jobs=1).failed == 1
    place = "sitegen.engine.instructions._InstructionWork.run"
    assert f"the pages of this instruction file: KeyError in {place}. CLAUDE.md" in problems_text(out)
    assert broken_links(out) == []
    assert (out / "evals/bad/index.html").is_file()
    build_site(project.path, out, jobs=1)
    build_site(project.path, fine, jobs=1)
    assert differences(out, fine) == []


def test_a_commit_or_a_page_that_fails_is_a_problem_and_everything_else_is_built(project, tmp_path, monkeypatch):
    sha = project.git("rev-parse", "main")
    out, fine = tmp_path / "public", tmp_path / "fine"
    with monkeypatch.context() as patched:
        commit = "sitegen.engine.commits._listed_page"
        failing(patched, commit, RecursionError(), lambda _, view, **__: view.commit.sha == sha)
        failing(patched, "sitegen.engine.site.regressions_page", TypeError())
        failing(patched, "sitegen.engine.site.summary_file", AssertionError())
        assert build_site(project.path, out, jobs=1).failed == 3
    text = problems_text(out)
    assert f"the page of this commit: RecursionError. at {sha[:7]}" in text
    assert "the page regressions.html: TypeError in sitegen.engine.site.SiteWriter.pages" in text
    what = "the files for machines and for search: AssertionError in sitegen.engine.site.SiteWriter.other_files"
    assert what in text
    assert (out / "evals/bad/index.html").is_file()
    build_site(project.path, out, jobs=1)
    build_site(project.path, fine, jobs=1)
    assert differences(out, fine) == []


def test_a_template_that_fails_is_named_with_its_line(tmp_path):
    put(tmp_path / "pages/note.html", "one\n{{ missing.name }}")
    template = jinja2.Environment(loader=jinja2.FileSystemLoader(tmp_path)).get_template("pages/note.html")
    problem = attempt("the page note.html", template.render)
    assert isinstance(problem, Problem)
    assert problem.message.endswith("UndefinedError in line 2 of pages/note.html.")


@pytest.mark.parametrize("error", [ConfigurationError("no"), MemoryError(), KeyboardInterrupt(), OSError(28, "full")])
def test_what_is_no_fault_of_a_part_ends_the_build(project, tmp_path, monkeypatch, error):
    failing(monkeypatch, "sitegen.engine.eval_pages.trend_page", error, is_bad)
    with pytest.raises(type(error)):
        build_site(project.path, tmp_path / "public", jobs=1)


def test_the_command_says_how_many_parts_failed_and_exits_with_3(project, tmp_path, monkeypatch, capsys):
    failing(monkeypatch, "sitegen.engine.eval_pages.trend_page", ValueError(), is_bad)
    with pytest.raises(SystemExit) as ended:
        command(Options(repo=project.path, out=tmp_path / "public", cache=tmp_path / "memo", jobs=1))
    assert ended.value.code == 3
    assert "; 1 part of the site could not be made\n" in capsys.readouterr().out


def clone_of(project: GitRepo, folder: Path, kind: str) -> Path:
    project.git("config", "uploadpack.allowFilter", "true")
    origin = f"file://{project.path}"
    subprocess.run(["git", "clone", "-q", "--no-checkout", f"--filter={kind}", origin, str(folder)], check=True)
    return folder


@pytest.mark.parametrize("older_git", [False, True])
def test_contents_that_a_partial_clone_lacks_are_problems_until_they_are_fetched(
    project, tmp_path, monkeypatch, older_git
):
    if older_git:
        monkeypatch.setattr("sitegen.history.repository_place.SAFE", SAFE | {"GIT_NO_LAZY_FETCH": "0"})
    clone, out = clone_of(project, tmp_path / "clone" / "project", "blob:none"), tmp_path / "public"
    objects = sorted(path.name for path in (clone / ".git/objects").rglob("*"))
    assert build_site(clone, out, jobs=1).failed == 4  # the page of the commit, too, which shows the diff
    assert problems_text(out).count(MissingObjectsError().message) == 3  # two of the four have one cause
    assert broken_links(out) == []
    assert sorted(path.name for path in (clone / ".git/objects").rglob("*")) == objects  # nothing was fetched
    subprocess.run(["git", "-C", str(clone), "fetch", "-q", "--refetch", "--no-filter"], check=True)
    assert build_site(clone, out, jobs=1).failed == 0
    assert differs_from_cold(out, clone) == []


def test_an_output_that_a_clone_lacks_is_unreadable_and_the_other_iterations_stand_until_it_is_fetched(
    project, tmp_path
):
    project.commit({"evals/bad/extracted.json": output(2)})
    lost = project.git("rev-parse", "HEAD~1:evals/bad/extracted.json").strip()
    sha = project.git("rev-parse", "HEAD~1").strip()
    out = tmp_path / "public"
    build_site(project.path, tmp_path / "fine", jobs=1)
    stored = project.path / ".git/objects" / lost[:2] / lost[2:]
    stored.rename(tmp_path / "stored")
    for _ in range(2):
        assert build_site(project.path, out, jobs=1).failed == 1
        assert broken_links(out) == []
        points = json.loads((out / "data/evals/bad.json").read_text())["points"]
        assert [point["status"] for point in points] == ["scored", "unreadable", "scored"]
        problem = problems_text(out)
        assert problem.count("missing from this clone") == 1
        assert "evals/bad/extracted.json" in problem
        assert sha[:7] in problem
        assert "git fetch --refetch --no-filter" in problem
    (tmp_path / "stored").rename(stored)
    assert build_site(project.path, out, jobs=1).failed == 0
    assert differences(out, tmp_path / "fine") == []


@in_table
def test_a_content_in_git_lfs_is_missing_until_it_is_fetched_whatever_file_it_is(project, tmp_path, path, text):
    stored = text.encode()
    name, out = hashlib.sha256(stored).hexdigest(), tmp_path / "public"
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{name}\nsize {len(stored)}\n"
    project.commit({path: pointer})
    for _ in range(2):
        site = build_site(project.path, out, jobs=1)
        assert (site.failed, site.not_fetched, site.errors) == (0, 1, 1)  # a problem of the project, not of sitegen
        assert broken_links(out) == []
        problem = problems_text(out)
        assert path in problem
        assert "Run git lfs fetch --all; then build again." in problem
        assert "Make the output again" not in problem
        assert not [page for page in out.rglob("*.html") if "git-lfs.github.com" in page.read_text()]
        options = Options(repo=project.path, cache=tmp_path / "memo")
        assert len(read_series(options, "bad").points) > 1
        assert build_site(project.path, tmp_path / "with the memo", jobs=1, cache=tmp_path / "memo").not_fetched == 1
    fetched = project.path / ".git/lfs/objects" / name[:2] / name[2:4] / name
    fetched.parent.mkdir(parents=True)
    fetched.write_bytes(stored + b" ")
    assert build_site(project.path, out, jobs=1).not_fetched == 1  # it is not the content that the pointer names
    fetched.write_bytes(stored)
    assert build_site(project.path, out, jobs=1).not_fetched == 0
    assert "Git LFS" not in problems_text(out)
    assert ("Give the total." in "".join(page.read_text() for page in out.rglob("*.html"))) == path.endswith(".md")
    assert differs_from_cold(out, project.path) == []


@pytest.mark.parametrize("path", ["sitegen.toml", "evals/manifest.yaml"])
@pytest.mark.parametrize("command", ["build", "build --worktree", "check --base HEAD~1", "verify-all", "history good"])
def test_a_configuration_in_git_lfs_is_never_read_as_text(project, path, command):
    project.check_in({path: LFS_POINTER})
    done = run(*command.split(), cwd=project.path)
    assert done.returncode == 2
    assert "a Git LFS pointer" in done.stderr
    assert f"Run git lfs pull --include {path}." in done.stderr


def test_a_clone_without_trees_has_no_history_to_walk_and_is_told_what_to_fetch(project, tmp_path):
    clone = clone_of(project, tmp_path / "clone", "tree:0")
    with pytest.raises(MissingObjectsError):
        build_site(clone, tmp_path / "public", jobs=1)
