"""A repository may have committed a memo folder: nothing in it is run."""

from __future__ import annotations

import marshal
import os
import pickle
import subprocess
import sys
from pathlib import Path

import jinja2
import pytest
from jinja2.bccache import bc_magic

from sitegen.engine.jinja_setup import bytecode_folder
from sitegen.engine.template_files import find_templates
from tests.gitrepo import GitRepo
from tests.sites import build_site


def _poison(folder: Path, ran: Path) -> None:
    """Compiled templates, under the names under which each template is looked for, that write a file when they run."""
    folder.mkdir(parents=True, exist_ok=True)
    code = compile(f"open({str(ran)!r}, 'w').close()", "poison", "exec")
    cache = jinja2.FileSystemBytecodeCache(str(folder))
    for template in find_templates().rglob("*.html"):
        name = template.relative_to(find_templates()).as_posix()
        key = cache.get_cache_key(name, str(template))
        checksum = cache.get_source_checksum(template.read_text(encoding="utf-8"))
        body = bc_magic + pickle.dumps(checksum, 2) + marshal.dumps(code)
        (folder / f"{key}.cache").write_bytes(body)


@pytest.fixture
def project(repo: GitRepo) -> Path:
    repo.check_in({"evals/a/ground_truth.json": '{"x": 1}', "evals/a/extracted.json": '{"x": 1}'})
    return repo.path


def test_compiled_templates_of_a_project_are_not_run(project, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    ran = tmp_path / "ran"
    _poison(project / ".sitegen" / "templates", ran)
    build_site(project, tmp_path / "public", cache=project / ".sitegen")
    assert not ran.exists()


def test_those_of_the_user_are_which_shows_that_the_poison_works(project, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    folder, ran = tmp_path / "home" / "sitegen" / "templates", tmp_path / "ran"
    assert bytecode_folder() == folder
    _poison(folder, ran)
    with pytest.raises(KeyError):
        build_site(project, tmp_path / "public", jobs=1, base_url="https://example.org")  # renders for no other test
    assert ran.exists()


def test_a_home_that_cannot_be_written_is_done_without(project, tmp_path, monkeypatch):
    (tmp_path / "home").write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert build_site(project, tmp_path / "public").written > 0


def test_python_m_imports_nothing_from_the_current_folder(project, tmp_path):
    for module in ("msgspec", "git", "pydantic", "json", "sqlite3", "typer", "yaml", "markdown_it", "jinja2"):
        (project / f"{module}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nraise SystemExit(7)\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    for arguments in (["build", "-o", str(tmp_path / "public")], ["--version"], ["verify-all"], ["history", "a"]):
        command = [sys.executable, "-m", "sitegen", *arguments]
        ended = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
    assert not (tmp_path / "ran").exists()
