"""Finds what wrong values have in common: a currency sign, another order of day and month, a truncated text.

A pattern is recognised from the expected and the actual value alone, or also from neighbouring values. It reports the
scores that would result if its errors were right. Nothing is scored again: the counts of these errors become true
positives. Every error belongs to at most one pattern, the first in the table that matches.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, DecimalException
from functools import lru_cache
from typing import Final

from sitegen.model.frozen import grouped
from sitegen.model.metrics import Convention, Counts
from sitegen.model.outcomes import REDACTED, Judgement
from sitegen.text.plain import normal_form
from sitegen.text.values import as_text

FEWEST: Final = 3
"""Smallest number of errors of a pattern; fewer may be alike by chance."""

_EXAMINED: Final = ("wrong_value", "format_error")
_NESTED: Final = (list, dict)
_LONGEST: Final = 500  # longest value, in characters, that is examined
_NEAR: Final = Decimal("0.05")
"""Largest relative difference of a number that is rounded or truncated to a digit after the decimal point."""
_NEAR_TENS: Final = Decimal("0.01")
"""Largest relative difference of a number that is rounded to tens or more; nobody truncates to these."""

_CURRENCY: Final = re.compile(
    r"(?:US|CA|A)?[$€£¥₹₽₩₺₫₪฿]|\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|CNY|INR|SEK|NOK|DKK|PLN|MXN|BRL)\b", re.IGNORECASE
)
_GROUPED_BY_COMMA: Final = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_GROUPED_BY_POINT: Final = re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?")
_SPACES_IN_NUMBER: Final = re.compile(r"(?<=\d)['’ \u00a0\u202f](?=\d{3}(?!\d))")
_WITH_UNIT: Final = re.compile(r"([+-]?\d[\d.,]*)\s?((?:[^\W\d_]{1,6}\s)?[^\d\s.,]{1,12})?")
_DATE: Final = re.compile(r"(\d{1,4})[-/. ](\d{1,2})[-/. ](\d{1,4})")
_DIGITS: Final = re.compile(r"\d+")
_WORD: Final = re.compile(r"[^\W_]+")
_INDEX: Final = re.compile(r"^(.*)\[(\d+)\]([^\[\]]*)$")


Explained = tuple[str, tuple[int, ...]]
"""The name of a rule, and the indices of the errors that it explains."""

Rule = Callable[[str, str], bool]
"""Decides whether a wrong value differs from the expected one only in this way; both are stripped texts."""


def error_patterns(wrong: Sequence[Judgement], judgements: Iterable[Judgement]) -> tuple[Explained, ...]:
    """Find the patterns of the errors ``wrong``, largest first, in time proportional to ``judgements``.

    Only wrong values and format errors are examined: a missing value cannot be compared with anything.
    """
    pairs = {
        index: pair
        for index, judgement in enumerate(wrong)
        if judgement.outcome in _EXAMINED and (pair := _texts(judgement))
    }
    if len(pairs) < FEWEST:
        return ()
    # Errors in two fields of one object, each of which has the value expected in the other; as a rule there are none.
    every = set(pairs.values())
    mirrored = {index: pair for index, pair in pairs.items() if pair[0] != pair[1] and pair[::-1] in every}
    objects = {index: (wrong[index].document, wrong[index].path.rpartition(".")[0]) for index in mirrored}
    places = {(*objects[index], *pair) for index, pair in mirrored.items()}
    swapped = {index for index, pair in mirrored.items() if (*objects[index], *pair[::-1]) in places}
    displaced = _displaced(wrong, pairs, judgements) - swapped
    by_name = grouped(
        (SWAPPED if index in swapped else OTHER_ITEM if index in displaced else pattern_of(*pair), index)
        for index, pair in pairs.items()
    )
    patterns = [(name, tuple(errors)) for name, errors in by_name.items() if name and len(errors) >= FEWEST]
    return tuple(sorted(patterns, key=lambda pattern: (-len(pattern[1]), pattern[0])))


def without_errors(counts: Counts, errors: Iterable[Judgement], convention: Convention) -> Counts:
    """Return the counts that would result if these wrong values and format errors were right."""
    types = Counter(error.outcome for error in errors)
    number = types.total()
    return counts._replace(
        tp=counts.tp + number,
        fp=counts.fp - number,
        fn=counts.fn - (0 if convention == "omissions_only" else number),
        wrong_value=counts.wrong_value - types["wrong_value"],
        format_error=counts.format_error - types["format_error"],
    )


@lru_cache(maxsize=8192)
def pattern_of(expected: str, actual: str) -> str | None:
    """Return the name of the first rule that explains the difference of two texts."""
    return next((name for name, rule in RULES if rule(expected, actual)), None)


def _texts(judgement: Judgement) -> tuple[str, str] | None:
    """Return the expected and the actual value as text; None unless both exist, can be compared and differ.

    Two equal texts are those of an answer in which something else is wrong: a check failed.
    """
    expected, actual = judgement.expected, judgement.actual
    if expected is None or actual is None or isinstance(expected, _NESTED) or isinstance(actual, _NESTED):
        return None
    left, right = as_text(expected).strip(), as_text(actual).strip()
    if left == right and isinstance(expected, str) and isinstance(actual, str):
        return None
    if REDACTED in (expected, actual) or not (0 < len(left) <= _LONGEST and 0 < len(right) <= _LONGEST):
        return None
    return left, right


def _displaced(
    wrong: Sequence[Judgement], pairs: dict[int, tuple[str, str]], judgements: Iterable[Judgement]
) -> set[int]:
    """Return errors of list items whose wrong values, at least two, are all expected in the same neighbouring item."""
    matches = ((index, _INDEX.match(wrong[index].path)) for index in pairs)
    items = (((wrong[index].document, at[1], int(at[2])), (index, at[3])) for index, at in matches if at)
    by_item = {item: errors for item, errors in grouped(items).items() if len(errors) > 1}
    places = {
        (document, f"{of_list}[{number + step}]{below}")
        for (document, of_list, number), errors in by_item.items()
        for _, below in errors
        for step in (-1, 1)
    }
    expected = {
        (judgement.document, judgement.path): as_text(judgement.expected).strip()
        for judgement in (judgements if places else ())
        if judgement.expected is not None and (judgement.document, judgement.path) in places
    }
    displaced: set[int] = set()
    for (document, of_list, number), errors in by_item.items():
        for step in (-1, 1):
            neighbour = f"{of_list}[{number + step}]"
            if all(expected.get((document, neighbour + below)) == pairs[index][1] for index, below in errors):
                displaced.update([index for index, _ in errors])
    return displaced


def is_other_type(expected: str, actual: str) -> bool:
    """Same value as another type: ``12`` and ``"12"``, or ``true`` and ``"True"``."""
    return expected == actual or expected.casefold() == actual.casefold() in ("true", "false")


def is_currency(expected: str, actual: str) -> bool:
    """Decide whether a currency sign or code is on one side only, or is a different one."""
    if _CURRENCY.findall(expected) == _CURRENCY.findall(actual):
        return False
    left, right = (_CURRENCY.sub("", text).strip() for text in (expected, actual))
    return bool(left and right) and (left.casefold() == right.casefold() or is_separator(left, right))


def is_separator(expected: str, actual: str) -> bool:
    """Same digits with other separators of thousands or decimals: a number that both texts may be, however read."""
    return not _readings(expected).isdisjoint(_readings(actual))


def is_date_order(expected: str, actual: str) -> bool:
    """Day, month and year in another order, or day and month swapped."""
    left, right = _date(expected), _date(actual)
    return left is not None and left == right


def is_unit(expected: str, actual: str) -> bool:
    """Same number with a different unit or suffix, or with a unit on one side only."""
    left, right = _WITH_UNIT.fullmatch(expected), _WITH_UNIT.fullmatch(actual)
    return bool(left and right) and left[2] != right[2] and is_separator(left[1], right[1])  # type: ignore[index]


def is_case(expected: str, actual: str) -> bool:
    """Same letters and digits with different case, spaces or punctuation."""
    left, right = (_WORD.findall(normal_form(text, "NFKC").casefold()) for text in (expected, actual))
    same_digits = _DIGITS.findall(expected) == _DIGITS.findall(actual)
    has_words = None in (_number(expected), _number(actual))  # the sign of a number is no punctuation
    return bool(left) and "".join(left) == "".join(right) and same_digits and has_words


def is_rounded(expected: str, actual: str) -> bool:
    """Decide whether one number is the other number, rounded or truncated to fewer digits."""
    left, right = _number(expected), _number(actual)
    if left is None or right is None or abs(left - right) > _NEAR * max(abs(left), abs(right)):
        return False
    return _is_rounding_of(left, right) or _is_rounding_of(right, left)


def is_decimal_point(expected: str, actual: str) -> bool:
    """Same digits, at least two, with the decimal point at another place."""
    left, right = _number(expected), _number(actual)
    if left is None or right is None or left == right:
        return False
    first, second = left.normalize().as_tuple(), right.normalize().as_tuple()
    return len(first.digits) > 1 and first[:2] == second[:2]


def is_abbreviation(expected: str, actual: str) -> bool:
    """Same words, some of them abbreviated on one side; or one side is the first letters of all words."""
    left, right = _WORD.findall(expected.casefold()), _WORD.findall(actual.casefold())
    if len(left) == len(right):
        differ = [words for words in zip(left, right, strict=True) if words[0] != words[1]]
        return bool(differ) and all(_abbreviates(*sorted(words, key=len)) for words in differ)
    short, long = sorted((left, right), key=len)
    return len(short) == 1 and len(short[0]) > 1 and short[0] == "".join(word[0] for word in long)


def is_cut(expected: str, actual: str) -> bool:
    """Decide whether one text, of four letters or more, is the beginning of the other."""
    short, long = sorted((text.casefold().rstrip(" .…") for text in (expected, actual)), key=len)
    return len(short) > 3 and not short[-1].isdigit() and long.startswith(short)


SWAPPED: Final = "two fields swapped"
OTHER_ITEM: Final = "the values of the item before or after"
ROUNDING: Final = "rounding"

RULES: Final[tuple[tuple[str, Rule], ...]] = (
    ("the right value as another type", is_other_type),
    ("a currency sign", is_currency),
    ("a separator of thousands or decimals", is_separator),
    ("the order of day and month", is_date_order),
    ("a unit or a suffix after the number", is_unit),
    ("upper case, spaces or punctuation", is_case),
    (ROUNDING, is_rounded),
    ("the place of the decimal point", is_decimal_point),
    ("an abbreviation", is_abbreviation),
    ("a text cut short or continued", is_cut),
)
"""Names and rules in the order in which they are tried: rules that explain a difference exactly come first."""


def _readings(text: str) -> set[Decimal]:
    digits = _SPACES_IN_NUMBER.sub("", text)
    readings = set()
    if _GROUPED_BY_COMMA.fullmatch(digits):
        readings.add(Decimal(digits.replace(",", "")))
    if _GROUPED_BY_POINT.fullmatch(digits):
        readings.add(Decimal(digits.replace(".", "").replace(",", ".")))
    return readings


def _number(text: str) -> Decimal | None:
    digits = _SPACES_IN_NUMBER.sub("", text)
    return Decimal(digits.replace(",", "")) if _GROUPED_BY_COMMA.fullmatch(digits) else None


def _is_rounding_of(exact: Decimal, rounded: Decimal) -> bool:
    fewer = rounded.normalize().as_tuple().exponent
    if not isinstance(fewer, int) or not isinstance(exponent := exact.normalize().as_tuple().exponent, int):
        return False
    tens = fewer > 0
    if exponent >= fewer or (tens and abs(exact - rounded) > _NEAR_TENS * abs(exact)):
        return False
    ways = (ROUND_HALF_UP, ROUND_HALF_EVEN) if tens else (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_DOWN)
    try:
        return any(exact.quantize(Decimal(1).scaleb(fewer), way) == rounded for way in ways)
    except DecimalException:  # more digits than decimal arithmetic supports
        return False


def _date(text: str) -> tuple[int, tuple[int, int]] | None:
    """Return the year, and day and month in ascending order; None if the text is not a date."""
    parts = _DATE.fullmatch(text)
    if parts is None:
        return None
    first, middle, last = parts.groups()
    if len(first) == len(last) or 4 not in (len(first), len(last)):
        return None
    year, other = (first, last) if len(first) == 4 else (last, first)
    low, high = sorted((int(middle), int(other)))
    return (int(year), (low, high)) if 1 <= low <= 12 and high <= 31 else None


def _abbreviates(short: str, long: str) -> bool:
    """Decide whether the letters of one word occur in the other in the same order, starting with its first letter."""
    if not (short[0] == long[0] and len(short) < len(long) and short.isalpha() and long.isalpha()):
        return False
    letters = iter(long)
    return all(letter in letters for letter in short)
