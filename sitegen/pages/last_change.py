"""The newest change of an eval: how far its headline moved, whether that is more than chance, and what flipped."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.analysis.noise.changes import change_verdict
from sitegen.analysis.noise.repeats import Repeats, noise_of, repeated
from sitegen.model.cells import CellMap
from sitegen.model.noise import ChangeVerdict, Noise
from sitegen.model.series import Series
from sitegen.pages.changes import Change, changes, in_points
from sitegen.pages.noise import over
from sitegen.pages.tallies import Flipped, flipped

_NO_CELLS = CellMap(0, ())


class LastChange(NamedTuple):
    """The newest point held against the one before it."""

    at: int
    """Index of the newest point."""
    change: Change
    """Of the headline."""
    verdict: ChangeVerdict
    detectable: float | None
    """The least change, in points, that this set shows 8 times in 10."""
    over: str
    """What the interval was made from, in words; empty without one."""
    flipped: Flipped
    moved: int | None
    """If nothing moved: index of the newest point at which anything did; None if none did."""


def last_change(series: Series) -> LastChange | None:
    """What the newest point brought; None for fewer than two, or if nobody compared them."""
    if len(series.points) < 2:
        return None
    before, after = series.points[-2:]
    if after.delta is None or after.flips is None:
        return None
    spec, nouns = series.specs[0], series.info.nouns
    verdict = change_verdict(
        before.scorecard,
        after.scorecard,
        series.info.kind,
        after.flips,
        noise=_noise(series),
        higher_is_better=spec.higher_is_better,
    )
    return LastChange(
        at=len(series.points) - 1,
        change=changes(series.specs[:1], nouns, before, after)[0],
        verdict=verdict,
        detectable=None if verdict.detectable is None else in_points(verdict.detectable, spec),
        over=over(verdict.interval, nouns) if verdict.interval else "",
        flipped=flipped(after.flips),
        moved=_moved(series) if verdict.decision == "same" else None,
    )


def _noise(series: Series) -> Noise | None:
    """How far the headline wanders when outputs are made again; which cells do is not asked here."""
    headlines = [point.scorecard.metric(series.specs[0].name) for point in series.points]
    groups = repeated(series.points)
    return noise_of([Repeats(_NO_CELLS, group, tuple(headlines[index] for index in group)) for group in groups])


def _moved(series: Series) -> int | None:
    for index in range(len(series.points) - 1, 0, -1):
        point = series.points[index]
        if (point.delta and point.delta.headline.change) or (point.flips and (point.flips.fixed or point.flips.broken)):
            return index
    return None
