"""Deltas: what became of an eval from one point to another, and which part of it came from where."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from sitegen.model.usage import Exchange

Comparability: TypeAlias = Literal["comparable", "bridged", "refused"]
"""comparable: both points hold the same documents. bridged: counted over those that both hold.
refused: they have none in common, or one of them has no numbers at all."""


class Overlap(NamedTuple):
    """Which documents two points have in common."""

    verdict: Comparability
    common: int
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()


class DeltaParts(NamedTuple):
    """A change by where it came from. The three sum to the whole, to 1e-12."""

    outputs: float
    ground_truth: float
    rules: float
    """Mapping, schema and settings."""


class MetricDelta(NamedTuple):
    """The change of one metric, over the documents that both points hold."""

    name: str
    change: float | None
    """After minus before; None if it is refused, or undefined on either side."""
    parts: DeltaParts | None
    """None if the change is None, or if a crossed score is undefined."""


class Delta(NamedTuple):
    """A point held against the one before it."""

    overlap: Overlap
    metrics: tuple[MetricDelta, ...]
    """In the order of the kind's specs, those of usage last; the first is the headline."""
    model: Exchange | None = None
    """Another model made the output: nothing tells what of a change is its doing."""
    judge: Exchange | None = None
    """Another judge graded it: the grades of both are not compared."""

    @property
    def headline(self) -> MetricDelta:
        """That of the headline metric."""
        return self.metrics[0]
