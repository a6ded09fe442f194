"""The rows of the benchmark with their goals, and the table of what was measured beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple


class Goal(NamedTuple):
    """What a row should reach, and the limit beyond which it is missed."""

    goal: float
    limit: float

    @property
    def more_is_better(self) -> bool:
        return self.goal > self.limit


class Kind(NamedTuple):
    """A kind of row."""

    unit: str
    """``s``, ``ms``, ``MB``, ``R`` (times of git alone), or ``x`` for a plain ratio."""
    goals: Mapping[str, Goal] = {}
    """By size; the empty name is for every size. No goal: the row is for information."""


KINDS: Final[dict[str, Kind]] = {
    "CPU for a page": Kind("ms", {"M": Goal(0.7, 1.0)}),
    "pages written per CPU second": Kind("MB", {"M": Goal(30, 20)}),
    "CPU for a page against the size before": Kind("x", {"L": Goal(1.05, 1.1)}),
    "CPU of one eval with 7.7 times the commits": Kind("x", {"": Goal(7.7, 8.1)}),
    "first build against Hugo": Kind("x", {"M": Goal(0.6, 0.8)}),
    "overview, trends and newest reports written": Kind("s", {"M": Goal(1, 1.5), "L": Goal(3, 5)}),
    "first build": Kind("R", {"S": Goal(20, 30), "M": Goal(16, 20), "L": Goal(15, 20)}),
    "two processes against one": Kind("x", {"M": Goal(1.9, 1.8), "one eval": Goal(1.8, 1.6)}),
    "nothing changed": Kind("s", {"": Goal(0.06, 0.1)}),
    "nothing changed, against the smallest size": Kind("x", {"": Goal(1.2, 1.2)}),
    "one more commit": Kind("s", {"": Goal(0.2, 0.3)}),
    "one more commit, against the smallest size": Kind("x", {"": Goal(1.2, 1.2)}),
    "imports of one more commit": Kind("ms", {"": Goal(80, 110)}),
    "`sitegen --help` against `python -c pass`": Kind("x", {"": Goal(6, 7)}),
    "memory of the largest process": Kind("MB", {"L": Goal(100, 200)}),
    "largest trend page": Kind("kB", {"": Goal(400, 400)}),
    "page ready": Kind("ms", {"": Goal(200, 200)}),
    "site": Kind("MB", {"": Goal(1000, 1000)}),
    "search index": Kind("kB"),
    "feed": Kind("kB"),
    "pages of comparisons": Kind("kB"),
    "data files": Kind("kB"),
}
"""In the order of the table."""


class Row(NamedTuple):
    """One measured number."""

    kind: str
    label: str
    """The size it was measured at, or what else tells it from other rows of its kind; may be empty."""
    value: float
    note: str = ""
    """The numbers behind it."""


def goal_of(row: Row) -> Goal | None:
    """The goal of a row; None if it is for information."""
    goals = KINDS[row.kind].goals
    return goals.get(row.label) or goals.get("")


def verdict(row: Row) -> str:
    """``ok``, ``goal missed`` or ``limit missed``; empty for what is for information."""
    goal = goal_of(row)
    if goal is None:
        return ""
    sign = -1 if goal.more_is_better else 1
    if sign * row.value <= sign * goal.goal:
        return "ok"
    return "goal missed" if sign * row.value <= sign * goal.limit else "**limit missed**"


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table, in the order of their kinds."""
    lines = ["| | measured | goal | not above | |", "|---|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: list(KINDS).index(row.kind)):
        goal, unit = goal_of(row), KINDS[row.kind].unit
        least = "at least " if goal and goal.more_is_better else ""
        limits = [f"{least}{limit:g} {unit}" for limit in goal] if goal else ["", ""]
        measured = f"{number(row.value)} {unit}" + (f" ({row.note})" if row.note else "")
        name = f"{row.kind}: {row.label}" if row.label else row.kind
        lines.append("| " + " | ".join([name, measured, *limits, verdict(row)]) + " |")
    return "\n".join(lines)


def number(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
