"""How the solver of assignments is imported. ``property/test_scoring_pairing.py`` tests its pairs."""

import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder

import pytest

from sitegen.stats import assignment

WEIGHTS = [[6, 4, 5, 0], [0, 3, 3, 5], [4, 6, 5, 0], [5, 4, 5, 3]]
PAIRS = [(0, 0), (1, 3), (2, 1), (3, 2)]


@pytest.fixture
def new_solver() -> Iterator[None]:
    """No solver is imported yet, neither before nor after the test."""
    assignment._solver.cache_clear()
    yield
    assignment._solver.cache_clear()


def test_items_are_paired_without_importing_the_package_around_the_solver() -> None:
    code = (
        f"from sitegen.stats.assignment import best_pairs; print(best_pairs({WEIGHTS}))\n"
        "import sys; print('scipy.optimize' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{PAIRS}\nFalse\n"


@pytest.mark.usefixtures("new_solver")
def test_a_scipy_with_its_solver_elsewhere_is_imported_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy.optimize import linear_sum_assignment

    monkeypatch.setattr(PathFinder, "find_spec", lambda *_: None)
    solver = assignment._solver()
    monkeypatch.undo()
    assert solver is linear_sum_assignment
    assert assignment.best_pairs(WEIGHTS) == PAIRS
