"""What a commit did to an eval: the last point before it against the last one that it brought, in a few numbers.

A commit page never changes, but records and runs may join a point later: so nothing here asks what repeats tell.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from sitegen.analysis.noise.changes import output_verdict
from sitegen.analysis.series import HEADLINES
from sitegen.model.flips import Flips
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict
from sitegen.model.series import EvalInfo, Point
from sitegen.pages.changes import Change, changes
from sitegen.pages.tallies import Flipped, flipped

FIELDS: Final = 5
"""Fields that are named: those with the most flips."""


class FieldFlips(NamedTuple):
    """The cells of one attribute that flipped."""

    attribute: str
    fixed: int
    broken: int


class Brought(NamedTuple):
    """Small, for every commit has one for each eval that it brought points of."""

    changes: tuple[float | None, ...]
    """Of the headline and what is drawn beside it, over what both points hold."""
    headline: Change
    verdict: ChangeVerdict | None
    """Without its fields; None if the output is the same, as in a report."""
    flipped: Flipped
    fields: tuple[FieldFlips, ...]
    more_fields: int


def brought(info: EvalInfo, specs: tuple[MetricSpec, ...], before: Point, after: Point) -> Brought | None:
    """None if nobody compared the two."""
    if after.delta is None or after.flips is None:
        return None
    fields = _fields(after.flips)
    verdict = output_verdict(before, after, info.kind, higher_is_better=specs[0].higher_is_better)
    return Brought(
        tuple(metric.change for metric in after.delta.metrics[:HEADLINES]),
        changes(specs[:1], info.nouns, before, after)[0],
        verdict and verdict._replace(fields=()),
        flipped(after.flips),
        tuple(fields[:FIELDS]),
        max(0, len(fields) - FIELDS),
    )


def _fields(flips: Flips) -> list[FieldFlips]:
    fixed, broken = dict(flips.fixed), dict(flips.broken)
    found = (FieldFlips(name, fixed.get(name, 0), broken.get(name, 0)) for name in fixed | broken)
    return sorted(found, key=lambda row: (-row.fixed - row.broken, row.attribute))
