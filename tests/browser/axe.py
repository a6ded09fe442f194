"""What axe-core says of a page, in light and in dark."""

from pathlib import Path
from typing import Final

import axe_playwright_python
from playwright.sync_api import Page

AXE: Final = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")).read_text(encoding="utf-8")
"""The script of axe-core, which windows that bypass the policy of their pages run in each page."""

_PREPARE: Final = """kept => {
  document.querySelectorAll("details").forEach(one => { one.open = true; });
  for (const parent of document.querySelectorAll("body *")) {
    const seen = {};
    for (const one of [...parent.children].filter(one => !one.matches("td, th"))) {
      const sort = `${one.tagName} ${one.getAttribute("class")} ${!one.textContent.trim()}`;
      seen[sort] = (seen[sort] ?? 0) + 1;
      if (seen[sort] > kept) one.remove();
    }
  }
}"""
KEPT: Final = 2
"""Of elements with the same classes in the same place, so many are looked at: rows and lists are long."""

_SHAPES: Final = ("light", "{rules: {'target-size': {enabled: true}, 'color-contrast': {enabled: false}}}")
_SCHEMES: Final = (
    ("light", "{rules: {'target-size': {enabled: true}}}"),
    ("dark", "{runOnly: ['color-contrast', 'link-in-text-block']}"),
)


def violations_axe_finds(page: Page, *, colours: bool = True, within: str = "html") -> list[tuple[str, str, str]]:
    """(scheme, rule, where) of each violation within an element, with everything unfolded.

    The page must bypass its policy. The size of targets, which axe leaves out by default, is asked for as well.
    Light and dark differ in colours alone (``tokens.css``), so that dark is asked only for contrast, and for links
    that nothing but colour sets apart.
    """
    page.evaluate(_PREPARE, KEPT)
    found = []
    for scheme, options in _SCHEMES if colours else (_SHAPES,):
        # Without motion: on a busy machine axe would otherwise see colours on their way from light to dark.
        page.emulate_media(color_scheme="light" if scheme == "light" else "dark", reduced_motion="reduce")
        result = page.evaluate(f"() => axe.run({within!r}, {{resultTypes: ['violations'], ...{options}}})")
        found += [(scheme, one["id"], one["nodes"][0]["html"][:200]) for one in result["violations"]]
    return found
