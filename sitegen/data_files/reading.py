"""Reads JSON, JSON Lines and CSV within bounds; results, errors and numbers are shared with the other readers."""

import codecs
import csv
import decimal
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain, islice, zip_longest
from posixpath import splitext
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from sitegen.model.outcomes import HALF, Unusable, Value
from sitegen.model.problems import Finding, Parsed

Location: TypeAlias = tuple[str | int, ...]
"""The keys and indices that lead to a value, outermost first."""

MAX_DEPTH: Final = 100
"""Largest number of levels of nested containers; the same on every version of Python."""

MAX_CONFIGURING_BYTES: Final = 1_000_000
"""Largest number of bytes of a configuration."""

DUPLICATE_KEY: Final = "A key occurs twice in one object; the last one counts"
"""The message of the readers of JSON and YAML; the key itself is the value of the finding."""

UNUSABLE: Final = "A value is {}, which nothing can be compared with"
"""The message about a number that nothing can be compared with."""
FINITE: Final = "Write a finite number, or null."

MAX_DIGITS: Final = 400
"""The greatest length of a number's literal, and of its part before or after the decimal point, that is read."""

_MAX_REMEMBERED: Final = 16_384
"""Number of cached numbers. Outputs repeat them, and a look-up costs a tenth of parsing."""


UNPACKER: Final = "zstandard"
"""The package that unpacks logs of Inspect, whose names end in .eval."""

MOST_ROWS: Final = 250_000
"""The most rows of one table."""


def installed_for(paths: Iterable[str]) -> str:
    """Name the installed package without which some files could not be read. Empty for most files.

    Scorecards of these files are stored by this name as well. A path may be a glob.
    """
    return UNPACKER if any(fnmatchcase("eval", ending(path)) for path in paths) and find_spec(UNPACKER) else ""


LINES: Final = ("jsonl", "ndjson")
"""Endings of JSON Lines."""
TWO_LINES: Final = rb"(?:\xef\xbb\xbf)?\s*\{[^\n]*\}\s*\n\s*\{"
"""Matches JSON Lines, whatever the ending of the file."""


def ending(path: str) -> str:
    """Return the ending of a file's name in lower case, without its dot; CSV with tabs between columns is CSV."""
    return splitext(path)[1][1:].lower().replace("tsv", "csv")


class UnreadableError(Exception):
    """A file cannot be read in its format. Becomes a finding; never leaves scoring or configuring."""

    def __init__(self, message: str, fix: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.line = line

    def finding(self, subject: str, about: Literal["output", "ground_truth", "settings"] = "output") -> Finding:
        """Return the error as a finding: "The output cannot be read: it is empty", if ``subject`` is "The output"."""
        message = f"{subject} cannot be read: {self.message}"
        return Finding(severity="error", message=message, fix=self.fix, line=self.line, about=about)


def text_of(content: bytes) -> str:
    """Decode UTF-8, with or without a byte order mark. Raises UnreadableError."""
    if b"\0" in content[:2]:  # UTF-16 without a mark
        raise UnreadableError("it is not UTF-8 text", "Save the file as UTF-8.", 1)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableError("it is not UTF-8 text", "Save the file as UTF-8, in Excel as CSV UTF-8.", line) from None


def too_deep(line: int | None = None) -> UnreadableError:
    """Return the error about a file whose values are nested deeper than ``MAX_DEPTH``."""
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


@lru_cache(_MAX_REMEMBERED)
def integer(literal: str) -> int | Unusable:
    """Read the digits of a whole number."""
    return Unusable(literal[:80], "a number of too many digits") if len(literal) > MAX_DIGITS else int(literal)


@lru_cache(_MAX_REMEMBERED)
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


def read_json(content: bytes) -> Parsed[Value]:
    """Parse one JSON value. Raises UnreadableError, never anything else.

    A byte order mark is accepted. Of duplicate keys the last wins. NaN, Infinity, numbers beyond
    every range and texts with lone surrogates become ``Unusable`` in their place; each is reported with its line.
    """
    return parse_json(text_of(content))


def split_json(content: bytes, *keys: str) -> tuple[bytes, list[msgspec.Raw]]:
    """Return a JSON object with an empty list where these keys lead to one, and the items of this list as they stand.

    All values of a large file at once take eight times as much memory as the file. A file that has no such list, or is
    no valid JSON, is returned as it is.
    """
    try:
        levels = [msgspec.json.decode(content.removeprefix(codecs.BOM_UTF8), type=dict[str, msgspec.Raw])]
        for key in keys[:-1]:
            levels.append(msgspec.json.decode(levels[-1][key], type=dict[str, msgspec.Raw]))
        found = msgspec.json.decode(levels[-1][keys[-1]], type=list[msgspec.Raw])
    except (msgspec.MsgspecError, KeyError, RecursionError):
        return content, []
    rest = b"[]"
    for level, key in zip(reversed(levels), reversed(keys), strict=True):
        rest = msgspec.json.encode({**level, key: msgspec.Raw(rest)})
    return rest, found


def parse_json(text: str, line: int = 1) -> Parsed[Value]:
    """Parse a text whose first line is ``line`` of its file. Raises UnreadableError."""
    if not text.strip():
        raise UnreadableError("it is empty", "Write a JSON object.", line)
    odd: list[Value] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(items)
        if len(members) != len(items):
            odd.append(members)
        return members

    try:
        value: Value = json.loads(
            text, parse_int=integer, parse_float=fraction, parse_constant=constant, object_pairs_hook=pairs
        )
    except json.JSONDecodeError as error:
        where = line + error.lineno - 1
        if re.match(TWO_LINES, text.encode(errors="replace")):
            fix = "End its name with .jsonl, or write the lines as one list."
            raise UnreadableError("it is JSON Lines, with a value on each line", fix, where) from None
        raise UnreadableError(
            f"it is not valid JSON: {error.msg.removesuffix(' at')} at line {where}, column {error.colno}",
            "Write valid JSON.",
            where,
        ) from None
    except RecursionError:
        raise too_deep(line) from None
    if text.count("{") + text.count("[") > MAX_DEPTH:
        check_depth(value)
    if "\\" in text and ("\\ud" in text or "\\uD" in text):  # two longer searches take a tenth of the parsing
        usable = _without_surrogates(value)
        odd += [usable] * (usable != value)
        value = usable
    is_odd: object = odd or "NaN" in text or "Infinity" in text or _EXPONENT.search(text)
    half = MAX_DIGITS // 2  # a longer number has so many digits from a multiple of it on
    is_odd = is_odd or any(text[at : at + half].isdigit() for at in range(0, len(text), half))
    return Parsed(value, tuple(oddities(text, line)) if is_odd else ())


_EXPONENT: Final = re.compile(r"\d[eE][-+]?\d{3}")  # is found in every literal whose exponent is beyond ``MAX_DIGITS``
_TOKEN: Final = re.compile(
    r'"((?:[^"\\]++|\\.)*+)"(\s*+:)?|([{}])|-?(?:\d++(?:\.\d++)?+(?:[eE][-+]?\d++)?+|Infinity)|NaN'
)
"""A text, with the colon after a key; a brace; or a number."""
MAX_ODDITIES: Final = 20
"""The most findings about single keys and values of one file."""


def oddities(text: str, line: int = 1) -> list[Finding]:
    """Return a finding for each key, text and number of valid JSON that does not count as it is written.

    ``line``: that of the beginning. The search takes as long as parsing.
    """
    findings: list[Finding] = []
    at, keys = 0, list[set[str]]()
    for token in _TOKEN.finditer(text):
        spelled, is_key, brace = token.groups()
        found: tuple[str, str, str] | None = None
        if brace == "{":
            keys.append(set())
        elif brace:
            keys.pop()
        elif spelled is None:
            literal = token[0]
            read = constant if literal[-1] in "yN" else integer if literal[1:].isdigit() else fraction
            if isinstance(number := read(literal), Unusable):
                found = UNUSABLE.format(number.reason), FINITE, number.literal
        else:
            name = json.loads(f'"{spelled}"') if "\\" in spelled else spelled
            if (shown := _escaped(name)) != name:
                fix = "Write its characters whole: a text was probably cut in the middle of one."
                found = f"A text has {HALF}, which is no character", fix, ""
            if is_key and shown in keys[-1]:
                found = DUPLICATE_KEY, "Remove one.", repr(shown[:80])
            if is_key:
                keys[-1].add(shown)
        if found:
            at, line = token.start(), line + text.count("\n", at, token.start())
            finding = Finding("warning", found[0], found[1], line=line, value=found[2])
            if finding not in findings[-1:]:
                findings.append(finding)
            if len(findings) >= MAX_ODDITIES:
                break
    return findings


def each_line(content: bytes) -> Iterator[tuple[int, Parsed[Value] | UnreadableError]]:
    """Yield the number of each line of JSON Lines that is not empty, and its value or why it cannot be read.

    Raises UnreadableError if the first line is not UTF-8, in which case the whole file is probably not.
    """
    text_of(io.BytesIO(content).readline())
    # Not all lines are held at once, because they take twice as much as the file.
    for number, line in enumerate(io.BytesIO(content.removeprefix(codecs.BOM_UTF8)), 1):
        try:
            if (text := line.decode().removesuffix("\n")).strip():
                yield number, parse_json(text, number)
        except UnicodeDecodeError:
            yield number, UnreadableError("it is not UTF-8 text", "Write the line as UTF-8.", number)
        except UnreadableError as error:
            yield number, error


def json_lines(content: bytes, findings: list[Finding], fix: str, of: str = "") -> Iterator[tuple[int, Value]]:
    """Yield the number and the value of each line of JSON Lines. Raises UnreadableError as ``each_line`` does.

    Lines that cannot be read are left out and reported in ``findings`` with their number, as are duplicate keys.
    ``fix``: what to do about an unreadable line; ``of``: whose line it is, as in `` of 'short'``.
    """
    for number, parsed in each_line(content):
        if isinstance(parsed, UnreadableError):
            findings.append(replace(parsed.finding(f"Line {number}{of}"), fix=fix, line=number))
        else:
            findings += parsed.findings
            yield number, parsed.value


_LONGEST_TEXT: Final = 10_000  # the most characters of a text with half of a surrogate pair


def _without_surrogates(value: Value) -> Value:
    if isinstance(value, dict):
        return {_escaped(key): _without_surrogates(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, str) and _escaped(value) != value:
        return Unusable(_escaped(value)[:_LONGEST_TEXT], HALF)
    return value


def _escaped(text: str) -> str:
    """Return the text with lone surrogates as escapes, so that it can be stored and displayed."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


csv.field_size_limit(2**31 - 1)  # a file has its own bound, and an answer may be long
_LONGEST_HEADER: Final = 1_000_000  # characters
_MAX_CELLS: Final = 1_000_000  # Largest number of cells of a CSV file. Scoring this many values takes about 800 MB.


def csv_dicts(content: bytes, most: int = _MAX_CELLS) -> Iterator[dict[str, str]]:
    """Yield the cells of each row by the names in the first row; cells without a name are left out.

    ``most``: the greatest number of cells. Names are stripped of white space. Empty rows do not count, nor does the
    header of a file that was appended. Raises UnreadableError, also if the file ends in the middle of a row.
    """
    header, *rows = (row for row in csv_rows(content, most) if any(row))
    if rows[1:] and not content.endswith((b"\n", b"\r")) and len(rows[-1]) < min(map(len, (header, *rows[:-1]))):
        raise UnreadableError("its last row has fewer cells than all others, and no line end", "Write it to its end.")
    names = [name.strip() for name in header]
    check_distinct(names)
    return (
        {name: cell for name, cell in zip_longest(names, row, fillvalue="") if name}
        for row in rows
        if row != header or not names[1:]
    )


def check_distinct(names: Iterable[str], line: int | None = None) -> None:
    """Raise UnreadableError if two columns have one name: it would be unclear which counts."""
    for name, times in Counter(filter(None, names)).items():  # in one pass, because there may be a million columns
        if times > 1:
            raise UnreadableError(f"the column {name[:80]!r} stands twice", "Rename or remove one.", line)


def csv_rows(content: bytes, most: int = _MAX_CELLS) -> list[list[str]]:
    """Return cells as unchanged text, such as ``NA``, ``None`` and ``00712``; at most ``most``. Raises UnreadableError.

    What stands most often in both of the first two rows separates them: commas, semicolons, tabs or bars; or what a row
    above these names, as in ``sep=;``.
    """
    outside = "".join(text_of(content)[:_LONGEST_HEADER].split('"')[::2])  # of quoted cells, which may have line ends
    first = [*islice(filter(str.strip, outside.splitlines()), 2)]
    named = outside[4:5] if outside[:4] == "sep=" and outside[5:6] in ("\r", "\n") else ""
    mark = named or max(",;\t|", key=lambda mark: sorted(line.count(mark) for line in first))
    # Appends a row of two empty cells. Only an unclosed quote swallows it, which csv does not report otherwise.
    lines = chain(io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline=""), [mark])
    reader = csv.reader(lines, delimiter=mark)
    rows, cells = list[list[str]](), 0
    known: dict[str, str] = {}  # equal cells are one text
    for row in reader:
        rows.append([known.setdefault(cell, cell) for cell in row])
        cells += len(row)
        if row and row[0].startswith("<<<<<<< "):
            raise UnreadableError("two versions of it stand side by side, by a merge", "Keep one.", reader.line_num)
        if cells > most + 2:
            raise UnreadableError(
                f"it has more than {most:,} cells, counted up to this line",
                "Split the eval into several with fewer documents, or leave out columns that are not scored.",
                reader.line_num,
            )
    last = rows.pop()
    if last != ["", ""]:
        # The cell runs from the quote to the end of the file.
        line = reader.line_num - max(1, len(list(io.StringIO(last[-1][:-1], newline=""))))
        raise UnreadableError(f"the quote that opens in line {line} is never closed", "Close it.", line)
    if named:
        rows[0] = []
    if not any(any(cell.strip() for cell in row) for row in rows):
        raise UnreadableError("it is empty", "Write a header row and the expected values.")
    return rows
