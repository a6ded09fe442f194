"""Changes of a metric as pages show them: in points, split by where they came from, and what they were measured over.

A *point* is a hundredth of the metric's range, so that changes of all metrics compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sitegen.model.cells import Flips, Tally
from sitegen.model.deltas import Delta, DeltaParts, MetricDelta, Overlap
from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.model.series import Point
from sitegen.model.usage import regraded
from sitegen.pages.labels import exchange

NAMED: Final = 3
"""At most so many documents that only one side holds are named; the others are counted."""

_NOTHING: Final = 1e-9
"""Changes in points up to this size are rounding errors of a sum, and count as no change."""


class Flipped(NamedTuple):
    """Cells by what became of them between two points."""

    fixed: int
    broken: int
    still: int
    """Wrong at both."""
    appeared: int = 0
    vanished: int = 0
    """Errors that came or went with a document or with the ground truth."""


class Part(NamedTuple):
    """What one role did to a metric."""

    name: str
    """"outputs", "ground truth" or "rules"."""
    points: float


class DisplayedChange(NamedTuple):
    """How one metric changed between two points of an eval."""

    points: float | None
    """None: refused, or undefined on either side; the note says why."""
    parts: tuple[Part, ...] = ()
    """The parts that are not zero; they sum to the whole. Empty if nothing moved, or if the change cannot be split."""
    note: str = ""
    """What a reader has to know before taking the number for what it is; empty if there is nothing."""

    @property
    def by_outputs(self) -> bool:
        """Whether the metric moved because of the outputs alone."""
        return [part.name for part in self.parts] == ["outputs"]


def changes(specs: Sequence[MetricSpec], nouns: Nouns, before: Point, after: Point) -> tuple[DisplayedChange, ...]:
    """The change of each of *specs*, the first metrics of the kind; empty if the two points were not compared."""
    if after.delta is None:
        return ()
    model = exchange("model", after.delta.model)
    shared = "; ".join(filter(None, (_overlap_note(after.delta.overlap, nouns, before, after), model)))
    return tuple(
        _displayed_change(spec, found, shared, before, after)
        for spec, found in zip(specs, after.delta.metrics, strict=False)
    )  # fmt: skip


def in_points(change: float, spec: MetricSpec) -> float:
    """A change of a metric in hundredths of its range."""
    return 100 * change / (spec.high - spec.low)


def split(parts: DeltaParts, spec: MetricSpec) -> tuple[Part, ...]:
    """The parts that are not zero. A metric that a run recorded has none, because nothing was compared for it."""
    if spec.recorded:
        return ()
    named = zip(("outputs", "ground truth", "rules"), parts, strict=True)
    found = (Part(name, in_points(value, spec)) for name, value in named)
    return tuple(part for part in found if abs(part.points) > _NOTHING)


def refused(delta: Delta) -> bool:
    """Whether the two points hold no document in common, so that they cannot be compared."""
    return delta.overlap.verdict == "refused"


def _displayed_change(
    spec: MetricSpec, delta: MetricDelta, shared: str, before: Point, after: Point
) -> DisplayedChange:
    if after.delta and refused(after.delta):
        return DisplayedChange(None, (), shared)
    if delta.change is None:
        judge = after.delta.judge if after.delta else None
        said = exchange("judge", judge) if regraded(judge, spec.name) else _undefined_note(spec, before)
        return DisplayedChange(None, (), said)
    if delta.parts is None:
        unsplit = "a mixture of both sides is undefined, so that it cannot be split"
        return DisplayedChange(in_points(delta.change, spec), (), "; ".join(filter(None, (shared, unsplit))))
    return DisplayedChange(in_points(delta.change, spec), split(delta.parts, spec), shared)


def _undefined_note(spec: MetricSpec, before: Point) -> str:
    where = f"at {before.snapshot.label}" if before.scorecard.metric(spec.name) is None else "here"
    return f"{spec.label} is undefined {where}"


def _overlap_note(overlap: Overlap, nouns: Nouns, before: Point, after: Point) -> str:
    if overlap.verdict == "comparable":
        return ""
    if overlap.verdict == "refused":
        for point, where in ((before, f"{before.snapshot.label} has"), (after, "this point has")):
            if not point.scorecard.documents:
                return f"not comparable: {where} no {nouns.documents} that count"
        return f"not comparable: no {nouns.document} in common with {before.snapshot.label}"
    common = nouns.document if overlap.common == 1 else nouns.documents
    sides = (("only before", overlap.only_before), ("only after", overlap.only_after))
    return "; ".join(
        [f"over {overlap.common:,} common {common}", *(_side_documents(*side) for side in sides if side[1])]
    )


def _side_documents(name: str, documents: Sequence[str]) -> str:
    more = len(documents) - NAMED
    return f"{name}: {', '.join(documents[:NAMED])}{f' and {more:,} more' if more > 0 else ''}"


def flipped(flips: Flips) -> Flipped:
    """All attributes together."""
    tallies = (flips.fixed, flips.broken, flips.still, flips.appeared, flips.vanished)
    return Flipped(*map(_cells_of_tally, tallies))


def _cells_of_tally(tally: Tally) -> int:
    return sum(number for _, number in tally)
