"""Compares the metrics that a run recorded beside its output with those that sitegen computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sitegen.frozen import Frozen
from sitegen.model.metrics import Convention, Counts, MetricSpec
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point
from sitegen.model.timeline import Snapshot
from sitegen.pages.labels import CAUSES
from sitegen.stats import counts as stats

CLOSE: Final = 0.0006
"""Largest difference of equal values, because records are usually rounded to three digits."""

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


class RecordedRow(Frozen):
    """One metric that differs."""

    label: str
    recorded: float
    computed: float | None
    whole: bool
    """Whether the metric is a count."""


class RecordedView(Frozen):
    """The recorded metrics of an iteration, compared with the computed ones."""

    same: int
    """Number of metrics that agree."""
    rows: tuple[RecordedRow, ...]
    """The metrics that differ."""
    why: str
    """The explanation of the differences; empty if there are none."""


def recorded_view(
    at: Snapshot, card: Scorecard, specs: Sequence[MetricSpec], previous: Point | None = None
) -> RecordedView | None:
    """Compare the record with the scorecard; None if they have no metric in common. ``specs``: the kind's metrics."""
    if not at.recorded_metrics or card.status == "no_ground_truth":
        return None
    recorded = dict(at.recorded_metrics)
    rows = _recorded_rows(recorded, card, specs)
    if not rows:
        return None
    different = tuple(row for row in rows if not _recorded_agrees(row))
    if not different:
        return RecordedView(len(rows), (), "")
    before = _same_output(at, previous)
    until = before is not None and all(map(_recorded_agrees, _recorded_rows(recorded, before, specs)))
    why = _until(at) if until else _difference_reason(at, card, recorded)
    return RecordedView(len(rows) - len(different), different, why)


def agrees_with_now(point: Point, specs: Sequence[MetricSpec]) -> bool:
    """Whether the recorded metrics agree with the newest ground truth and rules, but not with those of the point.

    Such a record was written or corrected later. The trend reports this; reports show nothing of later commits.
    """
    if point.now is None or not point.snapshot.recorded_metrics:
        return False
    recorded = dict(point.snapshot.recorded_metrics)
    then, now = (_recorded_rows(recorded, card, specs) for card in (point.scorecard, point.now))
    return bool(now) and all(map(_recorded_agrees, now)) and not all(map(_recorded_agrees, then))


def _recorded_rows(
    recorded: Mapping[str, float], card: Scorecard, specs: Sequence[MetricSpec]
) -> tuple[RecordedRow, ...]:
    """All metrics and counts that are both recorded and computed."""
    metrics = [
        RecordedRow(label=spec.label, recorded=recorded[spec.name], computed=card.metric(spec.name), whole=False)
        for spec in specs
        if spec.name in recorded
    ]
    counts = [
        RecordedRow(label=label, recorded=recorded[name], computed=float(getattr(card.counts, field)), whole=True)
        for name, label, field in _COUNTS
        if name in recorded
    ]
    return (*metrics, *counts)


def _same_output(at: Snapshot, previous: Point | None) -> Scorecard | None:
    """The previous scorecard if it is of the same output, and only ground truth or rules changed since."""
    same = previous is not None and previous.snapshot.iteration == at.iteration and "outputs" not in at.cause
    return previous.scorecard if previous and same else None


def _until(at: Snapshot) -> str:
    changed = ", ".join(CAUSES[cause] for cause in at.cause)
    return f"The same output gave the recorded values until this commit: {changed}."


def _difference_reason(at: Snapshot, card: Scorecard, recorded: Mapping[str, float]) -> str:
    """The explanation of the differences, if the numbers show one, and other possible explanations."""
    alternative: Convention = "omissions_only" if card.convention == "standard" else "standard"
    ratios = [(recorded[name], value) for name, value in _ratios_by(alternative, card).items() if name in recorded]
    if ratios and all(_is_close(*pair) for pair in ratios):
        return f"The record counts by the convention {alternative}: with it the same files give the recorded values."
    reasons = []
    if _convention(recorded) == alternative:
        reasons.append(f"The record counts by the convention {alternative}, as its numbers of errors show.")
    expected = recorded.get("total_fields_gt", recorded.get("total_fields"))
    if expected is not None and expected != card.expected_values:
        reasons.append(
            f"It counts {expected:,.0f} expected values, the files have {card.expected_values:,}: "
            "of other fields or list items, or of another ground truth."
        )
    later = [CAUSES[cause] for cause in at.cause if cause != "outputs"]
    if later:
        reasons.append(f"Since it was written: {', '.join(later)}.")
    if not reasons:
        reasons.append("Its numbers do not show why.")
    return " ".join([*reasons, _FURTHER])


def _convention(recorded: Mapping[str, float]) -> Convention | None:
    """The convention by which a record counts false negatives (rule 1); None if its numbers do not show it."""
    omission, fn = recorded.get("errors_by_type.omission"), recorded.get("false_negatives")
    wrong = sum(recorded.get(f"errors_by_type.{name}", 0.0) for name in ("wrong_value", "format_error"))
    if omission is None or not wrong:
        return None
    return "omissions_only" if fn == omission else "standard" if fn == omission + wrong else None


def _ratios_by(convention: Convention, card: Scorecard) -> dict[str, float | None]:
    """The ratios by name under a convention."""
    counts = card.counts
    wrong = counts.wrong_value + counts.format_error
    fn = counts.omission if convention == "omissions_only" else counts.omission + wrong
    return stats.ratios(Counts(tp=counts.tp, fp=counts.fp, fn=fn, tn=counts.tn))


def _recorded_agrees(row: RecordedRow) -> bool:
    return _is_close(row.recorded, row.computed)


def _is_close(recorded: float, computed: float | None) -> bool:
    return computed is not None and abs(recorded - computed) <= CLOSE
