"""Usage of the outputs of an eval, beside the headline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sitegen.frozen import Frozen
from sitegen.model.metrics import MetricSpec
from sitegen.scoring.usage import USAGE

if TYPE_CHECKING:
    from sitegen.pages.trend.metrics_now import TrendPoint


AGAINST: Final = ("cost", "tokens_out", "tokens_in", "latency_median")
"""The headline is drawn against the first of these that two outputs state."""


ROWS: Final = 200
"""Largest number of outputs in the table and in the picture: the newest ones."""


class OutputUsage(Frozen):
    """Usage of one output."""

    label: str
    file: str
    """Address of its report, relative to the trend page."""
    made_by: str
    """Models of the output; empty if it does not state any."""
    headline: float | None
    values: tuple[float | None, ...]
    """Usage values, in the order of the specs."""
    against: float | None
    """Value on the horizontal axis of the picture."""


class UsageView(Frozen):
    """Usage of all outputs."""

    headline: MetricSpec
    specs: tuple[MetricSpec, ...]
    """Usage metrics that any output states."""
    outputs: tuple[OutputUsage, ...]
    """The outputs, oldest first, without re-scored points."""
    models: tuple[str, ...]
    """All models, the newest first."""
    against: MetricSpec | None
    """Metric of the horizontal axis; None if too few outputs state one to draw a picture."""


def usage_view(specs: Sequence[MetricSpec], points: Sequence[TrendPoint]) -> UsageView | None:
    """Usage of the outputs; None if no output states any. ``specs``: the specs of the points' values."""
    places = [index for index, spec in enumerate(specs) if spec.name in USAGE]
    with_output = [point for point in points if not point.rescored]
    if not places and not any(point.models for point in with_output):
        return None
    names = [specs[index].name for index in places]
    against = next(
        (name for name in AGAINST if name in names and _drawable(with_output, places[names.index(name)])), None
    )
    drawn = None if against is None else places[names.index(against)]
    outputs = tuple(
        OutputUsage(
            label=point.label,
            file=point.file,
            made_by=" and ".join(point.models),
            headline=point.values[0],
            values=tuple(point.values[index] for index in places),
            against=None if drawn is None else point.values[drawn],
        )
        for point in with_output
    )
    return UsageView(
        headline=specs[0],
        specs=tuple(specs[index] for index in places),
        outputs=outputs,
        models=tuple(dict.fromkeys(output.made_by for output in reversed(outputs) if output.made_by)),
        against=None if drawn is None else specs[drawn],
    )


def _drawable(points: Sequence[TrendPoint], place: int) -> bool:
    return sum(point.values[0] is not None and bool(point.values[place]) for point in points) >= 2
