"""Whatever happens to earlier points of an eval, the site of an incremental build is that of a cold build."""

from pathlib import Path

import pytest

from tests.gitrepo import GitRepo
from tests.names import TRUTH, names_project, output
from tests.sites import build_site, differences

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


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"CLAUDE.md": "# Rules\n\nRead twice.\n"}, id="the newest point is stale until the next"),
        pytest.param(
            {"evals/names/ground_truth.csv": TRUTH.replace("a,Ann,1", "a,Ann,7")}, id="every point has new scores"
        ),
    ],
)
def test_what_changes_earlier_points_is_shown_on_their_pages(project, tmp_path, files):
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
