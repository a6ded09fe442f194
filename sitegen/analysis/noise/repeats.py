"""Estimates noise from outputs that were made again: how often each field flips, and how far the headline varies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from math import sqrt
from typing import Final, NamedTuple, Self

from sitegen.analysis.cells import CellTracker
from sitegen.analysis.deltas import differing_roles, exchanges
from sitegen.model.cells import Cell, CellMap, State
from sitegen.model.noise import FlipRate, Noise
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.series import Point
from sitegen.model.usage import regraded
from sitegen.stats.agreement import Repeatability, differing_pairs
from sitegen.stats.intervals import LEVEL
from sitegen.stats.quantiles import normal

FEWEST: Final = 2
"""Degrees of freedom that a noise limit requires: three repeats, or two pairs of them."""

_OUTPUTS_ONLY: Final = ("outputs",)


class Repeats(NamedTuple):
    """A group of outputs made under the same instructions, with the same ground truth and rules."""

    cells: CellMap
    indices: tuple[int, ...]
    """The points of the map that are in the group."""
    headlines: tuple[float | None, ...]
    """The headlines of these points."""


def repeated(points: Sequence[Point]) -> tuple[tuple[int, ...], ...]:
    """The points whose outputs were made again under unchanged instructions, in groups of two or more indices.

    A point repeats the one before it if only the outputs changed, no instruction file that drives the eval was edited
    in between, and the model and the judge of the headline are the same as far as both state them. The points also have
    to come from different commits: which instructions several outputs of one commit were made with is unknown, unless
    they record the same commit themselves. An output that cannot be read repeats nothing. A copy is no output of its
    own: it belongs to no group, and the output after it can repeat the one before it.
    """
    groups: list[list[int]] = []
    for index, point in enumerate(points):
        if not groups or not _repeats(points[index - 1], point):
            groups.append([])
        if not point.is_copy:
            groups[-1].append(index)
    return tuple(tuple(group) for group in groups if len(group) > 1)


def repeats_among(points: Sequence[Point], cells: CellMap) -> tuple[Repeats, ...]:
    """The groups of points of a series that repeat each other."""
    return tuple(
        Repeats(cells, group, tuple(_headline_value(points[index].scorecard) for index in group))
        for group in repeated(points)
    )


def repeats_of_runs(results: Sequence[Result]) -> Repeats:
    """The repeated runs of one iteration, all scored alike; those that cannot be read are left out."""
    tracker = CellTracker()
    readable = [result for result in results if result.scorecard.status == "scored"]
    for result in readable:
        tracker.follow(result.judgements)
    headlines = tuple(_headline_value(result.scorecard) for result in readable)
    return Repeats(tracker.cells(), tuple(range(len(readable))), headlines)


class RepeatsSoFar:
    """Estimates the noise of the headline while the points of a series are added one after the other."""

    def __init__(self) -> None:
        self.points = 0
        """Number of points that were added."""
        self._last: Point | None = None
        self._finished = _Totals()
        """The groups that no later point can belong to, and all repeated runs."""
        self._group: list[float | None] = []
        """The headlines of the group that the last point belongs to."""

    def add(self, point: Point, runs: Sequence[Scorecard] = ()) -> None:
        """Add a point, with the results of its repeated runs."""
        if self._last is None or not _repeats(self._last, point):
            self._finished = self._finished.plus(self._group)
            self._group = []
        if not point.is_copy:
            self._group.append(_headline_value(point.scorecard))
        self._finished = self._finished.plus([_headline_value(run) for run in runs if run.status == "scored"])
        self._last = point
        self.points += 1

    def noise(self) -> Noise | None:
        """The noise of the headline between the repeats among these points; None without any."""
        return self._finished.plus(self._group).noise()


class _Totals(NamedTuple):
    """Sums over groups of repeats. The cost of adding a group does not grow with the groups before it."""

    groups: int = 0
    outputs: int = 0
    headlines: Repeatability = Repeatability()

    def plus(self, headlines: Sequence[float | None]) -> Self:
        """Add a group, given by the headline of each of its outputs; a single output is no group."""
        if len(headlines) < 2:
            return self
        return self._replace(
            groups=self.groups + 1,
            outputs=self.outputs + len(headlines),
            headlines=self.headlines.plus([value for value in headlines if value is not None]),
        )

    def noise(self, fields: tuple[FlipRate, ...] = ()) -> Noise | None:
        """The noise of all groups, with the flip rates of *fields*; None without any group."""
        if not self.groups:
            return None
        return Noise(
            groups=self.groups,
            outputs=self.outputs,
            deviation=self.headlines.deviation,
            limit=_limit(self.headlines),
            pooled=FlipRate("", sum(rate.flips for rate in fields), sum(rate.pairs for rate in fields)),
            fields=fields,
        )


def noise_of(groups: Iterable[Repeats]) -> Noise | None:
    """The noise of repeated outputs; None if no group has two outputs."""
    several = [group for group in groups if len(group.indices) > 1]
    return reduce(_Totals.plus, (group.headlines for group in several), _Totals()).noise(_flip_rates(several))


def noise_of_headline(points: Sequence[Point]) -> Noise | None:
    """The noise of the headline between the repeats of a series, without that of its fields."""
    so_far = RepeatsSoFar()
    for point in points:
        so_far.add(point)
    return so_far.noise()


def _headline_value(card: Scorecard) -> float | None:
    return card.metrics[0].value


def _limit(headlines: Repeatability) -> float | None:
    """The repeatability limit of ISO 5725-6; None for a single pair, which may be close or apart by chance."""
    deviation = headlines.deviation
    return None if deviation is None or headlines.freedom < FEWEST else normal(LEVEL) * sqrt(2) * deviation


def _repeats(before: Point, point: Point) -> bool:
    if point.snapshot.cause != _OUTPUTS_ONLY or point.edits:
        return False
    if before.scorecard.status != "scored" or point.scorecard.status != "scored":
        return False
    if differing_roles(before.snapshot, point.snapshot) not in ((), _OUTPUTS_ONLY):
        return False
    model, judge = exchanges(before.scorecard, point.scorecard)
    if model or (judge and regraded(judge, point.scorecard.metrics[0].name)):
        return False
    made_at = point.snapshot.made_at
    if made_at is not None and before.snapshot.made_at is not None:
        return made_at == before.snapshot.made_at
    return point.snapshot.commit.sha != before.snapshot.commit.sha


def _flip_rates(groups: Iterable[Repeats]) -> tuple[FlipRate, ...]:
    flips: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    for group in groups:
        for cell in group.cells.cells:
            differing, compared = differing_pairs(_judged_states(cell, group.indices))
            flips[cell.attribute] += differing
            pairs[cell.attribute] += compared
    rates = (FlipRate(attribute, flips[attribute], number) for attribute, number in pairs.items() if number)
    return tuple(sorted(rates, key=lambda rate: (-rate.flips / rate.pairs, rate.attribute)))


def _judged_states(cell: Cell, indices: Sequence[int]) -> list[State]:
    """The states of a cell at these points. *absent* counts only if the cell is a hallucination elsewhere."""
    runs = [cell.at(index) for index in indices]
    states: list[State] = ["absent" if run is None else run.state for run in runs]
    judged: list[State] = [state for state in states if state != "absent"]
    return states if set(judged) == {"hallucination"} else judged
