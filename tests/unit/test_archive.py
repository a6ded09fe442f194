"""An archive: full reports for which the site has no room, one link away from their short pages, and one link back."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from sitegen.render.archive_pages import ArchivePages
from tests.gitrepo import GitRepo
from tests.sites import build_site, content, differences

POINTS = 6
SITE = "https://example.org/evals"
STORE = "https://store.example.org/old"


def output(number: int) -> str:
    return json.dumps({f"field{each}": f"value {each if each > number else -each}" for each in range(40)})


@pytest.fixture
def project(tmp_path: Path) -> GitRepo:
    """Six points; by the configuration, the reports of the three oldest are short."""
    repo = GitRepo(tmp_path / "project")
    repo.commit({"CLAUDE.md": "# Rules\n", "evals/a/ground_truth.json": output(-1)})
    for number in range(POINTS):
        repo.commit({"evals/a/extracted.json": output(number * 4)}, message=f"Try {number}")
    repo.checkout()
    return repo


@pytest.fixture
def whole(project: GitRepo, tmp_path: Path) -> Path:
    """The site with full reports. All further builds have less room: for three reports."""
    build_site(project.path, tmp_path / "whole")
    size = sum(map(len, content(tmp_path / "whole").values()))
    limits(project, site_bytes=size - 35_000)
    return tmp_path / "whole"


def limits(project: GitRepo, **numbers: int) -> None:
    lines = "".join(f"{name} = {value}\n" for name, value in numbers.items())
    (project.path / "sitegen.toml").write_text(f"[limits]\n{lines}")


def build_archived(project: GitRepo, out: Path, **options: Any) -> Any:
    options.setdefault("archive", str(out.with_name("archive")))
    return build_site(project.path, out, **options)


def archived(folder: Path) -> list[str]:
    return [path for path in content(folder) if path.startswith("evals/")]


def reports(*names: str) -> list[str]:
    return [f"evals/a/{name}.html" for name in names]


OLDEST = reports("0001", "0002", "0003")


def dead_links(folder: Path) -> list[str]:
    """Links of all pages that lead to no file, without quotation marks too."""
    return [
        f"{page.name}: {link}"
        for page in sorted(folder.rglob("*.html"))
        for link in re.findall(r'\s(?:href|src)="?([^"#>\s\\]+)', page.read_text())
        if page.name != "404.html" and not (page.parent / unescape(link)).is_file()
    ]


def watch_archive(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collects the paths of the files that are made for the archive."""
    write, paths = ArchivePages.write, []

    def watched(self: Any, owner: str, path: str, *arguments: Any, **more: Any) -> None:
        paths.append(path)
        write(self, owner, path, *arguments, **more)

    monkeypatch.setattr(ArchivePages, "write", watched)
    return paths


def test_each_short_report_links_to_its_full_one_which_differs_from_that_of_a_larger_site_only_in_links(
    project, whole, tmp_path
):
    build_archived(project, tmp_path / "out")
    assert archived(tmp_path / "archive") == OLDEST
    assert dead_links(tmp_path / "out") == dead_links(tmp_path / "archive") == []
    for path in OLDEST:
        assert f'It is in <a href="../../../archive/{path}">the archive</a>.' in (tmp_path / "out" / path).read_text()
        page = (tmp_path / "archive" / path).read_text()
        page = page.replace("../../../out/evals/a/", "").replace("../../../out/", "../../")
        before = re.sub(r"<button[^>]* data-search.*?</button>", "", (whole / path).read_text(), flags=re.S)
        assert page == before
    assets = [path for path in content(whole) if path.startswith("assets/")]
    assert {path: content(tmp_path / "archive").get(path) for path in assets} == {
        path: content(whole)[path] for path in assets
    }


def test_a_site_without_an_archive_is_the_same_but_for_the_links(project, whole, tmp_path):
    build_archived(project, tmp_path / "out")
    build_site(project.path, tmp_path / "without")
    link = re.compile(rb' It is in <a href="../../../archive/[^"]*">the archive</a>.')
    assert {path: link.sub(b"", page) for path, page in content(tmp_path / "out").items()} == content(
        tmp_path / "without"
    )


def test_an_archive_that_is_named_later_gets_the_reports_that_are_short_already(project, whole, tmp_path):
    build_site(project.path, tmp_path / "out")
    build_archived(project, tmp_path / "out")
    assert archived(tmp_path / "archive") == OLDEST
    build_archived(project, tmp_path / "cold", archive=str(tmp_path / "other"))
    assert archived(tmp_path / "other") == OLDEST


def test_what_the_archive_has_is_not_made_again(project, whole, tmp_path, monkeypatch):
    build_archived(project, tmp_path / "out")
    drawn = watch_archive(monkeypatch)
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "archive").rglob("*")}
    project.commit({"evals/a/extracted.json": output(30)}, message="Once more")
    build_archived(project, tmp_path / "out")
    assert (
        archived(tmp_path / "archive") == [*OLDEST, *sorted(drawn)] == reports("0001", "0002", "0003", "0004", "0005")
    )
    times.pop(tmp_path / "archive/evals/a")
    assert times == {path: path.stat().st_mtime_ns for path in times}
    build_archived(project, tmp_path / "cold")
    assert differences(tmp_path / "out", tmp_path / "cold") == []


def test_an_archive_outlives_the_site(project, whole, tmp_path, monkeypatch):
    build_archived(project, tmp_path / "out")
    before = content(tmp_path / "archive")
    (tmp_path / "out").rename(tmp_path / "gone")
    drawn = watch_archive(monkeypatch)
    build_archived(project, tmp_path / "out")
    assert (drawn, content(tmp_path / "archive")) == ([], before)
    assert differences(tmp_path / "out", tmp_path / "gone") == []


def test_an_archive_that_was_lost_is_written_again(project, whole, tmp_path):
    build_archived(project, tmp_path / "out")
    (tmp_path / "archive").rename(tmp_path / "gone")
    project.commit({"evals/b/ground_truth.json": "{}"})
    build_archived(project, tmp_path / "out")
    assert differences(tmp_path / "archive", tmp_path / "gone") == []
    (tmp_path / "archive" / OLDEST[0]).unlink()
    build_archived(project, tmp_path / "out", verify=True)
    assert differences(tmp_path / "archive", tmp_path / "gone") == []


def test_after_a_build_that_was_killed_the_list_of_the_archive_is_not_believed(project, whole, tmp_path, monkeypatch):
    build_archived(project, tmp_path / "out")
    before = content(tmp_path / "archive")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("sitegen.stages.timeline.read_timeline", _interrupt)
        project.commit({"notes.md": "more"})
        build_archived(project, tmp_path / "out")
    (tmp_path / "archive" / OLDEST[0]).write_text("of the killed build")
    build_archived(project, tmp_path / "out")
    assert content(tmp_path / "archive") == before


def _interrupt(*arguments: object, **more: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_report_can_be_in_the_archive_and_several_processes_write_the_same(project, tmp_path, jobs):
    limits(project, site_bytes=1000)
    build_archived(project, tmp_path / "out", jobs=jobs)
    assert archived(tmp_path / "archive") == reports("0001", "0002", "0003", "0004", "0005", "0006")
    build_archived(project, tmp_path / "out", jobs=3 - jobs, archive=str(tmp_path / "other"))
    assert differences(tmp_path / "archive", tmp_path / "other") == []


def test_reports_beyond_the_number_of_kept_ones_are_archived_too(project, tmp_path):
    limits(project, reports_kept=2)
    build_archived(project, tmp_path / "out")
    assert archived(tmp_path / "archive") == reports("0001", "0002", "0003", "0004")
    limits(project, reports_kept=1)
    build_archived(project, tmp_path / "out")
    assert archived(tmp_path / "archive") == reports("0001", "0002", "0003", "0004", "0005")
    assert dead_links(tmp_path / "out") == dead_links(tmp_path / "archive") == []
