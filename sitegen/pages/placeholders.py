"""Pages in place of others: of a failed page, of an unknown address."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from sitegen.frozen import Frozen
from sitegen.model.problems import Problem
from sitegen.model.site import Page, RawFile
from sitegen.pages import links


class FailedView(Frozen):
    """What ``pages/failed.html`` shows."""

    problem: Problem
    nav: str = ""


def failed_page(path: str, problem: Problem) -> Page:
    """A page at the address of the one that could not be made, so that links to it still work."""
    return Page(path, "pages/failed.html", FailedView(problem))


class NotFoundView(Frozen):
    """What ``pages/not_found.html`` needs."""

    root: str
    """Address of the root of the site, absolute if ``base_url`` is set; else it is right only at the root itself."""
    nav: str = ""


def not_found_page(base_url: str | None) -> Page:
    """``404.html``: servers show it for any address, so that relative links would not work."""
    root = urlsplit(base_url).path.rstrip("/") + "/" if base_url else ""
    return Page(links.not_found(), "pages/not_found.html", NotFoundView(root))


NO_JEKYLL: Final = RawFile(".nojekyll", b"")
"""Tells GitHub Pages not to run Jekyll."""
