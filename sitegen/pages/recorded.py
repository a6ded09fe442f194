"""Compares the metrics that a run recorded beside its output with those that sitegen computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from posixpath import basename
from typing import Final, TypeAlias

from sitegen.analysis.recorded import CLOSE, counted_by, recorded_convention
from sitegen.model.metrics import Convention, MetricSpec
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point
from sitegen.model.timeline import Snapshot
from sitegen.pages.labels import CAUSES
from sitegen.stats import counts as stats

_FURTHER: Final = (
    "Further causes may be other tolerances, another pairing of list items, or ignored and unmapped fields that count."
)

_COUNTS: Final = (
    ("true_positives", "True positives", "tp"),
    ("false_positives", "False positives", "fp"),
    ("false_negatives", "False negatives", "fn"),
    ("true_negatives", "True negatives", "tn"),
    ("errors_by_type.omission", "Omissions", "omission"),
    ("errors_by_type.hallucination", "Hallucinations", "hallucination"),
    ("errors_by_type.wrong_value", "Wrong values", "wrong_value"),
    ("errors_by_type.format_error", "Format errors", "format_error"),
)


RecordedRow: TypeAlias = tuple[str, float, float | None, bool]
"""A metric: its label, the recorded value and the computed one, and whether it is a count."""


def record_name(at: Snapshot) -> str:
    """The name of the file with the record of a run."""
    return basename(at.recorded.path) if at.recorded else "record"


def why_otherwise(
    at: Snapshot, card: Scorecard, specs: Sequence[MetricSpec], previous: Point | None, *, explained: bool
) -> str:
    """Why the record of a run differs from the scorecard. ``explained``: the parts of the difference are shown."""
    recorded = at.recorded_metrics
    before = _same_output(at, previous)
    if before is not None and all(map(agrees, recorded_rows(recorded, before, specs))):
        return (
            f"The same output gave the recorded values until this commit: {', '.join(CAUSES[it] for it in at.cause)}."
        )
    return _since(at) if explained else _difference_reason(at, card, recorded)


def agrees_with_now(point: Point, specs: Sequence[MetricSpec]) -> bool:
    """Whether the recorded metrics agree with the newest ground truth and rules, but not with those of the point.

    Such a record was written or corrected later. The trend reports this; reports show nothing of later commits.
    """
    if point.now is None or not point.snapshot.recorded_metrics:
        return False
    recorded = point.snapshot.recorded_metrics
    then, now = (recorded_rows(recorded, card, specs) for card in (point.scorecard, point.now))
    return bool(now) and all(agrees(row) for row in now) and not all(agrees(row) for row in then)


def agrees(row: RecordedRow) -> bool:
    """Whether both values are the same, but for rounding."""
    _, recorded, computed, _ = row
    return computed is not None and abs(recorded - computed) <= CLOSE


def recorded_rows(
    recorded: Mapping[str, float], card: Scorecard, specs: Sequence[MetricSpec]
) -> tuple[RecordedRow, ...]:
    """All metrics and counts that are both recorded and computed."""
    metrics: list[RecordedRow] = [
        (spec.label, recorded[spec.name], card.metric(spec.name), False) for spec in specs if spec.name in recorded
    ]
    counts: list[RecordedRow] = [
        (label, recorded[name], float(getattr(card.counts, field)), True)
        for name, label, field in _COUNTS
        if name in recorded
    ]
    return (*metrics, *counts)


def _same_output(at: Snapshot, previous: Point | None) -> Scorecard | None:
    """The previous scorecard if it is of the same output, and only ground truth or rules changed since."""
    same = previous is not None and previous.snapshot.iteration == at.iteration and "outputs" not in at.cause
    return previous.scorecard if previous and same else None


def _since(at: Snapshot) -> str:
    later = [CAUSES[cause] for cause in at.cause if cause != "outputs"]
    return f"Since it was written: {', '.join(later)}." if later else ""


def _difference_reason(at: Snapshot, card: Scorecard, recorded: Mapping[str, float]) -> str:
    """The explanation of the differences, if the numbers show one, and other possible explanations."""
    alternative: Convention = "omissions_only" if card.convention == "standard" else "standard"
    by_alternative = stats.ratios(counted_by(alternative, card.counts))
    ratios = [(recorded[name], value) for name, value in by_alternative.items() if name in recorded]
    if ratios and all(value is not None and abs(stated - value) <= CLOSE for stated, value in ratios):
        return f"The record counts by the convention {alternative}: with it the same files give the recorded values."
    reasons = []
    if recorded_convention(recorded) == alternative:
        reasons.append(f"The record counts by the convention {alternative}, as its numbers of errors show.")
    expected = recorded.get("total_fields_gt", recorded.get("total_fields"))
    if expected is not None and expected != card.expected_values:
        reasons.append(
            f"It counts {expected:,.0f} expected values, the files have {card.expected_values:,}: "
            "of other fields or list items, or of another ground truth."
        )
    if since := _since(at):
        reasons.append(since)
    if not reasons:
        reasons.append("Its numbers do not show why.")
    return " ".join([*reasons, _FURTHER])
