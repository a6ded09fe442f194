"""Pairing against independent implementations."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from sitegen.scoring.agreement import agreeing_pairs
from sitegen.stats.assignment import assign, pairs_up
from sitegen.text import similarity
from sitegen.text.similarity import Cell, Exact, normalise

SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 6))
MATRICES = SHAPES.flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 20), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
    )
)
CELLS = st.one_of(st.none(), st.text("abcdeß", min_size=1, max_size=8), st.integers(0, 3).map(Exact))
ITEMS = st.lists(st.tuples(CELLS, CELLS), max_size=6)


@given(MATRICES)
def test_an_assignment_has_the_greatest_weight_that_scipy_finds(weights: list[list[int]]) -> None:
    pairs = assign(weights)
    rows, columns = linear_sum_assignment(np.array(weights), maximize=True)
    assert sum(weights[i][j] for i, j in pairs) == np.array(weights)[rows, columns].sum()
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)


SMALL = st.tuples(st.integers(0, 4), st.integers(0, 4))
AGREED = SMALL.flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 4), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
    )
)


@given(AGREED, st.lists(st.integers(0, 12), min_size=4, max_size=4))
def test_items_are_paired_by_agreement_as_trying_every_pairing_does(equal: list[list[int]], values: list[int]) -> None:
    columns = range(len(equal[0]) if equal else 0)

    def pairings(row: int, free: tuple[int, ...]) -> Iterator[list[tuple[int, int]]]:
        """Every way to pair the rows from one on; the order is that of ties, with no partner last."""
        if row == len(equal):
            yield []
            return
        for column in free:
            if equal[row][column] >= 2 and 3 * equal[row][column] >= values[row]:
                for rest in pairings(row + 1, tuple(one for one in free if one != column)):
                    yield [(row, column), *rest]
        yield from pairings(row + 1, free)

    every = pairings(0, tuple(columns))
    best = max(every, key=lambda pairs: sum(equal[row][column] for row, column in pairs))
    found = agreeing_pairs(range(len(equal)), columns, values.__getitem__, lambda row, column: equal[row][column])
    assert found == best


@given(st.integers(1, 40), st.integers(1, 40))
def test_items_that_agree_alike_are_paired_in_the_order_of_the_documents(ones: int, others: int) -> None:
    found = agreeing_pairs(range(ones), range(others), lambda _: 3, lambda *_: 2)
    assert found == [(place, place) for place in range(min(ones, others))]


@given(st.lists(st.lists(st.integers(0, 4), unique=True), min_size=1, max_size=5))
def test_everyone_gets_a_partner_exactly_where_scipy_finds_a_whole_matching(choices: list[list[int]]) -> None:
    matrix = np.array([[int(j in suits) for j in range(5)] for suits in choices])
    matched = maximum_bipartite_matching(csr_matrix(matrix), perm_type="column")
    assert pairs_up(choices, 5) == bool((matched >= 0).all())


@given(st.tuples(CELLS, CELLS), st.tuples(CELLS, CELLS))
def test_similarity_is_symmetric(one: tuple[Cell, Cell], other: tuple[Cell, Cell]) -> None:
    assert similarity.similarity(one, other) == similarity.similarity(other, one)
    assert 0 <= similarity.similarity(one, other) <= 1


@given(ITEMS, ITEMS, st.sampled_from([0.0, 0.5, 0.8, 1.0]))
def test_long_lists_are_compared_as_short_ones_are(
    ones: list[tuple[Cell, Cell]], others: list[tuple[Cell, Cell]], threshold: float
) -> None:
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
