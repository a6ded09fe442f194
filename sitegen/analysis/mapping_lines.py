"""Lines of a field mapping by which wrong values of one field would count as equal.

A line is offered only if it was tried in the whole mapping, where a more specific pattern may precede it: with it
every one of these values is correct, and every value of the field that is correct without it still is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from decimal import Decimal
from itertools import permutations
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from sitegen.model.outcomes import Judgement
from sitegen.scoring.compare import CORRECT, TruthError, comparison
from sitegen.scoring.mapping import FieldSettings
from sitegen.scoring.rules import FieldRule, FieldRules
from sitegen.scoring.values import is_number

TRIED: Final = 200
"""Correct values of a field on which a line is tried besides the wrong ones."""

_DATES: Final = ("%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d")
_NUMERIC: Final = ("numeric", "integer", "angle")


class _Trial(NamedTuple):
    """Settings of a field, as the mapping states them and as they change its rule."""

    settings: dict[str, Any]
    rule: FieldRule


def mapping_line(
    rules: FieldRules, wrong: Sequence[Judgement], correct: Iterable[Judgement], *, rounded: bool
) -> str | None:
    """The line below ``fields:`` that makes all these values of one field equal; None if no setting does.

    If the mapping has a line for the field already, this one replaces it.

    Args:
        rules: by which the output was scored.
        wrong: values of one attribute that are wrong, at least one.
        correct: values of the same attribute that are correct, of which ``TRIED`` are looked at.
        rounded: whether a tolerance may make them equal.

    """
    if rules.mapping.equality == "strict":  # identity, whatever a field states
        return None
    first = wrong[0]
    rule = rules.field_rule(first.path, first.attribute)
    tried = [*wrong, *[judgement for judgement, _ in zip(correct, range(TRIED), strict=False)]]
    pattern = first.attribute.replace("[]", "[*]")
    stated = asdict(rules.mapping.fields.get(pattern, FieldSettings()))
    for settings, changed in _trials(rule, wrong if rounded else ()):
        if not all(_is_equal(judgement, changed, rules) for judgement in tried):
            continue
        line = {name: value for name, value in stated.items() if value is not None} | settings
        mapped = rules.with_field(pattern, FieldSettings(**line))
        in_mapping = (mapped.field_rule(judgement.path, judgement.attribute) for judgement in tried)
        if all(_is_equal(judgement, own, mapped) for judgement, own in zip(tried, in_mapping, strict=True)):
            return f"{_yaml(pattern)}: {{{', '.join(f'{name}: {_yaml(value)}' for name, value in line.items())}}}"
    return None


def _trials(rule: FieldRule, rounded: Sequence[Judgement]) -> Iterator[_Trial]:
    """What could make the values equal, the least far-reaching first."""
    is_declared_number = rule.type in _NUMERIC
    numeric = {} if is_declared_number else {"type": "numeric"}
    as_number = rule if is_declared_number else replace(rule, type="numeric")
    yield _Trial({**numeric, "coerce": True}, replace(as_number, coerce=True))
    for name in ("string", "boolean"):
        yield _Trial({"type": name}, replace(rule, type=name))
    for formats in permutations(_DATES, 2):
        yield _Trial({"type": "date", "formats": formats}, replace(rule, type="date", formats=formats))
    distances = [_distance(judgement) for judgement in rounded]
    if distances and rule.type != "angle" and all(distance is not None for distance in distances):
        absolute = max(distance for distance in distances if distance is not None).normalize()
        # Without the other kind of tolerance: what is declared for it can only make more values equal.
        only = replace(rule, percent=Decimal(0), absolute=absolute, exact_integer=False)
        yield _Trial({"absolute": absolute}, only)


def _distance(judgement: Judgement) -> Decimal | None:
    expected, actual = judgement.expected, judgement.actual
    if not is_number(expected) or not is_number(actual):
        return None
    return abs(Decimal(str(expected)) - Decimal(str(actual)))


def _is_equal(judgement: Judgement, rule: FieldRule, rules: FieldRules) -> bool:
    try:
        judge = comparison(judgement.expected, rule, rules, written=False).judge
    except TruthError:
        return False
    return judge(judgement.actual) == CORRECT


def _yaml(value: object) -> str:
    """A value in YAML's flow style, which takes JSON."""
    return format(value, "f") if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)
