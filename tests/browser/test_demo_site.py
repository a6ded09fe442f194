"""The site of the demonstration repository, as a build writes it, in the hands of a reader."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.axe import violations_axe_finds
from tests.browser.conftest import Tab
from tests.browser.fitting import Misfits, misfits
from tests.sites import ADDRESSES, build_site, faults_of_structure

TREND = "evals/utility-bills/index.html"
REPORT = "evals/utility-bills/0009.html"
FILE = "instructions/claude--instructions--rental--contract-terms.md"


@pytest.fixture(scope="module")
def site(demo_site: Path) -> Path:
    """What ``open_in_one_tab`` opens pages of."""
    return demo_site


PAGES = {
    "trend": TREND,
    "trend with steps": "evals/freight-papers/index.html",
    "report": REPORT,
    "unreadable": "evals/freight-papers/0009.html",
    "highlights": "evals/handbook-terms/0003.html",
    "responses": "evals/help-desk/0003.html",
    "judged": "evals/letters/0003.html",
    "variants": "evals/help-desk/variants.html",
    "notes": "evals/rental-contracts/notes.html",
    "field": "evals/utility-bills/fields/tariff.html",
    "compare": "evals/utility-bills/compare.html",
    "instruction": f"{FILE}/index.html",
    "edit": f"{FILE}/[0-9a-f]{{12}}.html",
}
"""Of these kinds not the first page, but one with much on it."""
KINDS = {kind: at for kind, at in ADDRESSES.items() if at.endswith(".html")} | PAGES
"""Patterns of pages, by their kind."""


@pytest.fixture(scope="module")
def kinds(demo_site: Path) -> dict[str, str]:
    paths = [path.relative_to(demo_site).as_posix() for path in demo_site.rglob("*.html")]
    return {kind: min(path for path in paths if re.fullmatch(at, path)) for kind, at in KINDS.items()}


SAMPLES_LACK = (
    *("trend with steps", "unreadable", "highlights", "responses", "judged", "variants"),
    *("commits", "suspect labels", "notes", "case"),
)
"""Kinds of pages that ``test_every_page.py`` and ``test_diff_pages.py`` have no sample of."""
SMALL: ViewportSize = {"width": 390, "height": 844}
LARGE: ViewportSize = {"width": 1280, "height": 900}


@pytest.fixture
def server(demo_site: Path, tmp_path: Path) -> Iterator[str]:
    """The site below /repo/ of a server on this machine."""
    (tmp_path / "repo").symlink_to(demo_site, target_is_directory=True)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as running:
        thread = Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/repo/"
        running.shutdown()
        thread.join()


def test_no_kind_of_page_violates_its_policy_or_writes_an_error_to_the_console(kinds, opened, open_in_one_tab):
    """What else differs is data alone."""
    found = {path: page.complaints for path, page in opened.items()}
    found |= {path: open_in_one_tab(path).complaints() for path in {*kinds.values()} - opened.keys()}
    assert {path: complaints for path, complaints in found.items() if complaints} == {}


def test_every_page_has_ids_and_headings_in_order_and_nothing_inline(demo_site):
    """What the policy forbids, on every page; the browser opens some of them only."""
    assert faults_of_structure(demo_site) == {}


@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing_on_any_kind_of_page(kinds, open_in_one_tab, kind):
    """On a small screen, and with its colours on a large one where no sample of the page is looked at elsewhere."""
    page = open_in_one_tab(kinds[kind], bypass_csp=True, viewport=SMALL, reduced_motion="reduce").page
    found = {"small": violations_axe_finds(page, colours=False)}
    if kind in SAMPLES_LACK:
        page.set_viewport_size(LARGE)
        found["large"] = violations_axe_finds(page)
    assert {screen: violations for screen, violations in found.items() if violations} == {}


def test_a_short_report_says_what_is_left_out_and_leads_on_to_the_card_of_the_only_eval(repo, open_in_one_tab):
    repo.commit({"CLAUDE.md": "# Rules\n", "evals/a/ground_truth.json": '{"name": "Ann", "town": "Rome"}'})
    for name in ("An", "Ann"):
        repo.commit({"evals/a/extracted.json": f'{{"name": "{name}", "town": "Rom"}}'}, message=f"Read {name}")
    repo.checkout()
    (repo.path / "sitegen.toml").write_text("[limits]\nreports_kept = 1\n")
    build_site(repo.path, repo.path / "public", jobs=1)
    path = str(repo.path / "public/evals/a/0001.html")
    page = open_in_one_tab(path, bypass_csp=True, viewport=SMALL, reduced_motion="reduce").page
    banner = page.locator(".banner").inner_text()
    assert banner.startswith("Its values were left out to keep the site small, by limits.reports_kept in sitegen.toml")
    assert f"To see them: git show {repo.git('rev-parse', 'HEAD~1')[:7]}" in banner
    assert "Wrong value 2" in " ".join(page.locator("dl.made").inner_text().split())
    assert page.locator(".crumbs a").all_inner_texts() == ["a"]
    addresses = page.locator("a").evaluate_all("links => links.map(link => decodeURI(link.href))")
    files = [Path(address.removeprefix("file://").partition("#")[0]) for address in addresses]
    assert [file for file in files if not file.is_file()] == []
    assert (misfits(page).sideways, violations_axe_finds(page)) == ([], [])
    only = open_in_one_tab(str(repo.path / "public/index.html"), viewport=LARGE).page.locator(".evals td.c-edit")
    assert only.bounding_box()["width"] > 200


class Opened(NamedTuple):
    """What was found on a page that was opened once."""

    complaints: list[str]
    tops: list[float]
    """Where its chart begins, on a large and on a small screen, if it is of a trend."""
    too_wide: Misfits


@pytest.fixture(scope="module")
def opened(kinds: dict[str, str], demo_site: Path, open_in_one_tab: Callable[..., Tab]) -> dict[str, Opened]:
    """One page of each kind that no sample is of, the trend of every eval, and a path that has no place to break."""
    trends = {path.relative_to(demo_site).as_posix() for path in demo_site.glob("evals/*/index.html")}
    unbroken = min(demo_site.glob("instructions/*--parties.md/*.html")).relative_to(demo_site).as_posix()
    found = {}
    for path in sorted({*(kinds[kind] for kind in SAMPLES_LACK), *trends, unbroken}):
        tab, tops = open_in_one_tab(path), []
        for screen in (LARGE, SMALL) if path in trends else ():
            tab.page.set_viewport_size(screen)
            tops.append(tab.page.locator(".h-main .cv").first.evaluate("chart => chart.getBoundingClientRect().y"))
        found[path] = Opened(tab.complaints(), tops, misfits(tab.page))
    return found


def test_the_chart_of_every_trend_begins_within_the_first_400_pixels(opened):
    tops = {path: page.tops for path, page in opened.items() if page.tops}
    assert {path: found for path, found in tops.items() if max(found) >= 400} == {}
    assert len(tops) == 11


@pytest.mark.parametrize("fault", ["sideways", "cut"], ids=["scrolls sideways on a small screen", "is cut on paper"])
def test_no_kind_of_page(opened, fault):
    assert {path: found for path, page in opened.items() if (found := getattr(page.too_wide, fault))} == {}


@pytest.mark.parametrize("kind", SAMPLES_LACK)
def test_everything_is_visible_without_scripts(kinds, open_in_one_tab, kind):
    page = open_in_one_tab(kinds[kind], java_script_enabled=False).page
    parts = page.locator(
        "main tr:not(.named, details tr, tbody:has(details:not([open])) tr), main h1, main h2, "
        "main dt:not(details dt), main figure .cv svg"
    )
    assert parts.count()
    assert parts.evaluate_all("nodes => nodes.filter(node => !node.checkVisibility()).length") == 0
    expect(page.locator(".js-only:visible")).to_have_count(0)


def test_works_below_a_path_of_a_server(server, open_context):
    page = open_context().new_page()
    lost: list[str] = []
    page.on("response", lambda answer: lost.append(answer.url) if answer.status >= 400 else None)
    page.goto(server)
    page.get_by_role("link", name="Utility bills").first.click()
    page.get_by_role("link", name="Latest report").click()
    page.wait_for_url(f"{server}evals/utility-bills/0009.html")
    page.get_by_role("link", name="Instructions", exact=True).click()
    page.wait_for_url(f"{server}instructions/index.html")
    page.keyboard.press("/")
    page.get_by_role("searchbox", name="Search", exact=True).fill("utility bills")
    expect(page.locator(".pal li b").first).to_have_text("Utility bills")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{server}evals/utility-bills/index.html")
    assert lost == []


def test_search_from_disk_finds_evals_fields_values_dates_edits_and_files(visit):
    page = visit("methods.html#rule-3")
    expect(page.locator(".rule[open] > #rule-3")).to_be_in_viewport()
    page.keyboard.press("/")
    page.get_by_role("searchbox", name="Search", exact=True).fill("Dev B")
    expect(page.locator(".pal li span", has_text="Dev B").first).to_be_visible()
    notes = page.locator(".pal li span", has_text="Dev B").all_inner_texts()
    days = [datetime.strptime(note.split(" · ")[-1], "%d %b %Y") for note in notes]
    assert days == sorted(days, reverse=True) != days[::-1]
    for words, address in (
        ("meter.reading", r"evals/utility-bills/fields/meter\.reading\.html$"),
        ("ask for pitches in degrees", r"commits/[0-9a-f]{12}\.html$"),
        ("marlow cross", r"evals/freight-papers/fields/consignee\.city\.html$"),
        ("7.48 approx", r"evals/rental-contracts/fields/rooms-\.area_m2-\w+\.html$"),
        ("rental likely better", r"evals/rental-contracts/0010\.html$"),
        ("2026-02-05", r"evals/job-adverts/0002\.html$"),
        ("5 feb 2026", r"evals/job-adverts/0002\.html$"),
        ("potter-medim", r"evals/glaze-questions/index\.html$"),
        ("tarixf", r"evals/utility-bills/fields/tariff\.html$"),
        ("worse", r"evals/rental-contracts/index\.html$"),
        ("contract-terms", r"instructions/claude--instructions--rental--contract-terms\.md/index\.html$"),
    ):
        page.get_by_role("searchbox", name="Search", exact=True).fill(words)
        expect(page.locator(".pal li a").first).to_have_attribute("href", re.compile(address))
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(address))


def test_the_commit_after_another_is_looked_up_in_the_list(visit):
    page = visit("commits/index.html")
    newest, second = [link.get_attribute("href") for link in page.locator(".log td a").all()[:2]]
    page.locator(".log td a").nth(1).click()
    page.wait_for_url(f"**/{second.split('/')[-1]}")
    page.keyboard.press("]")
    page.wait_for_url(f"**/{newest.split('/')[-1]}")


def test_tab_goes_first_to_the_content_then_through_the_header(visit):
    page = visit("index.html")
    names = []
    for _ in range(4):
        page.keyboard.press("Tab")
        names.append(page.evaluate("() => document.activeElement.textContent.trim()"))
    assert names[0] == "Skip to content"
    assert names[2:] == ["Overview", "Evals"]


def test_a_long_title_is_cut_before_the_navigation_is(visit):
    page = visit("index.html")
    page.locator(".brand span").evaluate("one => one.textContent = 'instructions-of-the-house-'.repeat(4)")
    widths = page.locator(".top .nav").evaluate("one => [one.scrollWidth, one.clientWidth]")
    assert widths[0] <= widths[1]


def test_a_long_subject_is_whole_and_no_column_is_cut(visit):
    page = visit("index.html", viewport=LARGE)
    subjects = ".evals .c-edit a"
    page.locator(subjects).evaluate_all("all => all.forEach(one => one.textContent = 'fix: instructions '.repeat(8))")
    cut = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.firstElementChild.className)"
    assert page.locator(".tw").evaluate_all(cut) == []
    assert page.locator(".evals td.c-edit").evaluate_all("all => all.every(one => one.scrollWidth <= one.clientWidth)")
    name = visit(TREND, viewport=LARGE).locator(".names li").first
    name.locator("bdi").evaluate("one => one.textContent = 'area_of_the_floor_of_an_addition'")
    assert name.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_on_a_wide_screen_the_edits_stand_beside_what_flipped(visit):
    result = visit("evals/rental-contracts/compare.html", viewport=LARGE).locator("[data-result] .beside")
    flips, edits = (result.locator(part).bounding_box() for part in (".fields-ab", "[data-prompts]"))
    assert flips["x"] + flips["width"] <= edits["x"]
    assert edits["y"] < flips["y"] < edits["y"] + edits["height"]


def test_a_report_that_is_worse_shows_the_lines_of_the_edit_before_it(visit):
    lines = visit("evals/rental-contracts/0031.html").locator(".origin .undo")
    text = "- A value that stands in the summary on page one is not looked for again in the clauses."
    expect(lines.locator("li span:not(.vh)")).to_have_text([text])
    expect(lines.get_by_role("link")).to_have_text([".claude/instructions/rental/contract-terms.md"])
    expect(visit("evals/lab-reports/0027.html").locator(".undo")).to_have_count(0)  # which is better


def test_an_extra_item_is_named_after_the_missing_one_that_it_may_be_and_edits_alone_take_the_width(visit):
    extra = visit("evals/rental-contracts/compare.html").locator("tr:has(.c-where .pill)")
    guess = "rooms[output 2].area_m2 extra item perhaps rooms[Kitchen], by 2 of 2 values"
    expect(extra.locator(".c-where").filter(has_text="perhaps")).to_have_text(
        [guess, guess.replace("area_m2", "floor_covering")]
    )
    alone = visit("evals/lab-reports/compare.html", viewport=LARGE).locator("[data-result] [data-prompts]")
    assert alone.evaluate("one => one.offsetWidth > one.closest('.card').offsetWidth - 40")


def test_a_small_screen_has_the_headings_and_links_of_a_large_one_and_the_newest_end_of_a_strip(visit, demo_site):
    work = visit("index.html", viewport=SMALL).locator("[aria-labelledby=h-fo]")
    for link in ("all fields, and which edit moved which", "how?"):
        expect(work.get_by_role("link", name=link)).to_be_visible()
    path = min(demo_site.glob("evals/lab-reports/fields/results-.value-*.html")).relative_to(demo_site).as_posix()
    page = visit(path, viewport=SMALL)
    assert page.get_by_role("heading", name="What changed it").bounding_box()["height"] > 10
    strip = page.locator(".strip").bounding_box()
    assert strip["width"] > SMALL["width"] >= strip["x"] + strip["width"]
    fits = "table => table.offsetWidth <= table.parentElement.clientWidth"
    for path in (TREND, "fields.html", "instructions/index.html"):
        page = visit(path, viewport=SMALL)
        table = page.locator(".iters, .mx")
        assert table.evaluate(fits)
        expect(page.locator(".mx td[data-h]:visible").filter(has_not_text=re.compile(r"\S"))).to_have_count(0)
    names = visit(TREND, viewport=SMALL).locator(".h-heat li").all()
    assert all(name.evaluate("one => one.scrollWidth <= one.clientWidth && one.scrollHeight <= 26") for name in names)
    table = visit("instructions/index.html", viewport=SMALL).locator(".mx")
    expect(table.get_by_role("row", name="Edits with which it got better and worse")).to_be_visible()
    ends = visit("evals/letters/index.html", viewport=SMALL).locator("text.end", has_text="Checks passed")
    assert ends.evaluate("one => one.getBoundingClientRect().right <= innerWidth")


def test_print_shows_every_row_and_opens_what_is_folded(visit):
    page = visit(TREND)
    page.emulate_media(media="print")
    expect(page.locator(".iters tbody tr:visible")).to_have_count(11)
    expect(page.locator(".how:visible")).to_have_count(0)
    expect(page.locator("details table tbody tr:visible")).to_have_count(17)
    expect(page.locator(".iters thead .c-format_error")).to_be_visible()
    bars = page.locator(".stack path").first
    assert bars.evaluate("one => getComputedStyle(one).vectorEffect") == "non-scaling-stroke"  # PDF lacks other bars


def _column(page: Page, table: str, column: str) -> list[str]:
    return page.locator(f"{table} tbody tr:visible .c-{column}").all_inner_texts()


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
def test_what_a_trend_says_of_its_eval_is_seen_once_at_every_width(open_in_one_tab, size):
    page = open_in_one_tab(TREND, viewport=size).page
    said = [
        "Five bills for power and water of one household",
        "8 outputs since 19 Jan 2026, 2 rescored after a change of truth or rules",
        "1 value fixed, 0 broken",
        "For other documents it could be zero",
        "Latest report",
        "Compare iterations",
    ]
    seen = page.locator("main").inner_text()
    assert {text: seen.count(text) for text in said} == dict.fromkeys(said, 1)


@pytest.mark.parametrize("folder", ["commits", FILE])
def test_the_diff_stands_beside_the_table_where_there_is_room_and_else_below(demo_site, open_in_one_tab, folder):
    with_diffs = (path for path in demo_site.glob(f"{folder}/*.html") if 'class="diff' in path.read_text("utf-8"))
    path = max(with_diffs, key=lambda path: path.read_text("utf-8").count(" values</a>"))
    page = open_in_one_tab(path.relative_to(demo_site).as_posix(), java_script_enabled=False).page
    found, cut = {}, "all.filter(one => one.scrollWidth > one.clientWidth)"
    for width in (390, 1100, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        table, diff = page.locator(".efx").bounding_box(), page.locator(".diff").first.bounding_box()
        scrolls = page.locator(".tw:has(.efx), .efx td.num").evaluate_all(f"all => {cut}.length > 0")
        found[width] = (diff["x"] >= table["x"] + table["width"], diff["y"] >= table["y"] + table["height"], scrolls)
    below, beside = (False, True, False), (True, False, False)
    assert found == {390: below, 1100: below, 1280: beside, 1920: beside}
    page.set_viewport_size(LARGE)
    widths = [page.locator(f".flips td.c-{name}").first.bounding_box()["width"] for name in ("evals", "passages")]
    assert widths[0] > widths[1]


@pytest.mark.parametrize("kind", ["instructions", "regressions", "report"])
def test_a_page_has_its_height_when_it_is_loaded(kinds, open_in_one_tab, kind):
    page = open_in_one_tab(kinds[kind], viewport=SMALL).page
    height = "document.documentElement.scrollHeight"
    first = page.evaluate(height)
    page.wait_for_timeout(600)
    assert page.evaluate(height) == first


@pytest.mark.parametrize("at", [0, 1], ids=["the only section", "one of several"])
def test_the_overview_leads_to_the_errors_of_a_section(visit, at):
    page = visit("index.html")
    link = page.get_by_role("list", name="Where the errors are").get_by_role("link").nth(at)
    section = unquote(urlsplit(link.get_attribute("href")).fragment).removeprefix("section=")
    link.click()
    expect(page.get_by_role("heading", name="Errors, one by one")).to_be_in_viewport()
    rows = page.locator(".disc tbody tr:not(.item):visible")
    assert {row.get_attribute("data-g") for row in rows.all()} == {section}


def test_headers_sort_by_keys_and_the_address_keeps_the_order(visit):
    page = visit(TREND)
    before = _column(page, ".iters", "headline")
    head = page.locator(".iters th", has_text="F1")
    head.locator("button").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"#by-iteration=headline-down$"))
    assert head.get_attribute("aria-sort") == "descending"
    assert _column(page, ".iters", "headline") == sorted(before, reverse=True)
    page.keyboard.press("Enter")
    assert _column(page, ".iters", "headline") == sorted(before)
    page.reload()
    assert head.get_attribute("aria-sort") == "ascending"
    assert _column(page, ".iters", "headline") == sorted(before)
    head.locator("button").press("Enter")
    page.wait_for_url(re.compile(r"index\.html$"))
    assert _column(page, ".iters", "headline") == before


def test_changes_sort_by_size_and_the_first_point_which_has_none_stands_last(visit):
    page = visit(f"{TREND}#by-iteration=change-up")
    changes = _column(page, ".iters", "change")
    assert (changes[:2], changes[-1]) == (["−0.109", "no change"], "")
    changes = _column(visit(f"{TREND}#by-iteration=change-down"), ".iters", "change")
    assert (changes[-2], changes[-1]) == ("−0.109", "")
    page = visit("fields.html")
    page.get_by_role("button", name="Right now").first.click()
    right = [int(text.split()[0]) for text in _column(page, ".fields", "right")]
    assert right == sorted(right, reverse=True) != right[::-1]


def test_a_filter_and_an_order_survive_a_reload_together(visit):
    page = visit(REPORT)
    page.get_by_label("Search errors").fill("charges")
    page.get_by_role("button", name="Expected").click()
    shown = page.locator(".disc tbody tr:visible").all_inner_texts()
    assert 0 < len(shown) < page.locator(".disc tbody tr").count()
    page.reload()
    assert page.locator(".disc tbody tr:visible").all_inner_texts() == shown
    assert "#q=charges&by-discrepancy=expected-" in page.url


def test_the_lines_of_a_note_are_about_the_error_or_the_value_that_is_clicked_or_the_case_of_the_page(visit):
    page = visit("evals/rental-contracts/0031.html")
    page.locator(".disc tr.item summary", has_text="Box room").click()
    page.locator(".disc tr:visible", has_text="carpet").locator(".c-number a").click()
    page.get_by_role("heading", name="Add a note").click()
    lines = page.locator("[data-note]").inner_text().splitlines()
    assert lines[:2] == ['- field: "rooms[Box room].floor_covering"', '  iteration: "iteration-031"']
    page.locator(".disc tr:visible", has_text="notice_weeks").locator(".c-type").click()
    assert page.locator("[data-note]").inner_text().splitlines()[0] == '- field: "notice_weeks"'
    page = visit("evals/glaze-questions/fields/passed.html")
    page.locator(".strip tbody a").nth(1).click()
    case = re.escape(page.locator(".cellname .doc").nth(1).text_content() or "")
    expect(page.locator("[data-note]")).to_have_text(re.compile(rf'^- case: "{case}"\s+field: "passed"\s'))
    page = visit("evals/glaze-questions/cases/recipe-1.html")
    assert (page.locator("[data-note]").text_content() or "").startswith('- case: "recipe-1"\n  iteration: ')
    page = visit("evals/help-desk/cases/price-1.html")
    page.locator("[data-variant]").last.click()
    of_answer = r'^- case: "price-1"\n  variant: "short"\n  iteration: "iteration-0\d\d"\n  verdict: '
    assert re.match(of_answer, page.locator("[data-note]").inner_text())
