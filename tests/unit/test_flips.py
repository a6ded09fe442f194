"""What flipped between two points: cells, items, fields, and the sections of instructions that changed with them."""

import pytest
from msgspec.structs import astuple, replace

from sitegen.analysis.cells import CellTracker
from sitegen.analysis.flips import flipped_cells, flips
from sitegen.analysis.section_flips import FIELDS, section_flips
from sitegen.model.outcomes import Cell, CellFlip, Fate, Flips, Judgement, Outcome, Period, State, Tally, Value
from sitegen.model.series import Effect
from tests import pages_sample as sample
from tests.pages_sample_diffs import EFFECTS
from tests.pages_sample_diffs import judged as effect_judged
from tests.rows import in_table
from tests.scored import scored


def cell(path: str, *states: State, document: str = "", expected: tuple[str, ...] = ()) -> Cell:
    """A cell with one run a point."""
    values = expected or ("1",) * len(states)
    return sample.cell(document, path, *map(Period, range(len(states)), states, values, values))


def items(*names: str, outcome: tuple[State, State] = ("correct", "omission")) -> tuple[Cell, ...]:
    """Cells of list items, ``walls[0].area``, which all flip the same way."""
    return tuple(cell(name, *outcome) for name in names)


FIXED: tuple[State, State] = ("omission", "correct")


@in_table
def test_the_cells_of_a_list_item_or_case_are_one_event(case, broken, fixed, events):
    cells = tuple(
        cell(path, *states, document=model and f"d · {model}")
        for names, states in ((broken, BROKE), (fixed, FIXED))
        for path, _, model in (name.partition("@") for name in names.split())
    )
    one = replace(sample.cell_map(2, cells), cases={"d · a": "d", "d · b": "d"})
    independent = [flips(one, *pair).independent for pair in [(0, 1), (1, 0), (0, 0)]]
    assert [*map(list, independent)] == [events, events[::-1], [0, 0]]


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
        return [sample.judgement("b", outcome, expected, actual), sample.judgement("a", "correct", 1, 1)]

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
    tracker.follow([sample.judgement("b", "correct", "fir", "fir")], [""])
    tracker.follow([sample.judgement("b", "hallucination", actual="fir", note="expected blank")], [""])
    (flip,) = flipped_cells(tracker.cells(), 0, 1)
    assert (flip.fate, *(side and side.expected for side in (flip.before, flip.after))) == ("broken", '"fir"', "")


BROKE: tuple[State, State] = ("correct", "omission")


@in_table
def test_a_field_is_lost_over_the_values_that_both_points_judge(case, cells, lost, unsteady):
    named = [word.rpartition(":") for word in cells.split()]
    judged = tuple(
        cell(name or "x", *states.split(">"), document=f"d{number}") for number, (name, _, states) in enumerate(named)
    )
    found = flips(sample.cell_map(2, judged), 0, 1)
    assert ([*map(list, found.lost)], found.unsteady) == (lost, unsteady)


@in_table
def test_what_broke_says_little_if_it_flips_often_or_most_outputs_contradict_its_label(values, doubts):
    tracker = CellTracker()
    for value in map(int, values.split()):
        outcome: Outcome = "correct" if value == 1 else "wrong_value"
        tracker.follow([Judgement("d", "x", "x", outcome, expected=1, actual=value)], ("d",))
    last = tracker.points - 1
    assert flips(tracker.cells(), last - 1, last, range(last + 1)).doubts == tuple(map(tuple, doubts))


def marked(*texts: str, gold: tuple[str, ...]) -> list[tuple[str, str]]:
    """(path, outcome) of one paragraph."""

    found, wanted = ({"chunkIndex": 0, "paragraphs": [{"id": "p1", "terms": terms}]} for terms in (texts, gold))
    result = scored("highlights", {"log.ndjson": found}, {"gold.json": wanted})
    return [(one.path, one.outcome) for one in result.judgements]


def test_a_highlight_is_a_cell_by_its_text_wherever_it_stands_and_however_often():
    assert marked("branch", "the", "branch", gold=("commit", "branch")) == [
        ('p1.terms["commit"]', "omission"),
        ('p1.terms["branch"]', "correct"),
        ('p1.terms["the"]', "hallucination"),
    ]


def test_long_texts_that_differ_at_their_end_are_two_cells():
    texts = tuple("a" * 200 + end for end in "xy")
    paths = [path for path, _ in marked(*texts, gold=texts)]
    assert (len(set(paths)), max(map(len, paths))) == (2, len("p1.terms[]") + 80)


def effect(fixed: Tally = (), broken: Tally = ()) -> Effect:
    return effect_judged(EFFECTS[0], flips=Flips(fixed, broken))


def test_sections_stand_beside_the_fields_that_flipped_with_them_and_elsewhere():
    found, left_out = section_flips(
        [("Rules", "Dates"), ("Rules",), ("Amounts",)],
        [
            (effect(fixed=(("date", 2),)), effect(broken=(("date", 1),))),
            (effect(fixed=(("total", 1),), broken=(("unit", 1),)),),
            (effect(fixed=(("total", 3),)),),
        ],
    )
    shown = [(one.name, one.edits, one.elsewhere, one.fixed, one.broken, one.more) for one in found]
    assert shown == [("Rules", 2, 1, 3, 2, 0), ("Dates", 1, 2, 2, 1, 0), ("Amounts", 1, 2, 3, 0, 0)]
    assert [[astuple(field)[:5] for field in one.fields] for one in found] == [
        [("date", 1, 0, 2, 1), ("unit", 1, 0, 0, 1), ("total", 1, 1, 1, 0)],
        [("date", 1, 0, 2, 1)],
        [("total", 1, 1, 3, 0)],
    ]
    assert left_out == 0


def test_an_edit_without_output_before_and_after_says_nothing():
    assert section_flips([("Rules",), ()], [(EFFECTS[3],), (effect(fixed=(("x", 1),)),)]) == ((), 0)


def test_fields_beyond_the_first_are_counted():
    tally = tuple((f"f{index}", 1) for index in range(FIELDS + 2))
    (section,), _ = section_flips([("Rules",)], [(effect(fixed=tally),)])
    assert (len(section.fields), section.more, section.fixed) == (FIELDS, 2, FIELDS + 2)
