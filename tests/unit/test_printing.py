"""What the command line prints: nothing that a project holds is obeyed by a terminal or by a workflow."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sitegen.commands.printing import visible_line, without_escapes
from sitegen.errors import ConfigurationError
from tests.gitrepo import GitRepo
from tests.rows import in_table
from tests.sites import run

COMMANDS = Path(__file__).parents[2] / "sitegen" / "commands"
PRINTING = {
    "printing.py",  # the one place
    "main.py",  # the version, before anything is imported
}
PROGRESS = ("...", "can be opened; the other pages follow")
"""Ends of the lines that say how far a build is."""
OBEYED = re.compile(r"^\s*::[a-z-]+.*::|##\[[a-z-]+.*\]", re.MULTILINE)
"""A line that GitHub's runner takes for a workflow command."""


@in_table
def test_a_line_is_printed_as_one_that_can_be_seen_and_is_not_obeyed(text, shown):
    assert visible_line(text) == shown
    assert not OBEYED.search(visible_line(text))


@in_table
def test_on_a_terminal_markdown_has_no_escapes_or_folds_and_tables_keep_their_columns(markdown, shown):
    assert without_escapes(markdown) == shown


def test_an_error_has_three_lines_whatever_names_it_holds():
    error = ConfigurationError("a\n::error::b\x1b[2J", where="x\ny", fix="c\u2028d")
    assert str(error) == "a\\n::error::b\\x1b[2J\n  at: x\\ny\n  do: c\\u2028d"


def test_only_what_needs_it_prints_without_making_the_text_harmless():
    printing = {
        file.name
        for file in COMMANDS.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    assert printing == PRINTING


EVIL = ("a\n::error::b", "::error::c", "##[error]d")
MANIFEST = 'evals: {"a\\n::error::b": text}\n'


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    repo = GitRepo(tmp_path_factory.mktemp("printing") / "project")
    for total in "12":
        files = {}
        for name in EVIL:
            files[f"evals/{name}/ground_truth.csv"] = f"id,{name.splitlines()[-1]}\n1,1\n"
            files[f"evals/{name}/extracted.json"] = f'[{{"id": "1", "{name.splitlines()[-1]}": {total}}}]'
        repo.commit(files, message=f"::error::{total}")
    repo.checkout()
    return repo


@pytest.mark.parametrize(
    "words",
    [
        ("build",),
        ("verify-all",),
        *(("verify-one", "--debug", "--", name) for name in EVIL),
        *(("history", "--", name) for name in EVIL),
        *(("blame", "--", name, "*") for name in EVIL),
        ("verify-one", "--", "::error::no such eval"),
        ("compare", "HEAD~1", "HEAD"),
        ("check", "--base", "HEAD~1", "--exact"),
    ],
)
def test_no_command_prints_a_workflow_command_of_the_project(project, words):
    done = run(*words, cwd=project.path)
    assert done.stdout + done.stderr
    assert OBEYED.findall(done.stdout + done.stderr) == []


@pytest.mark.parametrize(
    ("words", "code", "named"),
    [
        (("build",), 0, False),  # the entry is lost, and the problems page names it
        (("verify-all",), 2, False),
        (("check", "--base", "HEAD"), 2, True),
    ],
)
def test_a_key_of_the_manifest_with_a_line_break_makes_no_line(repo, words, code, named):
    repo.check_in({"evals/manifest.yaml": MANIFEST, "evals/a/ground_truth.json": "{}"})
    done = run(*words, cwd=repo.path)
    assert (done.returncode, "a\\n::error::b" in done.stderr) == (code, named)
    assert OBEYED.findall(done.stdout + done.stderr) == []


@pytest.mark.parametrize("command", [["build", "-o", "site"], ["history", "a", "--json"]])
def test_a_reader_that_closes_the_pipe_ends_no_command(repo, command):
    repo.commit({"evals/a/ground_truth.json": '{"x": 1}', "evals/a/extracted.json": '{"x": 1}'})
    code = "import sys; sys.stdin.readline(); from sitegen.commands.main import run; run()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *command],
        cwd=repo.path,
        env={**os.environ, "PYTHONPATH": str(COMMANDS.parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    process.stdout.close()  # before the command begins
    _, errors = process.communicate("\n")
    assert (process.returncode, [line for line in errors.splitlines() if not line.endswith(PROGRESS)]) == (0, [])
