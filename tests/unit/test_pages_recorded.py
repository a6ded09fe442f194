"""Metrics that a run recorded: shown only where they are not what the files give, and with the likeliest reason."""

import pytest

from sitegen.model.commits import Commit
from sitegen.model.metrics import Counts, Metric
from sitegen.model.scorecards import Scorecard, Status
from sitegen.model.timeline import Cause, Snapshot
from sitegen.pages.recorded import RecordedRow, recorded_view

LABELS = (("f1", "F1"), ("precision", "Precision"), ("recall", "Recall"))
COUNTS = Counts(tp=2, fp=2, fn=2, wrong_value=2)


def snapshot(recorded: dict[str, float], *cause: Cause) -> Snapshot:
    return Snapshot(
        iteration=1,
        label="iteration-001",
        slug="0001",
        commit=Commit("a" * 40, 0, "", "2026-01-01T00:00:00+00:00", "Read"),
        cause=cause or ("outputs",),
        outputs=(),
        ground_truth=None,
        mapping=None,
        schema=None,
        settings="{}",
        recorded_metrics=tuple(recorded.items()),
    )


def card(status: Status = "scored") -> Scorecard:
    metrics = (Metric("f1", 0.5), Metric("precision", 0.5), Metric("recall", 0.5))
    return Scorecard(status, COUNTS, metrics, (), ())


def test_a_record_that_agrees_to_three_digits_is_only_counted():
    view = recorded_view(snapshot({"f1": 0.5004, "true_positives": 2, "speed": 7}), card(), LABELS)
    assert view is not None
    assert (view.same, view.rows, view.why) == (2, (), "")


def test_what_differs_is_shown_with_both_numbers():
    view = recorded_view(snapshot({"f1": 0.61, "precision": 0.5, "false_negatives": 4}), card(), LABELS)
    assert view is not None
    assert view.same == 1
    assert view.rows == (RecordedRow("F1", 0.61, 0.5, False), RecordedRow("False negatives", 4, 2, True))


@pytest.mark.parametrize(
    ("recorded", "cause", "why"),
    [
        ({"precision": 0.5, "recall": 1.0, "f1": 0.667}, ("outputs",), "The record counts by the convention"),
        ({"f1": 0.7}, ("ground_truth",), "The ground truth was changed after"),
        ({"f1": 0.7}, ("mapping",), "The rules of scoring were changed after"),
        ({"f1": 0.7}, ("outputs", "ground_truth"), "The ground truth was changed after"),
        ({"f1": 0.7}, ("outputs",), "The record was made by other rules"),
    ],
)
def test_the_likeliest_reason_is_named(recorded, cause, why):
    view = recorded_view(snapshot(recorded, *cause), card(), LABELS)
    assert view is not None
    assert view.why.startswith(why)


def test_nothing_is_compared_that_was_not_recorded_or_cannot_be_computed():
    assert recorded_view(snapshot({}), card(), LABELS) is None
    assert recorded_view(snapshot({"speed": 7}), card(), LABELS) is None
    assert recorded_view(snapshot({"f1": 0.5}), card("no_ground_truth"), LABELS) is None
