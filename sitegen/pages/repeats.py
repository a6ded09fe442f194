"""Outputs that were made again: which fields flip although nobody edited the instructions."""

from __future__ import annotations

from typing import NamedTuple

from sitegen.analysis.noise.repeats import FEWEST, noise_of, repeats_among
from sitegen.model.noise import FlipRate
from sitegen.model.series import Series
from sitegen.pages.report.discrepancies import field_file
from sitegen.pages.report.runs import FIELDS, RateRow


class RepeatsView(NamedTuple):
    """What differs between outputs made again under unchanged instructions, over the whole series."""

    outputs: int
    pooled: FlipRate
    """Over all fields."""
    rows: tuple[RateRow, ...]
    """Fields in which they differ at all, the one that flips most often first."""
    more: int


def repeats_view(series: Series) -> RepeatsView | None:
    """None without three repeats, or two pairs of them: one pair may be apart by accident, as for the noise limit."""
    if series.info.recorded:
        return None
    noise = noise_of(repeats_among(series.points, series.cells))
    if noise is None or noise.pooled.rate is None or noise.outputs - noise.groups < FEWEST:
        return None
    rates = [rate for rate in noise.fields if rate.flips]
    rows = tuple(RateRow(rate, field_file(series.info.id, rate.attribute)) for rate in rates[:FIELDS])
    return RepeatsView(noise.outputs, noise.pooled, rows, len(rates) - len(rows))
