"""The overview names the edit before a loss, with the lines that it changed and the command that takes it back."""

import json
import re
import subprocess
from html import unescape
from pathlib import Path

import pytest

from tests.gitrepo import GitRepo
from tests.sites import build_site

TRUTH = {f"field_{number}": number for number in range(30)}
RULES = "Read every page.\nGive each value.\n"


def output(right: int) -> str:
    return json.dumps({name: value if value < right else -1 for name, value in TRUTH.items()})


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    repo = GitRepo(tmp_path / "repo")
    begin = {"evals/a/ground_truth.json": json.dumps(TRUTH), "evals/a/results/iteration-001/extracted.json": output(30)}
    repo.commit({**begin, "CLAUDE.md": RULES}, message="Begin")
    return repo


def overview(repo: GitRepo, tmp_path: Path) -> str:
    build_site(repo.path, tmp_path / "site")
    return " ".join((tmp_path / "site" / "index.html").read_text().split())


def first_sentence(html: str) -> str:
    found = re.search(r"<h3>What got worse</h3><p>(.*?)</p>", html)
    assert found
    return unescape(re.sub("<[^>]*>", "", found[1]))


def test_edits_of_several_commits_are_all_in_question(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit({"CLAUDE.md": f"{RULES}One.\n"}, message="One")
    repo.commit({"CLAUDE.md": f"{RULES}Two.\n"}, message="Two")
    repo.commit({"evals/a/results/iteration-002/extracted.json": output(3)}, message="Read")
    assert ") or an earlier edit: 0 values fixed, 27 broken." in first_sentence(overview(repo, tmp_path))


@pytest.mark.parametrize("before", [{}, {"CLAUDE.md": None, "AGENTS.md": RULES}], ids=["no edit", "a file moved"])
def test_no_edit_is_named_if_none_is_beside_the_loss(repo: GitRepo, tmp_path: Path, before: dict[str, None]) -> None:
    repo.commit(before, message="Go on")
    repo.commit({"evals/a/results/iteration-002/extracted.json": output(3)}, message="Read")
    html = overview(repo, tmp_path)
    assert first_sentence(html).endswith("since iteration-001, to 0.100 at iteration-002: 0 values fixed, 27 broken.")
    assert "The way back" not in html


def test_a_file_that_the_edit_added_is_removed_and_one_that_it_deleted_restored(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit({"CLAUDE.md": None, "AGENTS.md": "Something else altogether.\n"}, message="Begin anew")
    repo.commit({"evals/a/results/iteration-002/extracted.json": output(3)}, message="Read")
    html = overview(repo, tmp_path)
    repo.checkout()
    (command,) = re.findall(r"<summary>The way back</summary><span class=\"cmd\"><code>(.*?)</code>", html)
    subprocess.run(unescape(command), shell=True, check=True, cwd=repo.path, capture_output=True)
    assert (repo.path / "CLAUDE.md").read_text() == RULES
    assert not (repo.path / "AGENTS.md").exists()
