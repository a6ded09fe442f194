"""Commit by commit, a site is the one that is built at once, whatever moves in the history."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.moving_history import MovingHistory
from tests.sites import build_site, differences

COMMITS = 12


@pytest.mark.parametrize("seed", [1, 3])
def test_a_site_built_commit_by_commit_is_the_one_that_is_built_at_once(tmp_path: Path, seed: int):
    history = MovingHistory(tmp_path / "project", seed)
    for number in range(COMMITS):
        said = history.commit()
        build_site(history.repo.path, tmp_path / "out", jobs=1)
        cold = tmp_path / f"cold-{number}"
        build_site(history.repo.path, cold, jobs=1)
        differing = differences(tmp_path / "out", cold)
        assert differing == [], history.repo.git("log", "--oneline", said)


def test_a_history_follows_from_its_seed(tmp_path: Path):
    heads = set()
    for name in ("one", "two"):
        history = MovingHistory(tmp_path / name, seed=7)
        heads.add([history.commit() for _ in range(5)][-1])
    assert len(heads) == 1
