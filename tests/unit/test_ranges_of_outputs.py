"""One eval with most outputs of a project: other processes score ranges of its outputs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitegen.engine import scoring
from sitegen.errors import WorkerError
from sitegen.model.scorecards import Result
from sitegen.scoring.scorer import Scorer, ScoringInputs
from tests.gitrepo import GitRepo
from tests.names import MAPPING, TRUTH, output
from tests.sites import build_site, differences, failing

OUTPUTS = 5


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = GitRepo(tmp_path_factory.mktemp("ranges") / "project")
    repo.commit({"CLAUDE.md": "# Rules\n", "evals/field_mapping.yaml": MAPPING, "evals/a/ground_truth.csv": TRUTH})
    for number in range(OUTPUTS):
        repo.commit({f"evals/a/results/iteration-{number:03}/extracted.json": output(number)})
    return repo.path


@pytest.fixture(autouse=True)
def _small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "RANGE", 2)


def test_other_processes_score_the_outputs_and_the_site_has_the_bytes_of_one_process(project, tmp_path):
    build_site(project, tmp_path / "alone", jobs=1)
    site = build_site(project, tmp_path / "together", jobs=2)
    assert site.failed == 0
    assert differences(tmp_path / "together", tmp_path / "alone") == []


def test_an_output_at_which_another_process_fails_is_reported_as_if_there_were_only_one(project, tmp_path, monkeypatch):
    def is_fourth(scorer: Scorer, inputs: ScoringInputs) -> bool:
        return inputs.outputs[0].path.startswith("evals/a/results/iteration-003")

    failing(monkeypatch, "sitegen.engine.scoring.scored_with_own_metrics", ZeroDivisionError(), is_fourth)
    sites = [build_site(project, tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2)]
    assert [site.failed for site in sites] == [1, 1]
    assert "iteration-003" in (tmp_path / "2/problems.html").read_text()
    assert differences(tmp_path / "2", tmp_path / "1") == []


def test_a_process_that_is_ended_while_it_scores_outputs_ends_the_build(project, tmp_path, monkeypatch, capsys):
    builder, score_here = os.getpid(), scoring.results

    def results(*arguments: Any) -> Iterator[Result]:
        if os.getpid() != builder:
            os._exit(1)
        return score_here(*arguments)

    monkeypatch.setattr(scoring, "results", results)
    with pytest.raises(WorkerError, match="was ended from outside"):
        build_site(project, tmp_path / "public", jobs=2)
    assert "Traceback" not in capsys.readouterr().err  # it is no failure of the eval
