"""Data files in the forms that the data contract names."""

import csv
import io
import json
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from sitegen.analysis.noise.samples import interval_of
from sitegen.model.changes import Change, DeltaParts, MetricDelta, Overlap
from sitegen.model.outcomes import Flips, Unusable
from sitegen.model.series import PatternSummary, Series
from sitegen.model.timeline import Blob, Edit
from sitegen.pages.data.exports import results_json
from sitegen.pages.data.series import series_files
from tests import pages_sample as sample


def _series(size: int = 60) -> tuple[Series, Any, list[dict[str, str]]]:
    series = sample.series(size)
    files = series_files(series)
    return series, json.loads(files[0].content), list(csv.DictReader(io.StringIO(files[1].content.decode())))


ROUNDING = PatternSummary(
    name="rounding", errors=3, total=9, fields=1, since="", all_since=False, value=0.5, without=0.75
)
ROUNDING_DATA = {"name": "rounding", "errors": 3, "of": 9, "fields": 1, "since": None, "headline_without": 0.75}


def _why() -> Series:
    """Two points: the second is bridged, has parts of all three roles, and is stale."""
    series = sample.series(2)
    parts = DeltaParts(0.05, -0.011, 0.003)
    metrics = (MetricDelta("f1", 0.042, parts), MetricDelta("precision", None, None))
    second = replace(
        series.points[1],
        change=Change(
            Overlap(common=3, only_before=("f-1",), only_after=("f-4", "f-5")),
            metrics,
            flips=Flips(fixed=(("a", 2), ("b", 1)), broken=(("c", 4),), still=(("a", 5),), appeared=(("d", 1),)),
        ),
        stale=True,
        first_with_output=0,
    )
    return replace(series, points=(series.points[0], second))


def test_the_table_says_why_a_point_moved_as_the_series_does():
    series = _why()
    table = list(csv.DictReader(io.StringIO(series_files(series)[1].content.decode())))
    now, interval = series.points[1].now, interval_of(series.points[1].scorecard)
    assert now is not None
    assert interval is not None
    columns = list(table[0])
    why = columns[columns.index("report") + 1 :]
    assert {name: table[1][name] for name in ("delta", *why)} == {
        "delta": "0.042",
        "same_as": "iteration-001",
        "now": repr(now.metric("f1")),
        "outputs": "0.05",
        "ground_truth": "-0.011",
        "rules": "0.003",
        "comparable": "bridged",
        "common": "3",
        "stale": "yes",
        "fixed": "3",
        "broken": "4",
        "still": "5",
        "interval_low": repr(interval.low),
        "interval_high": repr(interval.high),
    }
    nothing_before = ("delta", "outputs", "ground_truth", "rules", "comparable", "common", "fixed", "broken", "still")
    assert [table[0][name] for name in nothing_before] == [""] * 9


def test_the_first_point_and_undefined_metrics_have_no_change():
    _, body, _ = _series()
    first = body["points"][0]
    assert [first[name] for name in ("delta", "fixed", "broken", "still")] == [None] * 4
    assert body["points"][30]["then"]["f1"] is None
    assert body["points"][30]["interval"] is None
    assert body["points"][30]["delta"] == {
        "f1": None,
        "precision": None,
        "recall": None,
        "field_accuracy": None,
        "parts": None,
        "comparable": {"verdict": "refused", "common": 0, "only_before": [], "only_after": []},
        "verdict": {"decision": "cannot tell", "words": "there is nothing in common to compare"},
    }


def test_without_a_second_clock_there_is_none_in_the_data():
    series = sample.series(1)
    point = replace(series.points[0], now=None)
    data, table = series_files(replace(series, points=(point,)))
    assert json.loads(data.content)["points"][0]["now"] is None
    assert next(csv.DictReader(io.StringIO(table.content.decode())))["now"] == ""


def test_instructions_of_a_point_are_what_changed_since_the_point_before():
    series = sample.series(1)
    at = sample.commit(1)
    edits = (
        Edit(commit=at, path="b.md", status="renamed", old=Blob("a.md", "1" * 40), new=Blob("b.md", "1" * 40)),
        Edit(commit=at, path="c.md", status="deleted", old=Blob("c.md", "2" * 40), new=None),
    )
    point = replace(series.points[0], edits=edits)
    body = json.loads(series_files(replace(series, points=(point,)))[0].content)
    assert body["points"][0]["instructions"] == {"a.md": None, "b.md": "1" * 40, "c.md": None}


def test_the_series_ends_with_the_error_patterns_of_its_newest_output():
    series = sample.series(2)
    body = json.loads(series_files(series, patterns=(ROUNDING,))[0].content)
    assert body == {**json.loads(series_files(series)[0].content), "error_patterns": [ROUNDING_DATA]}


def test_the_table_is_the_same_as_the_series():
    _, body, table = _series()
    assert len(table) == 60
    for row, point in zip(table, body["points"], strict=True):
        assert row["commit"] == point["commit"]
        assert [row[name] for name in ("tp", "fp", "fn", "tn")] == [
            str(point["then"][n]) for n in ("tp", "fp", "fn", "tn")
        ]
        assert row["f1"] == ("" if point["then"]["f1"] is None else repr(point["then"]["f1"]))
        assert row["omission"] == str(point["then"]["errors"]["omission"])


def test_a_text_that_a_spreadsheet_would_run_is_defused_in_the_table_alone():
    series = sample.series(1)
    at = series.points[0].snapshot
    point = replace(series.points[0], snapshot=replace(at, commit=replace(at.commit, subject="=HYPERLINK(1)")))
    data, table = series_files(replace(series, points=(point,)))
    assert json.loads(data.content)["points"][0]["subject"] == "=HYPERLINK(1)"
    assert next(csv.DictReader(io.StringIO(table.content.decode())))["subject"] == "'=HYPERLINK(1)"


def test_a_whole_result_keeps_values_with_their_own_digits():
    judged = [
        sample.judgement(
            "a", "wrong_value", expected=Decimal("10.50"), actual=[Decimal("1E+3"), {"x": None}], note="why"
        ),
        sample.judgement("b", "format_error", expected=1, actual=Unusable("NaN", "no number")),
        sample.judgement("c\udcff", "correct", "x", "x"),
    ]
    series = sample.series(1)
    content = results_json(sample.result(judged), series.info, series.points[0].snapshot, series.specs[0])
    assert b'"expected":10.50,"actual":[1E+3,{"x":null}]' in content
    body = json.loads(content)
    assert body["discrepancies"][1] == {
        "document": "",
        "field_path": "b",
        "expected": 1,
        "actual": "NaN",
        "error_type": "format_error",
        "note": "",
    }
    assert list(body["by_field"]) == ["a", "b", "c\\udcff"]
    assert body["alignment"] == {
        "cargo": [
            [0, 0, 1.0, "key"],
            [1, 2, 0.857142, "agreement"],
            [2, None, None, None],
            [None, 1, None, None],
            [None, 3, None, None],
        ]
    }
    assert (body["schema"], body["status"], body["metadata"]["iteration"]) == ("sitegen/eval-results/1", "scored", 1)
