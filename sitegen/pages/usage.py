"""What the outputs of an eval took: a line for each of its points, and the headline against the cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from sitegen.model.metrics import MetricSpec
from sitegen.scoring.usage import USAGE

if TYPE_CHECKING:
    from sitegen.pages.trend import TrendPoint

AGAINST: Final = ("cost", "tokens_out", "tokens_in", "latency_median")
"""What the headline is drawn against: the first of these that two outputs state."""
ROWS: Final = 200
"""Points that the table lists, the newest ones."""


class OutputUsage(NamedTuple):
    """One output."""

    label: str
    file: str
    """Its report, as seen from the trend page."""
    made_by: str
    """The models; empty if it does not say."""
    headline: float | None
    values: tuple[float | None, ...]
    """In the order of the specs."""
    against: float | None
    """What the picture draws it at."""


class UsageView(NamedTuple):
    """What the trend page shows of usage."""

    headline: MetricSpec
    specs: tuple[MetricSpec, ...]
    """Of usage: those that any output states."""
    outputs: tuple[OutputUsage, ...]
    """Oldest first, without points that are only scored again."""
    models: tuple[str, ...]
    """All that are named, the newest first."""
    against: MetricSpec | None
    """None: too few outputs state both to draw anything."""


def usage_view(specs: Sequence[MetricSpec], points: Sequence[TrendPoint]) -> UsageView | None:
    """The outputs with what they took; None if none of them says anything. *specs* are those of the points' values."""
    places = [index for index, spec in enumerate(specs) if spec.name in USAGE]
    made = [point for point in points if not point.rescored]
    if not places and not any(point.models for point in made):
        return None
    names = [specs[index].name for index in places]
    against = next((name for name in AGAINST if name in names and _drawable(made, places[names.index(name)])), None)
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
        for point in made
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
