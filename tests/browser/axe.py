"""What axe-core says of a page, in light and in dark."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import axe_core_python
from playwright.sync_api import Page

_AXE: Final = next(Path(axe_core_python.__file__).parent.rglob("axe.min.js")).read_text(encoding="utf-8")


def violations_axe_finds(page: Page, *, dark: bool = True, within: str = "html") -> list[tuple[str, str, str]]:
    """(scheme, rule, where) of each violation within an element, with everything unfolded.

    The page must bypass its policy.
    Light and dark differ in colours alone (``tokens.css``), so that dark is asked for contrast only.
    """
    page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_AXE)
    found = []
    for scheme, rules in (("light", "{}"), ("dark", "{runOnly: ['color-contrast']}"))[: 1 + dark]:
        # Without motion: on a busy machine axe would otherwise see colours on their way from light to dark.
        page.emulate_media(color_scheme="light" if scheme == "light" else "dark", reduced_motion="reduce")
        result = page.evaluate(f"() => axe.run({within!r}, {{resultTypes: ['violations'], ...{rules}}})")
        found += [(scheme, one["id"], one["nodes"][0]["html"][:200]) for one in result["violations"]]
    return found
