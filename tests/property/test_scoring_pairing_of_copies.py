"""Lists with many copies: the pairs are those of every pair tried, and copies are compared once."""

from collections.abc import Callable
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sitegen.scoring.pairing import MAX_COMPARED, greedy_pairs
from sitegen.text.similarity import similar_pairs

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
