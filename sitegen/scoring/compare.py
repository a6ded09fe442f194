"""One expected value against one given value (rules 10 to 16): equal? then type? then value.

A comparison is made once for each expected value and then used for every output. It is only asked about values that
are not empty, on either side.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final, Protocol

from sitegen.model.outcomes import Outcome
from sitegen.model.values import Unusable, Value
from sitegen.scoring.rules import FieldRule, FieldRules
from sitegen.scoring.values import EXACT, Emptiness, Number, coerced_number, is_number, plain_number, spells
from sitegen.stats.assignment import pairs_up
from sitegen.text.similarity import normalise

CORRECT: Final = "correct"
WRONG: Final = "wrong_value"
FORMAT: Final = "format_error"

_YES: Final = frozenset({"yes", "y"})
_NO: Final = frozenset({"no", "n"})
_FULL_CIRCLE: Final = Decimal(360)
_MAX_UNORDERED: Final = 300
_ZEROS: Final = re.compile(r"\s*0[0-9]")
"""A zip code or a serial number, which no coercion makes a number of by itself."""


class TruthError(ValueError):
    """An expected value that cannot be read as its declared type: it is reported and not scored."""

    def __init__(self, why: str, value: Value = None) -> None:
        super().__init__(why)
        self.value = "" if value is None else repr(str(value)[:80])
        """As it is quoted beside the reason, which never quotes it: redaction must be able to tell them apart."""


class Comparison(Protocol):
    """What one attribute should be."""

    def judge(self, actual: Value) -> Outcome:
        """``correct``, ``wrong_value`` or ``format_error``."""


class Text:
    """Equal after normalising. *inferred*: nothing says that it is a text, so that a number may spell it."""

    __slots__ = ("_inferred", "_key", "_written")

    def __init__(self, written: str, *, inferred: bool = False) -> None:
        self._written = written
        self._key = normalise(written)
        self._inferred = inferred

    def judge(self, actual: Value) -> Outcome:
        """Whether the text is the same."""
        if isinstance(actual, str):
            return CORRECT if actual == self._written or normalise(actual) == self._key else WRONG
        if self._inferred and is_number(actual) and spells(self._key, actual):  # type: ignore[arg-type]
            return CORRECT
        return FORMAT


class Identical:
    """The same type and the same value (``equality: strict``). JSON has one type of number: 12 and 12.0 are equal."""

    __slots__ = ("_expected",)

    def __init__(self, expected: Value) -> None:
        self._expected = expected

    def judge(self, actual: Value) -> Outcome:
        """Whether it is the same value."""
        if is_number(actual) != is_number(self._expected):
            return FORMAT
        if not is_number(actual) and type(actual) is not type(self._expected):
            return FORMAT
        return CORRECT if actual == self._expected else WRONG


class Numeric:
    """Within ``max(percent / 100 * |expected|, absolute)``, both ends included."""

    __slots__ = ("_high", "_low", "_read")

    def __init__(self, expected: Number, tolerance: Number, read: Callable[[str], Number | None]) -> None:
        self._low = EXACT.subtract(expected, tolerance)
        self._high = EXACT.add(expected, tolerance)
        self._read = read

    def judge(self, actual: Value) -> Outcome:
        """Whether the number lies within the tolerance."""
        kind = type(actual)
        if kind is not int and kind is not Decimal:
            number = self._read(actual) if isinstance(actual, str) else None
            if number is None:
                return FORMAT
            actual = number
        return CORRECT if self._low <= actual <= self._high else WRONG  # type: ignore[operator]


class Angle:
    """As numbers, but the shorter way round the circle, in degrees."""

    __slots__ = ("_expected", "_read", "_tolerance")

    def __init__(self, expected: Number, tolerance: Number, read: Callable[[str], Number | None]) -> None:
        self._expected, self._tolerance, self._read = expected, tolerance, read

    def judge(self, actual: Value) -> Outcome:
        """Whether the angle lies within the tolerance."""
        number = self._read(actual) if isinstance(actual, str) else actual
        if not is_number(number):
            return FORMAT
        turn = EXACT.remainder(EXACT.abs(EXACT.subtract(number, self._expected)), _FULL_CIRCLE)  # type: ignore[arg-type]
        return CORRECT if min(turn, EXACT.subtract(_FULL_CIRCLE, turn)) <= self._tolerance else WRONG


class Boolean:
    """By a closed table of words and the numbers 1 and 0."""

    __slots__ = ("_expected", "_false", "_true")

    def __init__(self, expected: bool, true_words: frozenset[str], false_words: frozenset[str]) -> None:
        self._expected, self._true, self._false = expected, true_words, false_words

    def judge(self, actual: Value) -> Outcome:
        """Whether it says the same."""
        given = read_boolean(actual, self._true, self._false)
        if given is None:
            return FORMAT
        return CORRECT if given is self._expected else WRONG


class Date:
    """The same day, each side by the first format that fits it."""

    __slots__ = ("_expected", "_formats")

    def __init__(self, expected: datetime, formats: tuple[str, ...]) -> None:
        self._expected, self._formats = expected, formats

    def judge(self, actual: Value) -> Outcome:
        """Whether it is the same day."""
        given = read_date(actual, self._formats)
        if given is None:
            return FORMAT
        return CORRECT if given == self._expected else WRONG


class Sequence:
    """A list of scalars as one attribute: in order, or as a multiset."""

    __slots__ = ("_empty", "_expected", "_ordered")

    def __init__(self, expected: list[Comparison | None], ordered: bool, empty: Emptiness) -> None:
        self._expected, self._ordered, self._empty = expected, ordered, empty

    def judge(self, actual: Value) -> Outcome:
        """Whether the items are the same."""
        if not isinstance(actual, list) or any(isinstance(item, dict) for item in actual):
            return FORMAT
        if len(actual) != len(self._expected):
            return WRONG
        if self._ordered or len(actual) > _MAX_UNORDERED:
            return CORRECT if all(map(self._suits, self._expected, actual)) else WRONG
        choices = [
            [place for place, item in enumerate(actual) if self._suits(expected, item)] for expected in self._expected
        ]
        return CORRECT if pairs_up(choices, len(actual)) else WRONG

    def _suits(self, expected: Comparison | None, item: Value) -> bool:
        if expected is None or self._empty(item):
            return expected is None and self._empty(item)
        return expected.judge(item) == CORRECT


def comparison(value: Value, rule: FieldRule, rules: FieldRules, *, written: bool) -> tuple[Value, Comparison]:
    """The expected value as it is shown, and how to hold a given one against it. Raises TruthError.

    *written*: the value stood in a CSV file, so that its type has to be inferred where none is declared.
    """
    if isinstance(value, Unusable):
        raise TruthError(f"cannot be compared: {value.reason}", value.literal)
    if isinstance(value, list):
        shown_items: list[Value] = []
        items: list[Comparison | None] = []
        for item in value:
            shown, compare = (item, None) if rules.empty(item) else comparison(item, rule, rules, written=written)
            shown_items.append(shown)
            items.append(compare)
        return shown_items, Sequence(items, rule.ordered, rules.empty)
    if isinstance(value, dict):
        raise TruthError("is a list of lists with an object inside")
    shown, compare = _scalar_comparison(value, rule, rules, written=written)
    if rules.mapping.equality == "strict":
        if rule.type == "string":
            shown = str(shown)
        return shown, Identical(shown)
    return shown, compare


def _scalar_comparison(
    value: bool | int | Decimal | str | None, rule: FieldRule, rules: FieldRules, *, written: bool
) -> tuple[Value, Comparison]:
    if rule.type is not None:
        return _declared_comparison(value, rule, rules)
    if written and isinstance(value, str):
        return _inferred_comparison(value, rule, rules)
    if isinstance(value, bool):
        return value, Boolean(value, rules.true_words, rules.false_words)
    if isinstance(value, str):
        return value, Text(value)
    assert value is not None
    return value, Numeric(value, _absolute_tolerance(value, rule), coerced_number if rule.coerce else _never)


def _declared_comparison(
    value: bool | int | Decimal | str | None, rule: FieldRule, rules: FieldRules
) -> tuple[Value, Comparison]:
    kind = rule.type
    if kind == "string":
        if isinstance(value, bool):
            raise TruthError("is no text", str(value).lower())
        return value, Text(value if isinstance(value, str) else str(value))
    if kind == "boolean":
        boolean = read_boolean(value, rules.true_words | _YES, rules.false_words | _NO)
        if boolean is None:
            raise TruthError("is neither true nor false", value)
        return boolean, Boolean(boolean, rules.true_words, rules.false_words)
    if kind == "date":
        day = read_date(value, rule.formats)
        if day is None:
            raise TruthError(f"fits none of the date formats {', '.join(rule.formats)}", value)
        return value, Date(day, rule.formats)
    number = coerced_number(value) if isinstance(value, str) else value
    if number is None or isinstance(number, bool):
        raise TruthError("is no number", value)
    read = coerced_number if rule.coerce else _never
    if kind == "angle":
        return number, Angle(number, _absolute_tolerance(number, rule), read)
    exact = kind == "integer" and rule.exact_integer
    return number, Numeric(number, 0 if exact else _absolute_tolerance(number, rule), read)


def _inferred_comparison(value: str, rule: FieldRule, rules: FieldRules) -> tuple[Value, Comparison]:
    number = plain_number(value)
    if number is None and rule.coerce and not _ZEROS.match(value):
        number = coerced_number(value)
    if number is not None:
        return number, Numeric(
            number, _absolute_tolerance(number, rule), coerced_number if rule.coerce else plain_number
        )
    word = normalise(value)
    if word in ("true", "false"):
        return word == "true", Boolean(word == "true", rules.true_words, rules.false_words)
    return value, Text(value, inferred=True)


def read_boolean(value: Value, true_words: frozenset[str], false_words: frozenset[str]) -> bool | None:
    """The closed table: a boolean, 1 or 0, or one of the words; None for anything else."""
    if isinstance(value, bool):
        return value
    if is_number(value):
        return None if value not in (0, 1) else value == 1
    if not isinstance(value, str):
        return None
    word = normalise(value)
    if word in true_words:
        return True
    return False if word in false_words else None


def read_date(value: Value, formats: tuple[str, ...]) -> datetime | None:
    """The date by the first format that fits; None if none does. Nothing is guessed."""
    if is_number(value):
        value = str(value)
    return _parsed_date(value, formats) if isinstance(value, str) and len(value) <= 200 else None


@lru_cache(maxsize=4_096)
def _parsed_date(text: str, formats: tuple[str, ...]) -> datetime | None:
    """Reading a date costs more than all else about it, and outputs of one eval repeat the same few."""
    for date_format in formats:
        try:
            return datetime.strptime(text.strip(), date_format)
        except (ValueError, OverflowError, re.error):
            continue
    return None


def _absolute_tolerance(expected: Number, rule: FieldRule) -> Decimal:
    share = EXACT.scaleb(EXACT.multiply(rule.percent, EXACT.abs(Decimal(expected))), -2)
    return max(share, rule.absolute)


def _never(_: str) -> None:
    """A number that a mapping, a schema or a JSON or YAML truth states is never read out of a text."""
