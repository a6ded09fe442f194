"""Named baselines of sitegen.toml: the gate, ``compare`` and pages compare with them."""

import json
from pathlib import Path

import pytest

from sitegen import api
from sitegen.errors import ConfigurationError
from tests.gitrepo import GitRepo
from tests.sites import build_site, problems_text, run, text_of

TREND, COMPARE = "evals/notes/index.html", "evals/notes/compare.html"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """Three outputs with 1, 2 and 3 of 4 values right; the second one has the tag v1."""
    repo = GitRepo(tmp_path / "repo")
    right = {"a": 1, "b": 2, "c": 3, "d": 4}
    for number in (1, 2, 3):
        answer = {name: value if place < number else 0 for place, (name, value) in enumerate(right.items())}
        files = {f"evals/notes/results/iteration-00{number}/extracted.json": json.dumps(answer)}
        repo.commit({"evals/notes/ground_truth.json": json.dumps(right), **files})
        if number == 2:
            repo.git("tag", "v1")
    repo.checkout()
    (repo.path / "sitegen.toml").write_text('[baselines]\nlive = "v1"\ngone = "v9"\n')
    return repo


def test_a_baseline_stands_for_its_revision(repo):
    by_revision = run("compare", "live", "HEAD", "--repo", repo.path).stdout
    assert by_revision.startswith("# notes: live against HEAD\n")
    by_iteration = run("compare", "notes@live", "notes@3", "--repo", repo.path).stdout
    assert by_iteration.startswith("# notes: iteration-002 against iteration-003\n")
    assert api.check(repo.path, "live").report.base == repo.git("rev-parse", "v1").strip()
    repo.git("branch", "live", "HEAD~2")  # which no baseline takes the place of
    assert api.check(repo.path, "live").report.base == repo.git("rev-parse", "HEAD~2").strip()


@pytest.mark.parametrize("command", [("compare", "gone", "HEAD"), ("check", "--base", "gone")])
def test_a_baseline_that_the_clone_does_not_have_ends_a_command_with_its_line(repo, command):
    done = run(*command, "--repo", repo.path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "The baseline 'gone' is the revision 'v9', which this clone does not have." in done.stderr
    assert "at: sitegen.toml:3" in done.stderr


def test_a_baseline_that_cannot_be_a_revision_never_reaches_git(repo):
    (repo.path / "sitegen.toml").write_text('[baselines]\nlive = "--output=x"\n')
    with pytest.raises(ConfigurationError, match="cannot be a revision"):
        api.check(repo.path, "HEAD~1")


def test_pages_mark_a_baseline_and_follow_it_when_it_moves(repo, tmp_path):
    site = tmp_path / "site"
    build_site(repo.path, site)
    assert "live has iteration-002, F1 0.500; since then ▲ up 0.250" in text_of(site / TREND)
    assert 'data-base="0002" data-name="live">Newest and live<' in (site / COMPARE).read_text()
    assert "The baseline 'gone' is the revision 'v9', which this clone does not have." in problems_text(site)
    repo.git("tag", "-f", "v1", "HEAD~2")
    assert build_site(repo.path, site).written
    assert "live has iteration-001, F1 0.250; since then ▲ up 0.500" in text_of(site / TREND)
    assert 'data-base="0001" data-name="live">Newest and live<' in (site / COMPARE).read_text()
