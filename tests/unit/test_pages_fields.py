"""The pages of a field and of all fields: what they show and leave out, and when they stay as they are."""

import re

from msgspec.structs import replace

from sitegen.model.outcomes import Cell, Flips, Period
from sitegen.model.series import EvalInfo, EvalSummary, FailingValue, FieldSummary, Series, Window
from sitegen.model.site import SiteInfo
from sitegen.pages.field import (
    CELLS,
    COLUMNS,
    FEWEST_PERIODS,
    MOVED,
    MOVED_BY,
    NAMED_FIELDS,
    ROWS,
    TURNS,
    FieldView,
    fields_page,
    moved_by,
)
from sitegen.pages.instructions import EditEffects, FileEdit
from tests import pages_sample as sample
from tests.pages_sample_diffs import EFFECTS
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


def _eval(eval_id: str, *fields: FieldSummary) -> EvalSummary:
    summary = sample.summary(sample.series(3))
    return replace(summary, info=replace(summary.info, id=eval_id, name=eval_id.upper()), fields=fields)


def _field(attribute: str, wrong: int = 0) -> FieldSummary:
    failing = (
        (FailingValue(label=f"{attribute} of W13", document="", expected="7", actual="<b>", outputs=3),)
        if wrong
        else ()
    )
    return FieldSummary(attribute=attribute, wrong=wrong, judged=9, right=(0.5, None, 1.0), failing=failing)


def _edit(position: int, *flips: Flips) -> EditEffects:
    """A commit with one edit, after which the values of the evals ``e``, ``f`` and so on flipped."""
    effects = tuple(
        replace(
            EFFECTS[0], info=EvalInfo(name, name.upper()), window=Window(edit=position, before=0, after=1, flips=each)
        )
        for name, each in zip("ef", flips, strict=False)
    )
    edit = sample.edit(position)
    return EditEffects((FileEdit(edit, edit.path),), effects)


def test_of_many_fields_those_that_moved_most_are_shown_and_of_many_edits_the_newest():
    edits = [_edit(number, Flips(broken=((f"f{number}", number),))) for number in range(MOVED_BY + 5, 0, -1)]
    total, rows, *_ = moved_by(edits)
    assert list(total) == [f"f{MOVED_BY + 5 - place}" for place in range(MOVED)]
    assert [edit.commit.position for edit, _ in rows] == [MOVED_BY + 5 - place for place in range(MOVED_BY)]


def test_fields_of_one_name_are_counted_together_over_evals():
    edits = [_edit(2, *(Flips(broken=((f"rooms[].{name}", 2),)) for name in "ab")), _edit(1, Flips(fixed=(("g", 1),)))]
    total, *_, evals = moved_by(edits)
    assert (total, evals) == ({"rooms": [0, 4, -4], "g": [1, 0, 1]}, {"rooms": ["E", "F"], "g": ["E"]})


def test_what_several_edits_before_one_output_moved_is_counted_once():
    newest, earlier = _edit(5, Flips(broken=(("f", 2),))), _edit(3, Flips(broken=(("f", 2),)))
    shared = replace(earlier.effects[0], window=earlier.effects[0].window._replace(or_edit=sample.commit(5)))
    total, rows, *_ = moved_by([newest, replace(earlier, effects=(shared,))])
    assert (total, len(rows)) == ({"f": [0, 2, -2]}, 1)


def test_a_field_names_the_edits_that_moved_it_most_and_its_doubts():
    edits = [_edit(number, Flips(broken=(("f", number),), doubts=(("f", 1, 0),))) for number in (3, 1, 2)]
    page = fields_page([replace(_eval("e", _field("f", 1)), suspects=(sample.suspect("f", "7", "8"),))], edits)
    said, view = "1 flips often", sample.view_of(page)
    assert view["flaky"] == [(-1, "f", "E", "e")]
    found = [(edit.commit.position, *counts) for edit, *counts in view["moved_with"]["e", "f"]]
    assert found == [(3, 0, 3, said), (2, 0, 2, said)]
    effect = edits[0].effects[0]
    edits[0] = replace(edits[0], effects=(replace(effect, window=effect.window._replace(or_edit=sample.commit(1))),))
    html = " ".join(sample.html_of(fields_page([_eval("e", _field("f", 1))], edits)).split())
    assert html.count(f'<div class="by">by this edit or {sample.commit(1).short}</div>') == 1
    html = " ".join(sample.html_of(page).split())
    assert all(map(html.count, (f"3 broken</data>; {said}", "Fields that flip often", ">1 label may be wrong</div>")))


def test_of_very_many_fields_the_rest_is_named_and_what_goes_beyond_is_counted():
    page = fields_page([_eval("a", *[_field(f"f{number:04}", 1) for number in range(ROWS + NAMED_FIELDS + 2)])])
    view = sample.view_of(page)
    assert (len(view["shown"]), len(view["named"]), view["more"]) == (ROWS, NAMED_FIELDS, 2)
    html = sample.html_of(page)
    assert f'<li id="f{ROWS:04}"><a href="evals/a/fields/f{ROWS:04}.html">' in html
    assert f"{ROWS + NAMED_FIELDS + 2:,} fields, {ROWS + NAMED_FIELDS + 2:,} values wrong now: here are {ROWS}<" in html
    line = f"Here are the {ROWS + NAMED_FIELDS:,} fields with most errors. Links to the other 2 lead to this line"
    assert line in " ".join(html.split("<table")[0].split())


def test_without_a_wrong_value_the_page_says_so():
    assert "No field was ever wrong" in sample.html_of(fields_page([]))
