"""A plain ``build`` is read without typer, and exactly as typer would."""

import re
from itertools import chain, permutations
from pathlib import Path

import pytest
from typer.main import get_command

from sitegen.commands.main import plain_build
from sitegen.commands.signatures import app
from sitegen.project import Options

ROOT = Path(__file__).parents[2]

PLAIN = (
    ["build"],
    ["build", "project"],
    ["build", ""],
    ["build", "-o", "site"],
    ["build", "project", "--out", "site", "--cache", "memo"],
    ["build", "--cache", "memo", "-o", "site", "project"],
    ["build", "--jobs", "2", "project", "--strict"],
    ["build", "--public", "--base-url", "https://evals.example.org/", "--out", "public"],
    ["build", "--base-url", ""],
    ["build", "--rev", "HEAD~1", "--worktree"],
    ["build", "--force", "--rev", ""],
)
NOT_PLAIN: tuple[list[str], ...] = (
    [],
    ["verify-all"],
    ["build", "--help"],
    ["build", "--open"],
    ["build", "-osite"],
    ["build", "--out=site"],
    ["build", "--out"],
    ["build", "-o", "--strict"],
    ["build", "-o", "site", "--out", "other"],
    ["build", "--strict", "--strict"],
    ["build", "--jobs", "0"],
    ["build", "--jobs", "two"],
    ["build", "--jobs", "-1"],
    ["build", "--jobs", ""],
    ["build", "--jobs", "1_0"],
    ["build", "one", "two"],
    ["build", "--", "project"],
)
PARTS = (
    *(["project"], [""], ["--"], ["-"], ["-o", "site"], ["--out", ""], ["--out", "--strict"], ["--cache", "memo"]),
    *(["--jobs", "2"], ["--jobs", "007"], ["--jobs", " 3"], ["--jobs", "0"], ["--strict"], ["--public"], ["--no-such"]),
    *(
        ["--base-url", "https://evals.example.org/"],
        ["--base-url", "-"],
        ["--open"],
        ["--cache"],
        ["--rev", "v1"],
        ["--rev", "--strict"],
        ["--worktree"],
        ["--force"],
    ),
)


@pytest.fixture
def read_by_typer(monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[Options, bool, bool]] = []

    def command(options: Options, *, strict: bool, public: bool, open_browser: bool) -> None:
        assert not open_browser
        asked.append((options, strict, public))

    monkeypatch.setattr("sitegen.commands.build.command", command)
    parser = get_command(app)

    def read(arguments: list[str]) -> tuple[Options, bool, bool]:
        parser.main(arguments, standalone_mode=False)
        return asked.pop()

    return read


@pytest.mark.parametrize("arguments", PLAIN, ids=" ".join)
def test_a_plain_build_asks_for_what_typer_would_ask_for(arguments, read_by_typer):
    assert plain_build(arguments) == read_by_typer(arguments)


def test_whatever_is_read_without_typer_is_read_as_typer_reads_it(read_by_typer):
    calls = [["build", *chain(*parts)] for length in (1, 2, 3) for parts in permutations(PARTS, length)]
    plain = [(call, read) for call in calls if (read := plain_build(call))]
    assert len(plain) > 500
    assert [(call, read) for call, read in plain if read != read_by_typer(call)] == []


def test_a_plain_build_is_of_this_folder_unless_one_is_named():
    assert plain_build(["build"]) == (Options(repo=Path()), False, False)
    assert plain_build(["build", "there", "--jobs", "3"]) == (Options(repo=Path("there"), jobs=3), False, False)


@pytest.mark.parametrize("arguments", NOT_PLAIN, ids=" ".join)
def test_anything_else_is_left_to_typer(arguments):
    assert plain_build(arguments) is None


@pytest.mark.parametrize(
    "file",
    [
        "action.yml",
        ".github/workflows/gate.yml",
        "sitegen/recognition/skeletons/gate.yml",
        "sitegen/recognition/skeletons/pages.yml",
    ],
)
def test_every_option_that_a_workflow_builds_with_is_plain(file):
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    builds = [line for line in lines if "sitegen build" in line or ("arguments" in line and "(" in line)]
    options = set(re.findall(r"--[a-z-]+", " ".join(builds)))
    assert options
    values = {"--out": "site", "--cache": "memo", "--base-url": "https://evals.example.org/"}
    words = [word for option in sorted(options) for word in (option, *filter(None, [values.get(option)]))]
    assert plain_build(["build", *words]) is not None
