"""What outputs that were made again tell: how often each field flips, and how far the headline wanders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import sqrt
from typing import Final, NamedTuple

from sitegen.analysis.attribution import differing as differing_roles
from sitegen.analysis.cells import CellTracker
from sitegen.analysis.deltas import exchanges
from sitegen.model.cells import Cell, CellMap, State
from sitegen.model.noise import FlipRate, Noise
from sitegen.model.scorecards import Result, Scorecard
from sitegen.model.series import Point
from sitegen.model.usage import regraded
from sitegen.stats.agreement import differing, repeatability
from sitegen.stats.intervals import LEVEL
from sitegen.stats.quantiles import normal

FEWEST: Final = 2
"""Degrees of freedom that a noise limit takes: three repeats, or two pairs of them."""

_OUTPUTS_ONLY: Final = ("outputs",)
_NO_CELLS: Final = CellMap(0, ())


class Repeats(NamedTuple):
    """Outputs that were made under the same instructions, and compared with the same ground truth by the same rules."""

    cells: CellMap
    indices: tuple[int, ...]
    """Which points of the map are meant: of repeated runs all, of a series those that ``repeated`` found."""
    headlines: tuple[float | None, ...]
    """Of these points."""


def repeated(points: Sequence[Point]) -> tuple[tuple[int, ...], ...]:
    """The points whose outputs were made again under unchanged instructions, in groups of two or more indices.

    A point repeats the one before it if its outputs are all that changed, no instruction file that drives the eval was
    edited in between, the model and the judge of the headline are the same as far as both state them, and another
    commit brought it: what several outputs of one commit were made with, nobody knows but where they record the same
    commit themselves. An output that cannot be read repeats nothing: that it broke off is no measure of how answers
    differ.
    """
    groups: list[list[int]] = []
    for index, (before, point) in enumerate(pairwise(points), 1):
        if not _repeats(before, point):
            continue
        if groups and groups[-1][-1] == index - 1:
            groups[-1].append(index)
        else:
            groups.append([index - 1, index])
    return tuple(map(tuple, groups))


def repeats_among(points: Sequence[Point], cells: CellMap) -> tuple[Repeats, ...]:
    """The points of a series that repeat each other, with what became of every cell."""
    return tuple(
        Repeats(cells, group, tuple(_headline(points[index].scorecard) for index in group))
        for group in repeated(points)
    )


def repeats_of_runs(results: Sequence[Result]) -> Repeats:
    """The repeated runs of one iteration, all scored alike; those that cannot be read are left out."""
    follower = CellTracker()
    readable = [result for result in results if result.scorecard.status == "scored"]
    for result in readable:
        follower.follow(result.judgements)
    headlines = tuple(_headline(result.scorecard) for result in readable)
    return Repeats(follower.cells(), tuple(range(len(readable))), headlines)


class RepeatsSoFar:
    """Takes the points of a series one after the other, with their runs; which cells flip is not asked here."""

    def __init__(self) -> None:
        self.points = 0
        """How many it has taken."""
        self._last: Point | None = None
        self._open = False
        self._repeats: list[list[float | None]] = []
        self._runs: list[list[float | None]] = []

    def take(self, point: Point, runs: Sequence[Scorecard] = ()) -> None:
        """One more point. ``runs``: of its repeated runs."""
        last, was_open = self._last, self._open
        self._open = last is not None and _repeats(last, point)
        if self._open and last is not None:
            if not was_open:
                self._repeats.append([_headline(last.scorecard)])
            self._repeats[-1].append(_headline(point.scorecard))
        if runs:
            self._runs.append([_headline(run) for run in runs if run.status == "scored"])
        self._last = point
        self.points += 1

    def noise(self) -> Noise | None:
        """How far the headline wanders, as far as these points tell."""
        groups = (*self._repeats, *self._runs)
        return noise_of(Repeats(_NO_CELLS, tuple(range(len(values))), tuple(values)) for values in groups)


def noise_of(groups: Iterable[Repeats]) -> Noise | None:
    """The noise of repeated outputs; None if no group has two."""
    several = tuple(group for group in groups if len(group.indices) > 1)
    if not several:
        return None
    values = [[value for value in group.headlines if value is not None] for group in several]
    deviation = repeatability(values)
    fields = _rates(several)
    return Noise(
        groups=len(several),
        outputs=sum(len(group.indices) for group in several),
        deviation=deviation,
        limit=_limit(values, deviation),
        pooled=FlipRate("", sum(each.flips for each in fields), sum(each.pairs for each in fields)),
        fields=fields,
    )


def _headline(card: Scorecard) -> float | None:
    return card.metrics[0].value


def _limit(values: Sequence[Sequence[float]], deviation: float | None) -> float | None:
    """The repeatability limit of ISO 5725-6. One lone pair may have been apart, or close, by luck: it sets none."""
    freedom = sum(len(group) - 1 for group in values if group)
    return None if deviation is None or freedom < FEWEST else normal(LEVEL) * sqrt(2) * deviation


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


def _rates(groups: Iterable[Repeats]) -> tuple[FlipRate, ...]:
    flips: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    for group in groups:
        for cell in group.cells.cells:
            differ, of = differing(_states(cell, group.indices))
            flips[cell.attribute] += differ
            pairs[cell.attribute] += of
    rates = (FlipRate(attribute, flips[attribute], number) for attribute, number in pairs.items() if number)
    return tuple(sorted(rates, key=lambda rate: (-rate.flips / rate.pairs, rate.attribute)))


def _states(cell: Cell, indices: Sequence[int]) -> list[State]:
    """What became of a cell; absent is the right answer of a value that nobody expected, and else says nothing."""
    runs = [cell.at(index) for index in indices]
    found: list[State] = ["absent" if run is None else run.state for run in runs]
    judged = {state for state in found if state != "absent"}
    return found if judged == {"hallucination"} else [state for state in found if state != "absent"]
