"""Copies: which outputs are byte for byte those of an earlier iteration, and what leaves them out."""

from __future__ import annotations

import pytest

from sitegen.analysis.copies import first_of_each_output, first_points_with_output, repeats_the_point_before
from sitegen.model.metrics import Counts
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point
from sitegen.model.timeline import Blob, Cause
from tests import pages_sample as sample

CARD = Scorecard("scored", Counts(), (), (), ())


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
            sample.snapshot(iteration, sample.commit(index))._replace(
                cause=cause, outputs=blobs, ground_truth=Blob("truth.csv", truths[index] if truths else "t")
            )
        )
    return [
        Point(snapshot, CARD, first_with_output=earliest)
        for snapshot, earliest in zip(snapshots, first_points_with_output(snapshots, kind), strict=True)
    ]


@pytest.mark.parametrize(
    ("outputs", "first", "copies"),
    [
        pytest.param(["a", "b", "a", "b"], [None, None, 0, 1], [2, 3], id="two old outputs again"),
        pytest.param(["ab", "ba", "ab", "a"], [None, None, 0, None], [2], id="several files"),
        pytest.param(["a", "a*", "a", "b"], [None, 0, 0, None], [2], id="scored again, which makes no copy"),
        pytest.param(["", "", "*"], [None, None, 1], [], id="an output that is missing"),
    ],
)
def test_a_copy_is_a_new_output_with_the_blob_ids_of_an_earlier_one(outputs, first, copies):
    points = series_of(*outputs)
    assert [point.first_with_output for point in points] == first
    assert [index for index, point in enumerate(points) if point.is_copy] == copies


def test_equal_recorded_numbers_are_no_copy():
    assert [point.first_with_output for point in series_of("a", "a", "a*", "b", kind="recorded")] == [
        None,
        None,
        1,
        None,
    ]


def test_the_outputs_among_some_points_are_each_listed_once_even_if_the_first_stands_before_them():
    points = series_of("a", "b", "a", "a*", "c", "b")
    assert first_of_each_output(points, range(6)) == [0, 1, 4]
    assert first_of_each_output(points, [2, 3, 5]) == [2, 5]


def test_a_copy_repeats_the_point_before_unless_it_was_put_back_or_the_ground_truth_changed():
    points = series_of("a", "a", "b", "a", "a", "a", "a*", "a", truths="tttttuuu")
    assert [repeats_the_point_before(points, index) for index in range(8)] == [
        False,
        True,
        False,
        False,
        True,
        False,
        False,
        True,
    ]
