"""Numbers, dates and paths as pages write them."""

import pytest

from sitegen.pages.html import formats
from sitegen.text import markdown_cells
from sitegen.text.plain import day


def test_an_undefined_number_is_an_em_dash_that_says_so():
    assert formats.number(None) == '<span class="nil" title="undefined">—</span>'
    assert formats.signed(None) == formats.count(None) == formats.number(None)


@pytest.mark.parametrize(("value", "text"), [(0.0, "0.000"), (0.9996, "1.000"), (2 / 3, "0.667"), (4.25, "4.250")])
def test_a_metric_has_three_digits(value, text):
    assert formats.number(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (22.0, "count", "22"),
        (22.5, "count", "22.500"),
        (12345.0, "count", "12,345"),
        (1240.25, "", "1,240.2"),
        (1.2e-4, "", "0.00012"),
        (0.5, "", "0.500"),
    ],
)
def test_pages_and_the_terminal_write_a_metric_alike(value, unit, text):
    assert (formats.number(value, unit=unit), markdown_cells.number(value, unit=unit)) == (text, text)


@pytest.mark.parametrize(
    ("value", "digits", "lower", "tone", "arrow", "word", "text"),
    [
        (0.0421, 3, False, "up", "▲", "up", "0.042"),
        (-7, 0, True, "up", "▼", "down", "7"),
        (1234, 0, True, "dn", "▲", "up", "1,234"),
        (-1e-5, 3, False, "dn", "▼", "down", "&lt; 0.001"),
    ],
)
def test_a_change_has_an_arrow_a_word_and_the_colour_of_better_or_worse(value, digits, lower, tone, arrow, word, text):
    mark = f'<span aria-hidden="true">{arrow}</span><span class="vh">{word} </span>'
    assert formats.signed(value, digits, lower) == f'<span class="delta {tone}">{mark} {text}</span>'


def test_no_change_is_said_in_words():
    assert formats.signed(0.0) == '<span class="delta">no change</span>'


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


def test_a_date_that_is_none_is_escaped_text():
    assert formats.date("<b>") == "&lt;b&gt;"


def test_a_path_may_break_and_is_escaped():
    assert formats.path("a_b/<c>.d") == "a_<wbr>b/<wbr>&lt;c&gt;.<wbr>d"


def test_what_cannot_be_seen_is_made_visible():
    assert formats.path("x\udcff") == "x‹U+DCFF›"
    assert formats.bounded("a\u200bb \u202ec") == "a‹U+200B›b ‹U+202E›c"
    assert formats.printable("Grüße, 東京 👍\n") == "Grüße, 東京 👍\n"


def test_a_long_text_is_cut_and_says_how_much_is_missing():
    assert formats.bounded("abcdef", 4) == 'abcd<span class="cut"> … 2 more characters</span>'
    assert formats.bounded("<i>", 4) == "&lt;i&gt;"


def test_a_share_of_nothing_is_undefined():
    assert formats.percent(1, 3) == "33\u202f%"
    assert formats.percent(0, 0) == formats.number(None)


def test_words_between_backticks_are_code_in_a_message():
    assert formats.message("Name `a<b>` under `ignore`, or ` alone") == (
        "Name <code>a&lt;b&gt;</code> under <code>ignore</code>, or ` alone"
    )
    assert formats.message("`" + "x" * 9 + "`", 5).startswith('`xxxx<span class="cut">')
