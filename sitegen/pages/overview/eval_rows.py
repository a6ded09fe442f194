"""The evals of the overview, each with its numbers and a small chart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sitegen.analysis.standing import EvalStanding
from sitegen.frozen import Frozen
from sitegen.model.noise import Ends
from sitegen.model.series import EvalSummary, Headline

SPARK: Final = 60
"""Number of points of a sparkline: the newest ones."""


class EvalRow(Frozen):
    """One eval among the small multiples."""

    summary: EvalSummary
    standing: EvalStanding | None
    """The eval compared with its past; None if it is deleted."""
    spark: tuple[float | None, ...]
    scale: Ends | None
    """The range of all charts whose metrics are shares; None if the chart has its own range."""
    values: tuple[float | None, ...]
    """The first three metrics; None for missing ones if the kind has fewer."""
    change: float | None
    """Change of the headline, over the documents that the newest two points have in common."""
    errors: tuple[int, ...]
    least: float | None
    """The target of the headline metric."""
    met: bool | None
    """None without a target, or if the metric is undefined."""
    labels: tuple[str, ...]
    """Labels of the three metrics; empty for missing ones."""
    units: tuple[str, ...]
    """Units of the three metrics."""

    @property
    def newest(self) -> Headline | None:
        """The newest point."""
        return self.summary.headlines[-1] if self.summary.headlines else None


def shared_scale(summaries: Iterable[EvalSummary]) -> Ends | None:
    """The range of the newest headlines of all evals whose headline is a share, so that their charts compare."""
    values = [
        value
        for summary in summaries
        if summary.specs[0].is_share
        for headline in summary.headlines[-SPARK:]
        if (value := headline.values[0]) is not None
    ]
    return Ends(min(values), max(values)) if values else None


def eval_row(summary: EvalSummary, standing: EvalStanding | None, scale: Ends | None) -> EvalRow:
    """The row of one eval; ``standing`` is None if the eval is deleted."""
    newest = summary.headlines[-1] if summary.headlines else None
    values: tuple[float | None, ...] = newest.values[:3] if newest else ()
    values += (None,) * (3 - len(values))
    spec = summary.specs[0]
    least = spec.target(summary.info.thresholds)
    return EvalRow(
        summary=summary,
        standing=standing,
        spark=tuple(headline.values[0] for headline in summary.headlines[-SPARK:]),
        scale=scale if spec.is_share else None,
        values=values,
        change=summary.delta.headline.change if summary.delta else None,
        errors=newest.errors if newest else (0, 0, 0, 0),
        least=least,
        met=None if least is None or values[0] is None else spec.reaches(values[0], least),
        labels=_of_three(spec.label for spec in summary.specs),
        units=_of_three(spec.unit for spec in summary.specs),
    )


def _of_three(texts: Iterable[str]) -> tuple[str, ...]:
    """The first three of the texts, padded with empty ones."""
    first = tuple(texts)[:3]
    return first + ("",) * (3 - len(first))
