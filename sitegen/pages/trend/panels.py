"""The parts of a trend page besides its chart and its table of points.

These are the fields with their heat map, the two clocks (each output scored by the ground truth and rules of its own
time, and by those of the newest point), the last change and its verdict, repeated runs, and usage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, pairwise
from operator import itemgetter, ne
from typing import Final

from sitegen.analysis.noise.repeats import FEWEST, noise_of, repeats_among
from sitegen.frozen import Frozen
from sitegen.model.deltas import Change
from sitegen.model.metrics import Counts, MetricSpec
from sitegen.model.noise import ChangeVerdict, FlipRate
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point, Series
from sitegen.named_tuple import NamedTuple
from sitegen.pages.change_text import DisplayedChange, changes
from sitegen.pages.labels import CAUSES, bad_runs
from sitegen.pages.recorded import agrees_with_now
from sitegen.pages.report.why import FIELDS
from sitegen.stats.counts import errors, judged

HEAT_ROWS: Final = 60
"""Largest number of fields in the heat map: the ones that changed last."""


class HeatRow(NamedTuple):
    """One attribute at the newest point and over all points."""

    attribute: str
    now: Counts | None
    """None if the attribute was not judged at the newest point."""
    wrong: int
    """Errors over all points."""
    judged: int
    """Judgements over all points."""


class HeatMap(Frozen):
    """Share of wrong values, with a row for each attribute, the last to change first, and a column for each point."""

    attributes: tuple[str, ...]
    shares: tuple[tuple[float | None, ...], ...]
    """Shares by row; None at points where the attribute was not judged."""
    left_out: int
    """Number of attributes that are only in the table."""
    steady: int = 0
    """Number of rows, the last ones, that are the same at every point."""


def field_rows(points: Sequence[Point]) -> tuple[HeatRow, ...]:
    """Attributes in the order of the newest point; attributes that it lacks follow in the order of their first point.

    Attributes that were never judged (a category that no document has) are left out: they have no page.
    """
    wrong: dict[str, int] = {}
    total: dict[str, int] = {}
    # Most attributes have the same few counts at every point. Multiplying equal counts takes a quarter of the time.
    equal = Counter(chain.from_iterable([point.scorecard.fields for point in points]))
    for (attribute, counts), times in equal.items():
        wrong[attribute] = wrong.get(attribute, 0) + errors(counts) * times
        total[attribute] = total.get(attribute, 0) + judged(counts) * times
    now = dict(points[-1].scorecard.fields) if points else {}
    names = [*now, *(attribute for attribute in total if attribute not in now)]
    return tuple(
        HeatRow(attribute=name, now=now.get(name), wrong=wrong[name], judged=total[name])
        for name in names
        if total[name]
    )


def heat_map(points: Sequence[Point], fields: Sequence[HeatRow]) -> HeatMap:
    """The heat map of the fields whose share changed last, at most ``HEAT_ROWS``.

    If two fields changed last at the same point, the field that changed more often is first. Fields that never changed,
    because they were always right or always wrong, are last.
    """
    columns = [dict(point.scorecard.fields) for point in points]
    rows = [(row.attribute, tuple([_wrong_share(column.get(row.attribute)) for column in columns])) for row in fields]
    by_change = sorted(
        ((_changes_of_share(shares), name, shares) for name, shares in rows), key=itemgetter(0), reverse=True
    )
    drawn = by_change[:HEAT_ROWS]
    return HeatMap(
        attributes=tuple([name for _, name, _ in drawn]),
        shares=tuple([shares for _, _, shares in drawn]),
        left_out=len(by_change) - len(drawn),
        steady=sum(not times for (_, times), _, _ in drawn),
    )


def _changes_of_share(shares: Sequence[float | None]) -> tuple[int, int]:
    """The index of the last point at which a defined share changed, and how often it changed; (0, 0): never."""
    defined = [(index, share) for index, share in enumerate(shares) if share is not None]
    changed = [index for (_, before), (index, share) in pairwise(defined) if share != before]
    return (changed[-1] if changed else 0), len(changed)


@lru_cache(maxsize=4_096)  # the counts of a field are the same at most points
def _wrong_share(counts: Counts | None) -> float | None:
    total = judged(counts) if counts else 0
    return errors(counts) / total if counts and total else None


class RulesChange(Frozen):
    """A point at which ground truth, mapping, schema or settings changed."""

    at: int
    """Index of the point."""
    label: str
    causes: str
    """The causes of the change, in words."""


class Clocks(Frozen):
    """The differences between the numbers of the two clocks of an eval."""

    changes: tuple[RulesChange, ...]
    """Changes, oldest first; after the last one, ground truth and rules are the same as at the newest point."""
    apart: int
    """Number of points at which any drawn metric differs between the clocks."""
    values: tuple[tuple[float | None, ...], ...]
    """Drawn metrics by the second clock, a row for each point; empty if the clocks never differ."""
    recorded: int = 0
    """Number of points whose recorded metrics agree only with the second clock."""


ONE_CLOCK = Clocks((), 0, ())


def clocks(points: Sequence[Point], drawn: Sequence[MetricSpec]) -> Clocks:
    """Compare the two clocks by the drawn metrics of all points."""
    then = [_clock_values(point.scorecard, drawn) for point in points]
    now = [
        values if point.now is None or point.now is point.scorecard else _clock_values(point.now, drawn)
        for point, values in zip(points, then, strict=True)
    ]
    apart = sum(map(ne, then, now))
    rules_changes = tuple(
        RulesChange(index, point.snapshot.label, ", ".join(CAUSES[cause] for cause in rules))
        for index, point in enumerate(points)
        if index and (rules := [cause for cause in point.snapshot.cause if cause != "outputs"])
    )
    recorded = sum(agrees_with_now(point, drawn) for point in points)
    return Clocks(changes=rules_changes, apart=apart, values=tuple(now) if apart else (), recorded=recorded)


def _clock_values(card: Scorecard, drawn: Sequence[MetricSpec]) -> tuple[float | None, ...]:
    metrics = dict(card.metrics)
    return tuple([metrics.get(spec.name) for spec in drawn])


class LastChange(NamedTuple):
    """The newest point that differs from the previous point."""

    at: int
    """Index of the point."""
    change: DisplayedChange
    """Change of the headline."""
    verdict: ChangeVerdict | None


def last_change(series: Series) -> LastChange | None:
    """The newest comparison with a change; the newest comparison if there was never a change.

    None if there are fewer than two points to compare, and for recorded numbers, which no test can distinguish from
    chance.
    """
    compared = {at: point.change for at, point in enumerate(series.points) if point.change}
    if series.info.recorded or not compared:
        return None
    at = next((at for at in reversed(compared) if _is_moved(compared[at])), max(compared))
    before, after = series.points[at - 1 : at + 1]
    change = changes(series.specs[:1], series.info.nouns, before, after)[0]
    return LastChange(at=at, change=change, verdict=compared[at].verdict)


def _is_moved(change: Change) -> bool:
    flips = change.flips
    has_flips = bool(flips.fixed or flips.broken or flips.appeared or flips.vanished)
    return change.headline.change != 0 or has_flips


class RepeatsView(Frozen):
    """The differences between outputs made again under unchanged instructions, over the whole series."""

    outputs: int
    pooled: FlipRate
    """The rate over all fields."""
    rows: tuple[FlipRate, ...]
    """Fields in which they differ, most frequent flips first."""
    more: int
    left_out: str
    """The sentence on bad runs; empty if there are none."""


def repeats_view(series: Series) -> RepeatsView | None:
    """The repeats of a series; None for fewer than three repeats or two pairs: a single pair may differ by chance."""
    if series.info.recorded:
        return None
    noise = noise_of(repeats_among(series.points, series.cells))
    if noise is None or noise.pooled.rate is None or noise.outputs - noise.groups < FEWEST:
        return None
    rates = [rate for rate in noise.fields if rate.flips]
    return RepeatsView(
        outputs=noise.outputs,
        pooled=noise.pooled,
        rows=tuple(rates[:FIELDS]),
        more=max(0, len(rates) - FIELDS),
        left_out=bad_runs(noise.bad_runs),
    )
