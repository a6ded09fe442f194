"""Shared parts of the readers of data files: results and errors, and reading of text and numbers within bounds."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from sitegen.model.outcomes import Unusable, Value
from sitegen.model.problems import Finding

Location: TypeAlias = tuple[str | int, ...]
"""The keys and indices that lead to a value, outermost first."""

MAX_DEPTH: Final = 100
"""Largest number of levels of nested containers; the same on every version of Python."""

MAX_CONFIGURING_BYTES: Final = 1_000_000
"""Largest number of bytes of a configuration."""

DUPLICATE_KEY: Final = "A key occurs twice in one object; the last one counts"
"""The message of the readers of JSON and YAML; the key itself is the value of the finding."""

MAX_DIGITS: Final = 400
"""The greatest length of a number's literal, and of its part before or after the decimal point, that is read."""

_MAX_REMEMBERED: Final = 16_384
_MAX_LITERAL: Final = 40
"""Number of cached numbers, and the largest length of their literals."""


class UnreadableError(Exception):
    """A file cannot be read in its format. Becomes a finding; never leaves scoring or configuring."""

    def __init__(self, message: str, fix: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.line = line

    def finding(self, subject: str, about: Literal["output", "ground_truth", "settings"] = "output") -> Finding:
        """The error as a finding: "The output cannot be read: it is empty", where *subject* is "The output"."""
        message = f"{subject} cannot be read: {self.message}"
        return Finding(severity="error", message=message, fix=self.fix, line=self.line, about=about)


def text_of(content: bytes) -> str:
    """Decode UTF-8, with or without a byte order mark. Raises UnreadableError."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableError("it is not UTF-8 text", "Save the file as UTF-8.", line) from None


def too_deep(line: int | None = None) -> UnreadableError:
    """The error about a file whose values are nested deeper than ``MAX_DEPTH``."""
    return UnreadableError(f"it is nested deeper than {MAX_DEPTH} levels", "Write it flatter.", line)


def check_depth(value: Value) -> None:
    """Refuse values nested deeper than ``MAX_DEPTH``, level by level and without recursion."""
    level: list[Value] = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[Value] = []
        for container in level:
            if isinstance(container, dict):
                below.extend(container.values())
            elif isinstance(container, list):
                below.extend(container)
        if not below:
            return
        level = below
    raise too_deep()


def integer(literal: str) -> int | Unusable:
    """Read the digits of a whole number."""
    if len(literal) > MAX_DIGITS:
        return Unusable(literal[:80], "a number of too many digits")
    return int(literal)


def fraction(literal: str) -> Decimal | Unusable:
    """Read a number with a fraction or an exponent, keeping its spelling."""
    try:
        number = Decimal(literal) if len(literal) <= MAX_DIGITS else None
    except decimal.InvalidOperation:
        number = None
    if number is None or not number.is_finite() or abs(number.adjusted()) > MAX_DIGITS:
        return Unusable(literal[:80], "a number beyond every range")
    return number


def constant(literal: str) -> Unusable:
    """NaN, Infinity and -Infinity, which Python's reader allows."""
    return Unusable(literal, "not a number")


class NumberLiterals(dict[str, int | Decimal | Unusable]):
    """Numbers by their literals, parsed on first use. Outputs repeat them, and a look-up costs a tenth of parsing."""

    def __init__(self, read: Callable[[str], int | Decimal | Unusable]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, literal: str) -> int | Decimal | Unusable:
        number = self._read(literal)
        if len(literal) <= _MAX_LITERAL:
            if len(self) >= _MAX_REMEMBERED:
                self.clear()
            self[literal] = number
        return number


INTEGERS: Final = NumberLiterals(integer)
FRACTIONS: Final = NumberLiterals(fraction)
