"""The demo repository: always the same, complete, and readable by what it is for."""

import subprocess
from pathlib import Path

import pytest

from sitegen.analysis.regressions import steps_of
from sitegen.analysis.slices import cheapest, splits
from sitegen.commands.demo import write_demo
from sitegen.errors import OutputFolderError
from sitegen.project import Options
from sitegen.questions.study import read_series

HEAD = "d0cf95d65d80941247668ac734881ba77dc302c2"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "papers"
    write_demo(folder)
    return folder


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True).stdout


def test_the_configuration_of_the_user_changes_nothing(tmp_path, monkeypatch):
    settings = tmp_path / "gitconfig"
    settings.write_text(
        "[i18n]\n commitEncoding = ISO-8859-1\n[core]\n autocrlf = true\n[commit]\n gpgsign = true\n"
        "[init]\n defaultBranch = trunk\n defaultObjectFormat = sha256\n[user]\n name = Somebody\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
    assert write_demo(tmp_path / "papers") == HEAD


def test_the_work_tree_is_that_of_the_head_commit(folder):
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert git(folder, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]


def test_the_repository_is_sound(folder):
    assert git(folder, "fsck", "--strict", "--no-progress") == ""


def test_a_folder_with_something_in_it_is_refused_and_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputFolderError, match="folder of its own"):
        write_demo(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_an_empty_folder_is_taken(tmp_path):
    assert write_demo(tmp_path) == HEAD


def test_the_story_has_a_regression_that_was_fixed_one_that_is_open_and_a_bad_run(folder, tmp_path):
    found = {
        (name, step.status): (step.iterations, [path for path, _ in step.edits])
        for name in ("lab-reports", "freight-papers", "rental-contracts")
        for step in steps_of(read_series(Options(repo=folder, cache=tmp_path), name))
        if step.metrics[0].points < 0
    }
    assert found == {
        ("lab-reports", "fixed"): (8, [".claude/instructions/lab/results.md"]),
        ("freight-papers", "blip"): (1, []),
        ("freight-papers", "open"): (11, [".claude/agents/document-reader.md"]),
    }


def test_the_cheapest_answers_that_are_as_good_as_the_best_ones_are_named(folder, tmp_path):
    series = read_series(Options(repo=folder, cache=tmp_path), "glaze-questions")
    by_prompt_and_model = next(splits(None, series.points[-1].scorecard, series.specs[0]))
    assert (found := cheapest(by_prompt_and_model, series.specs[0]))
    assert found[0].values == ("careful", "potter-medium")
