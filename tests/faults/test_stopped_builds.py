"""What can be opened while a build goes on, and what a build leaves that was stopped on its way."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from sitegen.engine import commits, evals
from sitegen.engine.built_site import Progress
from sitegen.engine.output_folder import LIST, files_not_in_memo
from sitegen.errors import Notice, OutputFolderError
from sitegen.history import patches
from sitegen.pages import links
from sitegen.project import Options
from sitegen.update import build
from tests.gitrepo import GitRepo
from tests.names import MAPPING, TRUTH, output
from tests.rows import in_table
from tests.sites import broken_links, build_site, clone_bare, content, differences, differs_from_cold, failing

UNFINISHED = b"This page is not written yet"
SHORT = b"Its values were left out to keep the site small"
OUTPUTS = 4


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two evals with four outputs each, and instructions that are edited before each of them."""
    repo = GitRepo(tmp_path_factory.mktemp("stopped") / "project")
    repo.commit(
        {"evals/field_mapping.yaml": MAPPING, "evals/a/ground_truth.csv": TRUTH, "evals/b/ground_truth.csv": TRUTH}
    )
    for number in range(OUTPUTS):
        repo.commit({"CLAUDE.md": f"# Rules\n\nRead {number} times.\n"})
        repo.commit({f"evals/{name}/results/iteration-{number:03}/extracted.json": output(number) for name in "ab"})
    return repo.path


@pytest.fixture(scope="module")
def finished(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a build that nothing stopped."""
    out = tmp_path_factory.mktemp("finished") / "public"
    build_site(project, out, jobs=1)
    return out


def stopped(project: Path, out: Path, progress: Progress) -> None:
    options = Options(repo=project, out=out, cache=out.with_name("memo"), jobs=1)
    with pytest.raises(KeyboardInterrupt):
        build(options, progress)


def stop(*_: object) -> None:
    raise KeyboardInterrupt


def stop_at(stage: str) -> Progress:
    return Progress(stage=lambda name, steps: stop() if name.startswith(stage) else None)


def unfinished(folder: Path) -> set[str]:
    return {path for path, body in content(folder).items() if UNFINISHED in body}


def test_the_overview_is_written_first_and_every_link_of_it_leads_somewhere(project, finished, tmp_path):
    out = tmp_path / "public"
    pages: list[str] = []

    def first_page(page: str) -> None:
        pages.append(page)
        raise KeyboardInterrupt

    stopped(project, out, Progress(first_page=first_page))
    assert pages == [f"{out}/index.html"]
    assert broken_links(out) == []
    here, whole = content(out), content(finished)
    written = here.keys() - unfinished(out)
    assert {path: here[path] for path in written} == {path: whole[path] for path in written}
    assert {"index.html", "problems.html", "404.html", "assets/app.css", "search/list.js"} <= written
    assert unfinished(out) == {path for path in whole if path.endswith(".html")} - written
    assert files_not_in_memo(out, ())[0] == ()  # the next build may delete every file


@pytest.mark.parametrize("before", ["", "HEAD~2"], ids=["first", "next"])
@pytest.mark.parametrize("limit", ["", "[limits]\nreports_kept = 1\n"], ids=["full", "short"])
def test_whenever_a_build_is_stopped_every_link_of_its_pages_leads_somewhere(
    project, tmp_path, monkeypatch, limit, before
):
    """Looks at the folder before a file is put in its place.

    The first placeholders, of the pages to which all others lead, may lead to one that is written next.
    """
    repo, whole = GitRepo(tmp_path / "project"), tmp_path / "whole"
    repo.git("pull", "-q", str(project), "main")
    (repo.path / "sitegen.toml").write_text(limit)
    build_site(repo.path, whole, jobs=1)
    out, replace, looks = tmp_path / "public", os.replace, []
    if before:
        build_site(repo.path, out, jobs=1, rev=before)

    def look_and_replace(temporary: str, target: str) -> None:
        if Path(target).is_relative_to(out):
            first = set() if (out / links.report("a", "0001")).exists() else unfinished(out)
            broken = [link for link in broken_links(out) if link.partition(":")[0] not in first]
            looks.append((Path(target).relative_to(out).as_posix(), broken))
        replace(temporary, target)

    monkeypatch.setattr(os, "replace", look_and_replace)
    build_site(repo.path, out, jobs=1)
    assert [look for look in looks if look[1]] == []
    assert len(looks) > (20 if before else 50)
    assert any(SHORT in body for body in content(out).values()) == bool(limit)
    assert differences(out, whole) == []


@in_table
def test_the_build_after_a_stopped_one_leaves_the_bytes_of_one_go(project, finished, tmp_path, stage):
    out = tmp_path / "public"
    stopped(project, out, stop_at(stage))
    assert unfinished(out) != set()
    assert broken_links(out) == []
    build_site(project, out, jobs=1, cache=tmp_path / "memo")
    assert differences(out, finished) == []


def test_a_stopped_build_of_a_shorter_history_leaves_nothing_behind(project, finished, tmp_path):
    """The commits, edits and reports that the next build does not have lose their placeholders, too."""
    out, short = tmp_path / "public", tmp_path / "short"
    stopped(project, out, stop_at("Writing older reports"))
    build_site(project, out, jobs=1, cache=tmp_path / "memo", rev="HEAD~4")
    build_site(project, short, jobs=1, rev="HEAD~4")
    assert differences(out, short) == []


def places_in_list(out: Path) -> dict[str, int]:
    """When each file was written last, by path, as a place in the list of the folder."""
    listed = [line.partition(" ")[2] for line in (out / LIST).read_text().splitlines()]
    return {path: place for place, path in enumerate(listed)}


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_build_after_a_stopped_one_scores_nothing_again_and_writes_only_what_is_missing(
    project, finished, tmp_path, monkeypatch, jobs
):
    out = tmp_path / "public"
    stopped(project, out, stop_at("Writing older reports"))
    missing = {path for path, body in content(finished).items() if content(out).get(path) != body}
    failing(monkeypatch, "sitegen.engine.scorecard_store.scored_with_own_metrics", AssertionError())
    site = build_site(project, out, jobs=jobs, cache=tmp_path / "memo")
    assert (site.written, differences(out, finished)) == (len(missing), [])


def test_after_a_stopped_build_a_page_that_somebody_changed_is_theirs_and_one_that_is_gone_comes_back(
    project, finished, tmp_path
):
    out = tmp_path / "public"
    stopped(project, out, stop_at("Writing the site"))
    page = out / "evals/a/0001.html"
    page.write_bytes(page.read_bytes().replace(b"iteration", b"Iteration"))
    (out / "evals/b/0003.html").unlink()
    with pytest.raises(OutputFolderError, match=r"A file that no build wrote.*\n.*evals/a/0001\.html"):
        build_site(project, out, jobs=1, cache=tmp_path / "memo")
    with pytest.warns(Notice, match=r"was replaced by a page: 1 file: evals/a/0001\.html"):
        build_site(project, out, jobs=1, cache=tmp_path / "memo", force=True)
    assert differences(out, finished) == []


def test_what_a_stopped_build_saved_is_not_taken_for_the_end_of_a_build_of_another_folder(project, tmp_path):
    moving, out, memo = clone_bare(project, tmp_path / "project"), tmp_path / "public", tmp_path / "memo"
    newest = GitRepo(moving, bare=True).git("rev-parse", "main")
    GitRepo(moving, bare=True).git("update-ref", "refs/heads/main", f"{newest}~2")
    build_site(moving, out, jobs=1, cache=memo)
    with pytest.raises(KeyboardInterrupt):
        build(Options(repo=moving, out=tmp_path / "other", cache=memo, jobs=1), stop_at("Writing the site"))
    GitRepo(moving, bare=True).git("update-ref", "refs/heads/main", newest)
    build_site(moving, out, jobs=1, cache=memo)
    assert differs_from_cold(out, moving) == []


def test_the_overview_comes_first_then_newest_reports_edits_commits_and_older_reports(project, tmp_path):
    out = tmp_path / "public"
    stopped(project, out, stop_at("Writing the site"))
    last_place = places_in_list(out)
    newest = GitRepo(project).git("rev-parse", "HEAD", "HEAD~1").split()
    pages = ["index.html", "evals/a/0003.html", links.edit("CLAUDE.md", newest[1]), *map(links.commit, newest)]
    pages += [f"evals/a/000{number}.html" for number in (2, 1, 0)]
    assert sorted(pages, key=last_place.__getitem__) == pages


@pytest.mark.parametrize("kept", [patches.KEPT, 200, 0])
def test_edits_and_commits_are_written_from_the_newest_to_the_oldest(project, finished, tmp_path, monkeypatch, kept):
    """However many patches are kept between counting and drawing."""
    monkeypatch.setattr(patches, "KEPT", kept)
    monkeypatch.setattr(commits, "AT_ONCE", 2)
    out = tmp_path / "public"
    stopped(project, out, stop_at("Writing the site"))
    last_place = places_in_list(out)
    line = GitRepo(project).git("log", "--format=%H").split()
    for address in (partial(links.edit, "CLAUDE.md"), links.commit):
        pages = [path for path in map(address, line) if path in last_place]
        assert len(pages) >= OUTPUTS
        assert sorted(pages, key=last_place.__getitem__) == pages
    build_site(project, out, jobs=1, cache=tmp_path / "memo")
    assert differences(out, finished) == []


def test_reports_in_tasks_of_their_own_count_once(project, finished, tmp_path, monkeypatch):
    monkeypatch.setattr(evals, "AT_ONCE", 1)
    out = tmp_path / "public"
    assert build_site(project, out, jobs=1).written == len(content(finished))
    assert differences(out, finished) == []
