"""Makes text and addresses from git fit for a page: hidden characters become visible, and long text is cut."""

import re
import unicodedata
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from typing import Final, Literal

LONGEST_LINE: Final = 4_000
"""The most characters of a line that a page shows."""

_FORMULA: Final = re.compile(r"(?![+-]([0-9]+\.?[0-9]*|\.[0-9]+)([Ee][+-]?[0-9]+)?\Z)[=+\-@\t\r]")
"""How a text begins that a spreadsheet would run as a formula. A number with its sign is no formula."""

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
"""Control characters except tab and line feed, marks that change the direction of text, and surrogates."""

_CUT = re.compile(r" … \(([0-9,]{1,15}) more characters\)\Z")

_DIGITS = re.compile(r"([0-9]{1,4000})")  # matches at most as many digits as Python converts to a number


def visible(text: str) -> str:
    """Return the text with hidden characters replaced by pictures (``␀``) or by their names (``‹U+202E›``).

    A character that changes the direction of writing can disguise the content of a line.
    """
    return _HIDDEN.sub(_picture, text) if _HIDDEN.search(text) else text


def cut(text: str, longest: int = LONGEST_LINE) -> str:
    """Truncate a text that is too long, and append the number of missing characters, unless that is no shorter."""
    if len(text) <= longest:
        return text
    earlier = _CUT.search(text, longest)  # of a text that was cut before, the number of both
    missing = earlier.start() - longest + int(earlier[1].replace(",", "")) if earlier else len(text) - longest
    shorter = f"{text[:longest]} … ({missing:,} more characters)"
    return shorter if len(shorter) < len(text) else text


def line(text: str, longest: int = LONGEST_LINE) -> str:
    """Return one visible line of bounded length, for subjects, names and paths."""
    if len(text) <= longest and text.isprintable():  # as a rule: nothing is hidden, broken into lines or cut
        return text
    return visible(cut(text, longest).replace("\n", " "))


def encodable(text: str) -> str:
    """Return the text in a form that UTF-8 can encode: undecodable bytes of a file name are spelled out."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def xml_line(text: str) -> str:
    """Return one visible line of characters that XML 1.0 can represent."""
    return encodable(line(text)).translate({0xFFFE: "\ufffd", 0xFFFF: "\ufffd"})


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 file``, ``1,204 files``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def spreadsheet_safe(value: str | float | None) -> str:
    """Return a value as a cell of a CSV file: empty if undefined, booleans as ``true`` and ``false``, numbers in full.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if _FORMULA.match(value) else value
    return repr(value).lower() if isinstance(value, bool) else repr(value)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"‹U+{code:04X}›"


def natural_order(name: str) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts names with numbers in them by value: ``run-9`` before ``run-10``."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(name) if part)


_ADDRESS: Final = r"https?://(?:[^\W_][\w.-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?(?:/[^\s?#\\\"'<>`\x00-\x1f\x7f]*)?"
_SCP_FORM: Final = r"(?:[^/:]*@)?([^/:@]+):(?!//)/*([^@]+)"
_URL_FORM: Final = r"(https?|ssh|git|git\+ssh)://(?:[^/]*@)?([^/:@]+)(:[0-9]+)?/+(.+)"


def is_web_address(text: str) -> bool:
    """Whether a text is an address with only a scheme (http or https), a host, and optionally a port and a path.

    A user name, a query or a fragment can hold a password or a token, which a link on a page would publish.
    """
    return re.fullmatch(_ADDRESS, text) is not None


def web_address(url: str) -> str | None:
    """Return the address of a repository's home page, from the address of the repository; None if it has none.

    Only scheme, host, port and path are kept.
    """
    url = re.split(r"[?#]", url.strip(), maxsplit=1)[0]
    if match := re.fullmatch(_URL_FORM, url):
        scheme, host, port, path = match.groups()
        # A port belongs to its scheme: the port of ssh is not the port of the web server.
        scheme, port = (scheme, port or "") if scheme in ("http", "https") else ("https", "")
    elif "://" not in url and (match := re.fullmatch(_SCP_FORM, url)) and len(match[1]) > 1:
        scheme, host, port, path = "https", match[1], "", match[2]
    else:
        return None
    address = f"{scheme}://{host}{port}/{path.rstrip('/').removesuffix('.git').rstrip('/')}"
    return address if is_web_address(address) else None


DATE: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS: Final = 4_096  # number of times whose day is remembered


@lru_cache(maxsize=_DAYS)
def day(iso: str | None) -> str:
    """``5 Feb 2026`` for an ISO 8601 date or time, in its own zone; a text that is not a date is only truncated.

    Cached, because many pages name the same commits.
    """
    if not iso:
        return ""
    match = DATE.match(iso)
    if match is None or not 1 <= int(match[2]) <= 12:
        return iso[:40]
    return f"{int(match[3])} {_MONTHS[int(match[2]) - 1]} {match[1]}"


def moment_of(iso: str) -> datetime | None:
    """Parse an ISO 8601 time; without a zone it counts as UTC. None if it cannot be read."""
    try:
        time = datetime.fromisoformat(iso)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


_MOST_MARKS: Final = 500
"""The most marks of one letter in a text that is normalised: their ordering takes the square of their number."""


def normal_form(text: str, form: Literal["NFC", "NFKC"] = "NFC") -> str:
    """Return a normal form of Unicode; the text itself if a letter of it has more than ``_MOST_MARKS`` marks."""
    if text.isascii():
        return text
    groups = groupby(map(unicodedata.combining, text), bool) if len(text) > _MOST_MARKS else ()
    if any(sum(1 for _ in marks) > _MOST_MARKS for are_marks, marks in groups if are_marks):
        return text
    return unicodedata.normalize(form, text)
