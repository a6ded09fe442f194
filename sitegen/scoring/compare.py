"""Compares an actual value with an expected one (rules 10 to 16): by equality, then by type, then by value.

``comparison`` turns an expected value into a function, which then judges the values of all outputs. The function is
called only with values that are not empty.
"""

import re
from collections.abc import Callable, Set
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Final, TypeAlias

from sitegen.model.outcomes import Outcome, Unusable, Value
from sitegen.scoring.rules import FieldRule
from sitegen.scoring.values import EXACT, Number, coerced_number, is_number, number_readings, plain_number, spells
from sitegen.stats.assignment import pairs_up
from sitegen.text.similarity import normalise

_CORRECT: Final = "correct"
WRONG: Final = "wrong_value"
_FORMAT: Final = "format_error"

_YES: Final = frozenset({"yes", "y"})
_NO: Final = frozenset({"no", "n"})
_NOTHING: Final = frozenset({"n/a", "na", "none", "-"})
"""What people write into a cell of a table if there is nothing to write."""
_FULL_CIRCLE: Final = Decimal(360)
_MAX_UNORDERED: Final = 300  # items of a list that are compared in any order; longer ones are compared in theirs
_ZEROS: Final = re.compile(r"\s*0[0-9]")
"""Digits that begin with a zero, such as a zip code: coercion alone does not turn them into a number."""
_WITH_UNIT: Final = re.compile(r"[-+−]?[0-9][0-9.,]*\s?[^0-9\s]{1,6}(\s[^0-9\s]{1,4})?")
"""A number and a unit or the like after it: ``12 ft``, ``90°``, ``1.000 sq ft``."""

Comparison: TypeAlias = Callable[[Value], Outcome | None]
"""Judges an actual value: ``correct``, ``wrong_value`` or ``format_error``; None if the expected value is at fault."""
NumberReader: TypeAlias = Callable[[str], Number | None]


class TruthError(ValueError):
    """An expected value cannot be read as its declared type, so that it is reported and not scored."""

    def __init__(self, why: str, value: Value = None) -> None:
        super().__init__(why)
        self.value = "" if value is None else repr(str(value)[:80])
        """The quoted value. The reason never contains it, so that redaction can remove it."""


def comparison(
    value: Value, rule: FieldRule, marks: Set[str] | None = None, *, typed: bool = False
) -> tuple[Value, Comparison, Outcome]:
    """Make the function that judges actual values by an expected one. Raises TruthError.

    Returns the value in the form of pages, where numbers are numbers whatever the format of the file, the function, and
    the outcome of an output without the value.

    ``marks``: the decimal marks that the column of a CSV file proves, whose undeclared types have to be inferred; None
    for a value of any other file. ``typed``: whether people typed the value into YAML, where ``yes`` is a text.
    """
    if isinstance(value, Unusable):
        raise TruthError(f"cannot be compared: {value.reason}", value.literal)
    if isinstance(value, list):
        items = [None if rule.words.empty(item) else comparison(item, rule, marks, typed=typed) for item in value]
        values = [item[0] if item else empty for item, empty in zip(items, value, strict=True)]
        return values, _is_list([item and item[1] for item in items], rule), "omission"
    if isinstance(value, dict):
        raise TruthError("is a list of lists with an object inside")
    is_cell = marks is not None and isinstance(value, str)
    if is_cell and rule.type != "string" and normalise(str(value)) in _NOTHING:
        # Any other value makes it doubtful what the ground truth expects.
        return value, lambda it: _CORRECT if type(it) is str and normalise(it) in _NOTHING else None, "true_negative"
    judge: Comparison
    expected: Value = value
    if rule.type is not None:
        expected, judge = _declared_comparison(value, rule, marks or frozenset())
    elif marks is not None and isinstance(value, str):
        expected, judge = _inferred_comparison(value, rule, marks)
    elif isinstance(value, bool):
        judge = _is_read_as(value, rule.words.boolean)
    elif isinstance(value, str):
        judge = _is_word(value, rule) if typed else _is_text(value)
    else:
        assert value is not None
        judge = _is_number(value, rule)
    if rule.is_strict:
        if rule.type == "string":
            expected = str(expected)
        if marks is not None and rule.type is None and isinstance(expected, str):
            judge = _is_as_typed(expected, rule, marks, _is_identical)
        else:
            judge = _is_identical(expected)
    return expected, judge, "omission"


def _declared_comparison(
    value: bool | int | Decimal | str | None, rule: FieldRule, marks: Set[str]
) -> tuple[Value, Comparison]:
    if rule.type == "string":
        if isinstance(value, bool):
            raise TruthError("is not text", str(value).lower())
        return value, _is_text(value if isinstance(value, str) else str(value))
    if rule.type == "boolean":
        boolean = _meant_boolean(value, rule)
        if boolean is None:
            raise TruthError("is neither true nor false", value)
        return boolean, _is_read_as(boolean, rule.words.boolean)
    if rule.type == "date":
        day = read_date(value, rule.formats)
        if day is None:
            raise TruthError(f"fits none of the date formats {', '.join(rule.formats)}", value)
        return value, _is_read_as(day, partial(read_date, formats=rule.formats))
    numbers = _readings(value, marks) if isinstance(value, str) else [value] if is_number(value) else []
    if not numbers:
        raise TruthError("is not a number", value)
    return numbers[0], _is_first_of([_is_number(number, rule) for number in numbers])


def _readings(text: str, marks: Set[str]) -> list[Number]:
    """Return the distinct numbers that a text may mean: by the decimal mark that its column proves, else by each."""
    by_mark = number_readings(text)
    proven = [by_mark[mark] for mark in marks & by_mark.keys()] if len(marks) == 1 else []
    return proven or list(dict.fromkeys(by_mark.values()))


def _inferred_comparison(value: str, rule: FieldRule, marks: Set[str]) -> tuple[Value, Comparison]:
    plain = plain_number(value)
    numbers = [] if _ZEROS.match(value) else _readings(value, marks)
    if plain is not None and "," not in marks:
        numbers = [plain]
    if numbers and (rule.coerce or (plain is not None and len(numbers) == 1)):
        return numbers[0], _is_first_of([_is_number(number, rule, plain_number) for number in numbers])
    word = normalise(value)
    if word in ("true", "false"):
        return word == "true", _is_read_as(word == "true", rule.words.boolean)

    def judged_as(typed: Value) -> Comparison:
        if isinstance(typed, bool):
            return _is_read_as(typed, rule.words.boolean)
        return _is_text(value, inferred=True) if isinstance(typed, str) else _is_number(typed, rule)  # type: ignore[arg-type]

    return value, _is_as_typed(value, rule, marks, judged_as)


def _is_first_of(judges: list[Comparison]) -> Comparison:
    """Compare with the first reading of a number; where only another one is right, the truth is doubtful."""
    first, *others = judges

    def judge(actual: Value) -> Outcome | None:
        outcome = first(actual)
        return None if outcome == WRONG and any(other(actual) == _CORRECT for other in others) else outcome

    return judge if others else first


def _is_as_typed(cell: str, rule: FieldRule, marks: Set[str], judged_as: Callable[[Value], Comparison]) -> Comparison:
    """Compare with the text of a cell; where the output has a boolean or a number, with the one that people mean by it.

    ``Yes`` is true beside a boolean, and ``$1,200.50`` is 1200.5 beside a number. A number beside a cell that has
    several readings or a unit makes the cell doubtful.
    """
    as_text, boolean = judged_as(cell), _meant_boolean(cell, rule)
    as_boolean = as_text if boolean is None else judged_as(boolean)
    as_numbers = [] if _ZEROS.match(cell) else [judged_as(number) for number in _readings(cell, marks)]
    is_doubtful = len(as_numbers) > 1 or (not as_numbers and _WITH_UNIT.fullmatch(cell.strip()) is not None)
    if boolean is None and not as_numbers and not is_doubtful:
        return as_text  # most cells of most files are nothing but text

    def judge(actual: Value) -> Outcome | None:
        if isinstance(actual, bool):
            return as_boolean(actual)
        if not is_number(actual):
            return as_text(actual)
        outcomes = {as_number(actual) for as_number in as_numbers or [as_text]}
        return None if is_doubtful and outcomes != {_CORRECT} else outcomes.pop()

    return judge


def doubt(expected: Value) -> tuple[str, str]:
    """Why a comparison with this expected value returned None, and what to do about it."""
    texts = [text for text in (expected if isinstance(expected, list) else [expected]) if isinstance(text, str)]
    if any(normalise(text) in _NOTHING for text in texts):
        return (
            "has a word for nothing, and the output has a value",
            "Leave the cell blank or list the word in null_values if nothing is expected; declare `type: string` if "
            "the word is.",
        )
    if any(map(number_readings, texts)):
        return (
            "has a number that can be read in two ways",
            "Write it with a decimal point and without any other separator, as in 1200 or 1.2.",
        )
    return (
        "has a number with something after it, and the output has a number",
        "Write the number alone; declare `type: string` if the text is expected.",
    )


def _is_text(expected: str, *, inferred: bool = False) -> Comparison:
    """Compare texts after normalising. ``inferred``: the text is not declared, so an equal number is correct too."""
    return partial(_judged_text, expected, normalise(expected), inferred)  # takes half the memory of an inner function


def _judged_text(expected: str, normalised: str, inferred: bool, actual: Value) -> Outcome:
    if isinstance(actual, str):
        return _CORRECT if actual == expected or normalise(actual) == normalised else WRONG
    return _CORRECT if inferred and is_number(actual) and spells(normalised, actual) else _FORMAT


def _is_word(expected: str, rule: FieldRule) -> Comparison:
    """Compare with a text of YAML; where the output has a boolean, with the one that people mean by ``yes``."""
    as_text, boolean = _is_text(expected), _meant_boolean(expected, rule)
    if boolean is None or number_readings(expected):
        return as_text
    as_boolean = _is_read_as(boolean, rule.words.boolean)
    return lambda actual: (as_boolean if isinstance(actual, bool) else as_text)(actual)


def _is_identical(expected: Value) -> Comparison:
    """Compare by type and value (``equality: strict``). JSON has one type of number: 12 and 12.0 are equal."""

    def judge(actual: Value) -> Outcome:
        if is_number(actual) != is_number(expected):
            return _FORMAT
        if not is_number(actual) and type(actual) is not type(expected):
            return _FORMAT
        return _CORRECT if actual == expected else WRONG

    return judge


def _is_number(expected: Number, rule: FieldRule, read: NumberReader | None = None) -> Comparison:
    """Accept numbers within ``max(percent / 100 * |expected|, absolute)``, both ends included.

    The distance of angles, in degrees, is the shorter way round the circle. ``read``: reads numbers in texts: without
    ``coerce``, a text does not match a number of a mapping, a schema, JSON or YAML.
    """
    if rule.coerce:
        read = coerced_number
    tolerance: Decimal | None = None

    def judge(actual: Value) -> Outcome:
        nonlocal tolerance
        kind = type(actual)
        if kind is not int and kind is not Decimal:
            number = read(actual) if read and isinstance(actual, str) else None
            if number is None:
                return _FORMAT
            actual = number
        if actual == expected:
            return _CORRECT
        if tolerance is None:  # as for most values, which the outputs of a history have as expected or not at all
            tolerance = max(EXACT.scaleb(EXACT.multiply(rule.percent, EXACT.abs(Decimal(expected))), -2), rule.absolute)
        distance = EXACT.abs(EXACT.subtract(actual, expected))  # type: ignore[arg-type]
        if rule.type == "angle":
            turn = EXACT.remainder(distance, _FULL_CIRCLE)
            distance = min(turn, EXACT.subtract(_FULL_CIRCLE, turn))
        return _CORRECT if distance <= tolerance else WRONG

    return judge


def _is_read_as(expected: bool | datetime, read: Callable[[Value], bool | datetime | None]) -> Comparison:
    """Compare booleans by a table of words and the numbers 1 and 0, and days by the first format that fits."""

    def judge(actual: Value) -> Outcome:
        found = read(actual)
        if found is None:
            return _FORMAT
        return _CORRECT if found == expected else WRONG

    return judge


def _is_list(expected: list[Comparison | None], rule: FieldRule) -> Comparison:
    """Compare a list of scalars as one attribute, in order or as a multiset. None stands for an empty item."""

    def outcome(judge_item: Comparison | None, item: Value) -> Outcome | None:
        if judge_item is None or rule.words.empty(item):
            return _CORRECT if judge_item is None and rule.words.empty(item) else WRONG
        return judge_item(item)

    def judge(actual: Value) -> Outcome | None:
        if not isinstance(actual, list) or any(isinstance(item, dict) for item in actual):
            return _FORMAT
        if len(actual) != len(expected):
            return WRONG

        def all_are(*outcomes: Outcome | None) -> bool:
            if rule.ordered or len(actual) > _MAX_UNORDERED:
                return all(outcome(each, item) in outcomes for each, item in zip(expected, actual, strict=True))
            choices = [
                [place for place, item in enumerate(actual) if outcome(each, item) in outcomes] for each in expected
            ]
            return pairs_up(choices, len(actual))

        if all_are(_CORRECT):
            return _CORRECT
        return None if all_are(_CORRECT, None) else WRONG

    return judge


def _meant_boolean(cell: Value, rule: FieldRule) -> bool | None:
    """Return the boolean that people mean by a cell, for which they have more words than outputs do."""
    word = normalise(cell) if isinstance(cell, str) else ""
    if word in _YES:
        return True
    boolean = rule.words.boolean(cell)
    return False if boolean is None and word in _NO else boolean


def read_date(value: Value, formats: tuple[str, ...]) -> datetime | None:
    """Return the date in the first format that fits; None if none does."""
    if is_number(value):
        value = str(value)
    if not isinstance(value, str) or len(value) > 200:
        return None
    for date_format in formats:
        try:
            text = value.strip()
            # ``strptime`` is slow to import, and takes fifty times as long for the usual format.
            if date_format == "%Y-%m-%d" and len(text) == 10 and text.isascii() and text[4] == text[7] == "-":
                return datetime.fromisoformat(text)
            return datetime.strptime(text, date_format)
        except (ValueError, OverflowError, re.error):
            continue
    return None
