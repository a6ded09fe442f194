"""Which edits of instructions stand beside a point."""

from msgspec.structs import replace

from sitegen.analysis.edits import OutputEdits
from sitegen.model.timeline import Blob, Snapshot
from tests.unit.test_windows import commit, edit, snapshot


def linked(snapshots: list[Snapshot], *edits: int) -> list[list[int]]:
    """Positions of the commits of the edits beside each point."""
    every = [edit(position) for position in edits]
    return [[one.commit.position for one in beside] for beside in OutputEdits(snapshots, every).beside]


def test_an_output_has_the_edits_since_the_output_before():
    assert linked([snapshot(1, 2), snapshot(2, 5), snapshot(3, 8)], 1, 3, 5, 6, 9) == [[1], [3, 5], [6]]


def test_all_outputs_of_a_commit_have_the_edits_since_the_last_output_of_an_earlier_one():
    outputs = [snapshot(1, 2), snapshot(2, 6), snapshot(3, 6), snapshot(4, 6), snapshot(5, 8)]
    assert linked(outputs, 1, 3, 6) == [[1], [3, 6], [3, 6], [3, 6], []]


def test_of_several_outputs_of_a_commit_the_times_that_they_record_say_which_came_after_an_edit():
    outputs = [snapshot(number, 9, recorded=f"2026-03-02T0{number}:30:00Z") for number in (2, 3, 4, 6, 7)]
    assert linked(outputs, 1, 3, 5) == [[1], [3], [], [5], []]


def test_an_edit_of_the_commit_that_brought_the_outputs_may_have_come_before_any_that_was_made_while_it_was_at_work():
    first = snapshot(1, 5, recorded="2026-03-02T03:30:00Z")
    outputs = [snapshot(number, 7, recorded=f"2026-03-02T06:{number}0:00Z") for number in (2, 3, 4)]
    assert linked([first, *outputs], 1, 2, 6, 7) == [[1, 2], [6, 7], [7], [7]]


def test_an_edit_after_the_output_before_was_made_counts_also_if_it_was_committed_with_it():
    outputs = [snapshot(1, 5, recorded="2026-03-02T02:30:00Z"), snapshot(2, 8, recorded="2026-03-02T06:30:00Z")]
    assert linked(outputs, 1, 4, 7) == [[1], [4]]


def test_a_commit_that_an_output_records_says_more_than_its_place():
    outputs = [snapshot(1, 3), snapshot(2, 9, made_at=commit(4).sha), snapshot(3, 9)]
    assert linked(outputs, 1, 4, 7) == [[1], [4], [7]]


def test_points_that_are_scored_again_take_no_edits_from_the_output_after_them():
    again = [snapshot(1, 2), snapshot(1, 5, "mapping"), snapshot(1, 6, "ground_truth"), snapshot(2, 8)]
    assert linked(again, 1, 3, 6, 7) == [[1], [3], [6], [3, 6, 7]]


def test_a_copy_of_the_output_before_leaves_its_edits_to_the_next_one_as_well():
    first, copy, other, last = (
        replace(snapshot(number, position), outputs=(Blob("out.json", oid),))
        for number, position, oid in ((1, 2, "x"), (2, 6, "x"), (3, 6, "y"), (4, 8, "z"))
    )
    assert linked([first, copy, other, last], 1, 3, 7) == [[1], [3], [3], [7]]
    times = [f"2026-03-02T0{hour}:30:00Z" for hour in (1, 3, 4, 5)]
    timed = [replace(one, recorded_at=time) for one, time in zip((first, copy, other, last), times, strict=True)]
    assert linked(timed, 1, 3) == [[1], [3], [3], []]


def test_a_time_that_cannot_be_read_is_none():
    outputs = [snapshot(1, 2), snapshot(2, 6, recorded="yesterday"), snapshot(3, 6)]
    assert linked(outputs, 1, 3) == [[1], [3], [3]]
