"""The demonstration repository and its site, made once."""

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from sitegen.commands.demo import write_demo
from tests.gitrepo import GitRepo
from tests.sites import build_site, clone_bare
from tests.sources.tables import summary

# A run starts hundreds of processes: none of them compiles every module again, whatever the environment says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A run writes thousands of small repositories and sites: in memory that takes half the time that it takes on a disk.
MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 4_000_000_000:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)
# Looking often for garbage among all that tests are made of takes a twelfth of the time of a run.
gc.set_threshold(50_000, 20, 100)
# A busy machine fails no test; and the tests are run often enough for other examples to be drawn another time.
settings.register_profile("untimed", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_xdist_auto_num_workers() -> int:
    """Three for two cores: tests wait two fifths of their time for git, the browser and commands."""
    return max(1, 3 * (os.cpu_count() or 1) // 2)


@pytest.fixture(scope="session", autouse=True)
def state_of_a_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The key that marks memos is not that of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """A repository without commits."""
    return GitRepo(tmp_path / "project")


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone to read from; tests that move its branches make their own."""
    folder = tmp_path_factory.mktemp("demo") / "project"
    write_demo(folder)
    return folder


@pytest.fixture(scope="session")
def demo_site(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the demonstration repository, built cold in this process."""
    out = tmp_path_factory.mktemp("demo-site") / "public"
    build_site(demo, out, jobs=1)
    return out


@pytest.fixture
def bare_demo(demo: Path, tmp_path: Path) -> Path:
    """A bare clone whose branch a test may move; of the same name, which is the site's title."""
    return clone_bare(demo, tmp_path / "bare" / demo.name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many statements of the source documents hold, where their tables were looked at."""
    ran = [(kind, each) for kind, some in terminalreporter.stats.items() for each in some if hasattr(each, "nodeid")]
    if any(each.nodeid.startswith("tests/sources/") for _, each in ran):
        failed = frozenset(each.nodeid.partition("[")[0] for kind, each in ran if kind in ("failed", "error"))
        terminalreporter.write_line(summary(failed))
