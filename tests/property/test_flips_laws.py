"""What holds of the flips between any two points of any eval."""

from collections import Counter
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from sitegen.analysis.flips import flipped_cells, flips
from sitegen.model.outcomes import Cell, CellMap, Flips, Period, State, Tally

POINTS = 6
STATES = get_args(State)
POINT = st.integers(0, POINTS - 1)


@st.composite
def runs(draw: st.DrawFn) -> tuple[Period, ...]:
    starts = sorted(draw(st.sets(POINT, min_size=1, max_size=4)))
    return tuple(
        Period(
            start=start, state=draw(st.sampled_from(STATES)), expected=draw(st.sampled_from(["", "1", "2"])), actual=""
        )
        for start in starts
    )


@st.composite
def cell_maps(draw: st.DrawFn) -> CellMap:
    cells = [
        Cell(
            document=draw(st.sampled_from(["", "a"])),
            path=f"f[{index}].x",
            attribute=draw(st.sampled_from(["x", "y", "z"])),
            extra=False,
            periods=some,
        )
        for index, some in enumerate(draw(st.lists(runs(), max_size=6)))
    ]
    documents = {name: tuple(sorted(draw(st.sets(POINT)))) for name in ("", "a")}
    return CellMap(tuple(range(POINTS)), tuple(cells), documents)


def wrong(cells: CellMap, point: int) -> int:
    return sum(run is not None and run.is_wrong for run in (cell.at(point) for cell in cells.cells))


def total(tally: Tally) -> int:
    return sum(number for _, number in tally)


@given(cell_maps(), POINT, POINT)
def test_what_is_fixed_one_way_is_broken_the_other(cells: CellMap, a: int, b: int):
    there, back = flips(cells, a, b), flips(cells, b, a)
    assert (there.fixed, there.broken) == (back.broken, back.fixed)
    assert (there.appeared, there.vanished) == (back.vanished, back.appeared)
    assert there.still == back.still


@given(cell_maps(), POINT)
def test_nothing_flips_between_a_point_and_itself(cells: CellMap, a: int):
    found = flips(cells, a, a)
    assert total(found.still) == wrong(cells, a)
    assert found == Flips(still=found.still)


@given(cell_maps(), POINT, POINT)
def test_errors_after_are_errors_before_with_what_came_and_went(cells: CellMap, a: int, b: int):
    found = flips(cells, a, b)
    came, went = total(found.broken) + total(found.appeared), total(found.fixed) + total(found.vanished)
    assert wrong(cells, b) == wrong(cells, a) + came - went


@given(cell_maps(), POINT, POINT)
def test_the_cells_that_are_listed_are_those_that_are_counted(cells: CellMap, a: int, b: int):
    found = flips(cells, a, b)
    listed = list(flipped_cells(cells, a, b))
    counted = {
        "fixed": found.fixed,
        "broken": found.broken,
        "still_wrong": found.still,
        "appeared": found.appeared,
        "vanished": found.vanished,
    }
    assert Counter((flip.fate, flip.cell.attribute) for flip in listed) == {
        (fate, attribute): number for fate, tally in counted.items() for attribute, number in tally
    }
    assert [(flip.before, flip.after) for flip in listed] == [(flip.cell.at(a), flip.cell.at(b)) for flip in listed]
