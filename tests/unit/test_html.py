"""Numbers, and tables that are declared as a list of columns; what styles and scripts know of columns."""

import re

import pytest
from markupsafe import Markup

from sitegen.engine.template_files import find_templates
from sitegen.pages import effects
from sitegen.pages.html.tables import Column, cells, class_name, heads, kpi, writer
from sitegen.pages.report import report_rows


def test_a_number_stands_below_its_label_with_texts_escaped():
    assert kpi("Errors <1>", 12, Markup("<b>+1</b>"), "a & b") == (
        '<div class="kpi"><dt>Errors &lt;1&gt;</dt><dd><span class="v">12</span><b>+1</b>'
        '<span class="x">a &amp; b</span></dd></div>'
    )


_ASSETS = find_templates() / "assets"
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")


def test_heads_and_cells_have_the_name_of_their_column_and_texts_are_escaped():
    columns = (
        Column(name="name", head="Name", cell=lambda row: row[0]),
        Column(name="errors", head=Markup("<b>E</b>"), cell=lambda row: row[1], classes="num hide-s", title='"all"'),
    )
    assert heads(columns) == (
        "<thead><tr><th scope=col class=c-name>Name</th>"
        '<th scope=col class="c-errors num hide-s" title="&#34;all&#34;"><b>E</b></th></thead>'
    )
    assert writer(columns, named=False)(("<a>", 3)) == '<td>&lt;a&gt;<td class="num hide-s">3'
    assert cells(columns, ("<a>", 3)) == '<td class=c-name>&lt;a&gt;<td class="c-errors num hide-s">3'


def test_the_name_of_a_column_made_from_a_label_is_a_class():
    assert class_name("Pass rate, by 'judge' %") == "pass-rate-by-judge"


@pytest.mark.parametrize("path", sorted(_ASSETS.glob("css/*.css")), ids=lambda path: path.stem)
def test_a_style_sheet_addresses_columns_by_name(path):
    """The first and the last cell of a row are the edges of a table, which may have another padding or least width."""
    found = [
        selectors.strip()
        for selectors, declarations in _RULE.findall(path.read_text())
        if re.search(r"\b(?:td|th)\b|\btr\b", selectors)
        and re.search(r"(?:\b(?:td|th)\b|:is\(t[dh],t[dh]\)|tr > )[^\s,]*:(?:nth-|first-child|last-child)", selectors)
        and not all(
            part.strip().startswith(("padding", "min-width")) for part in declarations.split(";") if part.strip()
        )
    ]
    assert not found


@pytest.mark.parametrize("columns", [effects.COLUMNS, effects.FIELD_COLUMNS, report_rows.PAIRING])
def test_no_two_columns_of_a_table_have_one_name(columns) -> None:
    """Styles, sorting and tooltips find a column by its name."""
    assert len({column.name for column in columns}) == len(columns)
