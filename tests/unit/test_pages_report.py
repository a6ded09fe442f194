"""The report of one snapshot as a view."""

import json
import re
from decimal import Decimal

import pytest
from msgspec.structs import replace

from sitegen.analysis.edits import OutputEdits
from sitegen.model.commits import Commit
from sitegen.model.metrics import Nouns
from sitegen.model.outcomes import Judgement
from sitegen.model.scorecards import AlignmentPanel, AlignmentRow, NotePanel
from sitegen.model.site import Page
from sitegen.model.timeline import Blob
from sitegen.pages.html.cells import DisplayValue, shown_pair
from sitegen.pages.report import report_rows
from sitegen.pages.report.discrepancies import LOADABLE, section
from sitegen.pages.report.page import ALIGNED, DOCUMENTS, LISTS, ReportView, files
from sitegen.pages.report.report_rows import rows_file
from sitegen.text.values import as_text
from sitegen.text.words import WordSpan
from tests import pages_sample as sample
from tests.sites import renderer_of


def _page(
    judged: list[Judgement],
    wrong_before: frozenset[tuple[str, str]] = frozenset(),
    limit: int = 50,
    previous: bool = True,
) -> Page:
    series = sample.series(6)
    result = sample.result(judged)
    point = replace(series.points[5], scorecard=result.scorecard, change=None)
    before = series.points[4] if previous else None
    if before:
        point = sample.compared(before, point)
    first = {} if previous else {"snapshots": [point.snapshot]}
    since = sample.since(4, wrong_before)
    return sample.report(series, point, before, result, wrong_since=since, limit=limit, **first).page


ONE = sample.judgement("shipper.name", "omission", expected="Havn")
TWO = sample.judgement("cargo[0].amount", "wrong_value", expected=Decimal("10.50"), actual=Decimal("10.05"))
FINE = Judgement(document="", path="remarks", attribute="remarks", outcome="correct", expected="none", actual="none")
BLANK = sample.judgement("incoterm", "true_negative")


def test_a_discrepancy_is_new_if_its_place_was_not_wrong_in_the_previous_point():
    view = sample.view_of(_page([ONE, TWO, FINE], frozenset({("", "shipper.name")})))
    assert [(row.number, row.path, row.since.new) for row in view.discrepancies.drawn] == [
        (1, "shipper.name", False),
        (2, "cargo[0].amount", True),
    ]
    assert (view.discrepancies.total, view.discrepancies.new) == (2, 1)


def test_what_is_not_drawn_is_in_a_file_beside_the_page_as_the_rows_that_the_page_would_have():
    many = [replace(ONE, path=f"x{i}", attribute="x", named_path=f"x{i}</script>") for i in range(5)] + [TWO]
    whole, view = sample.view_of(_page(many)), sample.view_of(_page(many, limit=2))
    file = rows_file(view)
    assert file is not None
    assert (file.path, view.rows, len(view.discrepancies.loadable), view.discrepancies.out_of_reach) == (
        "evals/waybills/0006.js",
        "0006.js",
        3,
        0,
    )
    script = re.fullmatch(r"\(self\.ROWS=self\.ROWS\|\|\[\]\)\.push\((.*)\);\n", file.content.decode("ascii"))
    assert script is not None
    assert json.loads(script[1]) == report_rows.discrepancies(whole.discrepancies.drawn[2:5], whole)
    assert rows_file(whole) is None


def test_a_page_loads_a_bounded_number_of_discrepancies_and_counts_those_that_only_the_data_file_has():
    number = LOADABLE + 3
    page = _page([replace(ONE, path=f"x{i}", attribute="x") for i in range(number)], limit=2)
    view = sample.view_of(page)
    assert [row.path for row in view.discrepancies.loadable] == [f"x{i}" for i in range(2, LOADABLE + 2)]
    assert view.discrepancies.out_of_reach == 1
    html = " ".join(renderer_of(sample.SITE).render(page).decode().split())
    assert f'data-rows="0006.js" data-loadable="{LOADABLE}" data-beyond="1"' in html
    assert f"2 of {number:,} rows are drawn. Not drawn: {LOADABLE + 1:,} more (omission)." in html


def _errors(*places: tuple[str, str, str, str]) -> list[Judgement]:
    """Errors from (path, path with names, outcome, note)."""
    return [
        Judgement(
            document="",
            path=path,
            attribute=re.sub(r"\[\d+]", "[]", path),
            outcome=outcome,  # type: ignore[arg-type]
            expected="1",
            actual="2",
            note=note,
            named_path=named,
        )
        for path, named, outcome, note in places
    ]


def test_errors_are_grouped_by_list_item_and_an_item_that_is_missing_or_extra_as_a_whole_is_folded():
    wrong = _errors(
        ("weight", "", "wrong_value", ""),
        ("shipper.name", "", "omission", ""),
        ("shipper.city", "", "omission", ""),
        ("cargo[1].name", "cargo[Cod].name", "wrong_value", ""),
        ("cargo[1].lots[0].mass", "cargo[Cod].lots[A].mass", "omission", "missing item"),
        ("cargo[1].lots[0].code", "cargo[Cod].lots[A].code", "omission", "elsewhere"),
        ("cargo[1].tare", "cargo[Cod].tare", "wrong_value", ""),
        ("cargo[1].mass", "cargo[Cod].mass", "omission", ""),
        ("cargo[1].tags[0]", "cargo[Cod].tags[0]", "format_error", "expected an object"),
        ("cargo[1].name", "cargo[Ling].name", "hallucination", "extra item"),
        ("cargo[1].mass", "cargo[Ling].mass", "hallucination", "extra item"),
        ('["cargo[1].x"]', "", "omission", ""),
    )
    view = sample.view_of(_page(wrong, limit=2))
    every = sample.view_of(_page(wrong))
    html = report_rows.discrepancies(every.discrepancies.drawn, every)
    bodies = [
        (
            body[0],
            " ".join(re.sub("<[^>]*>", " ", body[1]).split()),
            "open" in body[1],
            re.findall(r"<tr id=d(\d+)", body[0]),
        )
        for body in re.findall(
            r"(<tbody id=g\d+[^>]*>(<tr class=item>.*?</summary></details>\n)?.*?)(?=<tbody|$)", html, re.DOTALL
        )
    ]
    assert [(head, is_open, numbers) for _, head, is_open, numbers in bodies] == [
        ("", False, ["1"]),
        ("", False, ["2", "3"]),
        ("cargo[Cod] : 1 omission, 2 wrong values, 3 new", True, ["4", "7", "8"]),
        ("cargo[Cod].lots[A] : missing, 2 fields, 2 new", False, ["5", "6"]),
        ("cargo[Cod].tags[0] : 1 format error, 1 new", True, ["9"]),
        ("cargo[Ling] : not expected, 2 fields, 2 new", False, ["10", "11"]),
        ("", False, ["12"]),
    ]
    assert ".html>mass</a><td class=c-expected>" in html  # no note beside each of its fields, and no name of the item
    # A group is the same whether a row of it is on the page or in the file beside it, and counts all of them.
    both = {row.number: row.group for row in view.discrepancies.drawn + view.discrepancies.loadable}
    assert both == {row.number: row.group for row in every.discrepancies.drawn}
    assert len(view.discrepancies.loadable) > 0


def test_each_type_shows_at_most_its_limit_and_counts_the_rest():
    many = [replace(ONE, path=f"x{i}", attribute="x") for i in range(5)] + [TWO]
    view = sample.view_of(_page(many, limit=2))
    assert [row.path for row in view.discrepancies.drawn] == ["x0", "x1", "cargo[0].amount"]
    assert view.discrepancies.left_out == {"omission": 3}
    assert view.leaves_anything_out
    assert not sample.view_of(_page(many, limit=5)).leaves_anything_out


def test_a_discrepancy_has_the_letter_of_its_kind_where_that_is_another():
    view = sample.view_of(_page([ONE]))
    found = view.discrepancies.drawn
    assert "<td class=c-type>Omission<td class=c-place>" in report_rows.discrepancies(found, view)
    nouns = Nouns(errors=("missed", "wrong", "", ""), letters=("M", "W", "", ""))
    other = replace(view, info=replace(view.info, nouns=nouns))
    assert "<td class=c-type data-l=M>Missed<td class=c-place>" in report_rows.discrepancies(found, other)


def test_of_very_many_documents_those_with_the_most_errors_are_listed():
    many = [replace(ONE, document=f"d{i}", outcome="correct") for i in range(DOCUMENTS)]
    many += [replace(ONE, document=f"wrong{i}") for i in range(3)]
    view = sample.view_of(_page(many))
    assert [one.id for one in view.documents[:4]] == ["wrong0", "wrong1", "wrong2", "d0"]
    assert (len(view.documents), view.more_documents) == (DOCUMENTS, 3)
    assert view.leaves_anything_out


@pytest.mark.parametrize(
    ("attribute", "name"),
    [
        ("walls[].area", "walls"),
        ("shipper.name", "shipper"),
        ("total", "(top level)"),
        ('["a.b"].c', '["a.b"]'),
        ('["a.b"]', "(top level)"),
        ("", "(top level)"),
        ("[].x", "(top level)"),
    ],
)
def test_a_section_is_the_first_step_of_an_attribute(attribute, name):
    assert section(attribute) == name


def test_the_last_of_five_outputs_says_how_many_more_there_are():
    many = replace(sample.snapshot(1, sample.commit(1)), outputs=(Blob("a", "1"),) * 8)
    assert [role for role, _ in files(many)][3:5] == ["Output", "Output, and 3 more"]


def test_the_report_says_which_instructions_made_the_output():
    series = sample.series(2)
    result = sample.result([ONE])

    def made_with(*instructions: Commit, **more: str) -> str:
        at = replace(series.points[1].snapshot, **more)
        point = replace(series.points[1], snapshot=at)
        page = sample.report(series, point, None, result, instructions=instructions).page
        view: ReportView = sample.view_of(page)
        return view.made_with

    assert made_with(made_at="a" * 40).endswith("records, or whose instructions it records by hash or version")
    assert made_with(recorded_at="2025-01-02") == "the last edit not after the time that the output records"
    assert made_with(sample.commit(1), sample.commit(2), recorded_at="2025-01-02") == (
        "the last edit not after the time that the output records, or the edit that was committed with it"
    )
    assert made_with().startswith("the last edit when this output was added; it records no")


@pytest.mark.parametrize(
    ("recorded_at", "position"),
    [
        (None, 20),
        ("2025-01-25T00:00:00", 10),
        ("2025-03-13T10:00:00+00:00", 20),
        ("2024-12-31T00:00:00Z", None),
        ("yesterday", None),
    ],
)
def test_the_instructions_are_those_of_the_newest_edit_that_the_output_can_have_seen(recorded_at, position):
    edits = [sample.edit(at) for at in (10, 20, 30)]
    at = replace(sample.series(1).points[0].snapshot, commit=sample.commit(25), recorded_at=recorded_at)
    found = OutputEdits([at], edits).made_with[0]
    assert [commit.position for commit in found] == [position][: position is not None]


def test_a_pairing_is_shown_once_and_bounded():
    rows = tuple(
        AlignmentRow(expected=index, actual=index, similarity=1.0, paired_by="key", label=f"item {index}")
        for index in range(ALIGNED + 5)
    )
    panel = AlignmentPanel(document="", path="cargo", algorithm="greedy", threshold=0.8, rows=rows)
    note = NotePanel("a remark")
    result = replace(sample.result([ONE]), panels=(panel, note, *[panel] * LISTS))
    series = sample.series(2)
    view = sample.report(series, series.points[1], None, result)
    assert view.panels == [note]
    assert view.alignments[0] == replace(panel, rows=rows[:ALIGNED], left_out=5)
    assert (len(view.alignments), view.more_alignments) == (LISTS, 1)
    assert view.leaves_anything_out


def test_a_report_does_not_depend_on_later_points():
    judged = sample.judgements(3, 300)
    result = sample.result(judged)
    pages = [
        sample.report(series, series.points[3], series.points[2], result).page
        for series in (sample.series(4), sample.series(60))
    ]
    shown = [renderer_of(sample.SITE).render(page) for page in pages]
    assert shown[0] == shown[1]


def test_a_deeply_nested_value_is_shown_without_end():
    value: object = []
    for _ in range(5000):
        value = [value]
    assert as_text(value) == "[" * 40 + "…" + "]" * 40  # type: ignore[arg-type]


def test_a_long_value_is_cut():
    long = Judgement(document="", path="x", attribute="x", outcome="omission", expected="y" * 5000, actual=None)
    assert shown_pair(long)[0] == DisplayValue((WordSpan("y" * 2000, False),), "", 3000)


@pytest.mark.parametrize(("convention", "said"), [("standard", False), ("omissions_only", True)])
def test_a_report_says_by_which_convention_it_counts_if_it_is_not_the_standard_one(convention, said):
    series, result = sample.series(2), sample.result([ONE])
    card = replace(result.scorecard, convention=convention)
    point = replace(series.points[1], scorecard=card)
    page = sample.report(series, point, None, replace(result, scorecard=card)).page
    html = renderer_of(sample.SITE).render(page).decode()
    assert ("Counted by convention <code>omissions_only</code>" in html) is said
