import pytest

from sitegen.text.plain import cut, line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x00\x1b\x7f\r", "␀␛␡␍"),
        ("a\u202eb\u2066c", "a‹U+202E›b‹U+2066›c"),
        ("\ud800", "‹U+D800›"),
        ("עברית 👩🏽‍🚀", "עברית 👩🏽‍🚀"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(text: str, shown: str):
    assert visible(text) == shown


def test_a_cut_says_how_much_is_missing():
    assert cut("abc", 3) == "abc"
    assert cut("a" * 1_003, 2) == "aa … (1,001 more characters)"
    assert cut(cut("a" * 10_003, 1_003), 2) == "aa … (10,001 more characters)"


def test_one_line_has_no_line_feeds():
    assert line("a\nb\u2028c") == "a b‹U+2028›c"
