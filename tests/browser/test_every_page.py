"""What holds for every page: policy, accessibility, small screens, no scripts, structure, links."""

import itertools
import re
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser import diff_pages, sample_site
from tests.browser.axe import violations_axe_finds
from tests.browser.fitting import SCREENS, Misfits, misfits, sideways

SAMPLES = [page.path for page in sample_site.pages()]
WRITTEN = [*sample_site.pages(), *diff_pages.pages()]
PAGES = [page.path for page in WRITTEN]


@pytest.fixture(scope="module", params=PAGES)
def opened(request, open_in_one_tab):
    """Each page in its turn, opened once for all tests that only look at it."""
    return open_in_one_tab(request.param)


def test_opens_from_disk_without_a_console_error_or_a_violation_of_its_policy(opened):
    assert opened.complaints() == []
    expect(opened.page.locator("html.js")).to_have_count(1)
    assert opened.page.title().endswith("Freight desk")


@pytest.fixture(scope="module")
def too_wide(opened):
    """Where each page is too wide: as it opens, and in the other views of a diff, which paper does not show."""
    found = {"as opened": misfits(opened.page)}
    opened.page.set_viewport_size({"width": SCREENS[0], "height": 844})
    for view in ("v-split", "v-ren"):
        if opened.page.locator(f"#{view}:not(:checked)").count():
            opened.page.locator(f"label[for={view}]").click()
            found[view] = Misfits(sideways(opened.page), [])
    return found


def test_fits_a_small_screen_without_scrolling_sideways(too_wide):
    assert {view: found.sideways for view, found in too_wide.items() if found.sideways} == {}


def test_nothing_is_cut_on_paper(too_wide):
    assert too_wide["as opened"].cut == []


@pytest.mark.parametrize("template", sorted({page.template for page in WRITTEN}))
def test_has_no_accessibility_violation_that_axe_finds(site, open_in_one_tab, template):
    """On the largest page of each template: what stands on the others stands on it as well, or on the demo's pages."""
    paths = [page.path for page in WRITTEN if page.template == template]
    page = open_in_one_tab(max(paths, key=lambda path: (site / path).stat().st_size), bypass_csp=True).page
    found = violations_axe_finds(page)
    for view in ("v-split", "v-uni", "v-ren"):
        if page.locator(f"#{view}").count():
            page.locator(f"label[for={view}]").click()
            found += violations_axe_finds(page, within=".views")  # the rest of the page stays as it was
    assert found == []


def test_a_quote_is_marked_in_the_words_of_the_source_and_leads_to_the_picture_of_its_page(open_in_one_tab):
    page = open_in_one_tab("evals/waybills/0008-tree.html").page
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    quoted, not_quoted, on_picture, on_no_page = page.locator(".src").all()
    mark = quoted.locator("mark")
    assert mark.inner_text() == "waybill MSKU-2025"
    colours = "node => getComputedStyle(node).backgroundColor"
    assert mark.evaluate(colours) != quoted.evaluate(colours)
    assert [line.locator("mark, .bad").all_inner_texts() for line in (not_quoted, on_picture, on_no_page)] == [
        ["this quote is not in the source: a hint at a hallucination"],
        [],
        ["the source has no page 3: a hint at a hallucination"],
    ]
    on_picture.get_by_role("link", name="p. 2").click()
    shown = page.locator("figure:target img")
    shown.evaluate("image => image.decode()")
    assert shown.evaluate("image => [image.naturalWidth, image.alt]") == [1200, "Page 2 of f-002 of the source"]


@pytest.mark.parametrize("path", SAMPLES)
def test_is_complete_without_scripts(open_in_one_tab, path):
    page = open_in_one_tab(path, java_script_enabled=False).page
    parts = page.locator("main tr:not(details tr), main h1, main h2, main dt:not(details dt), main figure .cv svg")
    assert parts.count()
    assert parts.evaluate_all("nodes => nodes.filter(node => !node.checkVisibility()).length") == 0
    expect(page.locator(".js-only:visible")).to_have_count(0)


class _Structure(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.path = ""
        self.ids: Counter[str] = Counter()
        self.references: list[str] = []
        self.links: list[str] = []
        self.inline: list[str] = []
        self.headings: list[str] = []
        self.scripts: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if "id" in given:
            self.ids[given["id"] or ""] += 1
        for name in ("aria-labelledby", "for"):
            self.references += (given.get(name) or "").split()
        for name in ("href", "src"):
            if name in given:
                self.links.append(given[name] or "")
        self.inline += [name for name in given if name == "style" or name.startswith("on")]
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(tag)
        if tag == "script":
            self.scripts.append(given)


@pytest.fixture(scope="module", params=PAGES)
def structure(request, site):
    parsed = _Structure()
    parsed.path = request.param
    parsed.feed((site / request.param).read_text(encoding="utf-8"))
    return parsed


def test_uses_every_id_once_and_refers_to_ids_that_exist(structure):
    assert [name for name, count in structure.ids.items() if count > 1] == []
    assert set(structure.references) - set(structure.ids) == set()


def test_has_no_inline_style_handler_or_script(structure):
    assert structure.inline == []
    assert [s for s in structure.scripts if "src" not in s and s.get("type") != "application/json"] == []


def test_has_one_first_heading_and_skips_no_level(structure):
    assert structure.headings.count("h1") == 1
    levels = [int(heading[1]) for heading in structure.headings]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


@pytest.mark.parametrize("structure", SAMPLES, indirect=True)
def test_links_name_files_that_exist(structure, site):
    """Reports that the sample leaves out, and most pages about instructions and commits, are made elsewhere."""
    missing = []
    for link in structure.links:
        parts = urlsplit(link)
        if parts.scheme in {"http", "https"} or not parts.path:
            continue
        assert not parts.scheme, link
        target = (site / structure.path).parent / unquote(parts.path)
        inside = target.resolve().relative_to(site.resolve()).as_posix()
        if re.match(r"(instructions|commits)/|evals/[^/]+/\d{4}.*\.(html|json)", inside):
            continue
        if not target.is_file():
            missing.append(link)
    assert missing == []
