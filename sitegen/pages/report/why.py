"""Explains a point's changes: the parts due to outputs, ground truth and rules, and whether they may be chance.

Counts the cells that were fixed, broken, or stayed wrong since the previous point, and lists the fixed ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from sitegen.analysis.deltas import Role, differing_roles
from sitegen.analysis.noise.intervals import interval_of_runs
from sitegen.analysis.noise.repeats import Repeats, noise_of
from sitegen.frozen import Frozen
from sitegen.model.cells import CellFlip, Flips
from sitegen.model.deltas import Change, Overlap
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict, FlipRate, Interval, Noise
from sitegen.model.scorecards import Status
from sitegen.model.series import HEADLINES, EvalInfo, Point
from sitegen.model.timeline import Snapshot
from sitegen.pages.change_text import DisplayedChange, Flipped, changes, flipped
from sitegen.pages.labels import exchanges
from sitegen.pages.report.discrepancies import field_file

NAMED: Final = 10
"""Number of documents of only one of the two points that the report names."""


class WhyView(Frozen):
    """The changes from the previous point to a point."""

    specs: tuple[MetricSpec, ...]
    """The headline and the metrics that are drawn beside it."""
    changes: tuple[DisplayedChange, ...]
    """One for each of these metrics."""
    overlap: Overlap
    """The documents in common; the lists of others are cut to ``NAMED``."""
    more_before: int
    """Number of documents of only the earlier point that are not named."""
    more_after: int
    verdict: ChangeVerdict | None
    """None if the output is the same: changes by ground truth and rules are certain."""
    noise: Noise | None
    """How far repeated runs differed, computed from the runs up to this point."""
    before: Status
    """Status of the earlier point: an output that cannot be read explains most of a change."""
    differ: tuple[Role, ...]
    """Roles whose contents differ between the two points."""
    exchanged: tuple[str, ...] = ()
    """Sentences on a replaced model or judge."""

    @property
    def roles(self) -> tuple[str, ...]:
        """The parts that any of the metrics has, in their order."""
        names = {part.name for change in self.changes for part in change.parts}
        return tuple(name for name in ("outputs", "ground truth", "rules") if name in names)


def why(info: EvalInfo, specs: tuple[MetricSpec, ...], before: Point | None, after: Point) -> WhyView | None:
    """None for a first point, for two points that were not compared, and for recorded numbers."""
    if info.recorded or before is None or after.change is None:
        return None
    drawn = specs[:HEADLINES]
    shared = after.change.overlap
    return WhyView(
        specs=drawn,
        changes=changes(drawn, info.nouns, before, after),
        overlap=shared._replace(only_before=shared.only_before[:NAMED], only_after=shared.only_after[:NAMED]),
        more_before=max(0, len(shared.only_before) - NAMED),
        more_after=max(0, len(shared.only_after) - NAMED),
        verdict=after.change.verdict,
        noise=after.noise,
        before=before.scorecard.status,
        differ=differing_roles(before.snapshot, after.snapshot),
        exchanged=tuple(_exchanged(after.change)),
    )


def _exchanged(delta: Change) -> Iterator[str]:
    for sentence in exchanges(delta.model, None):
        yield f"{sentence} How much of the change is due to it, and how much to edits, is unknown."
    for sentence in exchanges(None, delta.judge):
        yield f"{sentence} Its grades are not compared with earlier ones."


FIELDS: Final = 20
"""Number of fields in the table: the ones that differ most often."""


class RunsView(Frozen):
    """The runs of one iteration."""

    number: int
    readable: int
    """Number of runs whose output could be read."""
    lowest: float | None
    """Smallest value of the headline."""
    highest: float | None
    interval: Interval | None
    """Around the mean of the headline over the runs."""
    deviation: float | None
    """Standard deviation of the headline, without bad runs."""
    pooled: FlipRate | None
    """How often two runs differ, over all fields."""
    rows: tuple[FlipRate, ...]
    """Fields in which runs differ."""
    more: int
    bad_runs: tuple[str, ...] = ()
    """Runs that are left out of the deviation and the rates."""


def runs_view(at: Snapshot, runs: Repeats | None) -> RunsView | None:
    """The repeated runs of a snapshot; None if there are none."""
    if runs is None:
        return None
    values = [output.headline for output in runs.outputs if output.headline is not None]
    noise = noise_of([runs])
    rates = [rate for rate in noise.fields if rate.flips] if noise else []
    return RunsView(
        number=len({blob.path.rpartition("/")[0] for blob in at.runs}),
        readable=len(runs.indices),
        lowest=min(values, default=None),
        highest=max(values, default=None),
        interval=interval_of_runs(values),
        deviation=noise.deviation if noise else None,
        pooled=noise.pooled if noise else None,
        rows=tuple(rates[:FIELDS]),
        more=max(0, len(rates) - FIELDS),
        bad_runs=noise.bad_runs if noise else (),
    )


FLIPPED_FIELDS: Final = 12
"""Number of fields in the table: the ones with the most flips."""

FIXED: Final = 50
"""Number of fixed cells that are listed; the page shows them nowhere else."""


class FateRow(Frozen):
    """One attribute with cells that flipped, appeared or vanished."""

    attribute: str
    file: str
    """The page of the attribute, as seen from the report."""
    fixed: int
    broken: int
    still: int
    other: int
    """Errors that appeared or vanished with documents or ground truth."""


class Fates(Frozen):
    """All cells that changed since the previous point."""

    flipped: Flipped
    by_truth: int
    """Number of fixed and broken cells whose expected value changed."""
    rows: tuple[FateRow, ...]
    """Most flips first."""
    more_fields: int
    cells: tuple[CellFlip, ...]
    """The first fixed cells."""
    more_cells: int


def fates(eval_id: str, flips: Flips, fixed: Sequence[CellFlip]) -> Fates:
    """Summarises the flips between two points; ``fixed`` are the cells that were fixed."""
    rows = _fate_rows(eval_id, flips)
    return Fates(
        flipped=flipped(flips),
        by_truth=flips.by_truth,
        rows=tuple(rows[:FLIPPED_FIELDS]),
        more_fields=max(0, len(rows) - FLIPPED_FIELDS),
        cells=tuple(fixed[:FIXED]),
        more_cells=max(0, len(fixed) - FIXED),
    )


def _fate_rows(eval_id: str, flips: Flips) -> Sequence[FateRow]:
    fixed, broken, still = dict(flips.fixed), dict(flips.broken), dict(flips.still)
    appeared, vanished = dict(flips.appeared), dict(flips.vanished)
    rows = [
        FateRow(
            attribute=attribute,
            file=field_file(eval_id, attribute),
            fixed=fixed.get(attribute, 0),
            broken=broken.get(attribute, 0),
            still=still.get(attribute, 0),
            other=appeared.get(attribute, 0) + vanished.get(attribute, 0),
        )
        for attribute in fixed | broken | appeared | vanished
    ]
    return sorted(rows, key=lambda row: (-row.fixed - row.broken, -row.other, -row.still, row.attribute))
