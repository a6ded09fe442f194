"""Reads single values: numbers, numbers in texts, and empty values (rules 3, 10, 12, 14)."""

import decimal
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Final, TypeAlias, TypeGuard

from sitegen.data_files.reading import MAX_DIGITS, fraction, integer
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Unusable, Value
from sitegen.text.similarity import normalise

Number: TypeAlias = int | Decimal

EXACT: Final = decimal.Context(prec=2_000, Emax=999_999, Emin=-999_999)
"""Arithmetic without rounding, for all numbers that the readers accept."""

_PLAIN: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_LITERAL: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_SPACES: Final = " \u00a0\u2007\u2009\u202f'’"
"""Between groups of three digits, besides the comma or the point that is no decimal mark."""
_BY_DECIMAL_MARK: Final = {
    mark: re.compile(
        rf"(?:[0-9]+|[1-9][0-9]{{0,2}}(?P<gap>[{other}{_SPACES}])[0-9]{{3}}(?:(?P=gap)[0-9]{{3}})*{lakhs})?"
        rf"(?:[{mark}][0-9]+)?"
    )
    for mark, other, lakhs in ((".", ",", "|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"), (",", ".", ""))
}
_CURRENCY: Final = (
    r"(?:(?:US|CA|AU|NZ|HK|SG|[ARSC])?\$|[€£¥₹₩₽₺₫₪฿₴]|euros?|dollars?|pounds?|francs?|kr\.?|fr\.|rs\.?|zł|kč"
    r"|AED|ARS|AUD|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KRW|MXN|MYR|NOK|NZD|PHP|PLN|RON"
    r"|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD|VND|ZAR)"
)
_TYPED: Final = re.compile(
    rf"(?P<bracket>\()?\s*(?P<sign>[-+−]?)\s*{_CURRENCY}?\s*(?P<inner>[-+−]?)(?P<digits>[0-9.,]([0-9.,{_SPACES}]*[0-9])?)"
    rf"\s*{_CURRENCY}?\s*(?:%|per ?cent)?\s*(?(bracket)\))",
    re.IGNORECASE,
)
_LONGEST_TYPED: Final = 100  # characters


def plain_number(text: str) -> Number | None:
    """Read a number in its plain spelling, ``12`` or ``-0.5``; not ``007``, ``1e3`` or ``1,200``."""
    stripped = text.strip()
    return _usable(stripped) if _PLAIN.fullmatch(stripped) else None


def coerced_number(text: str) -> Number | None:
    """Read a number in common spellings: ``$1,200.00``, ``12%`` (12, never 0.12), ``(123)`` (-123), ``+5``.

    None for ``1.200,00`` and ``12,5``: a comma is never taken for a decimal mark.
    """
    return number_readings(text).get(".")


def number_readings(text: str) -> dict[str, Number]:
    """Return the number that a text means if the decimal mark is a point, and if it is a comma.

    ``1,200`` and ``1.200`` are a number by either, ``1.200,50`` and ``12,5`` by the comma alone.
    """
    stripped = text.strip()
    readings: dict[str, Number] = {}
    if _LITERAL.fullmatch(stripped) and (number := _usable(stripped)) is not None:
        readings["."] = number
    typed = _TYPED.fullmatch(stripped) if len(stripped) <= _LONGEST_TYPED else None
    signs = [typed[name] for name in ("bracket", "sign", "inner") if typed[name]] if typed else []
    if typed is None or len(signs) > 1:
        return readings
    for mark, form in _BY_DECIMAL_MARK.items():
        whole, found, fraction_part = typed["digits"].partition(mark)
        if mark in readings or not form.fullmatch(typed["digits"]):
            continue
        digits = "".join(filter(str.isdigit, whole)) or "0"
        number = _usable(f"{digits}.{fraction_part}" if found else digits)
        if number is not None:
            is_negative = signs not in ([], ["+"])
            readings[mark] = (-number if isinstance(number, int) else number.copy_negate()) if is_negative else number
    return readings


def decimal_mark(text: str) -> str:
    """Return the decimal mark of a text that is a number by one of them alone; empty if it proves none."""
    readings = number_readings(text) if "." in text or "," in text else {}
    return next(iter(readings)) if len(readings) == 1 else ""


def _usable(literal: str) -> Number | None:
    number = (integer if literal.lstrip("-").isdigit() else fraction)(literal)
    return None if isinstance(number, Unusable) else number


def spells(text: str, number: Number) -> bool:
    """Whether ``text`` (normalised) is the JSON literal of ``number``: ``12`` spells 12 and not 12.0."""
    if isinstance(number, int):
        return text == str(number)
    if len(text) > MAX_DIGITS or not _LITERAL.fullmatch(text) or text.lstrip("-").isdigit():
        return False
    written = fraction(text)
    return isinstance(written, Decimal) and written.as_tuple() == number.as_tuple()


def is_number(value: Value) -> TypeGuard[Number]:
    """Whether a value is an int or a Decimal; a boolean is never a number (rule 13)."""
    return type(value) is int or type(value) is Decimal


def is_same(value: Value, other: Value) -> bool:
    """Whether values are equal, with the same types, spellings and order on every level, and thus equal judgements."""
    return value is other or (value == other and (type(value) is type(other) is str or _has_form(value, other)))


def _has_form(value: Value, other: Value) -> bool:
    """Whether a value has the types, spellings and order of an equal one."""
    kind = type(value)
    if kind is not type(other):
        return False
    if isinstance(value, dict) and isinstance(other, dict):
        if list(value) != list(other):
            return False
        below: Iterable[tuple[Value, Value]] = zip(value.values(), other.values(), strict=True)
    elif isinstance(value, list) and isinstance(other, list):
        below = zip(value, other, strict=True)
    else:
        return kind is not Decimal or str(value) == str(other)
    # Most values are texts, of which equal ones need no call.
    return all(one is two or type(one) is type(two) is str or _has_form(one, two) for one, two in below)


class ValueWords(Frozen):
    """What values mean nothing, true and false in an eval. Words are normalised."""

    null_words: frozenset[str] = frozenset()
    null_numbers: frozenset[Number] = frozenset()
    true_words: frozenset[str] = frozenset({"true", "1"})
    false_words: frozenset[str] = frozenset({"false", "0"})

    def empty(self, value: Value) -> bool:
        """Whether a value is null, white space, a null value of the eval, or a list or object that holds only these."""
        if value is None:
            return True
        if isinstance(value, str):
            if not value or value.isspace():
                return True
            return bool(self.null_words or self.null_numbers) and (
                normalise(value) in self.null_words or plain_number(value) in self.null_numbers
            )
        if isinstance(value, list):
            return all(map(self.empty, value))
        if isinstance(value, dict):
            return all(map(self.empty, value.values()))
        return bool(self.null_numbers) and is_number(value) and value in self.null_numbers

    def boolean(self, value: Value) -> bool | None:
        """Return the boolean for a boolean, 1, 0 or one of the words; None for anything else."""
        if isinstance(value, bool):
            return value
        if is_number(value):
            return None if value not in (0, 1) else value == 1
        if not isinstance(value, str):
            return None
        word = normalise(value)
        if word in self.true_words:
            return True
        return False if word in self.false_words else None
