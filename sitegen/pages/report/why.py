"""Why the numbers moved: the change of each metric by where it came from, and whether it is more than chance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from sitegen.analysis.deltas import Role, differing_roles
from sitegen.analysis.noise.changes import output_verdict
from sitegen.analysis.series import HEADLINES
from sitegen.model.deltas import Delta, Overlap
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict, Noise
from sitegen.model.scorecards import Status
from sitegen.model.series import EvalInfo, Point
from sitegen.pages.changes import DisplayedChange, changes
from sitegen.pages.labels import exchanges

NAMED: Final = 10
"""Documents of one side alone that the report names."""


class Why(NamedTuple):
    """A point against the one before it."""

    specs: tuple[MetricSpec, ...]
    """The headline, and what is drawn beside it."""
    changes: tuple[DisplayedChange, ...]
    """Of these metrics."""
    overlap: Overlap
    """With no more documents than are named."""
    more: tuple[int, int]
    """(only before, only after): further ones."""
    verdict: ChangeVerdict | None
    """None if the output is the same: what ground truth and rules did is certain, and says nothing of instructions."""
    noise: Noise | None
    """What repeats had told by then."""
    before: Status
    """Of the point before: much of a change from or to an output that cannot be read is only that."""
    differ: tuple[Role, ...]
    """What a number is made from that is not the same."""
    exchanged: tuple[str, ...] = ()
    """Sentences on another model and another judge, where there is one."""

    @property
    def roles(self) -> tuple[str, ...]:
        """The parts that any of the metrics has, in their order."""
        found = {part.name for change in self.changes for part in change.parts}
        return tuple(name for name in ("outputs", "ground truth", "rules") if name in found)


def why(
    info: EvalInfo, specs: tuple[MetricSpec, ...], before: Point | None, after: Point, noise: Noise | None
) -> Why | None:
    """None for a first point, where nobody compared the two, and for recorded numbers: nothing tells why they moved."""
    if info.recorded or before is None or after.delta is None:
        return None
    drawn = specs[:HEADLINES]
    shared = after.delta.overlap
    return Why(
        specs=drawn,
        changes=changes(drawn, info.nouns, before, after),
        overlap=shared._replace(only_before=shared.only_before[:NAMED], only_after=shared.only_after[:NAMED]),
        more=(max(0, len(shared.only_before) - NAMED), max(0, len(shared.only_after) - NAMED)),
        verdict=output_verdict(before, after, info.kind, noise=noise, higher_is_better=specs[0].higher_is_better),
        noise=noise,
        before=before.scorecard.status,
        differ=differing_roles(before.snapshot, after.snapshot),
        exchanged=tuple(_exchanged(after.delta)),
    )


def _exchanged(delta: Delta) -> Iterator[str]:
    for said in exchanges(delta.model, None):
        yield f"{said} What of the change is its doing, and what that of edits, nothing here tells."
    for said in exchanges(None, delta.judge):
        yield f"{said} Its grades are not held against those before."
