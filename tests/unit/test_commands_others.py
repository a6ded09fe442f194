"""The command line as a whole: its list of commands, its version, ``demo``, and how it ends in odd company."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import sitegen
from tests.sites import run

COMMANDS = [
    *("build", "watch", "verify-one", "verify-all", "history", "blame", "compare", "check", "respond", "judge"),
    "code-judge",
]
COMMANDS += ["init", "extract", "export", "schema", "demo"]


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_that_of_the_installed_package(flag):
    done = run(flag)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"sitegen {sitegen.__version__}\n", "")
    assert version("sitegen-evals") == sitegen.__version__


def test_help_lists_every_command_and_the_version():
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    listed = done.stdout.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == COMMANDS
    assert all(line.endswith(".") and not line.endswith("...") for line in listed)
    assert "--version" in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    done = run(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: sitegen {command} ")


@pytest.mark.parametrize(
    ("word", "command"),
    [("gate", "check"), ("serve", "watch"), ("report", "build"), ("eval", "verify-all"), ("diff", "compare")],
)
def test_the_names_that_other_programs_have_for_a_command_lead_to_it(word, command):
    done = run(word, "--base", "main")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"sitegen {command}?" in done.stderr


def test_without_a_command_the_help_is_shown():
    done = run()
    assert done.returncode == 2
    assert "Commands:" in done.stdout + done.stderr


def test_the_version_is_told_without_importing_what_takes_long():
    code = (
        "import sys; sys.argv = ['sitegen', '--version']\n"
        "from sitegen.commands.main import run; run()\n"
        "print(sorted({'typer', 'git', 'jinja2', 'pydantic', 'numpy', 'yaml', 'msgspec'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"sitegen {sitegen.__version__}\n[]\n"


def test_demo_writes_a_project_and_says_how_to_go_on(tmp_path: Path):
    done = run("demo", "two words", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1] == "next: cd 'two words' && sitegen build"
    assert (tmp_path / "two words" / "evals" / "manifest.yaml").exists()
    again = run("demo", "two words", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr == (
        "sitegen: The demo needs a folder of its own.\n"
        f"  at: {tmp_path / 'two words'}\n"
        "  do: Name a folder that is new or empty.\n"
    )


def test_a_reader_that_goes_away_is_no_traceback(demo: Path):
    command = [sys.executable, "-m", "sitegen", "history", "lab-reports", "--repo", str(demo)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as history:
        assert history.stdout is not None
        assert history.stderr is not None
        history.stdout.close()
        said = history.stderr.read()
    assert b"Traceback" not in said


def test_names_that_a_terminal_cannot_show_are_spelled_out(demo: Path, tmp_path: Path):
    command = [sys.executable, "-m", "sitegen", "build", str(demo), "-o", str(tmp_path / "größe"), "--cache"]
    done = subprocess.run(
        [*command, str(tmp_path / "memo")],
        env={"PATH": "/usr/bin:/bin", "PYTHONIOENCODING": "ascii", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"{tmp_path}/gr\\xf6\\xdfe/index.html".encode())
