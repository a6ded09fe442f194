"""What commands import: each module takes time at the start of every build."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.gitrepo import GitRepo

RUN = """
import sys
before = set(sys.modules)
from sitegen.commands.main import run
sys.argv = ["sitegen", *sys.argv[1:]]
try:
    run()
finally:
    imported = sys.modules.keys() - before - sys.stdlib_module_names
    print(*sorted(name for name in imported if name.partition(".")[0] not in sys.stdlib_module_names))
"""

SLOW = {
    *("ast", "dataclasses", "decimal", "email", "fractions", "inspect", "logging", "multiprocessing", "pickle"),
    *("random", "shutil", "statistics", "uuid"),
}
"""Modules of Python that take long to import."""

OF_NEW_OUTPUTS = {"sitegen.analysis.noise.changes", "sitegen.stats.steps", "sitegen.stats.step_tests"}
"""Modules for numbers that only new outputs change."""


def imported_by(*arguments: str) -> tuple[list[str], set[str]]:
    """The modules of ours and of libraries that a command imports, and the slow ones of Python."""
    code = f"{RUN}    print(*sorted({SLOW} & sys.modules.keys() - before))"
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    ours, slow = done.stdout.removesuffix("\n").split("\n")[-2:]
    return ours.split(), set(slow.split())


def test_a_build_with_nothing_new_imports_no_library_and_no_stage(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit({"evals/names/ground_truth.csv": "id,name\na,Ann\n", "evals/names/extracted.json": '[{"id": "a"}]'})
    build = ("build", str(repo.path), "--out", str(tmp_path / "site"), "--cache", str(tmp_path / "memo"))
    first, _ = imported_by(*build)
    assert "msgspec" in first
    imported, slow = imported_by(*build)
    assert ({name.partition(".")[0] for name in imported}, slow) == ({"sitegen"}, set())
    assert len(imported) < len(first) / 3


@pytest.mark.parametrize("words", [("--help",), ("build", "--help")])
def test_the_help_imports_only_what_describes_the_commands(words: tuple[str, ...]) -> None:
    imported, _ = imported_by(*words)
    assert {name.split(".")[1] for name in imported if name.startswith("sitegen.")} <= {"commands", "errors", "text"}


def test_a_shorter_instruction_file_imports_only_what_draws_its_pages(repo: GitRepo, tmp_path: Path) -> None:
    truth, output = "id,name\na,Ann\n", '[{"id": "a"}]'
    names = {"evals/names/ground_truth.csv": truth, "evals/names/extracted.json": output}
    repo.commit({**names, "CLAUDE.md": "# Names\n\nRead.\nTwice.\n"})
    build = ("build", str(repo.path), "--out", str(tmp_path / "site"), "--cache", str(tmp_path / "memo"), "--jobs", "1")
    imported_by(*build)
    repo.commit({"CLAUDE.md": "# Names\n\nRead.\n"})
    imported, slow = imported_by(*build)
    libraries = {name.partition(".")[0] for name in imported} - {"sitegen"}
    assert libraries - {"git", "gitdb", "smmap"} <= {
        "jinja2",
        "markdown_it",
        "markupsafe",
        "mdurl",
        "msgspec",
        "typing_extensions",
    }
    assert {"jinja2", "markdown_it"} <= libraries
    assert OF_NEW_OUTPUTS.intersection(imported) == set()
    assert slow.isdisjoint({"email", "fractions", "multiprocessing", "statistics"})
