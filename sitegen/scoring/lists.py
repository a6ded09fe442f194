"""Which item of a list of the output belongs to which expected item (rules 21 to 25, 36)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from heapq import heapify, heappop, heapreplace
from operator import itemgetter
from typing import Final, NamedTuple

from sitegen.model.panels import PairedBy
from sitegen.model.scorecards import ItemPair
from sitegen.model.values import Value
from sitegen.scoring.agreement import agreeing_pairs
from sitegen.scoring.compare import read_boolean, read_date
from sitegen.scoring.mapping import Algorithm
from sitegen.scoring.paths import KEYS, follow
from sitegen.scoring.rules import FieldRule, FieldRules, ListRule
from sitegen.scoring.values import coerced_number, is_number, plain_number
from sitegen.stats.assignment import preferred_pairs
from sitegen.text.similarity import Cell, Exact, normalise, similar_pairs, similarity

_MAX_TIES: Final = 20_000
"""Pairs of equal similarity that are told apart by their score fields; beyond, by their order alone."""

MAX_COMPARED: Final = 25_000_000
"""Pairs of unequal items of two lists that are compared: 5,000 by 5,000. Beyond, only equal items are paired."""

MAX_SIMILAR: Final = 1_000_000
"""Pairs of them that reach the threshold; so many take about 250 MB. Beyond, only equal items are paired."""

MAX_ASSIGNED: Final = 250_000
"""Pairs of items that are linked by similarity, among which ``hungarian`` finds the best; its time grows with
the third power of the number of items."""

Pair = tuple[int, int, float]
"""Place in the expected items, place in the given ones, similarity."""


class Alignment(NamedTuple):
    """Which items belong together, and the algorithm that paired them by their keys."""

    pairs: list[ItemPair]
    """Of places in the two lists, by the expected one."""
    algorithm: Algorithm
    too_many: bool
    """More items were left over than are paired by agreement."""
    beyond: str = ""
    """What was not done because the lists are too long."""


def align(
    expected: Sequence[tuple[int, dict[str, Value]]],
    actual: Sequence[tuple[int, dict[str, Value]]],
    rule: ListRule,
    fields: Callable[[tuple[str, ...]], FieldRule],
    rules: FieldRules,
    equal_fields: Callable[[int, int], int],
    expected_values: Callable[[int], int],
) -> Alignment:
    """Pair the items of two lists, each given with its index in its own list.

    *fields* gives the rule of a match field; *equal_fields* says how many score fields of a pair of places are equal,
    and is asked only where similarities tie and for items that their keys leave over; *expected_values* says how many
    there are at an expected place.
    """
    keys = rule.match_fields or next(
        ((key,) for key in KEYS if _anyone_has(key, expected, rules) or _anyone_has(key, actual, rules)), ()
    )
    ones, others = _match_cells(keys, fields, expected, actual, rules)
    beyond = ""
    paired_by: PairedBy = "key"
    algorithm: Algorithm = rule.algorithm or "greedy"
    if algorithm == "position" or not keys:
        algorithm, paired_by = "position", "position"
        place_of = {index: place for place, (index, _) in enumerate(actual)}
        pairs = [
            (place, place_of[index], similarity(ones[place], others[place_of[index]]))
            for place, (index, _) in enumerate(expected)
            if index in place_of
        ]
    elif algorithm == "hungarian" and (clusters := _clusters_within_bounds(ones, others, rule.threshold)) is not None:
        pairs = _hungarian(clusters, equal_fields)
    else:
        if algorithm == "hungarian":
            algorithm, beyond = "greedy", "too long for hungarian, so that greedy paired them"
        pairs, compared = _greedy(ones, others, rule.threshold, equal_fields)
        if not compared:
            beyond = "too many that are alike but not equal; only equal items are paired by their key"
    item_pairs = [ItemPair(*pair, paired_by) for pair in pairs]
    agreed: list[tuple[int, int]] | None = []
    if not rule.is_explicit:
        left = sorted({*range(len(expected))} - {pair.expected for pair in item_pairs})
        right = sorted({*range(len(actual))} - {pair.actual for pair in item_pairs})
        agreed = agreeing_pairs(left, right, expected_values, equal_fields)
        item_pairs += [
            ItemPair(expected=i, actual=j, similarity=round(similarity(ones[i], others[j]), 9), by="agreement")
            for i, j in agreed or ()
        ]
    return Alignment(pairs=sorted(item_pairs), algorithm=algorithm, too_many=agreed is None, beyond=beyond)


def _anyone_has(key: tuple[str, ...], items: Sequence[tuple[int, dict[str, Value]]], rules: FieldRules) -> bool:
    return any(not rules.empty(follow(item, key)) for _, item in items)  # type: ignore[arg-type]


def _match_cells(
    keys: tuple[tuple[str, ...], ...],
    fields: Callable[[tuple[str, ...]], FieldRule],
    expected: Sequence[tuple[int, dict[str, Value]]],
    actual: Sequence[tuple[int, dict[str, Value]]],
    rules: FieldRules,
) -> tuple[list[tuple[Cell, ...]], list[tuple[Cell, ...]]]:
    """The match fields of both sides.

    A plain digit string counts as a number where any item has a number in that field, so that CSV cells meet JSON
    numbers; everywhere else it is a text like any other.
    """
    columns: list[tuple[list[Cell], list[Cell]]] = []
    for key in keys:
        rule = fields(key)
        left: list[Value] = [follow(item, key) for _, item in expected]  # type: ignore[misc]
        right: list[Value] = [follow(item, key) for _, item in actual]  # type: ignore[misc]
        numbers = any(map(is_number, left)) or any(map(is_number, right))
        columns.append(
            (
                [_match_cell(value, rule, rules, numbers) for value in left],
                [_match_cell(value, rule, rules, numbers) for value in right],
            )
        )
    ones = [tuple(left[place] for left, _ in columns) for place in range(len(expected))]
    others = [tuple(right[place] for _, right in columns) for place in range(len(actual))]
    return ones, others


def _match_cell(value: Value, rule: FieldRule, rules: FieldRules, numbers: bool) -> Cell:
    if rules.empty(value):
        return None
    if rule.type == "date":
        day = read_date(value, rule.formats)
        if day is not None:
            return Exact(day)
    if rule.type == "boolean" or isinstance(value, bool):
        boolean = read_boolean(value, rules.true_words, rules.false_words)
        if boolean is not None:
            return Exact(("boolean", boolean))
    if is_number(value) and rule.type != "string":
        return Exact(Decimal(value))  # type: ignore[arg-type]
    if isinstance(value, str):
        if rule.type in ("numeric", "integer", "angle") or (numbers and rule.type is None):
            number = coerced_number(value) if rule.type else plain_number(value)
            if number is not None:
                return Exact(Decimal(number))
        return normalise(value)
    return str(value) if is_number(value) else Exact(repr(value))


def _greedy(
    ones: list[tuple[Cell, ...]],
    others: list[tuple[Cell, ...]],
    threshold: float,
    equal_fields: Callable[[int, int], int],
) -> tuple[list[Pair], bool]:
    """The best remaining pair, again and again, and whether those that are not equal were compared.

    Equal items go first and need no distances at all. Items that are named alike are compared once, however many there
    are: a list of copies costs no square.
    """
    lefts, rights = _by_item(ones, range(len(ones))), _by_item(others, range(len(others)))
    equal = (item for item in lefts if item in rights and item.count(None) < len(item))
    pairs: list[Pair] = []
    for item in equal:
        here, there = lefts[item], rights[item]
        if len(here) == len(there) == 1:
            pairs.append((here[0], there[0], 1.0))
        else:
            pairs += _best_first([here], [there], [(0, 0, 1.0)], equal_fields)
    left = _by_item(ones, sorted(set(range(len(ones))) - {i for i, _, _ in pairs}))
    right = _by_item(others, sorted(set(range(len(others))) - {j for _, j, _ in pairs}))
    close = _similar_within_bounds(list(left), list(right), threshold)
    if close is None:
        return sorted(pairs), False
    pairs += _best_first(list(left.values()), list(right.values()), close, equal_fields)
    return sorted(pairs), True


def _by_item(items: Sequence[tuple[Cell, ...]], places: Iterable[int]) -> dict[tuple[Cell, ...], list[int]]:
    """The places of each item, ascending; items by their first place."""
    places_of: dict[tuple[Cell, ...], list[int]] = {}
    for place in places:
        places_of.setdefault(items[place], []).append(place)
    return places_of


def _best_first(
    lefts: Sequence[Sequence[int]],
    rights: Sequence[Sequence[int]],
    candidates: Iterable[Pair],
    equal_fields: Callable[[int, int], int],
) -> list[Pair]:
    """Take pairs by similarity; among equals by equal score fields, then by the lower places.

    Args:
        lefts: groups of places that are alike to whatever else there is, each ascending.
        rights: the same of the other side.
        candidates: a group of each side by its index, and how similar every place of one is to every one of the other.
        equal_fields: says how many score fields of two places are equal.

    """
    by_similarity: dict[float, list[tuple[int, int]]] = {}
    for i, j, alike in candidates:
        by_similarity.setdefault(round(alike, 9), []).append((i, j))
    taken_left: set[int] = set()
    taken_right: set[int] = set()
    pairs: list[Pair] = []
    for alike in sorted(by_similarity, reverse=True):
        groups = by_similarity[alike]
        here = {left: [i for i in lefts[left] if i not in taken_left] for left, _ in groups}
        there = {left: [j for j in rights[left] if j not in taken_right] for _, left in groups}
        groups = [(left, right) for left, right in groups if here[left] and there[right]]
        if sum(len(here[left]) * len(there[right]) for left, right in groups) > _MAX_TIES:
            order: Iterable[tuple[int, int]] = _by_place(here, there, groups)
        else:
            order = _ordered([(i, j) for left, right in groups for i in here[left] for j in there[right]], equal_fields)
        for i, j in order:
            if i not in taken_left and j not in taken_right:
                taken_left.add(i)
                taken_right.add(j)
                pairs.append((i, j, alike))
    return pairs


def _by_place(
    lefts: dict[int, list[int]], rights: dict[int, list[int]], groups: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Each place of the left with the lowest place of a group it may have that is free, without making every pair."""
    near: dict[int, list[tuple[int, int]]] = {}
    for left, right in groups:
        near.setdefault(left, []).append((rights[right][0], right))
    for heap in near.values():
        heapify(heap)
    used = dict.fromkeys(rights, 0)
    for i, heap in sorted(((i, near[left]) for left in near for i in lefts[left]), key=itemgetter(0)):
        while heap:
            j, right = heap[0]
            if used[right] == len(rights[right]):
                heappop(heap)
            elif j != rights[right][used[right]]:  # another left place took it
                heapreplace(heap, (rights[right][used[right]], right))
            else:
                used[right] += 1
                yield i, j
                break


def _ordered(tied: list[tuple[int, int]], equal_fields: Callable[[int, int], int]) -> list[tuple[int, int]]:
    lefts, rights = {i for i, _ in tied}, {j for _, j in tied}
    if len(lefts) == len(rights) == len(tied):
        return sorted(tied)
    return sorted(tied, key=lambda pair: (-equal_fields(*pair), *pair))


def _similar_within_bounds(
    ones: list[tuple[Cell, ...]], others: list[tuple[Cell, ...]], threshold: float
) -> list[Pair] | None:
    """The pairs that reach the threshold; None if there are too many to compare, or to choose from."""
    if len(ones) * len(others) > MAX_COMPARED:
        return None
    close = similar_pairs(ones, others, threshold, most=MAX_SIMILAR + 1)
    return close if len(close) <= MAX_SIMILAR else None


def _clusters_within_bounds(
    ones: list[tuple[Cell, ...]], others: list[tuple[Cell, ...]], threshold: float
) -> list[list[Pair]] | None:
    """The pairs that reach the threshold, in connected parts; None if there are too many to find the best of."""
    close = _similar_within_bounds(ones, others, threshold)
    if close is None:
        return None
    clusters = _clusters(close)
    sizes = (len({i for i, _, _ in cluster}) * len({j for _, j, _ in cluster}) for cluster in clusters)
    return None if any(size > MAX_ASSIGNED for size in sizes) else clusters


def _hungarian(clusters: list[list[Pair]], equal_fields: Callable[[int, int], int]) -> list[Pair]:
    """Greatest total similarity; among equal totals, more equal score fields, then the lower places.

    Items that no candidate links have nothing to do with each other, so that each cluster is solved on its own.
    """
    pairs: list[Pair] = []
    for cluster in clusters:
        rows = sorted({i for i, _, _ in cluster})
        columns = sorted({j for _, j, _ in cluster})
        row_of = {i: place for place, i in enumerate(rows)}
        column_of = {j: place for place, j in enumerate(columns)}
        alikes = {(row_of[i], column_of[j]): alike for i, j, alike in cluster}
        weights = [[0] * len(columns) for _ in rows]
        equal = [[0] * len(columns) for _ in rows]
        for (row, column), alike in alikes.items():
            # One more for every pair: a similarity of 0 is a pair as well if the threshold allows it.
            weights[row][column] = round(alike * 10**9) * (min(len(rows), len(columns)) + 1) + 1
            if 1 < len(cluster) <= _MAX_TIES:
                equal[row][column] = equal_fields(rows[row], columns[column])
        best = preferred_pairs(weights, equal) if len(cluster) > 1 else list(alikes)
        pairs += [(rows[row], columns[column], round(alikes[row, column], 9)) for row, column in best]
    return sorted(pairs)


def _clusters(candidates: list[Pair]) -> list[list[Pair]]:
    """Split the candidates into connected parts."""
    parent: dict[tuple[str, int], tuple[str, int]] = {}

    def root(node: tuple[str, int]) -> tuple[str, int]:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for i, j, _ in candidates:
        parent[root(("left", i))] = root(("right", j))
    clusters: dict[tuple[str, int], list[Pair]] = {}
    for pair in candidates:
        clusters.setdefault(root(("left", pair[0])), []).append(pair)
    return list(clusters.values())
