"""What flipped in an eval, as escaped f-strings: the fields that were fixed and those that broke."""

from __future__ import annotations

from html import escape
from typing import Final

from sitegen.model.cells import Flips, Tally
from sitegen.render.formats import breakable, printable

NAMED: Final = 5
"""Fields of each kind that are named at once."""


def flipped(flips: Flips | None) -> str:
    """A line for the fixed and one for the broken cells, by field; empty if nothing flipped."""
    if flips is None:
        return ""
    lines = _tally_line(flips.fixed, "up", "fixed") + _tally_line(flips.broken, "dn", "broken")
    if flips.by_truth:
        lines += f'<p class="ef-f">{flips.by_truth:,} of them while the ground truth of the field changed</p>'
    return lines


def _tally_line(tally: Tally, tone: str, word: str) -> str:
    if not tally:
        return ""
    total = sum(number for _, number in tally)
    rest = len(tally) - NAMED
    more = ""
    if rest > 0:
        fields = "field" if rest == 1 else "fields"
        more = f" <details><summary>{rest:,} more {fields}</summary>{_flipped_field_names(tally[NAMED:])}</details>"
    names = _flipped_field_names(tally[:NAMED])
    return f'<p class="ef-f"><span class="delta {tone}">{total:,} {word}</span> {names}</p>{more}'


def _flipped_field_names(tally: Tally) -> str:
    return ", ".join(
        f"<code>{breakable(escape(printable(attribute)))}</code>{f' {number:,}' if number > 1 else ''}"
        for attribute, number in tally
    )
