"""Verdicts: whether the metrics of a result reach what is wanted of them."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

VerdictStatus: TypeAlias = Literal["PASS", "FAIL", "SKIP"]
"""SKIP: there is nothing to judge, for the metric is undefined."""


class VerdictRow(NamedTuple):
    """One metric of which something is wanted."""

    metric: str
    label: str
    value: float | None
    threshold: float
    status: VerdictStatus


class Verdict(NamedTuple):
    """All metrics of which something is wanted, and what to do."""

    rows: tuple[VerdictRow, ...]
    """In the order of the kind's metrics; thresholds of metrics that the kind does not have last."""
    overall_status: VerdictStatus
    """PASS: every metric that is defined and has a threshold reaches it; SKIP: there is none such."""
    failed_criteria: tuple[str, ...]
    """Names of the metrics that fail."""
    recommendations: tuple[str, ...]
    """Plain sentences: one for each failed criterion, and one for each undefined metric."""

    def row(self, metric: str) -> VerdictRow | None:
        """The row of a metric, None if nothing is wanted of it."""
        return next((row for row in self.rows if row.metric == metric), None)
