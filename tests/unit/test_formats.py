"""Numbers, dates and paths as pages write them."""

from sitegen.model.metrics import MetricSpec
from sitegen.pages.html import formats
from sitegen.text import markdown_cells
from sitegen.text.plain import day
from tests.rows import in_table

METRICS = {
    "F1": MetricSpec("f1", "F1", ""),
    "seconds": MetricSpec("s", "S", "", higher_is_better=False, unit="s"),
    "errors": formats.ERRORS,
}
UNDEFINED = '<span class="nil" title="undefined">—</span>'


@in_table
def test_numbers_and_texts_are_escaped_bounded_and_visible(function, given, text):
    assert getattr(formats, function)(*given) == text.replace("UNDEFINED", UNDEFINED)


@in_table
def test_pages_and_the_terminal_write_a_metric_alike(value, unit, text):
    assert (formats.number(value, unit), markdown_cells.number(value, unit)) == (text, text)


@in_table
def test_a_change_has_an_arrow_a_word_and_the_colour_of_better_or_worse(change, metric, tone, arrow, word, text):
    mark = f'<span aria-hidden="true">{arrow}</span><span class="vh">{word} </span>'
    assert (
        formats.signed(change, METRICS.get(metric)) == f'<span class="{f"delta {tone}".strip()}">{mark} {text}</span>'
    )


@in_table
def test_a_day_is_written_in_the_zone_it_was_recorded_in(iso, text):
    assert day(iso) == text
