"""An archive: full reports for which the site has no room, one link away from their short pages, and one link back."""

import json
import re
import sys
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from sitegen.analysis.memo import Memo
from sitegen.errors import ArchiveError, ConfigurationError, Notice, OutputFolderError
from sitegen.render import archive
from sitegen.render.archive import MARKER
from sitegen.render.archive_pages import ArchivePages, linked_to_site
from sitegen.render.output_folder import LIST
from tests.gitrepo import GitRepo
from tests.pictures import png
from tests.sites import build_site, content, differences, problems_text, run

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
    size = sum(map(len, content(tmp_path / "whole").values())) + (tmp_path / "whole" / LIST).stat().st_size
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


def listed(site: Path, path: str) -> str:
    """The row to which a short page leads."""
    address = re.search(r'url=([^#]*)#([^"]*)', (site / path).read_text())
    assert address
    page = ((site / path).parent / address[1]).read_text()
    return page.split(f"<tr id={address[2]}>")[1].split("\n")[0]


def test_each_short_report_links_to_its_full_one_which_differs_from_that_of_a_larger_site_only_in_links(
    project, whole, tmp_path
):
    build_archived(project, tmp_path / "out")
    assert archived(tmp_path / "archive") == OLDEST
    assert dead_links(tmp_path / "out") == dead_links(tmp_path / "archive") == []
    for path in OLDEST:
        assert f'<th><a href="../../../../archive/{path}">iteration-' in listed(tmp_path / "out", path)
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
    link = re.compile(
        rb' The full reports are in the archive, to which the iterations link\.|(?<=<th>)<a href="../../../../archive/'
        rb'[^"]*">|(?<=\d)</a>(?=<td>)'
    )
    hint = b" sitegen build --archive has another place for full reports."
    with_archive, without = content(tmp_path / "out"), content(tmp_path / "without")
    assert [path for path, page in without.items() if hint in page] == ["problems.html"]
    assert {path: link.sub(b"", page) if "/short/" in path else page for path, page in with_archive.items()} == {
        path: page.replace(hint, b"") for path, page in without.items()
    }


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
    assert archived(tmp_path / "archive") == [*OLDEST, *sorted(drawn)] == reports("0001", "0002", "0003", "0004")
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
    with Memo.open(tmp_path / "out-memo") as memo:  # by the number of reports, not by the size of the site
        assert [row.path for row in memo.pages(str(tmp_path / "out")) if row.full] == []
    limits(project, reports_kept=1)
    build_archived(project, tmp_path / "out")
    assert archived(tmp_path / "archive") == reports("0001", "0002", "0003", "0004", "0005")
    assert dead_links(tmp_path / "out") == dead_links(tmp_path / "archive") == []


@pytest.fixture
def memory() -> Any:
    """The file system in memory of fsspec, empty."""
    from fsspec.implementations.memory import MemoryFileSystem

    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]
    return MemoryFileSystem()


def in_memory(memory: Any) -> dict[str, bytes]:
    return {path.removeprefix("/old/"): memory.cat(path) for path in memory.find("/old")}


PUBLIC = {"archive": "memory://old", "archive_url": STORE, "base_url": SITE}


def test_a_store_gets_the_files_of_a_folder_and_links_by_public_addresses(project, whole, tmp_path, memory):
    build_archived(project, tmp_path / "out", **PUBLIC)
    build_archived(project, tmp_path / "near", archive_url=STORE, base_url=SITE)
    assert in_memory(memory) == {**content(tmp_path / "archive"), MARKER: (tmp_path / "archive" / MARKER).read_bytes()}
    assert differences(tmp_path / "out", tmp_path / "near") == []
    for path in OLDEST:
        assert f'<th><a href="{STORE}/{path}">iteration-' in listed(tmp_path / "out", path)
        links = re.findall(r'\s(?:href|src)="?([^"#>\s\\]+)', in_memory(memory)[path].decode())
        there = {link.removeprefix(f"{SITE}/") for link in links if link.startswith(f"{SITE}/")}
        assert (len(there) > 10, [link for link in there if not (tmp_path / "out" / link).is_file()]) == (True, [])
        here = {link for link in links if not link.startswith(SITE)}
        assert {link for link in here if f"evals/a/{link}" not in in_memory(memory)} == {
            f"../../assets/{name}" for name in ("icon.svg", "theme.js", "app.css", "app.js")
        }
    before = in_memory(memory)
    assert build_archived(project, tmp_path / "out", **PUBLIC, verify=True).archived == len(before) - 1
    assert in_memory(memory) == before


WRONG = [
    ({"archive": "memory://old"}, ConfigurationError, "Without a public address, only a folder beside the output"),
    ({"archive": "deeper/archive"}, ConfigurationError, "Without a public address, only a folder beside the output"),
    ({"archive": "{out}"}, ConfigurationError, "Without a public address, only a folder beside the output"),
    ({**PUBLIC, "archive": "{out}/old"}, ConfigurationError, "The archive lies in the output folder, or holds it."),
    ({**PUBLIC, "archive": "{tmp}"}, ConfigurationError, "The archive lies in the output folder, or holds it."),
    ({**PUBLIC, "archive": "{project}/.git/old"}, OutputFolderError, "The archive lies in a folder of git's own."),
    ({"archive": "{project}"}, OutputFolderError, "The archive is the project itself, or holds it."),
    (
        {**PUBLIC, "archive_url": "ftp://a/b"},
        ConfigurationError,
        "The public address 'ftp://a/b' of the archive is not an address of a site.",
    ),
    ({**PUBLIC, "base_url": ""}, ConfigurationError, "Pages in an archive with a public address link to the site,"),
    ({**PUBLIC, "archive": "nonsense://old"}, ArchiveError, "fsspec cannot open the archive: Protocol not known: nons"),
    ({**PUBLIC, "archive": "dropbox://old"}, ConfigurationError, "fsspec lacks a package for the archive: "),
    ({"archive": "{tmp}/full"}, ArchiveError, "The archive holds files and was not made by sitegen."),
    ({**PUBLIC, "archive": "memory://full"}, ArchiveError, "The archive holds files and was not made by sitegen."),
]


@pytest.mark.parametrize(("options", "kind", "message"), WRONG)
def test_an_archive_that_cannot_be_one_ends_the_build_before_it_writes_anything(
    project, tmp_path, memory, options, kind, message
):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/notes.txt").write_text("mine")
    memory.pipe("/full/notes.txt", b"mine")
    before = content(tmp_path)
    places = {"out": tmp_path / "out", "tmp": tmp_path, "project": project.path}
    options = {name: value.format(**places) for name, value in options.items()}
    with pytest.raises(kind, match=f"^{re.escape(message)}") as error:
        build_site(project.path, tmp_path / "out", **options)
    assert error.value.fix
    after = {path: text for path, text in content(tmp_path).items() if "memo" not in path}
    assert after == before


def test_without_fsspec_an_address_is_an_error_that_says_what_to_install_and_a_folder_works(
    project, whole, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    build_archived(project, tmp_path / "out")
    with pytest.raises(ConfigurationError, match="fsspec is not installed") as error:
        build_archived(project, tmp_path / "out", **{**PUBLIC, "archive": "s3://ann:secret@bucket/old"})
    assert error.value.where == "s3://bucket/old"
    assert (error.value.fix or "").startswith("pip install 'sitegen-evals[archive]'")


def test_an_archive_that_fails_leaves_a_whole_site_and_a_problem_and_the_next_build_tries_again(
    project, whole, tmp_path, memory, monkeypatch
):
    pipe, tries = type(memory).pipe, []

    def fail(self: Any, contents: dict[str, bytes]) -> None:
        if any("evals/a" in path for path in contents):
            tries.append(len(contents))
            raise PermissionError("s3://ann:hunter2@host denies it")
        pipe(self, contents)

    monkeypatch.setattr(type(memory), "pipe", fail)
    with pytest.warns(Notice, match="The archive cannot be written: PermissionError: s3://host denies"):
        site = build_archived(project, tmp_path / "out", **PUBLIC)
    assert (site.failed, site.errors, len(tries)) == (1, 1, 1)
    assert "Full reports could not be written to the archive" in problems_text(tmp_path / "out")
    assert b"hunter2" not in b"".join(content(tmp_path / "out").values())
    monkeypatch.undo()
    assert build_archived(project, tmp_path / "out", **PUBLIC).failed == 0
    assert [path for path in in_memory(memory) if path.startswith("evals")] == OLDEST
    build_archived(project, tmp_path / "cold", **PUBLIC)
    assert differences(tmp_path / "out", tmp_path / "cold") == []


@pytest.mark.parametrize("scheme", ["", "file://", "local://"])
def test_a_link_of_the_project_never_chooses_the_folder_of_an_archive(project, tmp_path, scheme):
    (tmp_path / "elsewhere").mkdir()
    (project.path / "archive").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputFolderError, match="^The archive is a link, or lies behind one, that is a part of the"):
        build_site(project.path, tmp_path / "out", **{**PUBLIC, "archive": f"{scheme}{project.path}/archive"})
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_no_link_below_an_archive_is_followed(project, whole, tmp_path):
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / MARKER).write_bytes(archive._MARK)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "archive/evals").symlink_to(tmp_path / "elsewhere")
    with pytest.warns(Notice, match="A folder of the site is a link"):
        assert build_archived(project, tmp_path / "out").failed == 1
    assert list((tmp_path / "elsewhere").iterdir()) == []


PAGE = "evals/a/0001.html"
LINKS = {
    '<a href="index.html">': '<a href="TO/evals/a/index.html">',
    "<a href=fields/b.html#x>": "<a href=TO/evals/a/fields/b.html#x>",
    "<a class=x\nhref=0002.html>": "<a class=x\nhref=TO/evals/a/0002.html>",
    '<a title="see href=x.html" href="../../methods.html#a">': '<a title="see href=x.html" href="TO/methods.html#a">',
    '<a href=\\"fields/c.html\\">': '<a href=\\"TO/evals/a/fields/c.html\\">',
    '<a href="../../">': '<a href="TO/">',
    '<a href="fields/?q=1">': '<a href="TO/evals/a/fields/?q=1">',
}
STAYING = (
    '<a href="0001-tree.html#n3"><a href=0001.json><section data-rows="0001.js"><a href="#h-d">',
    '<img src="source/0123.png"><script src="../../assets/app.js"></script><link href="../../assets/app.css">',
    '<a href="https://example.org/x.html"><a href=mailto:a@b.org><a href="/absolute.html"><a href="//host/x">',
    "&lt;a href=&#34;index.html&#34;&gt; href=index.html <p title='x' data-href=index.html>",
)


@pytest.mark.parametrize(("way", "expected"), [(f"{SITE}/", SITE), ("../out/", "../../../out")])
def test_links_lead_to_the_site_except_those_to_files_that_are_beside_the_page(way, expected):
    for before, after in LINKS.items():
        assert linked_to_site(before.encode(), PAGE, way).decode() == after.replace("TO", expected)
    for text in STAYING:
        assert linked_to_site(text.encode(), PAGE, way).decode() == text


def test_everything_beside_a_report_is_in_the_archive_with_it(tmp_path):
    """Trees, rows that are loaded later, data, and the pictures of sources."""
    repo = GitRepo(tmp_path / "project")
    repo.commit(
        {
            "CLAUDE.md": "# Rules\n",
            "evals/manifest.yaml": 'evals:\n  a: {source: "{page}.png"}\n',
            "evals/a/1.png": png(10, 20, 0),
            "evals/a/ground_truth.json": json.dumps({f"f{number}": {"value": "x"} for number in range(70)}),
        }
    )
    for wrong in ("y", "z"):
        values = {f"f{number}": {"value": wrong, "page": 1} for number in range(70)}
        repo.commit({"evals/a/extracted.json": json.dumps(values)})
    repo.checkout()
    build_site(repo.path, tmp_path / "whole")
    limits(repo, reports_kept=1)
    build_archived(repo, tmp_path / "out")
    everything = [path for path in content(tmp_path / "whole") if re.search(r"/0001[-.]|/source/", path)]
    assert archived(tmp_path / "archive") == everything
    assert {path.rpartition(".")[2] for path in everything} == {"html", "js", "json", "png"}
    assert dead_links(tmp_path / "archive") == []
    rows = (tmp_path / "archive/evals/a/0001.js").read_text()
    assert rows.replace("../../../out/evals/a/", "") == (tmp_path / "whole/evals/a/0001.js").read_text() != rows


def test_the_command_line_and_the_environment_name_an_archive_and_no_project_does(
    project, whole, tmp_path, monkeypatch
):
    done = run("build", project.path, "-o", tmp_path / "out", "--archive", tmp_path / "archive")
    assert "; 3 old pages made short to fit; 7 files written to the archive\n" in done.stdout
    monkeypatch.setenv("SITEGEN_ARCHIVE", str(tmp_path / "other"))
    run("build", project.path, "-o", tmp_path / "out")
    assert differences(tmp_path / "archive", tmp_path / "other") == []
    monkeypatch.delenv("SITEGEN_ARCHIVE")
    (project.path / "sitegen.toml").write_text('archive = "/home/ann"\n')
    refused = run("build", project.path)
    assert (refused.returncode, refused.stderr.removeprefix("Reading history ...\n")) == (
        2,
        "sitegen: A file cannot set archive: reports are sent there, and whoever names it chooses what is written to.\n"
        "  at: sitegen.toml:1\n"
        "  do: Remove it; sitegen build --archive ... or the environment variable SITEGEN_ARCHIVE names one.\n",
    )


TOKEN = "gh" + "p_" + "x9Q2" * 9  # in two parts, or whoever looks for secrets in this repository would find it


def test_no_report_with_a_secret_gets_into_an_archive_and_the_site_is_deleted(project, tmp_path):
    project.commit({"evals/a/extracted.json": json.dumps({"field1": TOKEN})})
    project.commit({"evals/a/extracted.json": output(1)})
    limits(project, reports_kept=1)
    arguments = ("build", project.path, "-o", tmp_path / "out", "--archive", tmp_path / "archive")
    assert run(*arguments).returncode == 0
    assert TOKEN.encode() in content(tmp_path / "archive")["evals/a/0007.html"]
    searched = (*arguments[:-1], tmp_path / "searched", "--public")
    done = run(*searched)
    assert (done.returncode, content(tmp_path / "out")) == (1, {})
    assert re.search(r"  at: evals/a/0007.html:\d+ \(GitHub Token\)\n", done.stderr)
    assert TOKEN.encode() not in b"".join(content(tmp_path / "searched").values())
    (project.path / "sitegen.toml").write_text(f'[limits]\nreports_kept = 1\n[public]\nallow = ["{TOKEN}"]\n')
    assert run(*searched).returncode == 0
    assert TOKEN.encode() in content(tmp_path / "searched")["evals/a/0007.html"]
    limits(project, reports_kept=1)
    assert run(*searched).returncode == 1  # what was allowed before is searched again


def test_no_report_gets_into_an_archive_if_a_glob_hides_nothing(project, tmp_path):
    (project.path / "sitegen.toml").write_text('redact = ["whom"]\n[limits]\nsite_bytes = 1000\n')
    done = run("build", project.path, "-o", tmp_path / "out", "--archive", tmp_path / "archive", "--public")
    assert (done.returncode, "Under redact, 'whom' fits no field" in done.stderr) == (1, True)
    assert (content(tmp_path / "out"), archived(tmp_path / "archive")) == ({}, [])


def test_a_public_address_without_an_archive_is_an_error(project, tmp_path):
    with pytest.raises(ConfigurationError, match="The public address of an archive is named, but no archive"):
        build_site(project.path, tmp_path / "public", archive_url=STORE)
    assert not (tmp_path / "public").exists()
