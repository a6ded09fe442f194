"""Pairs the items of two lists: by how similar their keys are (rules 22 to 25), or by the values they share (rule 36).

This module identifies items by their positions in the expected and in the actual list. ``lists`` reads their keys and
chooses the algorithm.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from sitegen.model.frozen import grouped
from sitegen.stats.assignment import best_pairs, preferred_pairs
from sitegen.text.similarity import Comparable, SimilarPair, similar_pairs

LEAST: Final = 2
"""The least number of equal values of a pair by agreement, if the items have keys that did not pair them."""
SHARE: Final = 3
"""At least one in this many expected values of an item has to be equal."""
MOST: Final = 40_000
"""The most pairs that are compared value by value. Of longer remainders, only items that share a rare value are."""
_MOST_CANDIDATES: Final = 30  # items
_MOST_RARE: Final = 300_000
"""The most items that one item is compared with if there are more pairs than ``MOST``, and all items together."""

_MAX_TIES: Final = 20_000
"""The most pairs of equal similarity that are ordered by their equal score fields; more are ordered by position
alone."""
MAX_COMPARED: Final = 25_000_000
"""The most pairs of unequal items that are compared: 5,000 by 5,000. Above it, only equal items are paired."""
MAX_SIMILAR: Final = 1_000_000
"""The most pairs that reach the threshold, which take about 250 MB. Above it, only equal items are paired."""
MAX_ASSIGNED: Final = 250_000
"""The most pairs of one connected part for ``hungarian``, whose time grows with the third power of the number of
items."""

ItemKey: TypeAlias = tuple[Comparable, ...]
"""The match fields of an item."""
EqualFields: TypeAlias = Callable[[int, int], int]
"""Counts the equal score fields of an expected and an actual item, given by their positions."""


def greedy_pairs(
    expected: list[ItemKey], actual: list[ItemKey], threshold: float, equal_fields: EqualFields
) -> tuple[list[SimilarPair], bool]:
    """Take the most similar remaining pair until none is left.

    Equal items are paired first, without similarities. Items with the same key are compared only once, so that a list
    of copies does not take quadratic time. Returns the pairs, and whether all items were compared: if too many are
    unequal, only equal items are paired.
    """
    by_expected, by_actual = (grouped((key, at) for at, key in enumerate(keys)) for keys in (expected, actual))
    pairs: list[SimilarPair] = []
    for key, left in by_expected.items():
        right = by_actual.get(key)
        if right is None or key.count(None) == len(key):
            continue
        if len(left) == len(right) == 1:
            pairs.append(SimilarPair(left[0], right[0], 1.0))
        else:
            pairs += _best_first([left], [right], [SimilarPair(0, 0, 1.0)], equal_fields)
    paired = {i for i, _, _ in pairs}, {j for _, j, _ in pairs}
    by_expected, by_actual = (
        grouped((key, at) for at, key in enumerate(keys) if at not in used)
        for keys, used in zip((expected, actual), paired, strict=True)
    )
    similar = _similar_within_bounds(list(by_expected), list(by_actual), threshold)
    if similar is not None:
        pairs += _best_first(list(by_expected.values()), list(by_actual.values()), similar, equal_fields)
    return sorted(pairs), similar is not None


def _best_first(
    expected: Sequence[Sequence[int]],
    actual: Sequence[Sequence[int]],
    candidates: Iterable[SimilarPair],
    equal_fields: EqualFields,
) -> list[SimilarPair]:
    """Take pairs by similarity; among equals by equal score fields, then by the lower positions.

    ``expected``, ``actual``: groups of positions whose items have the same key, each ascending. ``candidates``: a group
    of each list by its index, and the similarity of their keys. ``equal_fields``: counts the equal score fields of two
    items.
    """
    by_similarity = grouped((round(alike, 9), (i, j)) for i, j, alike in candidates)
    used_expected: set[int] = set()
    used_actual: set[int] = set()
    pairs: list[SimilarPair] = []
    for alike in sorted(by_similarity, reverse=True):
        groups = by_similarity[alike]
        free_expected = {left: [i for i in expected[left] if i not in used_expected] for left, _ in groups}
        free_actual = {right: [j for j in actual[right] if j not in used_actual] for _, right in groups}
        groups = [(left, right) for left, right in groups if free_expected[left] and free_actual[right]]
        if sum(len(free_expected[left]) * len(free_actual[right]) for left, right in groups) > _MAX_TIES:
            ties: Iterable[tuple[int, int]] = (
                pair
                for left, right in groups
                for pair in zip(
                    (i for i in free_expected[left] if i not in used_expected),
                    (j for j in free_actual[right] if j not in used_actual),
                    strict=False,
                )
            )
        else:
            tied = [(i, j) for left, right in groups for i in free_expected[left] for j in free_actual[right]]
            # If no item is in two pairs, nothing has to be compared.
            is_clear = len({i for i, _ in tied}) == len({j for _, j in tied}) == len(tied)
            ties = sorted(tied, key=None if is_clear else lambda pair: (-equal_fields(*pair), *pair))
        for i, j in ties:
            if i not in used_expected and j not in used_actual:
                used_expected.add(i)
                used_actual.add(j)
                pairs.append(SimilarPair(i, j, alike))
    return pairs


def _similar_within_bounds(
    expected: list[ItemKey], actual: list[ItemKey], threshold: float
) -> list[SimilarPair] | None:
    """Return the pairs that reach the threshold; None if there are too many to compare, or to choose from."""
    if len(expected) * len(actual) > MAX_COMPARED:
        return None
    similar = similar_pairs(expected, actual, threshold, most=MAX_SIMILAR + 1)
    return similar if len(similar) <= MAX_SIMILAR else None


def hungarian_pairs(
    expected: list[ItemKey], actual: list[ItemKey], threshold: float, equal_fields: EqualFields
) -> list[SimilarPair] | None:
    """Maximise the total similarity; among equal totals the number of equal score fields, then prefer lower positions.

    Items that no candidate links cannot affect each other, so that each connected part is solved separately. None if
    there are too many candidates.
    """
    similar = _similar_within_bounds(expected, actual, threshold)
    if similar is None:
        return None
    pairs: list[SimilarPair] = []
    for part in _connected_parts(similar):
        rows = sorted({i for i, _, _ in part})
        columns = sorted({j for _, j, _ in part})
        if len(rows) * len(columns) > MAX_ASSIGNED:
            return None
        row_of = {i: row for row, i in enumerate(rows)}
        column_of = {j: column for column, j in enumerate(columns)}
        alikes = {(row_of[i], column_of[j]): alike for i, j, alike in part}
        weights = [[0] * len(columns) for _ in rows]
        equal = [[0] * len(columns) for _ in rows]
        for (row, column), alike in alikes.items():
            # 1 is added for every pair, because a similarity of 0 is a pair as well if the threshold allows it.
            weights[row][column] = round(alike * 10**9) * (min(len(rows), len(columns)) + 1) + 1
            if 1 < len(part) <= _MAX_TIES:
                equal[row][column] = equal_fields(rows[row], columns[column])
        best = preferred_pairs(weights, equal) if len(part) > 1 else list(alikes)
        pairs += [SimilarPair(rows[row], columns[column], round(alikes[row, column], 9)) for row, column in best]
    return sorted(pairs)


def _connected_parts(pairs: list[SimilarPair]) -> list[list[SimilarPair]]:
    """Split the pairs so that no item is in two parts."""
    parent: dict[tuple[str, int], tuple[str, int]] = {}

    def root(node: tuple[str, int]) -> tuple[str, int]:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for i, j, _ in pairs:
        parent[root(("expected", i))] = root(("actual", j))
    return list(grouped((root(("expected", pair.left)), pair) for pair in pairs).values())


def agreeing_pairs(
    expected: Sequence[int], actual: Sequence[int], enough: Callable[[int], int], equal_fields: EqualFields
) -> list[tuple[int, int]]:
    """Pair the items that their keys left unpaired so that the total number of equal values is largest.

    Of several such pairings, the first expected item gets the lowest actual item, then the second expected item, and
    so on.

    ``expected``, ``actual``: positions of items, ascending. ``enough``: the least number of values in which a pair with
    this expected item agrees. ``equal_fields``: counts the values that both items of a pair have in common.
    """
    weights = []
    for position in expected:
        equal_counts = [equal_fields(position, candidate) for candidate in actual]
        weights.append([equal if equal >= enough(position) else 0 for equal in equal_counts])
    return [(expected[row], actual[column]) for row, column in best_pairs(weights)]


def rare_pairs(
    expected: Mapping[int, Iterable[str]],
    actual: Mapping[int, Iterable[str]],
    enough: Callable[[int], int],
    equal_fields: EqualFields,
) -> list[tuple[int, int]]:
    """Pair the items of lists that are too long for ``agreeing_pairs``: those with most equal values first.

    Only items that share a rare value are compared. ``expected``, ``actual``: the values by which an item may be
    found, as texts, by its position.
    """
    places = grouped((value, position) for position, values in actual.items() for value in values)
    candidates: list[tuple[int, int, int]] = []
    most = max(1, min(_MOST_CANDIDATES, _MOST_RARE // len(expected)))
    for position, values in expected.items():
        chosen: dict[int, None] = {}
        for group in sorted((places[value] for value in values if value in places), key=len):
            if len(chosen) + len(group) > most:
                break
            chosen.update(dict.fromkeys(group))
        counts = ((equal_fields(position, candidate), candidate) for candidate in chosen)
        candidates += [(-equal, position, candidate) for equal, candidate in counts if equal >= enough(position)]
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, position, candidate in sorted(candidates):
        if position not in pairs and candidate not in taken:
            pairs[position] = candidate
            taken.add(candidate)
    return sorted(pairs.items())
