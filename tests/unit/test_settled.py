"""Points before the newest are not computed again, and whatever happens meanwhile, the site is that of a cold build."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sitegen.analysis import series
from sitegen.analysis.deltas import delta
from sitegen.analysis.noise import metrics
from sitegen.analysis.noise.changes import output_verdict
from sitegen.analysis.noise.metrics import unit_changes
from sitegen.analysis.regressions import steps_of
from sitegen.model.deltas import Delta
from sitegen.model.noise import ChangeVerdict, UnitChange
from sitegen.model.regressions import Step
from sitegen.model.series import Point, Series
from sitegen.model.site import Page
from sitegen.model.timeline import Edit
from sitegen.render.environment import Renderer
from sitegen.stages import commit_effects, eval_job, reports
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
def deltas(monkeypatch: pytest.MonkeyPatch) -> list[Delta]:
    """The deltas that were computed."""
    made: list[Delta] = []

    def noted(*arguments: Any) -> Delta:
        made.append(delta(*arguments))
        return made[-1]

    for module in (series, reports):
        monkeypatch.setattr(module, "delta", noted)
    return made


def built(project: GitRepo, tmp_path: Path) -> list[str]:
    """Build once more; where the site is not that of a cold build."""
    cold = tmp_path / project.git("rev-parse", "HEAD")
    build_site(project.path, tmp_path / "out", jobs=1)
    build_site(project.path, cold, jobs=1)
    return differences(tmp_path / "out", cold)


def test_a_new_point_is_computed_with_the_one_before_it_and_no_other(project, tmp_path, deltas):
    build_site(project.path, tmp_path / "out", jobs=1)
    assert len(deltas) == 3
    deltas.clear()
    project.commit({"evals/names/extracted.json": output(5)})
    build_site(project.path, tmp_path / "out", jobs=1)
    assert len(deltas) == 2


def test_a_change_that_a_commit_and_an_edit_made_is_judged_once(project, tmp_path, monkeypatch):
    judged: list[tuple[str, str]] = []

    def noted(before: Point, after: Point, *arguments: Any, **more: Any) -> ChangeVerdict | None:
        judged.append((before.snapshot.label, after.snapshot.label))
        return output_verdict(before, after, *arguments, **more)

    monkeypatch.setattr(commit_effects, "output_verdict", noted)
    project.commit({"CLAUDE.md": "# Rules\n\nRead twice.\n"})
    project.commit({"evals/names/extracted.json": output(5)})
    build_site(project.path, tmp_path / "out", jobs=1)
    assert sorted(judged) == [
        ("iteration-001", "iteration-002"),
        ("iteration-002", "iteration-003"),
        ("iteration-003", "iteration-004"),
        ("iteration-004", "iteration-005"),
    ]


def test_steps_use_the_changes_over_units_that_older_points_keep(project, tmp_path, monkeypatch):
    computed: list[list[str]] = []

    def noted(*arguments: Any) -> tuple[UnitChange, ...]:
        changes = unit_changes(*arguments)
        computed.append([change.metric for change in changes])
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
