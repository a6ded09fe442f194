"""What is kept of the points of an eval, and that a site which grew is the one built at once."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from sitegen.analysis.noise.samples import interval_of
from sitegen.analysis.series import headline, problems_of_points
from sitegen.engine.scorecard_store import key_of_scorecards
from sitegen.model.problems import Problem
from sitegen.model.timeline import Blob
from sitegen.model.usage import RunUsage
from tests import pages_sample as sample
from tests.gitrepo import GitRepo
from tests.names import names_project, output
from tests.rows import in_table
from tests.sites import build_site, differences


def problem(what: str, commit: str, path: str = "truth.csv") -> Problem:
    return Problem(severity="error", message=what, fix="Mend it.", path=path, commit=commit, eval_id="receipts")


def test_a_problem_of_many_points_is_listed_once_with_the_first_commit_that_had_it():
    points = [(problem("column twice", "a"),), (problem("column twice", "b"),)]
    assert problems_of_points(points, deleted=False) == (problem("column twice", "a"),)
    assert problems_of_points([], deleted=False) == ()


def test_a_problem_that_the_newest_point_does_not_have_is_past():
    points = [(problem("broken", "a", "1.json"),), (problem("column twice", "b"),), (problem("column twice", "c"),)]
    found = problems_of_points(points, deleted=False)
    assert found == (replace(problem("broken", "a", "1.json"), past=True), problem("column twice", "b"))


def test_every_problem_of_a_deleted_eval_is_past():
    assert problems_of_points([(problem("broken", "a"),)], deleted=True) == (
        replace(problem("broken", "a"), past=True),
    )


def test_a_point_in_a_few_numbers_keeps_the_interval_of_its_headline():
    newest = sample.series().points[-1]
    point = replace(newest, interval=interval_of(newest.scorecard))
    assert point.interval is not None
    assert headline(point, sample.SPECS) == replace(
        sample.headline(point), interval=point.interval, committed_at=point.snapshot.commit.committed_at
    )


def test_the_key_of_a_scorecard_has_endings_of_files_and_names_of_several_outputs_but_no_folders():
    key = key_of_scorecards("fields")
    one = replace(sample.points(1)[0].snapshot, outputs=(Blob("evals/receipts/extracted.json", "11"),))
    assert key(one) == key(replace(one, outputs=(Blob("elsewhere/other.JSON", "11"),)))
    assert key(one) != key(replace(one, outputs=(Blob("evals/receipts/extracted.yaml", "11"),)))
    several = [replace(one, outputs=(Blob(path, "11"), Blob("a/2.json", "22"))) for path in ("a/1.json", "a/3.json")]
    assert len({key(one), *map(key, several), key(replace(one, usage=RunUsage(cost=1.0)))}) == 4
    moved = replace(several[0], outputs=tuple(Blob(f"x/{path}", oid) for path, oid in several[0].outputs))
    assert key(moved) == key(several[0])
    assert key_of_scorecards("judged")(moved) != key_of_scorecards("judged")(several[0])  # folders name its cases


DATA = "data/evals/names.json"


@pytest.fixture
def project(tmp_path: Path) -> GitRepo:
    return names_project(tmp_path / "project", 9, 8, 7, 1)


def built(project: GitRepo, tmp_path: Path) -> list[str]:
    """Build once more; where the site is not that of a cold build."""
    cold = tmp_path / project.git("rev-parse", "HEAD")
    build_site(project.path, tmp_path / "out", jobs=1)
    build_site(project.path, cold, jobs=1)
    return differences(tmp_path / "out", cold)


@in_table
def test_what_changes_earlier_points_is_shown_on_their_pages(case, project, tmp_path, files):
    build_site(project.path, tmp_path / "out", jobs=1)
    project.commit(files)
    assert built(project, tmp_path) == []
    project.commit({"evals/names/extracted.json": output(5)})
    assert built(project, tmp_path) == []


@pytest.mark.parametrize("content", [b"", b'{"points":[', None])
def test_data_that_somebody_changed_is_written_again(project, tmp_path, content):
    build_site(project.path, tmp_path / "out", jobs=1)
    if content is None:
        (tmp_path / "out" / DATA).unlink()
    else:
        (tmp_path / "out" / DATA).write_bytes(content)
    project.commit({"evals/names/extracted.json": output(5)})
    assert built(project, tmp_path) == []
