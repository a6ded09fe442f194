"""The page of a field: what it shows of its cells, what it leaves out, and when it stays as it is."""

import pytest
from msgspec.structs import replace

from sitegen.analysis.blame import Blame, change_points
from sitegen.model.cells import Cell, CellMap, Period
from sitegen.model.series import Series
from sitegen.model.site import Page, SiteInfo
from sitegen.pages.field.page import (
    CELLS,
    COLUMNS,
    FEWEST_PERIODS,
    TURNS,
    Band,
    CellRow,
    FieldNumbers,
    FieldView,
    PeriodRow,
    PointName,
    TurnRow,
    field_page,
    field_work,
)
from tests import pages_sample as sample
from tests.sites import renderer_of


def series(*cells: Cell, number: int = 6) -> Series:
    """New outputs, one after the other; the fifth is the fourth, scored again by another ground truth."""
    some = [replace(point, edits=()) for point in sample.points(number)]
    if number > 4:
        again = sample.snapshot(4, sample.commit(100), ("ground_truth",), ground_truth=None)
        some[4] = replace(some[4], snapshot=replace(again, outputs=some[3].snapshot.outputs))
    info = replace(sample.WAYBILLS, metadata=())
    return Series(info, sample.history("waybills", tuple(some)), sample.SPECS, tuple(some), CellMap(number, cells))


def pages(one: Series) -> list[Page]:
    blame = Blame(one.cells, [point.snapshot for point in one.points])
    return [field_page(one, blame, work) for work in field_work(one.info.id, one.cells, one.history.snapshots)]


def views(one: Series) -> list[FieldView]:
    return [page.view for page in pages(one) if isinstance(page.view, FieldView)]


def place(one: Series, index: int, number: str) -> PointName:
    at = one.points[index].snapshot
    return PointName(number=number, label=at.label, file=f"../{at.slug}.html", commit=at.commit, edits=0)


FLIPPED = Cell(
    "a",
    "cargo[0].name",
    "cargo[].name",
    False,
    (
        Period(0, "correct", '"Dried cod"', '"Dried cod"'),
        Period(2, "wrong_value", '"Dried cod"', '"Dried cow"'),
        Period(4, "wrong_value", "12", '"Dried cow"'),
    ),
)
RIGHT = Cell("b", "cargo[0].name", "cargo[].name", False, (Period(1, "correct", "1", "1"),))


def test_a_field_is_shown_with_its_cells_and_what_changed_them():
    one = series(FLIPPED, RIGHT)
    (view,) = views(one)
    blame = Blame(one.cells, [point.snapshot for point in one.points])
    traced = [blame.trace(cell, 5) for cell in (FLIPPED, RIGHT)]
    new, wrong, again = traced[0].periods
    changes = {change.point: change for change in change_points(traced, 5)}
    first, third, fifth = place(one, 0, "1"), place(one, 2, "3"), place(one, 4, "4*")
    assert view == FieldView(
        info=one.info,
        attribute="cargo[].name",
        columns=(first, third, fifth),
        more_columns=0,
        cells=(
            CellRow(
                blame=traced[0],
                since=third,
                bands=(Band("correct", 1), Band("wrong_value", 1), Band("wrong_value", 1)),
                periods=(PeriodRow(fifth, again, True), PeriodRow(third, wrong, False), PeriodRow(first, new, False)),
                earlier=0,
            ),
        ),
        more_cells=0,
        never_wrong=1,
        turns=(TurnRow(fifth, changes[4]), TurnRow(third, changes[2]), TurnRow(first, changes[0])),
        more_turns=0,
        numbers=FieldNumbers(wrong=1, judged=2, since=2, flipped=2, flips=1, causes={"new output": 1}),
        since=third,
        flipped=third,
    )
    assert view.scored_again
    html = " ".join(renderer_of(SiteInfo("t", "1")).render(pages(one)[0]).decode().split())
    assert '<td class="num">0<td' not in html
    assert "Dried co<mark>d</mark>" in html
    assert "Dried co<mark>w</mark>" in html
    assert '<span class="pill bad">broken</span> new output ' in html
    assert "<i> for 2 outputs</i>" in html
    assert "flipped 1 time<" in html


def test_a_field_that_was_never_wrong_has_a_page_that_says_so():
    (view,) = views(series(RIGHT))
    assert (view.cells, view.turns, view.columns, view.never_wrong) == ((), (), (), 1)
    assert (view.numbers.wrong, view.numbers.judged) == (0, 1)
    (page,) = pages(series(RIGHT))
    html = renderer_of(SiteInfo("t", "1")).render(page)
    assert b"No iteration ever had an error here" in html
    assert len(html) < 6_000


def test_more_points_at_which_nothing_happened_leave_the_page_as_it_is():
    renderer = renderer_of(SiteInfo("t", "1"))
    few, many = (series(FLIPPED, RIGHT, number=number) for number in (6, 40))
    assert [renderer.render(page) for page in pages(few)] == [renderer.render(page) for page in pages(many)]
    works = [field_work(one.info.id, one.cells, one.history.snapshots) for one in (few, many)]
    assert [[work.last for work in of] for of in works] == [[4], [4]]


def test_a_page_has_an_end_whatever_happened():
    number = 100
    flaky = tuple(
        Period(index, "correct" if index % 2 else "omission", "1", "1" if index % 2 else "") for index in range(number)
    )
    cells = [Cell("", f"rows[{index}].x", "rows[].x", False, flaky) for index in range(CELLS + 20)]
    (view,) = views(series(*cells, number=number))
    assert (len(view.cells), view.more_cells) == (CELLS, 20)
    assert (len(view.columns), view.more_columns) == (COLUMNS, number - COLUMNS)
    assert (len(view.turns), view.more_turns) == (TURNS, number - TURNS)
    assert {len(cell.periods) for cell in view.cells} == {4} == {max(FEWEST_PERIODS, 4)}
    assert {cell.earlier for cell in view.cells} == {number - 4}
    assert {sum(band.columns for band in cell.bands) for cell in view.cells} == {COLUMNS}
    html = renderer_of(SiteInfo("t", "1")).render(pages(series(*cells, number=number))[0])
    assert len(html) < 400_000


def test_the_strip_begins_with_what_lasts_from_before_its_first_column():
    runs = (Period(1, "omission", "1", ""), Period(2, "correct", "1", "1"))
    cell = Cell("", "x", "x", False, runs)
    busy = Cell("", "y", "x", False, tuple(Period(index, "omission", str(index), "") for index in range(COLUMNS + 5)))
    (view,) = views(series(cell, busy, number=COLUMNS + 5))
    assert view.cells[1].bands == (Band("correct", COLUMNS),)
    early, _ = views(series(cell, busy._replace(attribute="y"), number=COLUMNS + 5))
    assert early.cells[0].bands == (Band("omission", 1), Band("correct", 1))


@pytest.mark.parametrize("text", sample.NASTY)
def test_names_and_values_are_text_and_nothing_else(text: str):
    cell = Cell(text, text, text, False, (Period(0, "wrong_value", f'"{text}', f'"{text}x'),))
    one = series(cell)
    (page,) = pages(one)
    html = renderer_of(SiteInfo("t", "1")).render(page).decode()
    assert "<script>alert" not in html
    assert " onmouseover" not in html.replace("&#39; onmouseover", "")
    assert "\u202e" not in html
    assert page.path.startswith("evals/waybills/fields/")
    assert page.path.count("/") == 3
    assert len(page.path) < 120
