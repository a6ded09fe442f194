"""The table of what was measured beside what was wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple


class Wanted(NamedTuple):
    """The goal of a row, and the number that fails it."""

    goal: float
    not_above: float
    unit: str
    """Written behind the numbers: ``R``, ``s``, ``MB``, or empty for a plain ratio."""


WANTED: Final = {
    "cold build S": Wanted(16, 25, "R"),
    "cold build M": Wanted(5.5, 8, "R"),
    "cold build L": Wanted(3.5, 5, "R"),
    "cold build M against Hugo": Wanted(0.5, 0.8, ""),
    "nothing changed": Wanted(0.15, 0.3, "s"),
    "nothing changed, largest against smallest": Wanted(1.3, 1.3, ""),
    "one more commit": Wanted(0.25, 0.45, "s"),
    "one more commit, largest against smallest": Wanted(1.3, 1.3, ""),
    "CPU a page, largest against smallest": Wanted(1.0, 1.15, ""),
    "CPU of one eval, 2265 points against 298": Wanted(7.6, 8.5, ""),
    "--help against python -c pass": Wanted(7, 10, ""),
    "peak memory of ours": Wanted(100, 200, "MB"),
}
"""By the first words of a row's name, the longest that fit."""


class Row(NamedTuple):
    """One measured number."""

    name: str
    """``cold build S``; behind a comma, what WANTED does not tell apart: ``nothing changed, S``."""
    value: float
    note: str = ""
    """Absolute numbers behind a ratio."""


def wanted(name: str) -> Wanted | None:
    """What is wanted of a row; None if it is only for information."""
    fitting = [known for known in WANTED if name == known or name.startswith(f"{known}, ")]
    return WANTED[max(fitting, key=len)] if fitting else None


def verdict(row: Row) -> str:
    """``reached``, ``near`` or ``ABOVE``; empty for what is only for information."""
    limits = wanted(row.name)
    if limits is None:
        return ""
    return "reached" if row.value <= limits.goal else "near" if row.value <= limits.not_above else "ABOVE"


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table: measured, goal, not above, and the ratio of measured to goal."""
    lines = ["| | measured | goal | not above | ratio | |", "|---|---|---|---|---|---|"]
    for row in rows:
        limits = wanted(row.name)
        note = f" ({row.note})" if row.note else ""
        if limits is None:
            lines.append(f"| {row.name} | {row.value:.3g}{note} | | | | |")
            continue
        unit = f" {limits.unit}" if limits.unit else ""
        numbers = [f"{row.value:.3g}{unit}{note}", f"{limits.goal:g}{unit}", f"{limits.not_above:g}{unit}"]
        cells = [row.name, *numbers, f"{row.value / limits.goal:.2f}", verdict(row)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
