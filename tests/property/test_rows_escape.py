"""Table bodies that are written as f-strings are as safe as if Jinja had written them."""

import json
from decimal import Decimal
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any, get_args

import jinja2
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import escape
from msgspec.structs import replace

from sitegen.model.metrics import Counts, MetricSpec, Nouns
from sitegen.model.outcomes import ERROR_TYPES, Cell, CellFlip, Judgement, Outcome, Period
from sitegen.model.scorecards import AlignmentRow, DocumentScore, FieldScore
from sitegen.pages import links
from sitegen.pages.html import cells, formats, tables
from sitegen.pages.html.cells import BOUND, CACHED_ROWS, RowCache, shown_pair
from sitegen.pages.labels import DisplayedChange
from sitegen.pages.report import report_rows, tree, why_rows
from sitegen.pages.report.discrepancies import Discrepancy, ErrorGroup, PlacedError, Since, placed_error
from sitegen.pages.trend import trend_rows
from sitegen.pages.trend.page import FieldOverPoints, field_columns
from sitegen.stats.counts import judged
from sitegen.text.values import written
from tests import pages_sample as sample

NASTY = st.sampled_from([*sample.NASTY, "&amp;", "<!--", "]]>", "' \" ` = > <", "\udcff", "\x00", "a.b_c/d[0]"])
TEXTS = NASTY | st.text(max_size=30) | st.text(alphabet="<>&'\"=/ a\ud800\u202e", max_size=20)
NUMBERS = st.integers(0, 2000)
COUNTS = st.builds(Counts, *[NUMBERS] * 8)
SPECS = st.builds(MetricSpec, name=TEXTS, label=TEXTS, explanation=TEXTS, higher_is_better=st.booleans())
BY = st.sampled_from([None, "key", "position", "agreement"])
VALUES = st.none() | st.booleans() | st.integers(0, 1) | st.sampled_from([Decimal("1"), Decimal("1.0")]) | TEXTS
OUTCOMES = get_args(Outcome)


def judgement_of(*values: Any) -> Judgement:
    """A judgement; its annotations name types that hypothesis could not look up in their module."""
    return Judgement(*values)


JINJA = jinja2.Environment(autoescape=True)


class _Reader(HTMLParser):
    """Texts of the cells, names of the elements, and every attribute value, as a browser reads them."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.tags: set[str] = set()
        self.attributes: dict[str, list[str]] = {}
        self.feed(f"<table>{markup}</table>")
        self.close()

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value or "")


def _clean(text: str) -> str:
    return formats.printable(text)


@given(TEXTS)
def test_a_text_is_escaped_as_jinja_escapes_it(text: str) -> None:
    clean = _clean(text)
    assert (
        cells.escape(clean)
        == cells.output(clean)
        == str(escape(clean))
        == JINJA.from_string("{{ text }}").render(text=clean)
    )


@given(
    st.lists(st.builds(AlignmentRow, NUMBERS | st.none(), NUMBERS | st.none(), st.floats(0, 1), BY, TEXTS), max_size=9)
)
def test_every_row_of_an_alignment_is_counted_for_what_it_lacks(found: list[AlignmentRow]) -> None:
    missing = sum(row.actual is None for row in found)
    extra = sum(row.expected is None for row in found)
    agreed = sum(row.paired_by == "agreement" for row in found)
    words = [f"{sum(None not in row[:2] for row in found)} paired" + f" ({agreed} by agreement)" * bool(agreed)]
    words += [f"{missing} missing"] * bool(missing) + [f"{extra} extra"] * bool(extra)
    assert report_rows.paired(found) == ", ".join(words)


@given(st.lists(st.builds(FieldScore, TEXTS, COUNTS), max_size=3))
def test_rows_of_fields_show_names_as_text_and_add_no_element(scores: list[FieldScore]) -> None:
    shown = report_rows.fields(scores)
    assert report_rows.fields(scores) == report_rows.fields([FieldScore(*one) for one in scores]) == shown
    read = _Reader(shown)
    assert read.tags <= {"table", "thead", "th", "tbody", "tr", "td", "span", "a", "wbr"}
    assert all(_clean(one.attribute) in read.text for one in scores)
    assert set(read.attributes) <= {"class", "title", "href", "scope", "aria-hidden"}
    assert read.attributes.get("href", []) == [
        links.field("e", one.attribute)[len("evals/e/") :] for one in scores if judged(one.counts)
    ]


@given(st.lists(st.builds(DocumentScore, TEXTS, st.sampled_from(["scored", "unreadable"]), COUNTS), max_size=3))
def test_rows_of_documents_show_names_as_text_and_add_no_element(scores: list[DocumentScore]) -> None:
    read = _Reader(report_rows.documents(scores))
    assert read.tags <= {"table", "thead", "th", "tbody", "tr", "td", "span"}
    assert all(_clean(one.name) in read.text for one in scores)


@settings(max_examples=200)
@given(
    st.builds(
        Discrepancy,
        number=NUMBERS,
        placed=st.builds(
            PlacedError,
            error=st.builds(
                judgement_of, TEXTS, TEXTS, TEXTS, st.sampled_from(ERROR_TYPES), VALUES, VALUES, TEXTS, TEXTS
            ),
            key=st.just(("", "", False)),
            item=TEXTS,
            item_name=TEXTS,
            field=TEXTS,
        ),
        section=TEXTS,
        since=st.builds(Since, TEXTS, TEXTS, NUMBERS, st.booleans()),
        question=TEXTS | st.text(min_size=91, max_size=120),
        group=st.builds(
            ErrorGroup,
            first=NUMBERS,
            name=TEXTS,
            document=TEXTS,
            by_type=st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS),
            new=NUMBERS,
            whole=TEXTS,
        ),
    ),
    st.booleans(),
    st.booleans(),
)
def test_a_discrepancy_shows_its_values_as_text_and_adds_no_element(row, past, several):
    info = SimpleNamespace(nouns=Nouns())
    view: Any = SimpleNamespace(
        info=info, previous=() if past else None, documents=[1, 2] if several else [], case_pages={}
    )
    read = _Reader(report_rows.discrepancies([row], view))
    assert read.tags <= {
        *("table", "tbody", "tr", "th", "td", "a", "b", "i", "small", "mark", "data", "details", "summary", "span"),
        "wbr",
    }
    assert set(read.attributes) <= {
        *("id", "scope", "colspan", "open", "data-t", "data-g", "data-i", "data-n", "href", "dir", "value", "title"),
        "class",
    }
    assert _clean(row.question)[:1000] in read.text
    assert read.attributes["data-g"] == [_clean(row.section)]
    since = [_clean(row.since.file)] if past and not row.since.new else []
    assert read.attributes["href"] == [f"#d{row.number}", _clean(row.placed.field), *since]
    for shown in shown_pair(row.error):
        joined = "".join(_clean(span.text) for span in shown.spans)
        assert (joined or ("" if shown.spans else _clean(shown.absent))) in read.text


@given(
    st.lists(st.builds(judgement_of, TEXTS, TEXTS, TEXTS, st.sampled_from(OUTCOMES), VALUES, VALUES, TEXTS), max_size=5)
)
def test_kept_rows_of_values_are_those_of_the_value_itself_and_never_of_an_equal_one(judged: list[Judgement]) -> None:
    pages = [judged, judged, [replace(judgement) for judgement in judged]]
    plain = [tree.tree_value.write(judgement) for judgement in judged]
    assert [[tree.tree_value(judgement) for judgement in page] for page in pages] == [plain] * 3
    assert [tree.tree_value.rows_of(page) for page in pages] == [plain] * 3
    errors = [placed_error(judgement) for judgement in judged if judgement.outcome in ERROR_TYPES]
    assert errors == [placed_error.write(placed.error) for placed in errors]
    error_cells, places = report_rows.error_cells(Nouns()), [(), ("", ""), ("a", "Is it?")]
    cells_by_place = [[error_cells(error, *place) for error in errors] for place in places for _ in range(2)]
    assert cells_by_place == [
        [error_cells.write(error, *place) for error in errors] for place in places for _ in range(2)
    ]


def test_few_rows_are_kept_and_none_that_is_long() -> None:
    written: list[str] = []

    def write(text: str) -> str:
        written.append(text)
        return text

    cache, long, short = RowCache[str, str](write), "x" * 3000, ["a", "b"]
    assert [*map(cache, [long, *short, long, *short])] == [long, *short] * 2
    assert written == [long, *short, long]
    others = [f"c{n}" for n in range(2 * CACHED_ROWS)]
    assert [*map(cache, [*others, *short])] == [*others, *short]
    assert written[4:] == [*others, *short]


def fixed_cell(path: str, document: str, expected: str, earlier: str, before: str) -> CellFlip:
    texts = [json.dumps(text) for text in (expected, earlier, before)]
    wrong, right = (
        Period(start=0, state="wrong_value", expected=texts[1], actual=texts[2]),
        Period(start=1, state="correct", expected=texts[0], actual=texts[0]),
    )
    return CellFlip(
        fate="fixed",
        cell=Cell(document=document, path=path, attribute=path, extra=False, periods=(wrong, right)),
        before=wrong,
        after=right,
    )


@given(st.builds(fixed_cell, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS))
def test_values_of_fixed_cells_are_shown_as_text_and_add_no_element(flip: CellFlip) -> None:
    read = _Reader("".join(f"<td>{shown}" for shown in why_rows.fixed_values(flip)))
    assert read.tags <= {"table", "tr", "td", "i", "small", "mark", "div"}
    assert set(read.attributes) <= {"dir"}
    values = [written(text) for run in flip.cell.periods for text in run[2:]]
    assert all(_clean(value[:BOUND]) in read.text for value in values if value and value.strip())


@given(TEXTS, TEXTS)
def test_heads_and_cells_of_columns_show_text_as_text(head: str, content: str) -> None:
    columns = [tables.Column(name="a", head=head, cell=str, title=head)]
    read = _Reader(f"{tables.heads(columns)}<tr>{tables.cells(columns, content)}")
    assert read.tags <= {"table", "thead", "tr", "th", "td"}
    assert set(read.attributes) <= {"class", "scope", "title"}


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_a_row_of_the_trend_shows_subject_and_author_as_text(subject: str, author: str, label: str, note: str) -> None:
    series = sample.series(1)
    at = replace(
        series.points[0].snapshot,
        label=label,
        commit=replace(sample.commit(1), subject=subject, author=author),
        cause=("settings",),
        deleted=True,
    )
    view = sample.view_of(sample.trend(replace(series, points=(replace(series.points[0], snapshot=at),))))
    vars(view).update(edited=[(f"prompts/{label}",)], changes=[(DisplayedChange(None, note=note),)])
    read = _Reader(trend_rows.iterations(view))
    assert read.tags <= {"table", "tr", "td", "div", "a", "span", "i", "b", "bdi", "small"}
    assert all(_clean(text) in read.text for text in (subject, author, label, note))


@given(st.tuples(TEXTS, st.none() | COUNTS, NUMBERS, NUMBERS))
def test_a_row_of_field_history_shows_its_name_as_text(row: FieldOverPoints) -> None:
    read = _Reader(tables.cells(field_columns(sample.WAYBILLS), row))
    assert read.tags <= {"table", "tr", "td", "span", "a", "wbr"}
    assert _clean(row[0]) in read.text


@given(TEXTS, st.integers(0, 40))
def test_a_bounded_text_shows_at_most_its_limit_and_says_what_is_cut(text: str, limit: int) -> None:
    clean = _clean(text)
    read = _Reader(formats.bounded(text, limit))
    assert read.text.startswith(clean[:limit])
    assert read.text == clean or len(read.text) < len(clean)
