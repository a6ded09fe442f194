"""Metrics that a run recorded beside its output, where they are not what the files give when they are scored again."""

from __future__ import annotations

from typing import Final, NamedTuple

from sitegen.model.metrics import Counts
from sitegen.model.scorecards import Scorecard
from sitegen.model.timeline import Snapshot
from sitegen.stats import counts as stats

CLOSE: Final = 0.0006
"""Records are usually rounded to three digits."""

_COUNTS: Final = (
    ("true_positives", "True positives", "tp"),
    ("false_positives", "False positives", "fp"),
    ("false_negatives", "False negatives", "fn"),
    ("true_negatives", "True negatives", "tn"),
)


class RecordedRow(NamedTuple):
    """One metric that differs."""

    label: str
    recorded: float
    computed: float | None
    whole: bool
    """It is a number of things."""


class RecordedView(NamedTuple):
    """What the record of an iteration says, against what was computed."""

    same: int
    """Metrics that agree."""
    rows: tuple[RecordedRow, ...]
    """Those that do not."""
    why: str


def recorded_view(at: Snapshot, card: Scorecard, labels: tuple[tuple[str, str], ...]) -> RecordedView | None:
    """Compare the record with the scorecard; None if it records nothing that is computed.

    ``labels`` are (name, label) of the kind's metrics.
    """
    if not at.recorded_metrics or card.status == "no_ground_truth":
        return None
    recorded = dict(at.recorded_metrics)
    pairs = [(label, recorded[name], card.metric(name), False) for name, label in labels if name in recorded]
    pairs += [
        (label, recorded[name], float(getattr(card.counts, field)), True)
        for name, label, field in _COUNTS
        if name in recorded
    ]
    if not pairs:
        return None
    rows = tuple(RecordedRow(*pair) for pair in pairs if not _close(pair[1], pair[2]))
    return RecordedView(len(pairs) - len(rows), rows, _why(at, card, recorded) if rows else "")


def _why(at: Snapshot, card: Scorecard, recorded: dict[str, float]) -> str:
    """The likeliest reason, most certain first."""
    other = _other_convention(card)
    ratios = [(recorded[name], value) for name, value in other if name in recorded]
    if ratios and all(_close(*pair) for pair in ratios):
        name = "omissions_only" if card.convention == "standard" else "standard"
        return f"The record counts by the convention {name}: with it the same files give the recorded values."
    later = [cause for cause in at.cause if cause != "outputs"]
    if "ground_truth" in later:
        return "The ground truth was changed after the record was written."
    if later:
        return "The rules of scoring were changed after the record was written."
    return (
        "The record was made by other rules: another ground truth or mapping than the commit has, other tolerances, "
        "another pairing of list items, or ignored and unmapped fields counted as right."
    )


def _other_convention(card: Scorecard) -> tuple[tuple[str, float | None], ...]:
    """(name, value) of the three ratios under the convention that the scorecard does not follow."""
    counts = card.counts
    wrong = counts.wrong_value + counts.format_error
    fn = counts.omission if card.convention == "standard" else counts.omission + wrong
    other = Counts(counts.tp, counts.fp, fn, counts.tn)
    return (("precision", stats.precision(other)), ("recall", stats.recall(other)), ("f1", stats.f1(other)))


def _close(recorded: float, computed: float | None) -> bool:
    return computed is not None and abs(recorded - computed) <= CLOSE
