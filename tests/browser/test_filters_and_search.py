"""Filters that the address keeps, the theme, and the search."""

import re
from pathlib import Path

from msgspec.structs import replace
from playwright.sync_api import Locator, Page, expect

from tests import pages_sample as sample
from tests.sites import renderer_of

REPORT = "evals/waybills/0042.html"


def _rows(page: Page, table: str = ".disc") -> Locator:
    return page.locator(f"{table} tbody tr:not(.item):visible")


def test_a_filter_is_kept_in_the_address_and_survives_a_reload(visit):
    page = visit(REPORT)
    page.get_by_label("Search errors").fill("description")
    page.get_by_role("button", name=re.compile(r"Wrong value \d")).click()
    page.wait_for_url(re.compile(r"#q=description&type=wrong_value$"))
    said = page.locator("[data-table]", has=page.locator(".disc")).locator("[data-count]")
    expect(said).to_have_text(re.compile(r"^\d+ matching of \d+$"))  # all rows are loaded
    shown, count = _rows(page).all_inner_texts(), said.inner_text()
    assert shown
    assert all("description" in text for text in shown)
    page.reload()
    expect(said).to_have_text(count)
    assert _rows(page).all_inner_texts() == shown
    assert page.get_by_role("button", name=re.compile(r"Wrong value \d")).get_attribute("aria-pressed") == "true"


def test_a_button_beside_the_filter_copies_a_link_to_the_rows_that_it_leaves(visit):
    page = visit(REPORT, permissions=["clipboard-read", "clipboard-write"])
    button = page.locator(".filter").get_by_role("button", name="Copy link to this view")
    expect(button).to_have_count(0)
    page.get_by_label("Search errors").fill("description")
    button.click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert page.evaluate("() => navigator.clipboard.readText()") == page.url
    assert page.url.endswith("#q=description")
    page.get_by_label("Search errors").fill("")
    expect(page.locator(".filter .btn", has_text="Cop")).to_be_hidden()


def test_the_filter_searches_the_rows_that_are_not_drawn_and_the_address_of_one_of_them_leads_to_it(visit):
    page = visit(REPORT)
    address = page.url
    state = page.locator("section[aria-labelledby=h-d] [data-count]")
    expect(state).to_have_text("30 shown, 231 rows")
    page.get_by_label("Search errors").fill("incoterm f-3")
    expect(state).to_have_text("1 matching of 231")
    assert _rows(page).evaluate_all("rows => rows.map(row => row.id)") == ["d231"]
    numbers = page.locator(".disc tbody tr:not(.item)").evaluate_all("rows => rows.map(row => +row.id.slice(1))")
    assert sorted(numbers) == list(range(1, 232))
    bodies = page.locator(".disc tbody").evaluate_all("all => all.map(body => +body.id.slice(1))")
    assert bodies == sorted(set(bodies))
    expect(page.locator("[data-rest]")).to_have_count(0)
    page.goto("about:blank")
    page.goto(address + "#d231")
    expect(page.locator("#d231")).to_be_in_viewport()


def test_no_row_is_hidden_in_a_table_without_a_button_that_shows_more(site: Path, visit):
    text = (site / REPORT).read_text()
    (site / "evals/waybills/all.html").write_text(re.sub(r"<button[^>]*data-more.*?</button>", "", text))
    page = visit("evals/waybills/all.html")
    rows = page.locator(".disc tbody tr:not(.item)")
    assert rows.count() > 20
    expect(_rows(page)).to_have_count(rows.count())


def test_the_section_and_new_filters_leave_only_their_rows(visit):
    page = visit("evals/waybills/0059.html#section=consignee&new=1")
    assert {row.get_attribute("data-g") for row in _rows(page).all()} == {"consignee"}


def test_a_filter_shows_its_first_row_marks_no_list_item_as_closed_and_grays_nothing_on_paper(visit):
    page = visit(REPORT)
    _rows(page).last.scroll_into_view_if_needed()
    page.get_by_role("button", name=re.compile(r"Wrong value \d")).press("Enter")
    bar, head = page.locator(".filter").first.bounding_box(), page.locator(".disc thead").bounding_box()
    assert head["y"] >= bar["y"] + bar["height"] - 1
    summary = page.locator(".disc .item summary:visible").first
    assert summary.evaluate("one => getComputedStyle(one).listStyleType") == "none"
    page.emulate_media(media="print")
    places = page.locator(".disc tr.cut td.c-place:visible")
    assert set(places.evaluate_all("all => all.map(one => getComputedStyle(one).fontStyle)")) == {"normal"}


def test_a_link_to_a_field_filters_the_table_of_fields(visit):
    page = visit("evals/waybills/0059.html#field=route.vessel")
    expect(_rows(page, "table.nums[data-sort=field]")).to_have_count(1)


def test_copies_stand_in_their_place_as_one_thin_row_whatever_is_searched_sorted_or_printed(site: Path, visit):
    points = sample.series(6).points
    again = replace(points[3].snapshot, iteration=5, label="iteration-005", slug="0005", cause=("outputs",))
    copies = [
        replace(points[4], snapshot=again, first_with_output=3, change=None),
        replace(
            points[5], snapshot=replace(again, label="iteration-006", slug="0006"), first_with_output=3, change=None
        ),
    ]
    series = replace(sample.series(6), points=(*points[:4], *copies))
    (site / "evals/waybills/copies.html").write_bytes(renderer_of(sample.SITE).render(sample.trend(series)))
    page = visit("evals/waybills/copies.html")

    def shown() -> str:
        rows = page.locator(".iters tbody tr:visible .c-iteration div > a").all_inner_texts()
        return " ".join(label.removeprefix("iteration-00").removeprefix("00") for label in rows)

    assert shown() == "6 5 4 3 2 1"
    first = page.locator(".iters tbody tr:visible td").first.inner_text()
    assert " ".join(first.split()) == "iteration-006, 005 same output as iteration-004"
    expect(page.locator(".card:has(.iters) [data-count]")).to_have_text("5 rows")
    heights = [row.bounding_box()["height"] for row in page.locator(".iters tbody tr:visible").all()[:2]]
    assert heights[0] < heights[1] / 1.5
    page.get_by_label("Filter iterations").fill("005")
    assert shown() == "6 5"
    page.get_by_label("Filter iterations").fill("")
    page.locator(".iters th").first.get_by_role("button").click()
    assert sorted(shown().split()) == ["1", "2", "3", "4", "5", "6"]
    page.goto("about:blank")
    page.goto((site / "evals/waybills/copies.html").as_uri())
    page.locator("[data-chart]").press("End")
    expect(page.locator("[data-chart] .tip .m").first).to_contain_text("iteration-006")
    page.locator("[data-chart]").press("ArrowLeft")
    expect(page.locator("[data-chart] .tip .m").first).to_contain_text("iteration-005")
    page.emulate_media(media="print")
    assert shown() == "6 5 4 3 2 1"
    page = visit("evals/waybills/copies.html", java_script_enabled=False)
    assert shown() == "6 5 4 3 2 1"


def test_iterations_are_filtered_by_author_and_all_are_printed_or_shown_if_asked_for(visit):
    page = visit("evals/waybills/index.html")
    expect(_rows(page, ".iters")).to_have_count(30)
    page.get_by_label("Filter iterations").fill("okafor")
    expect(_rows(page, ".iters")).to_have_count(20)
    expect(page.locator(".card:has(.iters) [data-count]")).to_have_text("20 matching of 60")
    page.get_by_label("Filter iterations").fill("")
    expect(_rows(page, ".iters")).to_have_count(30)
    page.emulate_media(media="print")
    expect(_rows(page, ".iters")).to_have_count(60)
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Show 30 more").click()
    expect(_rows(page, ".iters")).to_have_count(60)


def test_steps_can_be_filtered_by_eval_with_the_keyboard_and_muted_ones_stand_last(visit):
    page = visit("regressions.html")
    muted = page.locator(".stepset").last
    assert muted.get_by_role("heading").inner_text() == "Muted"
    expect(muted).to_contain_text("Muted in sitegen.toml: </script>")
    whole = page.locator(".steps tbody tr").count()
    choice = page.get_by_label("Eval", exact=True)
    choice.focus()
    choice.press("w")
    page.wait_for_url(re.compile(r"#section=waybills$"))
    assert {row.get_attribute("data-g") for row in _rows(page, ".steps").all()} == {"waybills"}
    assert 0 < _rows(page, ".steps").count() < whole
    expect(page.locator("details.stepset:not([open])").locator("visible=true")).to_have_count(0)
    page.reload()
    assert {row.get_attribute("data-g") for row in _rows(page, ".steps").all()} == {"waybills"}


def test_the_theme_button_is_remembered_from_page_to_page(visit):
    page = visit("index.html", color_scheme="light")
    page.get_by_role("button", name="Dark theme").click()
    background = "() => getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.get_by_role("link", name="Waybills").first.click()
    page.wait_for_url(re.compile(r"evals/waybills/index\.html$"))
    assert page.evaluate(background) == dark == "rgb(12, 15, 20)"


def test_slash_opens_the_search_and_enter_goes_to_the_best_hit(visit):
    page = visit("evals/waybills/0059.html")
    page.keyboard.press("/")
    typed = "key => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))"
    page.evaluate(f"['Escape', '/'].forEach({typed})")  # before the browser draws again
    page.get_by_role("searchbox", name="Search", exact=True).fill("waybills iteration-042")
    expect(page.locator(".pal li b")).to_contain_text(["Waybills, iteration-042", "F1 −0.070, ", "F1 −0.042, "])
    expect(page.locator("[aria-activedescendant=found-0]")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"evals/waybills/0042\.html$"))


def test_words_match_in_any_order_and_in_parts_across_what_an_entry_says_and_markup_is_text(visit):
    page = visit("index.html")
    page.get_by_role("button", name="Search").click()
    box, best = page.get_by_role("searchbox", name="Search", exact=True), page.locator(".pal li a").first
    for query, address in (
        ("042 waybills", "evals/waybills/0042.html"),
        ("WAYB 7", "evals/waybills/0007.html"),
        ("okafor 18 waybills", "evals/waybills/0018.html"),
        ("ruiz TOMAS 017 way", "evals/waybills/0017.html"),
        ("compare waybills", "evals/waybills/compare.html"),
        ("noise methods", "methods.html#noise"),
        ("regresions", "regressions.html"),
        ("omission", "index.html#evals"),
        ("route.vessel waybills", "evals/waybills/fields/route.vessel.html"),
    ):
        box.fill(query)
        expect(best).to_have_attribute("href", address)
    box.fill("customs cargo")
    expect(best.locator("b")).to_contain_text("<b>cargo</b>")


def test_brackets_lead_to_the_next_and_the_previous_iteration_but_not_while_typing(visit):
    page = visit("evals/waybills/0059.html")
    page.keyboard.press("]")
    page.wait_for_url(re.compile(r"0060\.html$"))
    page.keyboard.press("[")
    page.wait_for_url(re.compile(r"0059\.html$"))
    page.get_by_label("Search errors").press("]")
    expect(page.get_by_label("Search errors")).to_have_value("]")
    assert "0059.html" in page.url
    page = visit("evals/waybills/0060.html#type=omission")
    page.get_by_role("link", name="Next iteration").click()
    expect(page.locator(".saying")).to_have_text("This is the newest iteration")
    assert page.url.endswith("waybills/0060.html#type=omission")


def test_j_and_k_lead_through_the_errors_that_the_filter_leaves_but_not_while_typing(visit):
    page = visit(REPORT)
    search, chosen = page.get_by_label("Search errors"), page.locator("[aria-current=true]:is(tr)")
    search.press("j")
    expect(search).to_have_value("j")
    search.fill("description")
    search.blur()
    first, second = _rows(page).all()[:2]
    for key, row in (("j", first), ("j", second), ("k", first), ("k", first)):
        page.keyboard.press(key)
        expect(chosen).to_have_attribute("id", row.get_attribute("id") or "")
        expect(chosen).to_be_focused()
    expect(page.locator(".saying")).to_have_text("This is the first error that the filter leaves")
    plain = visit(f"{REPORT}#new=1", java_script_enabled=False).locator(".disc tr[id]:visible")
    assert set(plain.evaluate_all("rows => rows.map(row => 'n' in row.dataset)")) == {True}
    page = visit(REPORT)
    for _ in range(31):
        page.keyboard.press("j")
    expect(page.locator("section[aria-labelledby=h-d] [data-count]")).to_have_text("230 shown, 231 rows")
    expect(chosen := page.locator("[aria-current=true]:is(tr)")).to_have_count(1)
    expect(chosen).to_be_in_viewport()


def test_on_a_wide_screen_the_chosen_error_stands_beside_the_list_until_escape(visit):
    page = visit(f"{REPORT}#d3")
    pane = page.get_by_role("group", name="The chosen error")
    expect(pane.get_by_role("heading")).to_have_text(re.compile(r", error 3$"))
    page.keyboard.press("j")
    values = [page.locator(f"#d4 .c-{side}").text_content() for side in ("expected", "actual")]
    assert [pane.locator(f".c-{side}").text_content() for side in ("expected", "actual")] == values
    assert page.url.endswith("#d4")
    top = page.locator("#d5").bounding_box()["y"]
    page.locator("#d5 .c-expected").click()
    expect(pane.get_by_role("heading")).to_have_text(re.compile(r", error 5$"))
    page.keyboard.press("n")
    page.wait_for_url(re.compile(r"#new=1&d6$"))
    page.reload()
    expect(pane.get_by_role("heading")).to_have_text(re.compile(r", error 6$"))
    page.get_by_label("Search errors").fill("no row has this")
    expect(pane).to_be_hidden()
    page.get_by_label("Search errors").fill("")
    page.evaluate("location.hash = 'd6'")
    expect(pane.get_by_role("heading")).to_have_text(re.compile(r", error 6$"))
    page.keyboard.press("k")
    top = page.locator("#d5").bounding_box()["y"]
    page.keyboard.press("Escape")
    expect(pane).to_be_hidden()
    assert "#d5" not in page.url
    assert abs(page.locator("#d5").bounding_box()["y"] - top) < 2
    page.set_viewport_size({"width": 1100, "height": 800})
    page.keyboard.press("j")
    expect(page.locator("#d6")).to_be_focused()
    expect(pane).to_be_hidden()


def test_a_question_mark_or_the_footer_shows_all_keys_and_escape_gives_the_focus_back(visit):
    page = visit("evals/waybills/index.html")
    dialog, button = page.get_by_role("dialog", name="Keys"), page.get_by_role("button", name="Keys", exact=True)
    page.keyboard.press("?")
    expect(dialog).to_contain_text("Next error on the page")
    expect(dialog).to_contain_text("While a chart has the focus")
    page.keyboard.press("/")
    expect(page.locator(".pal:not(.keys)")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    button.press("Enter")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()


def test_discrepancies_sort_by_how_long_they_have_been_wrong_with_the_keyboard_and_the_address_keeps_it(visit):
    page = visit("evals/waybills/0018.html")
    since = page.get_by_role("button", name="Wrong since")
    since.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"#by-discrepancy=since-down$"))
    points = _since(page)
    assert points == sorted(points, reverse=True)
    assert {1, 2} <= set(points)
    page.keyboard.press("Enter")
    assert _since(page) == sorted(points)
    page.reload()
    expect(page.locator(".disc th[aria-sort=ascending]")).to_have_text("Wrong since")
    assert _since(page) == sorted(points)


def test_the_order_of_the_page_stands_without_scripts(visit):
    page = visit("evals/waybills/0018.html#by-discrepancy=since-down", java_script_enabled=False)
    rows = page.locator(".disc tbody > tr:first-child:not(.item), .disc .item + tr").locator(".c-number")
    numbers = [int(text) for text in rows.all_text_contents()]
    assert numbers == sorted(numbers)
    assert len(numbers) > 5


def test_a_link_to_a_filtered_table_opens_at_the_table(visit):
    heading = visit(REPORT).get_by_role("heading", name="Errors, one by one")
    expect(heading).not_to_be_in_viewport()
    heading = visit(f"{REPORT}#type=omission").get_by_role("heading", name="Errors, one by one")
    expect(heading).to_be_in_viewport()


def test_what_is_newly_wrong_and_what_was_fixed_are_a_click_away(visit):
    page = visit("evals/waybills/0018.html")
    page.get_by_role("link", name="See what is newly wrong").click()
    expect(page.get_by_role("button", name=re.compile(r"New \d"))).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("heading", name="Errors, one by one")).to_be_in_viewport()
    assert set(_since(page)) == {1}
    page.get_by_role("link", name="See what was fixed").click()
    expect(page.locator("table.fixed")).to_be_visible()


def _since(page: Page) -> list[int]:
    """How many points each shown discrepancy has been wrong."""
    return [int(row.locator("data").get_attribute("value") or 0) for row in _rows(page).all()]
