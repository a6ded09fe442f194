"""Repeated runs of an iteration: how far they differ, and in which fields."""

from __future__ import annotations

from typing import Final

from sitegen.analysis.noise.intervals import interval_of_runs
from sitegen.analysis.noise.repeats import Repeats, noise_of
from sitegen.frozen import Frozen
from sitegen.model.noise import FlipRate, Interval
from sitegen.model.timeline import Snapshot
from sitegen.pages.report.discrepancies import field_file

FIELDS: Final = 20
"""Number of fields in the table: the ones that differ most often."""


class RateRow(Frozen):
    """How often the runs differ in a field."""

    rate: FlipRate
    file: str
    """The page of the attribute, as seen from the report."""


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
    rows: tuple[RateRow, ...]
    """Fields in which runs differ."""
    more: int
    bad_runs: tuple[str, ...] = ()
    """Runs that are left out of the deviation and the rates."""


def runs_view(eval_id: str, at: Snapshot, runs: Repeats | None) -> RunsView | None:
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
        rows=tuple(RateRow(rate, field_file(eval_id, rate.attribute)) for rate in rates[:FIELDS]),
        more=max(0, len(rates) - FIELDS),
        bad_runs=noise.bad_runs if noise else (),
    )
