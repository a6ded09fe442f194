"""Formats numbers, dates, paths and long texts of pages; numbers of the site are rounded only here.

Templates use these functions as filters. Functions that return ``Markup`` escape their argument.
"""

import re
from functools import lru_cache
from typing import Final

from markupsafe import Markup, escape

from sitegen.model.changes import ChangeVerdict
from sitegen.model.metrics import MetricSpec
from sitegen.text.plain import DATE, cut, day, visible
from sitegen.text.values import COUNT, NO_CHANGE, SMALL, metric_text

BOUND: Final = 2_000
"""Largest number of characters that ``bounded`` writes of a text."""

NIL: Final = Markup('<span class="nil" title="undefined">—</span>')
"""Stands for an undefined number (rule 6)."""

RECORDED: Final = Markup(
    '<span class="pill" title="written by the runs themselves: sitegen computed none of these numbers">recorded</span>'
)
"""Stands beside the name of an eval whose numbers cannot be computed again."""

ERRORS: Final = MetricSpec("errors", "Errors", "", higher_is_better=False, unit=COUNT)

_CODE: Final = "`([^`]+)`"


def number(value: float | None, unit: str = "") -> Markup:
    """A metric, formatted by ``metric_text``; undefined is an em dash."""
    return NIL if value is None else escape(metric_text(value, unit))


def count(value: int | None) -> Markup:
    """A count with thousands separators; undefined is an em dash."""
    return NIL if value is None else Markup(f"{value:,}")


def percent(part: int, whole: int, digits: int = 0) -> Markup:
    """A share in percent, an em dash if the whole is 0; pages always show it beside its counts."""
    return NIL if not whole else Markup(f"{100 * part / whole:.{digits}f}\u202f%")


def signed(value: float | None, spec: MetricSpec | None = None, verdict: ChangeVerdict | None = None) -> Markup:
    """A change of a metric with arrow, colour and a word for screen readers; undefined is an em dash.

    A change that rounds to zero is written ``▲ < 0.001``, to distinguish it from no change. It has no colour if nobody
    can tell whether it is more than chance, and without ``spec``: then it is one of a share, on which no verdict is.
    """
    if value is None:
        return NIL
    if value == 0:
        return Markup(f'<span class="delta">{NO_CHANGE}</span>')
    unit, size, tone = spec.unit if spec else "", abs(value), ""
    text = "&lt; 0.001" if size < SMALL and unit in ("", COUNT) else escape(metric_text(size, unit))
    if spec is not None and (verdict is None or verdict.decision != "cannot tell"):
        tone = " up" if (value > 0) is spec.higher_is_better else " dn"
    arrow, word = ("▲", "up") if value > 0 else ("▼", "down")
    mark = f'<span aria-hidden="true">{arrow}</span><span class="vh">{word} </span>'
    return Markup(f'<span class="delta{tone}">{mark} {text}</span>')


def date(iso: str | None) -> Markup:
    """A ``<time>`` with the day, its title the whole timestamp; an em dash if there is no date."""
    if not iso:
        return NIL
    if DATE.match(iso) is None:
        return escape(iso[:40])
    return Markup(f'<time datetime="{iso[:10]}" title="{escape(iso[:40])}">{escape(day(iso))}</time>')


@lru_cache(maxsize=8192)
def path(text: str) -> Markup:
    """A file path or field path, whole, that may wrap before its longer parts; cached as texts are."""
    may_wrap = r"(?<=[./_])(?=[^./_]{4})|(?<=[^./_])(?=\[[^]]{3})"
    return Markup(re.sub(may_wrap, "<wbr>", escape(printable(text))))


def printable(text: str) -> str:
    """The text with invisible characters, and those that turn the direction of writing, spelled out: ``‹U+202E›``."""
    return text if text.isprintable() else visible(text)


def bounded(text: str, limit: int = BOUND) -> Markup:
    """The escaped text, cut after ``limit`` characters; a cut text says how many are left out."""
    text = printable(text)
    if (shorter := cut(text, limit)) == text:
        return escape(text)
    shown, _, left_out = shorter.rpartition(" … (")
    return escape(shown) + Markup('<span class="cut"> … {}</span>').format(left_out.removesuffix(")"))


def message(text: str, limit: int = BOUND) -> Markup:
    """A message that is also printed elsewhere, escaped and cut; what stands between backticks is code."""
    return Markup(re.sub(_CODE, r"<code>\1</code>", str(bounded(text, limit))))
