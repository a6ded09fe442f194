"""Whether a page fits a small screen and the paper, in narrow and in wide fonts.

Light and dark differ in colours alone (``tokens.css``), so that one of them is enough.
"""

from typing import Final, NamedTuple

from playwright.sync_api import Page

from tests.browser.fonts import NARROW, WIDE, draw_in

SCREENS: Final = ((NARROW, 390), (WIDE, 320))  # (per cent of the ordinary font, width in pixels) of each screen
PAPER: Final = 710  # pixels between the margins of A4

_CUT = """() => {
  const root = document.documentElement;
  for (const one of root.querySelectorAll(".champs .c-eval,.back .c-evals,.log td")) one.textContent = "n".repeat(80);
  const cut = [...document.querySelectorAll("body *")].filter(one =>
    one.checkVisibility() && !one.matches(".vh")
    && ["hidden", "auto", "scroll"].includes(getComputedStyle(one).overflowX)
    && getComputedStyle(one).textOverflow !== "ellipsis"
    && one.clientWidth && one.scrollWidth > one.clientWidth + 1);
  return (root.scrollWidth > root.clientWidth ? [root] : []).concat(cut)
    .map(one => `${one.tagName} ${one.className} holding ${one.firstElementChild?.className}: ${one.scrollWidth} px`);
}"""


class Misfits(NamedTuple):
    """Where a page is too wide."""

    sideways: list[tuple[int, int]]
    """(width of the screen, of the page) of each screen that it is wider than."""
    cut: list[str]
    """What runs off the paper or out of a box."""


def misfits(page: Page) -> Misfits:
    """Hold a page against every screen, and in the widest font against paper."""
    found = sideways(page)
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.emulate_media(media="print")
    cut = page.evaluate(_CUT)
    page.emulate_media(media="null")
    return Misfits(found, cut)


def sideways(page: Page) -> list[tuple[int, int]]:
    """As in ``Misfits``, without a look at paper."""
    found = []
    for percent, screen in SCREENS:
        draw_in(page, percent)
        page.set_viewport_size({"width": screen, "height": 844})
        width = page.evaluate("() => document.documentElement.scrollWidth")
        if width != screen:
            found.append((screen, width))
    return found
