"""The page of a field: what it shows of its cells, what it leaves out, and when it stays as it is."""

import re

from msgspec.structs import replace

from sitegen.model.outcomes import Cell, Period
from sitegen.model.series import Series
from sitegen.model.site import SiteInfo
from sitegen.pages.field import CELLS, COLUMNS, FEWEST_PERIODS, TURNS, FieldView
from tests import pages_sample as sample
from tests.sites import renderer_of


def series(*cells: Cell, number: int = 6) -> Series:
    """New outputs, one after the other; the fifth is the fourth, scored again by another ground truth."""
    some = [replace(point, edits=()) for point in sample.points(number)]
    if number > 4:
        again = sample.snapshot(4, sample.commit(100), ("ground_truth",), ground_truth=None)
        some[4] = replace(some[4], snapshot=replace(again, outputs=some[3].snapshot.outputs))
    info = replace(sample.WAYBILLS, metadata={})
    return Series(
        info=info,
        history=sample.history("waybills", tuple(some)),
        specs=sample.SPECS,
        points=tuple(some),
        cells=sample.cell_map(number, cells),
    )


def html_of(one: Series) -> str:
    (page,) = sample.field_pages(one)
    return " ".join(renderer_of(SiteInfo("t", "1")).render(page).decode().split())


def table(html: str, name: str) -> str:
    """The body of a table of the page."""
    return re.search(f'<table class="{name}[ "].*?<tbody>(.*?)</table>', html)[1]  # type: ignore[index]


def test_the_outputs_of_a_commit_have_its_subject_once_and_the_newest_edit_before_it():
    states = [Period(start=at, state="omission" if at % 2 else "correct", expected="1", actual="") for at in range(4)]
    one = series(Cell(document="", path="x", attribute="x", extra=False, periods=tuple(states)), number=4)
    of_one = [replace(point, snapshot=replace(point.snapshot, commit=sample.commit(7))) for point in one.points[:3]]
    after = replace(one, points=(*of_one, replace(one.points[3], edits=(sample.edit(2), sample.edit(3)))))
    turns = table(html_of(after), "turns")
    assert (turns.count(sample.commit(7).subject), turns.count("the same commit")) == (1, 2)
    assert f'/{sample.commit(3).sha[:12]}.html">{sample.commit(3).subject}</a> or 1 earlier edit<' in turns


def test_a_page_has_an_end_whatever_happened():
    number = 100
    flaky = tuple(
        Period(start=index, state="correct" if index % 2 else "omission", expected="1", actual="1" if index % 2 else "")
        for index in range(number)
    )
    cells = [
        Cell(document="", path=f"rows[{index}].x", attribute="rows[].x", extra=False, periods=flaky)
        for index in range(CELLS + 20)
    ]
    one = series(*cells, number=number)
    (view,) = (page.view for page in sample.field_pages(one) if isinstance(page.view, FieldView))
    assert (len(view.wrong), len(view.changes), len(view.columns)) == (CELLS + 20, number, COLUMNS)
    html = html_of(one)
    strip, turns, runs = (table(html, name) for name in ("strip", "turns", "cellruns"))
    assert (strip.count("<tr>"), turns.count("<tr>"), runs.count('class="cellname"')) == (CELLS, TURNS, CELLS)
    assert {row.count(" class=omission>") + row.count(" class=correct>") for row in strip.split("<tr>")[1:]} == {
        COLUMNS
    }
    assert view.periods == 4 == max(FEWEST_PERIODS, 4)
    assert runs.count(f">{number - 4} earlier<") == CELLS
    assert "20 more were wrong once:" in html
    assert f"the newest {COLUMNS} of {number} <a" in html
    assert f"{number - TURNS} earlier are not listed" in html
    assert len(html) < 400_000
