import re

import pytest
from msgspec.structs import replace

from sitegen.analysis.cells import CellTracker
from sitegen.analysis.flips import flipped_cells, flips
from sitegen.model.outcomes import Cell, CellFlip, Fate, Judgement, Outcome, Period, State, Value
from tests import pages_sample as sample
from tests.rows import in_table


def cell(path: str, *states: State, document: str = "", expected: tuple[str, ...] = ()) -> Cell:
    """A cell with one run a point."""
    values = expected or ("1",) * len(states)
    return Cell(
        document=document,
        path=path,
        attribute=path,
        extra=False,
        periods=tuple(map(Period, range(len(states)), states, values, values)),
    )


def items(*names: str, outcome: tuple[State, State] = ("correct", "omission")) -> tuple[Cell, ...]:
    """Cells of list items, ``walls[0].area``, which all flip the same way."""
    return tuple(cell(name, *outcome)._replace(attribute=re.sub(r"\[\d+\]", "[]", name)) for name in names)


FIXED: tuple[State, State] = ("omission", "correct")


@pytest.mark.parametrize(
    ("cells", "counted"),
    [
        (items("walls[0].area", "walls[0].name", "walls[0].tilt"), (0, 1)),  # one item
        (items("walls[0].area", "walls[1].area", "walls[2].area"), (0, 3)),  # a field of three items
        (items("walls[0].area", "walls[1].name", "total"), (0, 3)),  # two items, and a value outside of lists
        (items("walls[0].doors[0].area", "walls[0].doors[1].area", "walls[0].name"), (0, 3)),  # lists in an item
        ((*items("walls[0].area", "walls[0].name"), *items("walls[0].tilt", outcome=FIXED)), (0, 1)),  # on the whole
        ((*items("walls[0].area"), *items("walls[0].tilt", outcome=FIXED)), (0, 0)),  # even
        ((*items("walls[0].area"), *items("walls[1].area", outcome=FIXED)), (1, 1)),
        (tuple(cell("total", "correct", "omission", document=f"d · {model}") for model in "ab"), (0, 1)),  # one case
    ],
)
def test_the_cells_of_a_list_item_or_case_are_one_event(cells: tuple[Cell, ...], counted: tuple[int, int]):
    one = replace(sample.cell_map(2, cells), cases={"d · a": "d", "d · b": "d"})
    independent = [flips(one, *pair).independent for pair in [(0, 1), (1, 0), (0, 0)]]
    assert independent == [counted, counted[::-1], (0, 0)]


@in_table
def test_a_cell_that_one_point_lacks_flips_only_if_nobody_expected_it(before: State, after: State, fate: Fate | None):
    there = cell("there", "correct", "correct")
    cells = sample.cell_map(2, (there, cell("x", before, after)))
    assert [flip.fate for flip in flipped_cells(cells, 0, 1)] == ([fate] if fate else [])


def test_a_cell_that_was_not_judged_yet_is_absent():
    late = sample.cell("", "extra", Period(start=1, state="hallucination", expected="", actual="9"), extra=True)
    cells = sample.cell_map(2, (cell("x", "correct", "correct"), late))
    assert list(flipped_cells(cells, 0, 1)) == [CellFlip(fate="broken", cell=late, before=None, after=late.periods[0])]


@pytest.mark.parametrize("blank", ["", "  ", None, "n/a", [], {}])
@pytest.mark.parametrize("written", ["", None, "n/a"])
def test_a_blank_expects_nothing_however_it_is_written(blank: Value, written: Value):
    def judged(outcome: Outcome, expected: Value, actual: Value) -> list[Judgement]:
        return [
            Judgement(document="", path="b", attribute="b", outcome=outcome, expected=expected, actual=actual),
            Judgement(document="", path="a", attribute="a", outcome="correct", expected=1, actual=1),
        ]

    tracker = CellTracker()
    tracker.follow(judged("true_negative", blank, None), [""])
    tracker.follow(judged("hallucination", None, "fir"), [""])
    (flip,) = flipped_cells(tracker.cells(), 0, 1)
    assert (flip.fate, *(side and side.expected for side in (flip.before, flip.after))) == ("broken", "", "")
    tracker.follow(judged("true_negative", written, None), [""])
    (flip,) = flipped_cells(tracker.cells(), 1, 2)
    assert (flip.fate, *(side and side.expected for side in (flip.before, flip.after))) == ("fixed", "", "")


def test_a_blank_that_takes_the_place_of_a_value_is_another_expected_value():
    tracker = CellTracker()
    tracker.follow(
        [Judgement(document="", path="b", attribute="b", outcome="correct", expected="fir", actual="fir")], [""]
    )
    tracker.follow([sample.judgement("b", "hallucination", actual="fir", note="expected blank")], [""])
    (flip,) = flipped_cells(tracker.cells(), 0, 1)
    assert (flip.fate, *(side and side.expected for side in (flip.before, flip.after))) == ("broken", '"fir"', "")


BROKE: tuple[State, State] = ("correct", "omission")


@pytest.mark.parametrize(
    ("states", "lost", "unsteady"),
    [
        ([BROKE] * 3, (("x", 3),), 0),
        ([BROKE] * 2, (), 0),
        ([*[BROKE] * 3, ("absent", "correct")], (("x", 3),), 0),  # a document that only the later point has
        ([*[BROKE] * 3, ("wrong_value", "absent")], (("x", 3),), 0),  # or only the earlier one
        ([*[BROKE] * 3, ("correct", "correct")], (), 0),
        ([*[BROKE] * 3, ("wrong_value", "omission")], (), 0),
        ([*[BROKE] * 3, FIXED], (), 0),
        ([*[BROKE] * 3, ("true_negative", "true_negative")], (("x", 3),), 0),  # a value that nobody expects is none
        ([("true_negative", "hallucination")] * 3, (), 0),
        ([*[BROKE] * 3, *[("y", BROKE), ("y", FIXED), ("y", ("correct", "correct"))]], (("x", 3),), 1),
        ([*[BROKE] * 3, *[("y", BROKE), *[("y", ("correct", "correct"))] * 2]], (("x", 3),), 0),
        ([*[BROKE] * 3, *[("y", BROKE), *[("y", ("correct", "absent"))] * 2]], (("x", 3),), 1),
    ],
)
def test_a_field_is_lost_over_the_values_that_both_points_judge(states, lost, unsteady):
    named = [state if state[0] == "y" else ("x", state) for state in states]
    cells = tuple(cell(name, *state, document=f"d{number}") for number, (name, state) in enumerate(named))
    found = flips(sample.cell_map(2, cells), 0, 1)
    assert (found.lost, found.unsteady) == (lost, unsteady)


@pytest.mark.parametrize(
    ("values", "doubts"),
    [
        ("1 2 1 2", ()),
        ("1 2 1 2 1 2", (("x", 1, 0),)),
        ("2 2 3 1 2", (("x", 0, 1),)),
        ("2 2 2 2 1", ()),
        ("2 2 1 1 1 2", ()),
        ("2 1 2 1 2", (("x", 1, 1),)),
    ],
)
def test_what_broke_says_little_if_it_flips_often_or_most_outputs_contradict_its_label(values, doubts):
    tracker = CellTracker()
    for value in map(int, values.split()):
        outcome: Outcome = "correct" if value == 1 else "wrong_value"
        tracker.follow([Judgement("d", "x", "x", outcome, expected=1, actual=value)], ("d",))
    last = tracker.points - 1
    assert flips(tracker.cells(), last - 1, last, range(last + 1)).doubts == doubts
