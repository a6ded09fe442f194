"""The site as a value: what every page may know, and the pages themselves."""

from __future__ import annotations

from typing import NamedTuple


class SiteInfo(NamedTuple):
    """What every page knows of the site. Nothing here changes from commit to commit, or every page would."""

    title: str
    version: str
    """Of sitegen."""
    repository_url: str | None = None
    """Web address of the repository, without a trailing slash and without credentials; for commit links."""
    base_url: str | None = None
    """Address of the published site, without a trailing slash."""
    shallow: bool = False
    """The history is cut off: every page carries a banner."""
    pinned: str = ""
    """Id of the commit by whose ground truth and rules everything is scored: every page carries a banner."""
    noindex: bool = False
    """Every page asks search engines to leave it out."""


class Page(NamedTuple):
    """A page to render: where it goes, by which template, from what."""

    path: str
    """Relative to the root of the site, as ``sitegen.pages.links`` makes it."""
    template: str
    """Below ``site_templates/``: ``pages/report.html``."""
    view: object
    """The frozen view model that the template knows as ``view``."""


class RawFile(NamedTuple):
    """A file of the site that no template makes: data, search index, styles."""

    path: str
    content: bytes
