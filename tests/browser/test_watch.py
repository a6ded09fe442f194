"""``sitegen watch`` in a real browser: a file is edited, and the page that shows it follows."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import VIOLATIONS
from tests.gitrepo import GitRepo

EVAL = "evals/shelves"
OUTPUT = f"{EVAL}/results/iteration-001/extracted.json"
REPORT = "evals/shelves/0001-worktree.html"
PLANTS = [f"plant-{number:02d}" for number in range(40)]


def output(heights: dict[str, int]) -> str:
    plants = [{"id": plant, "name": plant.title(), "height": heights.get(plant, 7)} for plant in PLANTS]
    return json.dumps({"plants": plants}, indent=1)


@pytest.fixture
def repo(repo: GitRepo) -> GitRepo:
    repo.check_in(
        {
            "CLAUDE.md": "Measure in centimetres.\n",
            f"{EVAL}/ground_truth.csv": "id,name,height\n" + "".join(f"{one},{one.title()},7\n" for one in PLANTS),
            f"{EVAL}/field_mapping.yaml": (
                "csv_to_json: {name: name, height: height}\ndocuments: {path: plants, key: id}\n"
            ),
            OUTPUT: output({}),
        }
    )
    return repo


@pytest.fixture
def address(repo: GitRepo) -> Iterator[str]:
    """Of the project's site, while it is watched."""
    command = [sys.executable, "-m", "sitegen", "watch", str(repo.path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[0]
        finally:
            process.kill()


@pytest.fixture
def open_page(open_context: Callable[..., BrowserContext]) -> Iterator[Callable[[str], Page]]:
    """Opens an address in a low window. A violation of the page's policy fails the test."""
    opened: list[Page] = []

    def open_(address: str) -> Page:
        page = open_context(viewport={"width": 1000, "height": 300}).new_page()
        page.add_init_script(VIOLATIONS)
        page.goto(address)
        opened.append(page)
        return page

    yield open_
    assert [page.evaluate("() => window.__violations") for page in opened] == [[]] * len(opened)


def flipped(page: Page, kind: str) -> Locator:
    """The number of values that the uncommitted changes fixed or broke, in the first panel of the overview."""
    return page.locator("main section").first.locator({"fixed": "td.c-fixed", "broken": "td.c-broken"}[kind])


def test_an_edit_of_an_output_is_the_first_thing_on_the_open_page_until_it_is_committed(repo, address, open_page):
    page, report = open_page(address), open_page(f"{address}{REPORT}")
    first = page.locator("main section").first
    expect(first).to_contain_text("None in what the site is made from")
    expect(report.get_by_role("heading", level=1)).not_to_contain_text("iteration-001")
    for wrong in (10, 3):
        repo.put(OUTPUT, output(dict.fromkeys(PLANTS[:wrong], 8)))
        expect(flipped(page, "broken")).to_have_text(f"{wrong} values")
    expect(report.get_by_role("heading", level=1)).to_contain_text("iteration-001")
    repo.commit({OUTPUT: output(dict.fromkeys(PLANTS[:3], 8))}, message="Measure again")
    expect(first).to_contain_text("None in what the site is made from")
    expect(page.locator(".head")).to_contain_text("Measure again")


def test_the_page_keeps_its_place_its_filters_and_what_the_reader_unfolded(repo, address, open_page):
    repo.put(OUTPUT, output(dict.fromkeys(PLANTS[:30], 8)))
    page = open_page(address)
    expect(flipped(page, "broken")).to_have_text("30 values")
    page.goto(f"{address}{REPORT}#q=plant-1")
    rows = page.locator(".disc tbody tr:visible")
    expect(rows).to_have_count(10)
    rows.nth(6).scroll_into_view_if_needed()
    place = page.evaluate("() => scrollY")
    assert place > 200
    page.evaluate("() => { window.marked = true; }")
    repo.put(OUTPUT, output(dict.fromkeys(PLANTS[:30], 9)))
    page.wait_for_function("() => !window.marked")
    expect(rows).to_have_count(10)
    assert page.url == f"{address}{REPORT}#q=plant-1"
    assert page.get_by_label("Search errors").input_value() == "plant-1"
    page.wait_for_function("place => scrollY === place", arg=place)
    repo.commit({OUTPUT: output(dict.fromkeys(PLANTS[:30], 8))}, message="Measure again")
    repo.put(OUTPUT, output(dict.fromkeys(PLANTS[:10], 8)))
    page.goto(address)
    expect(flipped(page, "fixed")).to_have_text("20 values")
    page.goto(f"{address}{REPORT}")
    fixed, lists = page.locator("details", has_text="Fixed since"), page.locator("details.pairing")
    fixed.locator("summary").click()
    page.evaluate("() => { window.marked = true; }")
    repo.put(OUTPUT, output(dict.fromkeys(PLANTS[:6], 8)))
    page.wait_for_function("() => !window.marked")
    expect(fixed).to_have_attribute("open", "")
    expect(fixed).to_contain_text("24")
    assert lists.evaluate_all("all => all.filter(one => one.open).length") == 0


def test_a_wrong_configuration_is_said_on_every_page_and_loads_none_until_it_is_mended(repo, address, open_page):
    page, methods = open_page(address), open_page(f"{address}methods.html")
    methods.evaluate("() => { window.marked = true; }")
    repo.put(OUTPUT, output({PLANTS[0]: 8}))
    expect(flipped(page, "broken")).to_have_text("1 value")
    heading, banner = page.get_by_role("heading", level=1), page.get_by_role("alert")
    repo.put("sitegen.toml", 'redcat = "<b>Plants</b>"\n')
    expect(banner).to_have_text("The key 'redcat' is not known.\n  at: sitegen.toml:1\n  do: Did you mean 'redact'?")
    expect(heading).to_have_text("project")
    expect(methods.get_by_role("alert")).to_contain_text("Did you mean 'redact'?")
    assert methods.evaluate("() => window.marked")
    page.reload()
    expect(banner).to_contain_text("Did you mean 'redact'?")
    repo.put("sitegen.toml", 'title = "<b>Plants</b>"\n')
    expect(heading).to_have_text("<b>Plants</b>")
    expect(banner).to_have_count(0)


def test_a_page_that_nobody_sees_holds_no_connection_and_catches_up_when_it_is_seen(repo, address, open_page):
    page = open_page(address)
    hide = "hidden => { Object.defineProperty(document, 'hidden', {value: hidden, configurable: true}); "
    hide += "document.dispatchEvent(new Event('visibilitychange')); window.marked = true; }"
    page.evaluate(hide, True)
    other = open_page(address)
    repo.put(OUTPUT, output({PLANTS[0]: 8}))
    expect(flipped(other, "broken")).to_have_text("1 value")
    assert page.evaluate("() => window.marked")
    page.evaluate(hide, False)
    expect(flipped(page, "broken")).to_have_text("1 value")


def test_when_the_watch_ends_the_page_says_so(repo, open_page):
    command = [sys.executable, "-m", "sitegen", "watch", str(repo.path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        page = open_page(process.stdout.readline().split()[0])
        process.kill()
        expect(page.get_by_role("alert")).to_have_text(re.compile("does not answer any more"))
