"""Pairs the items of an output's list with the expected items (rules 21 to 25, 36)."""

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
from sitegen.scoring.compiled_truth import Branch, Item, ItemList, Leaf, PairedItems
from sitegen.scoring.mapping import Algorithm
from sitegen.scoring.pairing import (
    LEAST,
    MAX_COMPARED,
    MOST,
    SHARE,
    ItemKey,
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


class _Pairing:
    """Pairs the items of two lists, which are given without those that the mapping places at an index."""

    def __init__(self, node: ItemList, expected: Sequence[Item], actual: Sequence[ListItem], rules: FieldRules) -> None:
        self._node = node
        self._rules = rules
        self._expected = expected
        self._actual = actual
        self._own_values = cache(lambda i: _expected_values_of(expected[i].branch))
        self._values_expected_below = cache(lambda i: _values_below(expected[i].raw, rules.empty))
        self._values_below = cache(lambda j: _values_below(actual[j][1], rules.empty))
        self.compared = False
        """Whether more than the keys decided."""
        self.algorithm: PairingAlgorithm = node.rule.algorithm or "greedy"
        """What paired items by their keys."""
        self.exceeded = ""
        """The limit that the lists exceed with its consequence, in words."""
        self.too_many = False
        """Whether too many items were left over to pair them by agreement."""

    def pairs(self) -> list[PairedPositions]:
        """Pair the items, by expected position."""
        keys, has_key = self._keys()
        expected_keys, actual_keys = keys[: len(self._expected)], keys[len(self._expected) :]
        paired_by: PairedBy = "key" if has_key else "agreement"
        if self.algorithm == "position":
            paired_by = "position"
        elif not has_key:
            self.algorithm = "agreement"
        pairs: list[PairedPositions] = [(*pair, paired_by) for pair in self._by_keys(expected_keys, actual_keys)]
        rule = self._node.rule
        if self.algorithm == "agreement" or not (rule.match_fields or rule.algorithm):  # none is configured
            left = sorted({*range(len(expected_keys))} - {pair[0] for pair in pairs})
            right = sorted({*range(len(actual_keys))} - {pair[1] for pair in pairs})
            agreeing = self._by_agreement(left, right, LEAST if has_key else 1)
            pairs += [(i, j, round(similarity(expected_keys[i], actual_keys[j]), 9), "agreement") for i, j in agreeing]
        return sorted(pairs)

    def findings(self, document: str, given: int) -> Iterator[Finding]:
        """Yield what is not sure of the pairs of a list in a document that has so many given items in all."""
        path = self._node.place.path
        if self.exceeded:
            where = f" of {document[:80]!r}" if document else ""
            sizes = f"{len(self._node.items):,} expected and {given:,} given items"
            message = f"The list {path[:80]!r}{where} has {sizes}: {self.exceeded}"
            fix = "Match them by an id that both sides have (match_fields), or use algorithm: position."
            yield Finding("warning", message, fix)
        elif self.too_many:
            message = f"In {path} more items are missing and extra than are paired by the values they agree in"
            yield Finding("note", message, "Name the fields that tell its items apart in match_fields.")

    def _keys(self) -> tuple[list[ItemKey], bool]:
        """Return the keys of all expected and actual items, and whether these are keys, not only their first fields."""
        node, rules = self._node, self._rules
        items = [*(item.raw for item in self._expected), *(item for _, item in self._actual)]
        match_fields = node.rule.match_fields or next(
            ((key,) for key in KEYS if not all(rules.empty(follow(item, key)) for item in items)),  # type: ignore[arg-type]
            (),
        )
        has_key = bool(match_fields)
        if not has_key:
            of_items = (item.branch.members.items() for item in node.items)
            every = dict.fromkeys((key,) for members in of_items for key, below in members if isinstance(below, Leaf))
            size = max(1, len(self._expected) * len(self._actual))
            match_fields = tuple(every)[: max(_FIELDS_OF_LONG_LISTS, MAX_COMPARED // size)]
        columns: list[list[Comparable]] = []
        for match_field, key_rule in zip(match_fields, rules.key_rules(node.place, match_fields), strict=True):
            values: list[Value] = [follow(item, match_field) for item in items]  # type: ignore[misc]
            numbers = any(map(is_number, values))
            columns.append([_match_cell(value, key_rule, numbers) for value in values])
        return list(zip(*columns, strict=True)) or [()] * len(items), has_key

    def _by_keys(self, expected: list[ItemKey], actual: list[ItemKey]) -> list[SimilarPair]:
        threshold = self._node.rule.threshold
        if self.algorithm == "position":
            position_of = {index: position for position, (index, _) in enumerate(self._actual)}
            places = [(i, position_of.get(item.index)) for i, item in enumerate(self._expected)]
            return [SimilarPair(i, j, similarity(expected[i], actual[j])) for i, j in places if j is not None]
        if self.algorithm == "agreement" and len(expected) * len(actual) <= MOST:
            return []  # longer lists are first paired by how similar all their fields are, which takes much less time
        if self.algorithm == "hungarian":
            pairs = hungarian_pairs(expected, actual, threshold, self._equal_fields)
            if pairs is not None:
                return pairs
            self.algorithm, self.exceeded = "greedy", "too long for hungarian, so that greedy paired them"
        pairs, all_compared = greedy_pairs(expected, actual, threshold, self._equal_fields)
        if not all_compared:
            self.exceeded = "too many that are alike but not equal; only equal items are paired by their key"
        return pairs

    def _by_agreement(self, left: list[int], right: list[int], least: int) -> list[tuple[int, int]]:
        """Pair the items at these positions that agree in ``least`` values, and in a share of the expected ones."""

        @cache
        def enough(i: int) -> int:
            return max(least, -(-(self._own_values(i) or self._values_expected_below(i).total()) // SHARE))

        if len(left) * len(right) <= MOST:
            return agreeing_pairs(left, right, enough, self._equal_fields)
        expected = {i: _own_texts(self._expected[i].raw) for i in left}
        actual = {j: _own_texts(self._actual[j][1]) for j in right}
        pairs = rare_pairs(expected, actual, enough, self._equal_fields)
        self.too_many = len(pairs) < min(len(left), len(right))
        return pairs

    def _equal_fields(self, i: int, j: int) -> int:
        """Slow, and asked only for equal similarities and for items that their keys leave unpaired."""
        self.compared = True
        if self._own_values(i):
            return sum(_equal_values(self._expected[i].branch, self._actual[j][1]))
        return (self._values_expected_below(i) & self._values_below(j)).total()


def _match_cell(value: Value, rule: FieldRule, numbers: bool) -> Comparable:
    """Return the value of a match field, by the rule of the field.

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
    position_of = {index: position for position, (index, _) in enumerate(actual)}
    by_index = {place: position_of.get(item.index) for place, item in enumerate(node.items) if item.by_index}
    left = [place for place in range(len(node.items)) if place not in by_index]
    right = sorted({*range(len(actual))} - {*by_index.values()})
    pairing = _Pairing(node, [node.items[place] for place in left], [actual[place] for place in right], rules)
    pairs: list[PairedPositions] = [(left[i], right[j], alike, paired_by) for i, j, alike, paired_by in pairing.pairs()]
    pairs += [(i, j, None, "position") for i, j in by_index.items() if j is not None]
    pairs.sort(key=itemgetter(0))
    partners = {place: partner for place, partner, _, _ in pairs}
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
    described = PairedItems(
        keys=keys,
        partners=partners,
        unmatched=dict(zip(places, item_names(unmatched, match_fields, of_output=True), strict=True)),
        panel=AlignmentPanel(
            document=document, path=path, algorithm=pairing.algorithm, threshold=node.rule.threshold, rows=tuple(rows)
        ),
        findings=tuple(pairing.findings(document, len(actual))),
    )
    if not pairing.compared and pairing.algorithm != "agreement":  # only the keys decided
        node.paired = described
    return described


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
    return sum(
        _expected_values_of(node) if isinstance(node, Branch) else isinstance(node, Leaf) and node.compare is not None
        for node in expected.members.values()
    )


def _own_texts(item: dict[str, Value]) -> set[str]:
    """Return the values of an item without those inside lists and objects, as texts."""
    return {
        normalise(str(value)) for value in item.values() if not isinstance(value, dict | list) and value is not None
    }


def _values_below(value: Value, empty: Callable[[Value], bool]) -> Counter[str]:
    """Return the values on every level of an item, by which items that have only lists are told apart."""
    if isinstance(value, dict | list):
        below: Counter[str] = Counter()
        for child in value.values() if isinstance(value, dict) else value:
            below += _values_below(child, empty)
        return below
    return Counter() if empty(value) else Counter([normalise(str(value))])
