"""How numbers, dates, paths and long texts are written. The only place where anything is rounded.

Every function returns markup that is already escaped, for templates (as filters) and for ``render.rows``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from markupsafe import Markup, escape

from sitegen.text.plain import visible
from sitegen.text.values import COUNT, LARGE, amount, is_whole, metric_text

BOUND: Final = 2_000
"""Characters of one value that a page shows."""

NIL: Final = Markup('<span class="nil" title="undefined">—</span>')
"""What stands for an undefined number (rule 6)."""

RECORDED: Final = Markup(
    '<span class="pill" title="written by the runs themselves: sitegen computed none of these numbers">recorded</span>'
)
"""Beside the name of an eval whose numbers nothing can compute again."""

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DATE: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


def number(value: float | None, digits: int = 3, unit: str = "") -> Markup:
    """A metric, as ``metric_text`` writes it; undefined is an em dash."""
    return NIL if value is None else escape(metric_text(value, digits, unit))


def probability(value: float | None) -> Markup:
    """A p value: three digits, and never called zero."""
    if value is None:
        return NIL
    return Markup("&lt; 0.001") if value < 0.001 else Markup(f"{value:.3f}")


def count(value: int | None) -> Markup:
    """A count, thousands apart; undefined is an em dash."""
    return NIL if value is None else Markup(f"{value:,}")


def percent(part: int, whole: int, digits: int = 0) -> Markup:
    """A share; always shown beside its counts."""
    return NIL if not whole else Markup(f"{100 * part / whole:.{digits}f}\u202f%")


def signed(value: float | None, digits: int = 3, lower_is_better: bool = False, unit: str = "") -> Markup:
    """A change: arrow, colour, and a word for screen readers; undefined is an em dash.

    A change too small for the digits is not called none: ``▲ < 0.001``.
    """
    if value is None:
        return NIL
    if value == 0:
        return Markup('<span class="delta">no change</span>')
    tone = "up" if (value > 0) != lower_is_better else "dn"
    arrow, word = ("▲", "up") if value > 0 else ("▼", "down")
    text = f"{abs(value):,.{1 if digits == 3 and abs(value) >= LARGE else digits}f}"
    if unit and (unit != COUNT or is_whole(value)):
        text = escape(amount(abs(value), unit))
    elif float(text.replace(",", "")) == 0:
        text = f"&lt; {10**-digits:.{digits}f}"
    mark = f'<span aria-hidden="true">{arrow}</span><span class="vh">{word} </span>'
    return Markup(f'<span class="delta {tone}">{mark} {text}</span>')


def day(iso: str | None) -> str:
    """``5 Feb 2026`` for an ISO 8601 date or time, in the zone it was written in; what is no date, as it stands."""
    if not iso:
        return ""
    match = _DATE.match(iso)
    if match is None or not 1 <= int(match[2]) <= 12:
        return iso[:40]
    return f"{int(match[3])} {_MONTHS[int(match[2]) - 1]} {match[1]}"


def date(iso: str | None) -> Markup:
    """A ``<time>`` with the day; the whole timestamp is its title. Without a date, an em dash."""
    if not iso:
        return NIL
    if _DATE.match(iso) is None:
        return escape(iso[:40])
    return Markup(f'<time datetime="{iso[:10]}" title="{escape(iso[:40])}">{escape(day(iso))}</time>')


@lru_cache(maxsize=2048)
def path(text: str) -> Markup:
    r"""A file or field path that may break after ``.``, ``/`` and ``_``."""
    return Markup(breakable(str(escape(printable(text)))))


def breakable(escaped: str) -> str:
    """Escaped text that may break after ``.``, ``/`` and ``_``."""
    return escaped.replace(".", ".<wbr>").replace("/", "/<wbr>").replace("_", "_<wbr>")


def printable(text: str) -> str:
    """The text with what cannot be seen, or turns the direction of writing, made visible: ``‹U+202E›``."""
    return text if text.isprintable() else visible(text)


def bounded(text: str, limit: int = BOUND) -> Markup:
    """A text of any length, cut after ``limit`` characters; a cut says how much is left out."""
    text = printable(text)
    if len(text) <= limit:
        return escape(text)
    return escape(text[:limit]) + Markup('<span class="cut"> … {:,} more characters</span>').format(len(text) - limit)
