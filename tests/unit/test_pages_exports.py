"""Data files in the forms that the data contract names."""

import csv
import io
import json
from decimal import Decimal

from msgspec.structs import replace

from sitegen.model.outcomes import Unusable
from sitegen.model.series import PatternSummary
from sitegen.model.timeline import Blob, Edit
from sitegen.pages.data.exports import results_json
from sitegen.pages.data.series import series_files
from sitegen.text.plain import spreadsheet_safe
from tests import pages_sample as sample

ROUNDING = PatternSummary(name="rounding", errors=3, total=9, fields=1, since="", all_since=False, without=0.75)
ROUNDING_DATA = {"name": "rounding", "errors": 3, "of": 9, "fields": 1, "since": None, "headline_without": 0.75}


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


def test_a_text_that_a_spreadsheet_would_run_is_defused_in_the_table_alone():
    assert [*map(spreadsheet_safe, ["-5", "+1.5e-3", "-5-1", "=5"])] == ["-5", "+1.5e-3", "'-5-1", "'=5"]
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
