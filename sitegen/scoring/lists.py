"""Pairs the items of an output's list with the expected items (rules 21 to 25, 36)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import NamedTuple

from sitegen.model.panels import PairedBy
from sitegen.model.scorecards import ItemPair
from sitegen.model.values import Value
from sitegen.scoring.compare import read_boolean, read_date
from sitegen.scoring.mapping import Algorithm
from sitegen.scoring.pairing import EqualFields, ItemKey, agreeing_pairs, greedy_pairs, hungarian_pairs
from sitegen.scoring.paths import KEYS, ListItem, follow
from sitegen.scoring.rules import FieldRule, FieldRules, ListRule
from sitegen.scoring.values import coerced_number, is_number, plain_number
from sitegen.text.similarity import Cell, Exact, SimilarPair, normalise, similarity


class Alignment(NamedTuple):
    """The pairs of items, and the algorithm that paired them by their keys."""

    pairs: list[ItemPair]
    """Pairs of positions in the two lists, sorted by the expected position."""
    algorithm: Algorithm
    too_many: bool
    """Whether too many items were left over to pair them by agreement."""
    beyond: str = ""
    """The step that was skipped because the lists are too long."""


def align(
    expected: Sequence[ListItem],
    actual: Sequence[ListItem],
    rule: ListRule,
    fields: Callable[[tuple[str, ...]], FieldRule],
    rules: FieldRules,
    equal_fields: EqualFields,
    expected_values: Callable[[int], int],
) -> Alignment:
    """Pair the items of two lists, each with its index in its own file.

    *fields* returns the rule of a match field. *equal_fields* is slow, and called only for equal similarities and for
    items that their keys leave unpaired. *expected_values* counts the values of an expected item.
    """
    items = [item.value for item in (*expected, *actual)]
    match_fields = rule.match_fields or next(
        ((key,) for key in KEYS if not all(rules.empty(follow(item, key)) for item in items)),  # type: ignore[arg-type]
        (),
    )
    keys = _item_keys(items, match_fields, fields, rules)
    expected_keys, actual_keys = keys[: len(expected)], keys[len(expected) :]
    beyond = ""
    paired_by: PairedBy = "key"
    algorithm: Algorithm = rule.algorithm or "greedy"
    pairs: list[SimilarPair] | None = None
    if algorithm == "position" or not match_fields:
        algorithm, paired_by = "position", "position"
        position_of = {item.list_index: position for position, item in enumerate(actual)}
        places = [
            (i, position_of[item.list_index]) for i, item in enumerate(expected) if item.list_index in position_of
        ]
        pairs = [SimilarPair(i, j, similarity(expected_keys[i], actual_keys[j])) for i, j in places]
    elif algorithm == "hungarian":
        pairs = hungarian_pairs(expected_keys, actual_keys, rule.threshold, equal_fields)
        if pairs is None:
            algorithm, beyond = "greedy", "too long for hungarian, so that greedy paired them"
    if pairs is None:
        pairs, all_compared = greedy_pairs(expected_keys, actual_keys, rule.threshold, equal_fields)
        if not all_compared:
            beyond = "too many that are alike but not equal; only equal items are paired by their key"
    item_pairs = [ItemPair(*pair, paired_by) for pair in pairs]
    agreeing: list[tuple[int, int]] | None = []
    if not rule.is_explicit:
        left = sorted({*range(len(expected))} - {pair.expected for pair in item_pairs})
        right = sorted({*range(len(actual))} - {pair.actual for pair in item_pairs})
        agreeing = agreeing_pairs(left, right, expected_values, equal_fields)
        item_pairs += [
            ItemPair(i, j, similarity=round(similarity(expected_keys[i], actual_keys[j]), 9), paired_by="agreement")
            for i, j in agreeing or ()
        ]
    return Alignment(pairs=sorted(item_pairs), algorithm=algorithm, too_many=agreeing is None, beyond=beyond)


def _item_keys(
    items: Sequence[dict[str, Value]],
    match_fields: tuple[tuple[str, ...], ...],
    fields: Callable[[tuple[str, ...]], FieldRule],
    rules: FieldRules,
) -> list[ItemKey]:
    """The match fields of the items of both lists.

    A plain digit string counts as a number if any item has a number in that field, so that CSV cells match JSON
    numbers; otherwise it is a text.
    """
    columns: list[list[Cell]] = []
    for match_field in match_fields:
        rule = fields(match_field)
        values: list[Value] = [follow(item, match_field) for item in items]  # type: ignore[misc]
        numbers = any(map(is_number, values))
        columns.append([_match_cell(value, rule, rules, numbers) for value in values])
    return list(zip(*columns, strict=True)) or [()] * len(items)


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
