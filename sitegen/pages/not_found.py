"""The page for addresses that do not exist, and what else GitHub Pages looks for at the root of a site."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import urlsplit

from sitegen.model.site import Page, RawFile
from sitegen.pages import links


class NotFoundView(NamedTuple):
    """What ``pages/not_found.html`` needs."""

    root: str
    """The way to the root of the site from any depth; without ``base_url`` only right at the root itself."""
    nav: str = ""


def not_found_page(base_url: str | None) -> Page:
    """``404.html``: a server shows it for any address, so that no relative link would do."""
    root = urlsplit(base_url).path.rstrip("/") + "/" if base_url else ""
    return Page(links.not_found(), "pages/not_found.html", NotFoundView(root))


NO_JEKYLL: Final = RawFile(".nojekyll", b"")
"""Tells GitHub Pages to serve the files as they are."""
