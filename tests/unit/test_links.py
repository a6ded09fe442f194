"""Every link of a whole site leads somewhere, and every page can be reached."""

import json
import re
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

import pytest

from sitegen.pages import field, links
from tests.golden.repository import write as golden
from tests.sites import attributes, broken_links, build_site

NOT_FOUND = "404.html"


@pytest.fixture(scope="module")
def pages(demo_site: Path) -> dict[str, list[str]]:
    """What every page of the demonstration site links to, by path."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(demo_site.rglob("*.html"))}
    return {
        path.relative_to(demo_site).as_posix(): [value for name, value in attributes(text) if name in ("href", "src")]
        for path, text in texts.items()
    }


def _target(page: str, link: str) -> str | None:
    """The path that a link of a page names; None if it leaves the site."""
    parts = urlsplit(link)
    if parts.scheme:
        return None
    return normpath(join(dirname(page), unquote(parts.path))) if parts.path else page


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


def test_every_page_can_be_reached_from_the_first_one(pages):
    seen, waiting = {links.overview()}, [links.overview()]
    while waiting:
        path = waiting.pop()
        for link in pages[path]:
            found = _target(path, link)
            if found and found in pages and found not in seen:
                seen.add(found)
                waiting.append(found)
    assert pages.keys() - seen == {NOT_FOUND}


def test_no_link_is_absolute(pages):
    assert [
        (path, link)
        for path, links_of_page in pages.items()
        for link in links_of_page
        if path != NOT_FOUND and link.startswith("/")
    ] == []


@pytest.mark.parametrize("name", ["nul", "nul.txt", "NUL.TXT", "con.a.b", "com1.json", "Aux."])
def test_no_address_is_a_name_that_windows_reserves(name):
    assert re.match(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", links.slug(name)) is None
