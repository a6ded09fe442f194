"""What holds for every page: policy, accessibility, small screens, no scripts, structure, links."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import sample_site
from tests.browser.axe import violations_axe_finds
from tests.browser.fitting import Misfits, misfits, sideways
from tests.sites import broken_links, faults_of_structure

PAGES = [page.path for page in sample_site.pages()]
TEMPLATES = sorted({page.template for page in sample_site.pages()})


@pytest.fixture(scope="module")
def largest(site):
    """The largest page of each template: what stands on the others stands on it as well, or on the demo's pages."""
    pages = sorted(sample_site.pages(), key=lambda page: (site / page.path).stat().st_size)
    return {page.template: page.path for page in pages}


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
    opened.page.set_viewport_size({"width": 390, "height": 844})
    for view in ("v-split", "v-ren"):
        if opened.page.locator(f"#{view}:not(:checked)").count():
            opened.page.locator(f"label[for={view}]").click()
            found[view] = Misfits(sideways(opened.page), [])
    return found


def test_fits_a_small_screen_without_scrolling_sideways(too_wide):
    assert {view: found.sideways for view, found in too_wide.items() if found.sideways} == {}


def test_nothing_is_cut_on_paper(too_wide):
    assert too_wide["as opened"].cut == []


@pytest.mark.parametrize("template", TEMPLATES)
def test_has_no_accessibility_violation_that_axe_finds(largest, open_in_one_tab, template):
    page = open_in_one_tab(largest[template], bypass_csp=True).page
    page.keyboard.press("j")  # which shows an error of a report beside the list
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


@pytest.mark.parametrize("template", TEMPLATES)
def test_is_complete_without_scripts(largest, open_in_one_tab, template):
    page = open_in_one_tab(largest[template], java_script_enabled=False).page
    parts = page.locator("main :is(tr, h1, h2, dt):not(details *, .views *), main figure .cv svg")
    assert parts.count()
    assert parts.evaluate_all("nodes => nodes.filter(node => !node.checkVisibility()).length") == 0
    expect(page.locator(".js-only:visible")).to_have_count(0)


def test_has_ids_and_headings_in_order_and_nothing_inline(site):
    assert faults_of_structure(site) == {}


def test_links_name_files_that_exist(site):
    """Reports that the sample leaves out, and most of what pages of instructions and commits lead to, are nowhere."""
    elsewhere = re.compile(r"(instructions|commits)/|[/ ]\d{4}[^/]*\.(html|json)$")
    broken = [each for each in broken_links(site) if each.partition(": ")[0] in PAGES]
    assert [each for each in broken if not elsewhere.search(each)] == []
