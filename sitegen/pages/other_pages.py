"""Pages in the place of others: a page that failed, an unknown address, a page that is not written yet."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from sitegen.model.problems import Problem
from sitegen.model.site import Page, RawFile
from sitegen.pages import links


def failed_page(path: str, problem: Problem) -> Page:
    """A page at the address of a page that sitegen failed to make, so that links to it still work."""
    return Page(path, "pages/failed.html", problem)


def not_found_page(base_url: str | None) -> Page:
    """``404.html``: servers show it for any address, so that relative links would not work.

    Its view is the address of the root of the site, absolute if ``base_url`` is set; otherwise it is correct only at
    the root itself.
    """
    root = urlsplit(base_url).path.rstrip("/") + "/" if base_url else ""
    return Page(links.not_found(), "pages/not_found.html", root)


def unfinished_page(root: str) -> Page:
    """A page in the place of several that are not written yet. ``root``: the way from them to the root of the site."""
    return Page(links.not_found(), "pages/unfinished.html", root)


NO_JEKYLL: Final = RawFile(".nojekyll", b"")
"""Tells GitHub Pages not to run Jekyll."""
