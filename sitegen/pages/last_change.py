"""The newest change of an eval: how far its headline moved, whether that is more than chance, and what flipped."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.analysis.noise.changes import change_verdict
from sitegen.analysis.noise.repeats import Repeats, noise_of, repeated
from sitegen.model.cells import CellMap, Flips
from sitegen.model.noise import ChangeVerdict, Noise
from sitegen.model.series import Series
from sitegen.pages.changes import DisplayedChange, changes, in_points
from sitegen.pages.noise import interval_basis
from sitegen.pages.tallies import Flipped, flipped

_NO_CELLS = CellMap(0, ())


class LastChange(NamedTuple):
    """A point held against the one before it."""

    at: int
    """Its index."""
    change: DisplayedChange
    """Of the headline."""
    verdict: ChangeVerdict
    over: str
    """What the interval of the change was made from, in words; empty without one."""
    detectable: float | None
    """The least change, in points, that this set shows 8 times in 10."""
    flipped: Flipped


def last_changes(series: Series) -> tuple[LastChange, ...]:
    """What the newest point brought, and if that is nothing, what the newest one brought that brought anything.

    Empty for fewer than two points, if nobody compared them, and for recorded numbers: nothing tells chance there.
    """
    if series.info.recorded or len(series.points) < 2 or series.points[-1].delta is None:
        return ()
    noise = _headline_noise(series)
    newest = _change_at(series, len(series.points) - 1, noise)
    moved = _last_moved_index(series) if newest.verdict.decision == "same" else None
    return (newest,) if moved is None else (newest, _change_at(series, moved, noise))


def _change_at(series: Series, at: int, noise: Noise | None) -> LastChange:
    before, after = series.points[at - 1 : at + 1]
    spec, nouns, flips = series.specs[0], series.info.nouns, after.flips or Flips()
    verdict = change_verdict(
        before.scorecard,
        after.scorecard,
        series.info.kind,
        flips,
        noise=noise,
        higher_is_better=spec.higher_is_better,
    )
    return LastChange(
        at=at,
        change=changes((spec,), nouns, before, after)[0],
        verdict=verdict,
        over=interval_basis(verdict.interval, nouns) if verdict.interval else "",
        detectable=None if verdict.detectable is None else in_points(verdict.detectable, spec),
        flipped=flipped(flips),
    )


def _headline_noise(series: Series) -> Noise | None:
    """How far the headline wanders when outputs are made again; which cells do is not asked here."""
    headlines = [point.scorecard.metric(series.specs[0].name) for point in series.points]
    groups = repeated(series.points)
    return noise_of([Repeats(_NO_CELLS, group, tuple(headlines[index] for index in group)) for group in groups])


def _last_moved_index(series: Series) -> int | None:
    for index in range(len(series.points) - 2, 0, -1):
        point = series.points[index]
        if (point.delta and point.delta.headline.change) or (point.flips and (point.flips.fixed or point.flips.broken)):
            return index
    return None
