"""Copies: which outputs are byte for byte those of an earlier iteration, and what leaves them out."""

import re

from msgspec.structs import replace

from sitegen.analysis.series import (
    first_of_each_output,
    first_points_with_output,
    output_of_each,
    repeats_the_point_before,
)
from sitegen.commands.history import history_lines
from sitegen.model.metrics import Counts
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point
from sitegen.model.timeline import Blob, Cause, Edit
from sitegen.pages.trend.page import TrendView, edited_before_outputs
from sitegen.pages.trend.trend_chart import trend
from sitegen.pages.trend.trend_rows import iterations
from tests import pages_sample as sample
from tests.rows import in_table

AT = sample.commit(5)
CARD = Scorecard(status="scored", counts=Counts(), metrics=(), documents=(), fields=())


def series_of(*outputs: str, kind: str = "fields", truths: str = "") -> list[Point]:
    """A point for each output: its blob ids as letters, with ``*`` if it was only scored again.

    ``truths`` has the letter of the ground truth of each point.
    """
    snapshots = []
    iteration = 0
    for index, output in enumerate(outputs):
        rescored = output.endswith("*")
        iteration += not rescored
        cause: tuple[Cause, ...] = ("ground_truth",) if rescored else ("outputs",)
        blobs = tuple(Blob(f"iteration-{iteration:03}/{name}.json", name) for name in output.rstrip("*"))
        snapshots.append(
            replace(
                sample.snapshot(iteration, sample.commit(index)),
                cause=cause,
                outputs=blobs,
                ground_truth=Blob("truth.csv", truths[index] if truths else "t"),
            )
        )
    return [
        Point(snapshot, CARD, first_with_output=earliest)
        for snapshot, earliest in zip(snapshots, first_points_with_output(snapshots, kind), strict=True)
    ]


def test_equal_recorded_numbers_are_no_copy():
    points = series_of("a", "a", "a*", "b", kind="recorded")
    assert [point.first_with_output for point in points] == [None, None, 1, None]


def test_the_outputs_among_some_points_are_each_listed_once_even_if_the_first_stands_before_them():
    points = series_of("a", "b", "a", "a*", "c", "b")
    assert first_of_each_output(points, range(6)) == [0, 1, 4]
    assert first_of_each_output(points, [2, 3, 5]) == [2, 5]


def test_a_copy_repeats_the_point_before_unless_it_was_put_back_or_the_ground_truth_changed():
    points = series_of("a", "a", "b", "a", "a", "a", "a*", "a", truths="tttttuuu")
    assert [index for index in range(8) if repeats_the_point_before(points, index)] == [1, 4, 7]


def test_points_with_the_same_output_have_the_number_of_its_first_point():
    outputs = output_of_each([point.first_with_output for point in series_of("a", "b", "a", "a*", "c", "b")])
    assert outputs == [0, 1, 0, 0, 4, 1]


def test_trend_and_terminal_name_what_an_output_is_a_copy_of():
    series = sample.series(3)
    series = replace(series, points=(*series.points[:2], replace(series.points[2], first_with_output=1)))
    view = sample.trend(series).view
    assert isinstance(view, TrendView)
    assert (view.series.iterations, view.series.outputs) == (3, 2)
    newest, *older = iterations(view).splitlines()
    assert newest.startswith('<tr><td class="c-iteration drawn">')
    assert "back to the output of <a href=0002.html>iteration-002</a>" in newest
    assert not any("copied" in row or "same output" in row for row in older)
    chart = trend(view)
    assert (chart.dots.count("M"), chart.copies.count("M")) == (2, 1)
    assert chart.copies.startswith("M2 ")
    lines = history_lines(series)
    assert lines[-3::2] == ["    back to the output of iteration-002", "3 iterations, 2 outputs"]
    assert not any("same output" in line for line in lines)


@in_table
def test_rows_of_iterations_stay_in_place_and_copies_of_the_output_below_are_one(case, outputs, rows):
    series = replace(sample.series(3), points=tuple(series_of(*outputs.split())))
    view = sample.trend(series).view
    assert isinstance(view, TrendView)
    parts = r"<tr class=(\w+)>|<a href=0*(\d+)\.html>|(same|back)(?= output as| to the output of)"
    found = [re.findall(parts, row) for row in iterations(view).splitlines()]
    assert ", ".join(" ".join("".join(part) for part in row) for row in found) == rows


def test_an_edit_stands_beside_the_output_that_it_first_made_and_not_beside_a_copy_of_its_commit():
    edit = Edit(commit=AT, path="read.md", status="modified", old=None, new=None)
    points = [replace(point, snapshot=replace(point.snapshot, commit=AT)) for point in series_of("a", "a", "a", "b")]
    points[1] = replace(points[1], edits=(edit,))
    assert edited_before_outputs(points) == [(), (), (), ("read.md",)]
    assert edited_before_outputs(points[:3]) == [(), (), ("read.md",)]
    elsewhere = [*points[:3], replace(points[3], snapshot=replace(points[3].snapshot, commit=sample.commit(9)))]
    assert edited_before_outputs(elsewhere) == [(), (), ("read.md",), ()]
