"""Which items that their key left over belong together, by the values they agree in (rule 36)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sitegen.stats.assignment import best_pairs

LEAST: Final = 2
"""Equal values that a pair needs at least."""
SHARE: Final = 3
"""One in so many expected values of an item has to be equal at least."""
MOST: Final = 40_000
"""Pairs that are looked at, value by value. Longer leftovers stay as their key left them."""


def agreeing_pairs(
    expected: Sequence[int],
    actual: Sequence[int],
    values: Callable[[int], int],
    equal_fields: Callable[[int, int], int],
) -> list[tuple[int, int]] | None:
    """The pairs with the largest total number of equal values, by the expected item.

    Of several such pairings it is the one that gives the first expected item the first of the given ones, then the
    second expected item, and so on. A pair agrees in at least two values, and in a third of those that are expected.
    None if there are more than ``MOST`` pairs to look at.

    Args:
        expected: places of expected items, ascending.
        actual: places of given items, ascending.
        values: says how many values an expected item has.
        equal_fields: says how many of them a given item has as well.

    """
    if len(expected) * len(actual) > MOST:
        return None
    weights = []
    for place in expected:
        least = max(LEAST, -(-values(place) // SHARE))
        agreed = [equal_fields(place, other) for other in actual]
        weights.append([equal if equal >= least else 0 for equal in agreed])
    return [(expected[row], actual[column]) for row, column in best_pairs(weights)]
