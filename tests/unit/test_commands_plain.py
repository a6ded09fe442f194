"""A plain ``build`` is read without typer, and exactly as typer would."""

from pathlib import Path

import pytest

from sitegen.commands.main import plain_build
from sitegen.commands.signatures import app
from sitegen.project import Options

PLAIN = (
    ["build"],
    ["build", "project"],
    ["build", ""],
    ["build", "-o", "site"],
    ["build", "project", "--out", "site", "--cache", "memo"],
    ["build", "--cache", "memo", "-o", "site", "project"],
)
NOT_PLAIN: tuple[list[str], ...] = (
    [],
    ["verify-all"],
    ["build", "--help"],
    ["build", "--strict"],
    ["build", "-osite"],
    ["build", "--out=site"],
    ["build", "--out"],
    ["build", "-o", "--strict"],
    ["build", "-o", "site", "--out", "other"],
    ["build", "one", "two"],
    ["build", "--", "project"],
)


def read_by_typer(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> list[tuple[Options, bool]]:
    asked: list[tuple[Options, bool]] = []
    monkeypatch.setattr(
        "sitegen.commands.build.command",
        lambda options, strict, public, open_browser: asked.append((options, strict or public or open_browser)),
    )
    app(arguments, standalone_mode=False)
    return asked


@pytest.mark.parametrize("arguments", PLAIN, ids=" ".join)
def test_a_plain_build_asks_for_what_typer_would_ask_for(arguments, monkeypatch):
    plain = plain_build(arguments)
    assert [(plain, False)] == read_by_typer(arguments, monkeypatch)


def test_a_plain_build_is_of_this_folder_unless_one_is_named():
    assert plain_build(["build"]) == Options(repo=Path())
    assert plain_build(["build", "there"]) == Options(repo=Path("there"))


@pytest.mark.parametrize("arguments", NOT_PLAIN, ids=" ".join)
def test_anything_else_is_left_to_typer(arguments):
    assert plain_build(arguments) is None
