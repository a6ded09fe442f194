"""What the browser tests draw with."""

import sys

import pytest

from tests.browser import fonts
from tests.browser.fonts import NARROW, WIDE, ZERO, draw_in, zeros


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere the browser has the fonts of the system, and no fontconfig"
)
def test_the_browser_has_the_fonts_of_the_tests_and_no_other(open_context):
    page = open_context().new_page()
    page.set_content("<p>0</p>")
    families = ("sans-serif", "monospace", "'Liberation Sans', serif", "system-ui")
    wanted = (ZERO["--sans"], ZERO["--mono"], ZERO["--sans"], ZERO["--sans"])
    assert zeros(page, *families) == pytest.approx(wanted, abs=0.01)


def test_narrow_fonts_are_a_fifth_narrower_and_wide_ones_a_fifth_wider(visit):
    page = visit("index.html")
    found = {}
    for percent in (NARROW, 100, WIDE):
        draw_in(page, percent)
        found[percent] = zeros(page, "var(--sans)", "var(--mono)")
    assert found[NARROW] == pytest.approx([0.8 * width for width in found[100]], rel=0.03)
    assert found[WIDE] == pytest.approx([1.2 * width for width in found[100]], rel=0.03)


def test_a_font_that_is_not_there_fails_the_test_and_says_so(visit, monkeypatch, tmp_path):
    monkeypatch.setattr(fonts, "FOLDER", tmp_path)
    with pytest.raises(pytest.fail.Exception, match=r"fonts of the browser tests are missing: no .*DejaVuSans\.ttf"):
        fonts.fontconfig_file(tmp_path)


def test_a_page_that_asks_for_other_fonts_fails_the_test_and_says_so(visit, monkeypatch):
    page = visit("index.html")
    page.evaluate("() => document.documentElement.style.setProperty('--sans', 'monospace')")
    with pytest.raises(pytest.fail.Exception, match="not drawn in the fonts of the tests"):
        draw_in(page, WIDE)
