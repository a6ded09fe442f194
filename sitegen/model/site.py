"""The site as a value: what all pages share, and the pages themselves."""

from sitegen.model.frozen import Frozen


class SiteInfo(Frozen):
    """What every page shows about the site. Nothing that is shown changes with a commit, or every page would change."""

    title: str
    version: str
    repository_url: str | None = None
    """Web address of the repository, without a trailing slash and without credentials; for commit links."""
    base_url: str | None = None
    """Address of the published site, without a trailing slash."""
    shallow: bool = False
    """Whether the clone is shallow; every page then has a banner that says so."""
    noindex: bool = False


class Page(Frozen):
    """A page to render: its path, its template and its view."""

    path: str
    """Relative to the root of the site, as ``sitegen.pages.links`` makes it."""
    template: str
    """Below ``site_templates/``: ``pages/report.html``."""
    view: object
    """The frozen view model that the template knows as ``view``."""


class RawFile(Frozen):
    """A file of the site without a template: data, search index, styles."""

    path: str
    content: bytes
