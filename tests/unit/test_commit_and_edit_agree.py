"""The page of a commit beside the pages of its edits: the same outputs count, and the same verdicts are shown."""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.gitrepo import GitRepo
from tests.sites import build_site

TRUTH = json.dumps({f"field_{number}": number for number in range(12)})


def output(right: int) -> str:
    return json.dumps({f"field_{number}": number if number < right else -1 for number in range(12)})


def pages(repo: GitRepo, tmp_path: Path) -> dict[str, str]:
    build_site(repo.path, tmp_path / "site")
    found = (tmp_path / "site" / "commits").glob("*.html")
    return {page.stem: " ".join(page.read_text().split()) for page in found}


def page_of(sha: str, found: dict[str, str]) -> str:
    return next(text for name, text in found.items() if sha.startswith(name) or name.startswith(sha[:12]))


def test_an_output_beside_folders_of_iterations_is_said_to_be_not_scored(repo, tmp_path):
    begin = {"evals/a/ground_truth.json": TRUTH, "evals/a/results/iteration-001/extracted.json": output(3)}
    first = repo.commit({**begin, "CLAUDE.md": "1"})
    second = repo.commit({"evals/a/extracted.json": output(9), "CLAUDE.md": "2"})
    third = repo.commit({"evals/a/results/iteration-002/extracted.json": output(12)})
    found = pages(repo, tmp_path)
    assert "1 output" not in page_of(second, found)
    assert "Not scored: these evals have folders of iterations, which alone count" in page_of(second, found)
    assert all("Not scored" not in page_of(sha, found) for sha in (first, third))


def test_a_commit_whose_outputs_are_copies_shows_what_became_of_its_edits(repo, tmp_path):
    begin = {"evals/a/ground_truth.json": TRUTH, "evals/a/results/iteration-001/extracted.json": output(0)}
    repo.commit({**begin, "CLAUDE.md": "1"})
    edited = repo.commit({"CLAUDE.md": "2", "evals/a/results/iteration-002/extracted.json": output(0)})
    repo.commit({"evals/a/results/iteration-003/extracted.json": output(12)})
    page = page_of(edited, pages(repo, tmp_path))
    effects, _, outputs = page.partition("Outputs that came with it")
    assert ">better</span>" in effects
    assert "same output" in outputs


@pytest.mark.parametrize(("hours", "in_doubt"), [(12, True), (None, False)])
def test_the_page_of_a_commit_has_the_doubt_of_its_outputs_about_their_edit(repo, tmp_path, hours, in_doubt):
    begin = {"evals/a/ground_truth.json": TRUTH, "evals/a/results/iteration-001/extracted.json": output(0)}
    first = repo.commit({**begin, "CLAUDE.md": "1"})
    recorded = {}
    if hours:
        made = datetime.fromisoformat(repo.git("show", "-s", "--format=%cI", first)) + timedelta(hours=hours)
        recorded = {"evals/a/results/iteration-002/eval-results.json": json.dumps({"timestamp": made.isoformat()})}
    second = repo.commit({"CLAUDE.md": "2", "evals/a/results/iteration-002/extracted.json": output(12), **recorded})
    page = page_of(second, pages(repo, tmp_path))
    said = f"By this edit or {first[:7]}, whichever the output was made with."
    assert (said in " ".join(re.sub("<[^>]+>", "", page).split())) is in_doubt
