"""Pairing against independent implementations, also of lists with many copies; how the solver is imported."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib.machinery import PathFinder
from typing import Any

import numpy as np
import pytest
import scipy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sitegen.scoring.pairing import MAX_COMPARED, agreeing_pairs, greedy_pairs
from sitegen.stats import assignment
from sitegen.stats.assignment import pairs_up, preferred_pairs
from sitegen.text import similarity
from sitegen.text.similarity import Comparable, Exact, normalise, similar_pairs

CELLS = st.one_of(st.none(), st.text("abcdeß", min_size=1, max_size=8), st.integers(0, 3).map(Exact))
ITEMS = st.lists(st.tuples(CELLS, CELLS), max_size=6)


def matrices(least: int) -> st.SearchStrategy[list[list[int]]]:
    """Small matrices of whole numbers; ``least``: their least number of rows and of columns."""
    return st.tuples(st.integers(least, 4), st.integers(least, 4)).flatmap(
        lambda shape: st.lists(
            st.lists(st.integers(0, 4), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
        )
    )


AGREED = matrices(0)
WEIGHTS = matrices(1)


def pairings(suits: list[list[bool]], row: int = 0, used: tuple[int, ...] = ()) -> Iterator[list[tuple[int, int]]]:
    """Every way to pair the rows from one on; the order is that of ties, with no partner last."""
    if row == len(suits):
        yield []
        return
    for column, suited in enumerate(suits[row]):
        if suited and column not in used:
            yield from ([(row, column), *rest] for rest in pairings(suits, row + 1, (*used, column)))
    yield from pairings(suits, row + 1, used)


def total(weights: list[list[int]], pairs: list[tuple[int, int]]) -> int:
    return sum(weights[row][column] for row, column in pairs)


@given(AGREED, st.lists(st.integers(0, 12), min_size=4, max_size=4))
def test_items_are_paired_by_agreement_as_trying_every_pairing_does(equal: list[list[int]], values: list[int]) -> None:
    suits = [[each >= 2 and 3 * each >= least for each in row] for row, least in zip(equal, values, strict=False)]
    best = max(pairings(suits), key=lambda pairs: total(equal, pairs))
    columns = range(len(equal[0]) if equal else 0)
    enough = [max(2, -(-number // 3)) for number in values]
    found = agreeing_pairs(range(len(equal)), columns, enough.__getitem__, lambda row, column: equal[row][column])
    assert found == best


@given(WEIGHTS, st.lists(st.integers(0, 2), min_size=16, max_size=16))
def test_a_preference_decides_among_the_best_assignments_that_trying_every_one_finds(weights, numbers):
    preferences = [numbers[4 * row : 4 * row + len(line)] for row, line in enumerate(weights)]
    suits = [[weight > 0 for weight in row] for row in weights]
    best = max(pairings(suits), key=lambda pairs: (total(weights, pairs), total(preferences, pairs)))
    assert preferred_pairs(weights, preferences) == best


@given(st.integers(1, 40), st.integers(1, 40))
def test_items_that_agree_alike_are_paired_in_the_order_of_the_documents(ones: int, others: int) -> None:
    found = agreeing_pairs(range(ones), range(others), lambda _: 2, lambda *_: 2)
    assert found == [(place, place) for place in range(min(ones, others))]


@given(st.lists(st.lists(st.integers(0, 4), unique=True), min_size=1, max_size=5))
def test_everyone_gets_a_partner_exactly_where_scipy_finds_a_whole_matching(choices: list[list[int]]) -> None:
    matrix = np.array([[int(j in suits) for j in range(5)] for suits in choices])
    matched = scipy.sparse.csgraph.maximum_bipartite_matching(scipy.sparse.csr_matrix(matrix), perm_type="column")
    assert pairs_up(choices, 5) == bool((matched >= 0).all())


@given(st.tuples(CELLS, CELLS), st.tuples(CELLS, CELLS))
def test_similarity_is_symmetric(one: tuple[Comparable, Comparable], other: tuple[Comparable, Comparable]) -> None:
    assert similarity.similarity(one, other) == similarity.similarity(other, one)
    assert 0 <= similarity.similarity(one, other) <= 1


@given(ITEMS, ITEMS, st.sampled_from([0.0, 0.5, 0.8, 1.0]))
def test_long_lists_are_compared_as_short_ones_are(ones, others, threshold):
    short = similarity.similar_pairs(ones, others, threshold)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similarity, "_SMALL", 0)
        patch.setattr(similarity, "_ROWS", 7)
        long = similarity.similar_pairs(ones, others, threshold)
    assert [(i, j) for i, j, _ in long] == [(i, j) for i, j, _ in short]
    assert [alike for _, _, alike in long] == pytest.approx([alike for _, _, alike in short], abs=1e-12)


@given(st.integers(1, 2_000), st.integers(0, 2_000))
def test_the_threshold_decides_as_whole_numbers_do(longest: int, distance: int) -> None:
    distance = min(distance, longest)
    one, other = "a" * longest, "a" * (longest - distance) + "b" * distance
    reached = bool(similarity.similar_pairs([(one,)], [(other,)], 0.8))
    assert reached == (10 * distance <= 2 * longest)
    assert reached == (1 - Fraction(distance, longest) >= Fraction(4, 5))


@given(st.text())
def test_a_normalised_text_has_no_white_space_to_trim_or_collapse(text: str) -> None:
    assert normalise(text) == " ".join(normalise(text).split())


NAMES = st.lists(st.sampled_from(["freight", "frieght", "frights", "light", "night", None]), max_size=12)


def every_pair_tried(
    ones: list[tuple[Any, ...]], others: list[tuple[Any, ...]], equal: Callable[[int, int], int], most: int
) -> list[tuple[int, int]]:
    """Rule 23 to the letter: equal items first, then by similarity; beyond ``most`` ties by places alone."""
    taken: list[tuple[int, int]] = []
    free = [(i, j, alike) for i, j, alike in similar_pairs(ones, others, 0.6) if ones[i] != others[j]]
    same: dict[Any, list[tuple[int, int]]] = {}
    for i, one in enumerate(ones):
        for j, other in enumerate(others):
            if one == other != (None,):
                same.setdefault(one, []).append((i, j))
    levels = [*same.values()]
    steps = sorted({round(alike, 9) for _, _, alike in free}, reverse=True)
    levels += [[(i, j) for i, j, each in free if round(each, 9) == alike] for alike in steps]
    for level in levels:
        left, right = {i for i, _ in taken}, {j for _, j in taken}
        tied = sorted((i, j) for i, j in level if i not in left and j not in right)
        if len(tied) <= most:
            tied.sort(key=lambda pair: (-equal(*pair), *pair))
        for i, j in tied:
            if i not in {i for i, _ in taken} and j not in {j for _, j in taken}:
                taken.append((i, j))
    return sorted(taken)


@settings(max_examples=300)
@given(NAMES, NAMES)
@example(["freight", "light"] * 150, ["light", "freight", "night"] * 150)  # too many ties to be ordered by their fields
def test_copies_are_paired_as_if_every_pair_was_tried(left: list[Any], right: list[Any]) -> None:
    def equal(i: int, j: int) -> int:
        return (i * 7 + j * 3) % 4

    ones: list[tuple[Any, ...]] = [(name,) for name in left]
    others: list[tuple[Any, ...]] = [(name,) for name in right]
    found, _ = greedy_pairs(ones, others, 0.6, equal)
    assert [(i, j) for i, j, _ in found] == every_pair_tried(ones, others, equal, 20_000)


def test_copies_of_two_names_are_paired_however_many_there_are() -> None:
    left: list[tuple[Any, ...]] = [("freight",)] * 6_000
    right: list[tuple[Any, ...]] = [("freights",)] * 6_000
    assert len(left) * len(right) > MAX_COMPARED
    found, _ = greedy_pairs(left, right, 0.8, lambda i, j: 0)
    assert found == [(place, place, 0.875) for place in range(6_000)]


MATRIX = [[6, 4, 5, 0], [0, 3, 3, 5], [4, 6, 5, 0], [5, 4, 5, 3]]
PAIRS = [(0, 0), (1, 3), (2, 1), (3, 2)]


@pytest.fixture
def new_solver() -> Iterator[None]:
    """No solver is imported yet, neither before nor after the test."""
    assignment._solver.cache_clear()
    yield
    assignment._solver.cache_clear()


def test_items_are_paired_without_importing_the_package_around_the_solver() -> None:
    code = (
        f"from sitegen.stats.assignment import best_pairs; print(best_pairs({MATRIX}))\n"
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
    assert assignment.best_pairs(MATRIX) == PAIRS
