"""The page for addresses that do not exist, and what else GitHub Pages looks for at the root of a site."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sitegen.model.site import Page, RawFile


@dataclass(frozen=True, slots=True)
class NotFoundView:
    """``404.html`` shows nothing of its own."""

    nav: str = ""


def not_found_page() -> Page:
    """``404.html``: served at any depth, so its links start from the site's ``base_url`` if that is known."""
    return Page("404.html", "pages/not_found.html", NotFoundView())


NO_JEKYLL: Final = RawFile(".nojekyll", b"")
"""Tells GitHub Pages to serve the files as they are."""
