"""No command writes through a link that is a part of the project, whatever place it writes to."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sitegen.data_files.project_files import write_inside, write_named
from sitegen.questions import exporting
from sitegen.questions.export_tables import TABLES, Batch
from tests.faults.test_hostile_projects import BASE
from tests.gitrepo import GitRepo, Link
from tests.rows import in_table
from tests.sites import run

RESPONSES = {
    "evals/asked/test_cases.json": json.dumps([{"id": "a", "input": "1", "expected": "one"}]),
    "evals/asked/responses-v1.jsonl": '{"case_id": "a", "output": "one"}\n',
    "evals/asked/responses-v2.jsonl": '{"case_id": "a", "output": "two"}\n',
}
LOG = '{"run_id": "r", "chunk_id": "c", "paragraphs": []}\n'
COMMANDS: dict[str, list[str]] = {
    "export, no option": ["export", "--format", "csv"],
    "export to a file": ["export", "--format", "sqlite", "-o", "file/export.sqlite"],
    "export of a database": ["export", "--format", "sqlite", "-o", "export/export.sqlite"],
    "check in Markdown": ["check", "--base", "HEAD", "--markdown", "target.txt"],
    "check in JUnit": ["check", "--base", "HEAD", "--junit", "target.txt"],
    "check of a report": ["check", "--from", "report.json", "--markdown", "target.txt"],
    "verify-one into a folder": ["verify-one", "names", "--output-dir", "export/x"],
    "verify-one into a file": ["verify-one", "names", "--output", "export/results.json"],
    "verify-one to a link": ["verify-one", "names", "--output", "target.txt"],
    "compare": ["compare", "--eval", "asked", "--out", "export"],
    "extract": ["extract", "log.ndjson", "-o", "target.txt"],
    "demo": ["demo", "export/demo"],
    "a link before dots": ["verify-one", "names", "--output", "export/../target.json"],
    "build": ["build", "-o", "export"],
    "build before dots": ["build", "-o", "export/../site"],
}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside" / "folder"
    folder.mkdir(parents=True)
    (folder / "target.txt").write_text("theirs")
    return folder


@pytest.fixture
def project(repo: GitRepo, outside: Path) -> Path:
    links = {"export": Link(str(outside)), "file": Link(str(outside)), "target.txt": Link(str(outside / "target.txt"))}
    repo.check_in({**BASE, **RESPONSES, **links, "log.ndjson": LOG, ".gitignore": "report.json\n"})
    return repo.path


def below(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@in_table
def test_nothing_is_written_into_a_bare_repository(project: Path, arguments: list[str]) -> None:
    bare = project.parent / "bare.git"
    GitRepo(project).git("clone", "-q", "--bare", ".", str(bare))
    before = below(bare)
    ended = run(*arguments, cwd=bare)
    assert (ended.returncode, "lies in a folder of git's own." in ended.stderr) == (2, True), ended.stderr
    assert {name: content for name, content in below(bare).items() if ".sitegen" not in name} == before


@pytest.mark.parametrize("name", COMMANDS)
def test_a_link_of_the_project_is_not_written_through(project: Path, outside: Path, name: str) -> None:
    if "report.json" in COMMANDS[name]:
        (project / "report.json").write_text(run("check", "--base", "HEAD", "--json", cwd=project).stdout)
    before = below(outside.parent)
    ended = run(*COMMANDS[name], cwd=project)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert "is a link, or lies behind one, that is a part of the project." in ended.stderr
    assert "Traceback" not in ended.stderr
    assert below(outside.parent) == before


def test_the_preview_of_a_report_is_not_written_through_a_link(project: Path, outside: Path) -> None:
    assert run("verify-all", cwd=project).returncode == 0
    (project / ".sitegen").mkdir(exist_ok=True)
    (project / ".sitegen/preview").symlink_to(outside)
    ended = run("verify-one", "names", "--open", cwd=project)
    assert ended.returncode == 2
    assert "is a link, or lies behind one, that is a part of the project." in ended.stderr
    assert below(outside) == {"target.txt": b"theirs"}


def rows(name: str = "about") -> Iterable[Batch]:
    yield "about", iter([("commit", "a" * 40)])


@pytest.mark.parametrize("format", ["sqlite", "csv"])
def test_a_temporary_file_is_new_and_not_one_that_the_project_prepared(tmp_path, outside, monkeypatch, format):
    taken = iter(["ab" * 8, "cd" * 8] * 40)
    monkeypatch.setattr(exporting, "token_hex", lambda length: next(taken))
    place = tmp_path / "project" / exporting.PLACES[format]
    names = [f"{table.name}.csv" for table in TABLES] if format == "csv" else [place.name]
    folder = place if format == "csv" else place.parent
    folder.mkdir(parents=True)
    for name in names:
        for token in ("ab" * 8, "cd" * 8):
            (folder / f".{name}.{token}").symlink_to(outside / "target.txt")
    with pytest.raises(FileExistsError):
        exporting.write_tables(format, place, rows(), tmp_path / "project")
    assert below(outside) == {"target.txt": b"theirs"}


def test_links_of_the_user_are_followed_and_pipes_are_written_to(tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    project.mkdir()
    elsewhere.mkdir()
    (tmp_path / "link").symlink_to(elsewhere)
    write_named(tmp_path / "link" / "deep" / "a.txt", b"1", project)
    write_named(project / "a.txt", b"2", project)
    assert below(elsewhere) == {"deep/a.txt": b"1"}
    reader, writer = os.pipe()
    write_named(Path(f"/dev/fd/{writer}"), b"3", project)
    assert os.read(reader, 9) == b"3"
    os.close(reader)
    os.close(writer)
    with pytest.raises(IsADirectoryError):
        write_named(project, b"4", project)


def test_a_project_in_memory_is_no_device() -> None:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with TemporaryDirectory(dir=memory) as project:
        for content in (b"first", b"new"):
            write_named(Path(project) / "gate.md", content, Path(project))
        assert below(Path(project)) == {"gate.md": b"new"}


def test_a_second_name_of_a_file_outside_keeps_its_content(tmp_path: Path, outside: Path) -> None:
    project = tmp_path / "unpacked"
    project.mkdir()
    os.link(outside / "target.txt", project / "gate.md")
    write_named(project / "gate.md", b"new", project)
    assert (project / "gate.md").read_bytes() == b"new"
    assert below(outside) == {"target.txt": b"theirs"}


def test_a_pipe_in_the_project_that_nobody_reads_is_not_waited_for(project: Path) -> None:
    os.mkfifo(project / "gate.md")
    done = run("check", "--base", "HEAD", "--markdown", "gate.md", cwd=project)
    assert (done.returncode, "This is a pipe that nobody reads.\n  at: gate.md" in done.stderr) == (2, True)


@in_table
def test_a_link_to_itself_is_an_error_without_a_traceback(project: Path, command: list[str]) -> None:
    (project / "circle").symlink_to("circle")
    done = run(*command, cwd=project)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def test_an_error_names_the_file_and_not_the_temporary_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "gate.md").mkdir()
    with pytest.raises(IsADirectoryError) as refused:
        write_inside(tmp_path, "gate.md", b"text")
    assert (refused.value.filename, refused.value.filename2) == (str(tmp_path / "gate.md"), None)
