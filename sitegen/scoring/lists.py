"""Pairs the items of an output's list with the expected items (rules 21 to 25, 36)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import cache
from operator import itemgetter
from typing import Any, Final, Literal, TypeAlias

from sitegen.model.outcomes import Value
from sitegen.model.problems import Finding
from sitegen.model.scorecards import AlignmentPanel, AlignmentRow, PairedBy
from sitegen.scoring.compare import read_date
from sitegen.scoring.compiled_truth import Branch, ItemList, Leaf, PairedItems
from sitegen.scoring.mapping import Algorithm
from sitegen.scoring.pairing import (
    LEAST,
    MAX_COMPARED,
    MOST,
    SHARE,
    EqualFields,
    agreeing_pairs,
    greedy_pairs,
    hungarian_pairs,
    rare_pairs,
)
from sitegen.scoring.paths import KEYS, ListItem, follow, item_name, item_names
from sitegen.scoring.rules import FieldRule, FieldRules
from sitegen.scoring.values import coerced_number, is_number, is_same, plain_number
from sitegen.text.similarity import Comparable, Exact, SimilarPair, normalise, similarity

PairedPositions: TypeAlias = tuple[int, int, float | None, PairedBy]
"""Positions in the expected and the actual list, the similarity of the keys there, and how the items were paired."""
_FIELDS_OF_LONG_LISTS: Final = 3
"""Items of long lists without a key are paired by this many fields at least, so that equal items find each other."""
PairingAlgorithm: TypeAlias = Algorithm | Literal["agreement"]
"""``agreement``: items that have no key are paired by all their fields."""


def _aligned(
    node: ItemList,
    expected: Sequence[ListItem],
    actual: Sequence[ListItem],
    rules: FieldRules,
    equal_fields: EqualFields,
    expected_values: Callable[[int], int],
) -> tuple[list[PairedPositions], PairingAlgorithm, bool, str]:
    """Pair the items of two lists, each with its index in its own file.

    Returns the pairs by expected position, the algorithm that paired items by their keys, whether too many items were
    left over to pair them by agreement, and the limit that the lists exceed with its consequence, in words.

    ``equal_fields`` is slow, and called only for equal similarities and for items that their keys leave unpaired.
    ``expected_values`` counts the values of an expected item.
    """
    rule = node.rule
    items = [item for _, item in (*expected, *actual)]
    match_fields = rule.match_fields or next(
        ((key,) for key in KEYS if not all(rules.empty(follow(item, key)) for item in items)),  # type: ignore[arg-type]
        (),
    )
    has_key = bool(match_fields)
    if not has_key:
        of_items = (item.branch.members.items() for item in node.items)
        every = dict.fromkeys((key,) for members in of_items for key, below in members if isinstance(below, Leaf))
        match_fields = tuple(every)[: max(_FIELDS_OF_LONG_LISTS, MAX_COMPARED // max(1, len(expected) * len(actual)))]
    columns: list[list[Comparable]] = []
    for match_field, key_rule in zip(match_fields, rules.key_rules(node.place, match_fields), strict=True):
        values: list[Value] = [follow(item, match_field) for item in items]  # type: ignore[misc]
        numbers = any(map(is_number, values))
        columns.append([_match_cell(value, key_rule, numbers) for value in values])
    keys = list(zip(*columns, strict=True)) or [()] * len(items)
    expected_keys, actual_keys = keys[: len(expected)], keys[len(expected) :]
    exceeded = ""
    paired_by: PairedBy = "key" if has_key else "agreement"
    algorithm: PairingAlgorithm = rule.algorithm or "greedy"
    pairs: list[SimilarPair] | None = None
    if algorithm == "position":
        paired_by = "position"
        position_of = {index: position for position, (index, _) in enumerate(actual)}
        places = [(i, position_of[index]) for i, (index, _) in enumerate(expected) if index in position_of]
        pairs = [SimilarPair(i, j, similarity(expected_keys[i], actual_keys[j])) for i, j in places]
    elif not has_key:
        # Longer lists are first paired by how similar all their fields are, which takes much less time.
        algorithm, pairs = "agreement", [] if len(expected) * len(actual) <= MOST else None
    elif algorithm == "hungarian":
        pairs = hungarian_pairs(expected_keys, actual_keys, rule.threshold, equal_fields)
        if pairs is None:
            algorithm, exceeded = "greedy", "too long for hungarian, so that greedy paired them"
    if pairs is None:
        pairs, all_compared = greedy_pairs(expected_keys, actual_keys, rule.threshold, equal_fields)
        if not all_compared:
            exceeded = "too many that are alike but not equal; only equal items are paired by their key"
    item_pairs: list[PairedPositions] = [(*pair, paired_by) for pair in pairs]
    is_incomplete = False
    if algorithm == "agreement" or not rule.is_explicit:
        left = sorted({*range(len(expected))} - {pair[0] for pair in item_pairs})
        right = sorted({*range(len(actual))} - {pair[1] for pair in item_pairs})
        least = LEAST if has_key else 1
        enough = cache(lambda i: max(least, -(-expected_values(i) // SHARE)))
        if len(left) * len(right) > MOST:
            own = {i: _own_texts(expected[i][1]) for i in left}, {j: _own_texts(actual[j][1]) for j in right}
            agreeing = rare_pairs(*own, enough, equal_fields)
        else:
            agreeing = agreeing_pairs(left, right, enough, equal_fields)
        is_incomplete = len(left) * len(right) > MOST and len(agreeing) < min(len(left), len(right))
        item_pairs += [(i, j, round(similarity(expected_keys[i], actual_keys[j]), 9), "agreement") for i, j in agreeing]
    return sorted(item_pairs), algorithm, is_incomplete, exceeded


def _match_cell(value: Value, rule: FieldRule, numbers: bool) -> Comparable:
    """The value of a match field, by the rule of the field.

    A plain digit string counts as a number if any item has a number in that field (``numbers``), so that CSV cells
    match JSON numbers; otherwise it is a text.
    """
    if rule.words.empty(value):
        return None
    if rule.type == "date":
        day = read_date(value, rule.formats)
        if day is not None:
            return Exact(day)
    if rule.type == "boolean" or isinstance(value, bool):
        boolean = rule.words.boolean(value)
        if boolean is not None:
            return Exact(("boolean", boolean))
    if is_number(value) and rule.type != "string":
        return Exact(Decimal(value))
    if isinstance(value, str):
        if rule.type in ("numeric", "integer", "angle") or (numbers and rule.type is None):
            number = coerced_number(value) if rule.type else plain_number(value)
            if number is not None:
                return Exact(Decimal(number))
        return normalise(value)
    return str(value) if is_number(value) else Exact(repr(value))


def paired_items(node: ItemList, actual: list[ListItem], document: str, rules: FieldRules) -> PairedItems:
    """Pair the items of an output's list with those of a list of the ground truth, and describe the pairs.

    Items that the mapping places at an index take the item of the output there, before any others are paired. Pairs of
    the last items are reused if these have the same keys and names.
    """
    keys: Any = [part for index, item in actual for part in (index, *[follow(item, key) for key in node.rule.keys])]
    if node.paired is not None and is_same(node.paired.keys, keys):
        return node.paired
    path = node.place.path
    compared = False

    own_values = cache(lambda i: _expected_values_of(node.items[i].branch))
    values_expected_below = cache(lambda i: _values_below(node.items[i].raw, rules.empty))
    values_below = cache(lambda j: _values_below(actual[j][1], rules.empty))

    def equal_fields(i: int, j: int) -> int:
        nonlocal compared
        compared = True
        if own_values(i):
            return sum(_equal_values(node.items[i].branch, actual[j][1]))
        return (values_expected_below(i) & values_below(j)).total()

    position_of = {index: position for position, (index, _) in enumerate(actual)}
    by_index = {place: position_of.get(item.index) for place, item in enumerate(node.items) if item.by_index}
    left = [place for place in range(len(node.items)) if place not in by_index]
    right = sorted({*range(len(actual))} - {*by_index.values()})
    aligned, algorithm, too_many, exceeded = _aligned(
        node,
        [(node.items[place].index, node.items[place].raw) for place in left],
        [actual[place] for place in right],
        rules,
        lambda i, j: equal_fields(left[i], right[j]),
        lambda i: own_values(left[i]) or values_expected_below(left[i]).total(),
    )
    pairs: list[PairedPositions] = [(left[i], right[j], alike, paired_by) for i, j, alike, paired_by in aligned]
    pairs += [(i, j, None, "position") for i, j in by_index.items() if j is not None]
    pairs.sort(key=itemgetter(0))
    partners = {place: partner for place, partner, _, _ in pairs}
    findings: tuple[Finding, ...] = ()
    if exceeded:
        where = f" of {document[:80]!r}" if document else ""
        sizes = f"{len(node.items):,} expected and {len(actual):,} given items"
        message = f"The list {path[:80]!r}{where} has {sizes}: {exceeded}"
        fix = "Match them by an id that both sides have (match_fields), or use algorithm: position."
        findings = (Finding("warning", message, fix),)
    elif too_many:
        message = f"In {path} more items are missing and extra than are paired by the values they agree in"
        findings = (Finding("note", message, "Name the fields that tell its items apart in match_fields."),)
    paired = set(partners.values())
    places = [place for place in range(len(actual)) if place not in paired]
    unmatched = [actual[place] for place in places]
    match_fields = node.rule.match_fields
    rows = [
        AlignmentRow(
            expected=node.items[place].index,
            actual=actual[partner][0],
            similarity=alike,
            paired_by=paired_by,
            label=node.items[place].label,
        )
        for place, partner, alike, paired_by in pairs
    ]
    rows += [
        AlignmentRow(expected=item.index, label=item.label)
        for place, item in enumerate(node.items)
        # A wide CSV file has columns for more items than most documents hold: a blank item is not missing.
        if place not in partners and not rules.empty(item.raw)
    ]
    rows += [AlignmentRow(actual=index, label=item_name(item, match_fields)) for index, item in unmatched]
    pairing = PairedItems(
        keys=keys,
        partners=partners,
        unmatched=dict(zip(places, item_names(unmatched, match_fields, of_output=True), strict=True)),
        panel=AlignmentPanel(
            document=document, path=path, algorithm=algorithm, threshold=node.rule.threshold, rows=tuple(rows)
        ),
        findings=findings,
    )
    if not compared and algorithm != "agreement":  # only the keys decided
        node.paired = pairing
    return pairing


def _equal_values(expected: Branch, actual: dict[str, Value]) -> Iterator[bool]:
    """Whether each value of an item that both sides have is equal; lists inside it have their own pairing."""
    for key, node in expected.members.items():
        value = actual.get(key)
        if isinstance(node, Leaf):
            if node.compare and node.rule and not node.rule.words.empty(value):
                yield node.compare(value) == "correct"
        elif isinstance(node, Branch) and isinstance(value, dict):
            yield from _equal_values(node, value)


def _expected_values_of(expected: Branch) -> int:
    """Return the number of values of an item that ``_equal_values`` compares."""
    return sum(
        _expected_values_of(node) if isinstance(node, Branch) else isinstance(node, Leaf) and node.compare is not None
        for node in expected.members.values()
    )


def _own_texts(item: dict[str, Value]) -> set[str]:
    """The values of an item without those inside lists and objects, as texts."""
    return {
        normalise(str(value)) for value in item.values() if not isinstance(value, dict | list) and value is not None
    }


def _values_below(value: Value, empty: Callable[[Value], bool]) -> Counter[str]:
    """The values on every level of an item, by which items that have only lists are told apart."""
    if isinstance(value, dict | list):
        below: Counter[str] = Counter()
        for child in value.values() if isinstance(value, dict) else value:
            below += _values_below(child, empty)
        return below
    return Counter() if empty(value) else Counter([normalise(str(value))])
