"""Numbers, dates and paths as pages write them."""

import pytest

from sitegen.model.metrics import MetricSpec
from sitegen.pages.html import formats
from sitegen.text import markdown_cells
from sitegen.text.plain import day

F1 = MetricSpec("f1", "F1", "")
UNDEFINED = '<span class="nil" title="undefined">—</span>'


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (formats.number(0.0), "0.000"),
        (formats.number(0.9996), "0.9996"),
        (formats.number(2 / 3), "0.667"),
        (formats.number(4.25), "4.250"),
        (formats.number(None), UNDEFINED),
        (formats.count(None), UNDEFINED),
        (formats.signed(None), UNDEFINED),
        (formats.signed(0.0), '<span class="delta">no change</span>'),
        (formats.percent(1, 3), "33\u202f%"),
        (formats.percent(0, 0), UNDEFINED),
        (formats.date("<b>"), "&lt;b&gt;"),
        (formats.path("rows[Hall].a_b/<long>.d"), "rows<wbr>[Hall].a_b/<wbr>&lt;long&gt;.d"),
        (formats.path("x\udcff"), "x‹U+DCFF›"),
        (formats.bounded("a\u200bb \u202ec"), "a‹U+200B›b ‹U+202E›c"),
        (formats.bounded("abcdef" * 6, 4), 'abcd<span class="cut"> … 32 more characters</span>'),
        (formats.bounded("abcde … (2)", 4), "abcde … (2)"),
        (
            formats.bounded("abcdef … (1,000 more characters)", 4),
            'abcd<span class="cut"> … 1,002 more characters</span>',
        ),
        (formats.bounded("<i>", 4), "&lt;i&gt;"),
        (formats.printable("Grüße, 東京 👍\n"), "Grüße, 東京 👍\n"),
        (formats.message("`ignore`, or ` alone"), "<code>ignore</code>, or ` alone"),
        (formats.message("Name `a<b>`"), "Name <code>a&lt;b&gt;</code>"),
        (formats.message(f"`{'x' * 40}`", 5), '`xxxx<span class="cut"> … 37 more characters</span>'),
    ],
)
def test_numbers_and_texts_are_escaped_bounded_and_visible(written: str, expected: str):
    assert written == expected


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (22.0, "count", "22"),
        (22.5, "count", "22.500"),
        (12345.0, "count", "12,345"),
        (1240.25, "", "1,240.2"),
        (1.2e-4, "", "0.00012"),
        (0.99997, "", "0.99997"),
        (0.5, "", "0.500"),
    ],
)
def test_pages_and_the_terminal_write_a_metric_alike(value, unit, text):
    assert (formats.number(value, unit), markdown_cells.number(value, unit)) == (text, text)


@pytest.mark.parametrize(
    ("change", "tone", "arrow", "word", "text"),
    [
        (formats.signed(0.0421, F1), "up", "▲", "up", "0.042"),
        (formats.signed(-1e-5, F1), "dn", "▼", "down", "&lt; 0.001"),
        (formats.signed(0.0421), "", "▲", "up", "0.042"),
        (formats.signed(-2.1, MetricSpec("s", "S", "", higher_is_better=False, unit="s")), "up", "▼", "down", "2.10 s"),
        (formats.signed(150.0, F1), "up", "▲", "up", "150"),
        (formats.signed(-7, formats.ERRORS), "up", "▼", "down", "7"),
        (formats.signed(1234, formats.ERRORS), "dn", "▲", "up", "1,234"),
    ],
)
def test_a_change_has_an_arrow_a_word_and_the_colour_of_better_or_worse(change, tone, arrow, word, text):
    mark = f'<span aria-hidden="true">{arrow}</span><span class="vh">{word} </span>'
    assert change == f'<span class="{f"delta {tone}".strip()}">{mark} {text}</span>'


@pytest.mark.parametrize(
    ("iso", "text"),
    [
        ("2026-02-05T23:59:08-08:00", "5 Feb 2026"),
        ("2025-12-31", "31 Dec 2025"),
        ("yesterday", "yesterday"),
        ("2025-13-01", "2025-13-01"),
        (None, ""),
    ],
)
def test_a_day_is_written_in_the_zone_it_was_recorded_in(iso, text):
    assert day(iso) == text
