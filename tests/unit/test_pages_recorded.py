"""Metrics that a run recorded: shown only where they are not what the files give, and with the likeliest reason."""

import pytest
from msgspec.structs import replace

from sitegen.model.metrics import Counts, Metric
from sitegen.model.scorecards import Scorecard, Status
from sitegen.model.series import Point
from sitegen.model.timeline import Cause, Snapshot
from sitegen.pages.report.why_rows import agrees, agrees_with_now, recorded_rows, why_otherwise
from tests import pages_sample as sample

COUNTS = Counts(tp=2, fp=2, fn=2, wrong_value=2)


def snapshot(recorded: dict[str, float], *cause: Cause) -> Snapshot:
    return sample.snapshot(
        1, replace(sample.commit(0), subject="Read"), cause or ("outputs",), recorded_metrics=recorded
    )


def card(status: Status = "scored", f1: float = 0.5) -> Scorecard:
    metrics = (Metric("f1", f1), Metric("precision", 0.5), Metric("recall", 0.5))
    return Scorecard(status=status, counts=COUNTS, metrics=metrics, documents=(), fields=(), expected_values=4)


def test_what_differs_is_shown_with_both_numbers():
    rows = recorded_rows({"f1": 0.61, "precision": 0.5, "false_negatives": 4}, card(), sample.SPECS)
    assert [row for row in rows if not agrees(row)] == [("F1", 0.61, 0.5, False), ("False negatives", 4, 2, True)]
    assert len(rows) == 3


FURTHER = (
    "Possible causes are other tolerances, another pairing of list items, and ignored or unmapped fields that count."
)


@pytest.mark.parametrize(
    ("recorded", "cause", "why"),
    [
        (
            {"precision": 0.5, "recall": 1.0, "f1": 0.667},
            ("outputs",),
            "The record counts by the convention omissions_only: with it the same files give the recorded values.",
        ),
        (
            {"f1": 0.7, "false_negatives": 1, "errors_by_type.omission": 1, "errors_by_type.wrong_value": 2},
            ("outputs",),
            f"The record counts by the convention omissions_only, as its numbers of errors show. {FURTHER}",
        ),
        (
            {"f1": 0.7, "false_negatives": 3, "errors_by_type.omission": 1, "errors_by_type.wrong_value": 2},
            ("outputs",),
            f"The file states too little to tell why its numbers differ. {FURTHER}",
        ),
        (
            {"f1": 0.7, "total_fields_gt": 1200},
            ("outputs",),
            "It counts 1,200 expected values, the files have 4: of other fields or list items, or of another ground "
            f"truth. {FURTHER}",
        ),
        (
            {"f1": 0.7},
            ("ground_truth", "mapping"),
            f"Since it was written: ground truth changed, field mapping changed. {FURTHER}",
        ),
        ({"f1": 0.7}, ("outputs", "ground_truth"), f"Since it was written: ground truth changed. {FURTHER}"),
    ],
)
def test_the_reason_is_what_the_numbers_show(recorded, cause, why):
    assert why_otherwise(snapshot(recorded, *cause), card(), sample.SPECS, None, explained=False) == why


def test_values_that_were_computed_until_the_ground_truth_changed_are_those_of_before():
    before = replace(sample.series(1).points[0], snapshot=snapshot({}), scorecard=card(f1=0.7))

    def why(f1: float, *cause: Cause) -> str:
        return why_otherwise(snapshot({"f1": f1}, *cause), card(), sample.SPECS, before, explained=False)

    assert why(0.7, "ground_truth") == (
        "The same output gave the recorded values until this commit: ground truth changed."
    )
    assert why(0.8, "ground_truth") == f"Since it was written: ground truth changed. {FURTHER}"
    assert why(0.7) == f"The file states too little to tell why its numbers differ. {FURTHER}"


def test_nothing_is_compared_that_was_not_recorded_or_cannot_be_computed():
    series = sample.series(1)
    cases: tuple[tuple[dict[str, float], Status], ...] = (
        ({}, "scored"),
        ({"speed": 7.0}, "scored"),
        ({"f1": 0.5}, "no_ground_truth"),
    )
    for recorded, status in cases:
        point = replace(series.points[0], snapshot=snapshot(recorded), scorecard=card(status))
        result = replace(sample.result([]), scorecard=point.scorecard)
        page = sample.report(series, point, None, result).page
        view = sample.view_of(page)
        assert (view.recorded, view.recorded_headline) == ([], None)


@pytest.mark.parametrize(
    ("recorded", "now", "agrees"),
    [
        ({"f1": 0.7}, card(f1=0.7), True),
        ({"f1": 0.7, "recall": 0.9}, card(f1=0.7), False),
        ({"f1": 0.5}, card(f1=0.7), False),
        ({"speed": 7}, card(f1=0.7), False),
        ({}, card(f1=0.7), False),
        ({"f1": 0.7}, None, False),
    ],
)
def test_a_record_of_what_a_later_ground_truth_gives_is_told_on_the_trend(
    recorded: dict[str, float], now: Scorecard | None, agrees: bool
) -> None:
    point = Point(snapshot(recorded), card(), (), now=now)
    assert agrees_with_now(point, sample.SPECS) is agrees
    view = sample.view_of(sample.trend(replace(sample.series(1), points=(point,))))
    assert view.recorded_by_now == agrees
