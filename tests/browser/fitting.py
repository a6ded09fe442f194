"""Whether a page fits a small screen and the paper, in narrow and in wide fonts.

Light and dark differ in colours alone (``tokens.css``), so that one of them is enough.
"""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Page

from tests.browser.fonts import NARROW, WIDE, draw_in

SCREENS: Final = (390, 320)
PAPER: Final = 710
"""Pixels between the margins of A4."""

_CUT = """() => {
  const root = document.documentElement;
  const cut = [...document.querySelectorAll("body *")].filter(one =>
    one.checkVisibility() && !one.matches(".vh")
    && ["hidden", "auto", "scroll"].includes(getComputedStyle(one).overflowX)
    && getComputedStyle(one).textOverflow !== "ellipsis"
    && one.clientWidth && one.scrollWidth > one.clientWidth + 1);
  return (root.scrollWidth > root.clientWidth ? [root] : []).concat(cut)
    .map(one => `${one.tagName} ${one.className} holding ${one.firstElementChild?.className}: ${one.scrollWidth} px`);
}"""


def sideways(page: Page) -> list[tuple[int, int, int]]:
    """Where the page is wider than the screen: (per cent of the ordinary font, width of the screen, of the page)."""
    found = []
    for percent in (NARROW, WIDE):
        draw_in(page, percent)
        for screen in SCREENS:
            page.set_viewport_size({"width": screen, "height": 844})
            width = page.evaluate("() => document.documentElement.scrollWidth")
            found += [(percent, screen, width)] * (width != screen)
    return found


def cut_on_paper(page: Page) -> list[tuple[int, str]]:
    """What runs off the paper or out of a box: (per cent of the ordinary font, what)."""
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.emulate_media(media="print")
    found = []
    for percent in (NARROW, WIDE):
        draw_in(page, percent)
        found += [(percent, what) for what in page.evaluate(_CUT)]
    page.emulate_media(media="null")
    return found
