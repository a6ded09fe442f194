"""Points before the newest are not computed again, and whatever happens meanwhile, the site is that of a cold build."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sitegen.analysis import change, series
from sitegen.analysis.change import change_between
from sitegen.analysis.noise import metrics
from sitegen.analysis.noise.metrics import unit_changes
from sitegen.analysis.regressions import steps_of
from sitegen.model.deltas import Change
from sitegen.model.noise import Spread, Unit
from sitegen.model.regressions import Step
from sitegen.model.series import Point, Series
from sitegen.model.site import Page
from sitegen.model.timeline import Edit
from sitegen.render.environment import Renderer
from sitegen.stages import eval_job
from tests.gitrepo import GitRepo
from tests.names import MAPPING, TRUTH, output
from tests.sites import build_site, differences

DATA = "data/evals/names.json"


@pytest.fixture
def project(tmp_path: Path) -> GitRepo:
    repo = GitRepo(tmp_path / "project")
    repo.commit({"CLAUDE.md": "# Rules\n\nRead well.\n", "evals/field_mapping.yaml": MAPPING})
    repo.commit({"evals/names/ground_truth.csv": TRUTH, "evals/names/extracted.json": output(9)})
    for total in (8, 7, 1):
        repo.commit({"evals/names/extracted.json": output(total)})
    return repo


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The iterations between which a change was computed."""
    made: list[tuple[int, int]] = []

    def noted(before: Point, after: Point, *arguments: Any, **more: Any) -> Change:
        made.append((before.snapshot.iteration, after.snapshot.iteration))
        return change_between(before, after, *arguments, **more)

    for module in (series, change):
        monkeypatch.setattr(module, "change_between", noted)
    return made


def built(project: GitRepo, tmp_path: Path) -> list[str]:
    """Build once more; where the site is not that of a cold build."""
    cold = tmp_path / project.git("rev-parse", "HEAD")
    build_site(project.path, tmp_path / "out", jobs=1)
    build_site(project.path, cold, jobs=1)
    return differences(tmp_path / "out", cold)


def test_a_new_point_is_computed_with_the_one_before_it_and_no_other(project, tmp_path, computed):
    build_site(project.path, tmp_path / "out", jobs=1)
    assert computed == [(1, 2), (2, 3), (3, 4), (1, 4)]  # the best and the newest last
    computed.clear()
    project.commit({"evals/names/extracted.json": output(5)})
    build_site(project.path, tmp_path / "out", jobs=1)
    assert sorted(computed) == [(3, 4), (4, 5)]


def test_a_change_that_a_commit_and_an_edit_made_is_computed_once(project, tmp_path, computed):
    project.commit({"CLAUDE.md": "# Rules\n\nRead twice.\n"})
    project.commit({"evals/names/extracted.json": output(5)})
    build_site(project.path, tmp_path / "out", jobs=1)
    assert sorted(computed) == [(1, 2), (2, 3), (3, 4), (4, 5)]


def test_steps_use_the_changes_over_units_that_older_points_keep(project, tmp_path, monkeypatch):
    computed: list[list[str]] = []

    def noted(*arguments: Any) -> dict[str, tuple[Unit, Spread | None]]:
        changes = unit_changes(*arguments)
        computed.append([*changes])
        return changes

    monkeypatch.setattr(metrics, "unit_changes", noted)
    build_site(project.path, tmp_path / "out", jobs=1)
    assert computed == [["f1", "precision", "recall"]] * 3
    computed.clear()
    project.commit({"evals/names/extracted.json": output(5)})
    build_site(project.path, tmp_path / "out", jobs=1)
    assert len(computed) == 2


def test_the_newest_point_becomes_stale_and_is_not_any_more(project, tmp_path):
    build_site(project.path, tmp_path / "out", jobs=1)
    project.commit({"CLAUDE.md": "# Rules\n\nRead twice.\n"})
    assert built(project, tmp_path) == []
    project.commit({"evals/names/extracted.json": output(5)})
    assert built(project, tmp_path) == []


def test_an_edit_without_an_output_searches_no_steps(project, tmp_path, monkeypatch):
    searched: list[str] = []
    rendered: list[str] = []

    def search(of: Series, beside: Sequence[Sequence[Edit]]) -> tuple[Step, ...]:
        searched.append(of.info.id)
        return steps_of(of, beside)

    def render(renderer: Renderer, page: Page) -> bytes:
        rendered.append(page.path)
        return whole(renderer, page)

    whole = Renderer.render
    monkeypatch.setattr(eval_job, "steps_of", search)
    monkeypatch.setattr(Renderer, "render", render)
    build_site(project.path, tmp_path / "out", jobs=1)
    assert searched == ["names"]
    searched.clear()
    rendered.clear()
    project.commit({"CLAUDE.md": "# Rules\n\nRead twice.\n"})
    build_site(project.path, tmp_path / "out", jobs=1)
    assert (searched, "evals/names/index.html" in rendered) == ([], True)
    project.commit({"evals/names/extracted.json": output(5)})
    assert built(project, tmp_path) == []
    assert searched == ["names", "names"]


def test_another_ground_truth_changes_what_every_point_has_by_the_second_clock(project, tmp_path):
    build_site(project.path, tmp_path / "out", jobs=1)
    project.commit({"evals/names/ground_truth.csv": TRUTH.replace("a,Ann,1", "a,Ann,7")})
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
