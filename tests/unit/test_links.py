"""Every link of a whole site leads somewhere, and every page can be reached."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from sitegen.pages import field, links
from tests.golden.repository import write as golden
from tests.sites import broken_links, build_site

NOT_FOUND = "404.html"


class _Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]


@pytest.fixture(scope="module")
def pages(demo_site: Path) -> dict[str, _Page]:
    """Every page of the demonstration site, by path."""
    return {
        path.relative_to(demo_site).as_posix(): _Page(path.read_text(encoding="utf-8"))
        for path in sorted(demo_site.rglob("*.html"))
    }


def _target(page: str, link: str, site: Path) -> str | None:
    """The path that a link of a page names; None if it leaves the site."""
    parts = urlsplit(link)
    if parts.scheme:
        return None
    file = (site / page).parent / unquote(parts.path) if parts.path else site / page
    return file.resolve().relative_to(site.resolve()).as_posix()


def test_every_link_names_a_file_of_the_site_and_every_fragment_an_id(demo_site):
    assert broken_links(demo_site, fragments=True) == []


@pytest.mark.parametrize("kept", [None, 0, 1])
def test_however_few_full_reports_are_kept_every_link_leads_somewhere(tmp_path, kept):
    """The golden site, which has a page of each sort."""
    repo = golden(tmp_path / "golden")
    if kept is not None:
        (repo.path / "sitegen.toml").write_text(f"[limits]\nreports_kept = {kept}\n")
    build_site(repo.path, tmp_path / "out", jobs=1)
    assert broken_links(tmp_path / "out", fragments=True) == []


def test_links_to_fields_beyond_those_that_are_shown_lead_to_a_line_that_says_so(repo, tmp_path, monkeypatch):
    monkeypatch.setattr(field, "ROWS", 2)
    monkeypatch.setattr(field, "NAMED", 3)
    for given in ("right", "wrong"):
        truth, output = ({f"field{number}": text for number in range(8)} for text in ("right", given))
        sides = {"ground_truth": truth, "extracted": output}
        repo.commit({f"evals/{name}/{side}.json": json.dumps(of) for name in "ab" for side, of in sides.items()})
    repo.checkout()
    build_site(repo.path, tmp_path / "out", jobs=1)
    assert broken_links(tmp_path / "out", fragments=True) == []
    text = " ".join((tmp_path / "out" / links.fields()).read_text().split())
    assert "Here are the 4 fields with most errors. Links to the other 4 lead to this line" in text
    assert "fields.html#field7" in (tmp_path / "out/index.html").read_text() + "".join(
        page.read_text() for page in (tmp_path / "out/evals/a/fields").iterdir()
    )


def test_every_page_can_be_reached_from_the_first_one(pages, demo_site):
    seen, waiting = {links.overview()}, [links.overview()]
    while waiting:
        path = waiting.pop()
        for link in pages[path].links:
            found = _target(path, link, demo_site)
            if found and found in pages and found not in seen:
                seen.add(found)
                waiting.append(found)
    assert pages.keys() - seen == {NOT_FOUND}


def test_no_link_is_absolute(pages):
    assert [
        (path, link)
        for path, page in pages.items()
        for link in page.links
        if path != NOT_FOUND and link.startswith("/")
    ] == []


@pytest.mark.parametrize("name", ["nul", "nul.txt", "NUL.TXT", "con.a.b", "com1.json", "Aux."])
def test_no_address_is_a_name_that_windows_reserves(name):
    assert re.match(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", links.slug(name)) is None
