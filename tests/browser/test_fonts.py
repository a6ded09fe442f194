"""What the browser tests draw with."""

import sys

import pytest

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
