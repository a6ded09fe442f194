"""Every link of a whole site leads somewhere, and every page can be reached."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from sitegen.pages import links

NOT_FOUND = "404.html"


class _Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.add(value or "")
            elif name in ("href", "src"):
                self.links.append(value or "")


@pytest.fixture(scope="module")
def pages(demo_site: Path) -> dict[str, _Page]:
    """Every page of the demonstration site, by path."""
    return {
        path.relative_to(demo_site).as_posix(): _Page(path.read_text(encoding="utf-8"))
        for path in sorted(demo_site.rglob("*.html"))
    }


def _target(page: str, link: str, site: Path) -> tuple[str, str] | None:
    """(path, id) that a link of a page names; None if it leaves the site. ``#a=1&b=2`` is a choice, and no id."""
    parts = urlsplit(link)
    if parts.scheme:
        return None
    file = (site / page).parent / unquote(parts.path) if parts.path else site / page
    fragment = "" if "=" in parts.fragment else unquote(parts.fragment)
    return file.resolve().relative_to(site.resolve()).as_posix(), fragment


def test_every_link_names_a_file_of_the_site_and_every_fragment_an_id(pages, demo_site):
    dead = []
    for path, page in pages.items():
        for link in page.links:
            found = _target(path, link, demo_site)
            if found is None:
                continue
            file, fragment = found
            if not (demo_site / file).is_file() or (fragment and fragment not in pages[file].ids):
                dead.append((path, link))
    assert dead == []


def test_every_page_can_be_reached_from_the_first_one(pages, demo_site):
    seen, waiting = {links.overview()}, [links.overview()]
    while waiting:
        path = waiting.pop()
        for link in pages[path].links:
            found = _target(path, link, demo_site)
            if found and found[0] in pages and found[0] not in seen:
                seen.add(found[0])
                waiting.append(found[0])
    assert pages.keys() - seen == {NOT_FOUND}


def test_no_link_is_absolute(pages):
    assert [
        (path, link)
        for path, page in pages.items()
        for link in page.links
        if path != NOT_FOUND and link.startswith("/")
    ] == []
