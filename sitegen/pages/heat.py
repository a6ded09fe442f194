"""The attributes of an eval over all of its points: as a table, and as a heat map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

from sitegen.model.metrics import Counts
from sitegen.model.series import Point
from sitegen.pages.tallies import errors, judged

HEAT_ROWS: Final = 60
"""Fields in the heat map; with more, those that were wrong most often."""


class HeatRow(NamedTuple):
    """One attribute now and over all points."""

    attribute: str
    now: Counts | None
    """None: not judged at the newest point."""
    wrong: int
    judged: int


class HeatMap(NamedTuple):
    """Share of wrong answers, a row for each attribute, a column for each point."""

    attributes: tuple[str, ...]
    shares: tuple[tuple[float | None, ...], ...]
    """None: not judged at that point."""
    left_out: int
    """Attributes that are in the table alone."""


def field_rows(points: Sequence[Point]) -> tuple[HeatRow, ...]:
    """Attributes in the order of the newest point, those that it lacks after them in the order they appeared.

    One that was judged at no point (a category that no gold has) has no page either.
    """
    wrong: dict[str, int] = {}
    total: dict[str, int] = {}
    # Most attributes have the same few counts at every point: those are added once, which takes a quarter of the time.
    equal = Counter(chain.from_iterable([point.scorecard.fields for point in points]))
    for (attribute, counts), times in equal.items():
        wrong[attribute] = wrong.get(attribute, 0) + errors(counts) * times
        total[attribute] = total.get(attribute, 0) + judged(counts) * times
    now = dict(points[-1].scorecard.fields) if points else {}
    names = [*now, *(attribute for attribute in total if attribute not in now)]
    return tuple(HeatRow(name, now.get(name), wrong[name], total[name]) for name in names if total[name])


def heat_map(points: Sequence[Point], fields: Sequence[HeatRow]) -> HeatMap:
    """The heat map of all fields, in their order; of too many, those that were wrong most often."""
    shown = fields
    if len(fields) > HEAT_ROWS:
        worst = sorted(fields, key=lambda row: -(row.wrong / row.judged if row.judged else 0))[:HEAT_ROWS]
        chosen = {row.attribute for row in worst}
        shown = tuple(row for row in fields if row.attribute in chosen)
    names = tuple(row.attribute for row in shown)
    columns = [dict(point.scorecard.fields) for point in points]
    share = cache(_wrong_share)
    shares = tuple(tuple([share(column.get(name)) for column in columns]) for name in names)
    return HeatMap(names, shares, len(fields) - len(shown))


def _wrong_share(counts: Counts | None) -> float | None:
    total = judged(counts) if counts else 0
    return errors(counts) / total if counts and total else None
