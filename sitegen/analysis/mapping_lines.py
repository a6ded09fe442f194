"""Proposes lines of a field mapping that would make wrong values of one field count as equal.

A line is offered only after a trial in the whole mapping, in which a more specific pattern may take precedence: with
the line all of these values are correct, and all values of the field that were correct remain so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import permutations
from typing import Any, Final

from msgspec.structs import replace

from sitegen.model.outcomes import Judgement
from sitegen.scoring.compare import CORRECT, TruthError, comparison
from sitegen.scoring.mapping import FieldSettings
from sitegen.scoring.rules import FieldRule, FieldRules
from sitegen.scoring.values import is_number

TRIED: Final = 200
"""Number of correct values of a field on which a line is tried, besides the wrong values."""

_DATES: Final = ("%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d")
_NUMERIC: Final = ("numeric", "integer", "angle")


def mapping_line(
    rules: FieldRules, wrong: Sequence[Judgement], correct: Iterable[Judgement], *, rounded: bool
) -> str | None:
    """Return the line below ``fields:`` that makes all these values of one field equal; None if no setting does.

    The line replaces any line that the mapping has for the field.

    Args:
        rules: the rules by which the output was scored.
        wrong: wrong values of one attribute, at least one.
        correct: correct values of the same attribute, of which ``TRIED`` are examined.
        rounded: whether a tolerance may make the values equal.

    """
    if rules.mapping.equality == "strict":  # values must be identical, whatever the settings of a field
        return None
    first = wrong[0]
    rule = rules.field_rule(first)
    tried = [*wrong, *[judgement for judgement, _ in zip(correct, range(TRIED), strict=False)]]
    pattern = first.attribute.replace("[]", "[*]")
    stated = vars(rules.mapping.fields.get(pattern, FieldSettings()))
    for settings, changed in _trials(rule, wrong if rounded else ()):
        if not all(_is_equal(judgement, changed) for judgement in tried):
            continue
        line = {name: value for name, value in stated.items() if value is not None} | settings
        mapped = rules.with_field(pattern, FieldSettings(**line))
        if all(_is_equal(judgement, mapped.field_rule(judgement)) for judgement in tried):
            return f"{_yaml(pattern)}: {{{', '.join(f'{name}: {_yaml(value)}' for name, value in line.items())}}}"
    return None


def _trials(rule: FieldRule, rounded: Sequence[Judgement]) -> Iterator[tuple[dict[str, Any], FieldRule]]:
    """Yield the settings that could make the values equal, and the rule with them, the least far-reaching first."""
    is_declared_number = rule.type in _NUMERIC
    numeric = {} if is_declared_number else {"type": "numeric"}
    as_number = rule if is_declared_number else replace(rule, type="numeric")
    yield {**numeric, "coerce": True}, replace(as_number, coerce=True)
    for name in ("string", "boolean"):
        yield {"type": name}, replace(rule, type=name)
    for formats in permutations(_DATES, 2):
        yield {"type": "date", "formats": formats}, replace(rule, type="date", formats=formats)
    distances = [_distance(judgement) for judgement in rounded]
    if distances and rule.type != "angle" and all(distance is not None for distance in distances):
        absolute = max(distance for distance in distances if distance is not None).normalize()
        # Leave out the other kind of tolerance: a declared one can only make more values equal.
        only = replace(rule, percent=Decimal(0), absolute=absolute, exact_integer=False)
        yield {"absolute": absolute}, only


def _distance(judgement: Judgement) -> Decimal | None:
    expected, actual = judgement.expected, judgement.actual
    if not is_number(expected) or not is_number(actual):
        return None
    return abs(Decimal(str(expected)) - Decimal(str(actual)))


def _is_equal(judgement: Judgement, rule: FieldRule) -> bool:
    try:
        _, judge, _ = comparison(judgement.expected, rule)
    except TruthError:
        return False
    return judge(judgement.actual) == CORRECT


def _yaml(value: object) -> str:
    """Format a value in YAML's flow style, of which JSON is a subset."""
    return format(value, "f") if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)
