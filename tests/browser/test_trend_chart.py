"""The chart of the trend page under the hands of a reader."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from sitegen.analysis.flips import number_of_cells
from sitegen.model.outcomes import Flips
from sitegen.stats.counts import error_numbers
from tests import pages_sample as sample

TREND = "evals/waybills/index.html"


def _tip(page: Page) -> Locator:
    return page.locator(".tip")


def test_arrow_keys_walk_along_the_points_and_say_what_is_there_and_enter_opens_the_report(visit):
    page = visit(TREND)
    page.locator("[data-chart]").focus()
    page.keyboard.press("End")
    expect(page.locator("[data-chart] [aria-live]")).to_contain_text("Point 60 of 60, iteration-060")
    page.keyboard.press("ArrowLeft")
    expect(_tip(page)).to_contain_text("iteration-059")
    page.keyboard.press("Shift+ArrowLeft")
    expect(_tip(page)).to_contain_text("iteration-049")
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    expect(_tip(page)).to_contain_text("F1—")
    expect(_tip(page)).to_contain_text("ground truth unreadable")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"evals/waybills/0060\.html$"))


def test_the_box_beside_a_point_has_its_numbers_of_flips_and_errors(visit):
    points = sample.view_of(sample.trend(sample.series())).points
    page = visit(TREND)
    page.locator("[data-chart]").focus()
    page.keyboard.press("Home")
    for point in points[10::10]:
        page.keyboard.press("Shift+ArrowRight")
        expect(_tip(page)).to_contain_text(point.snapshot.label)
        flips = point.change.flips if point.change else Flips()
        fixed, broken, still = map(number_of_cells, (flips.fixed, flips.broken, flips.still))
        counts = [int(re.sub(r"\D", "", text)) for text in _tip(page).locator(".e > span").all_text_contents()]
        wrong = error_numbers(point.scorecard.counts)
        assert counts == [fixed, broken, still, sum(wrong), *wrong]
        verdict = point.change and point.change.verdict
        coloured = _tip(page).locator("td:is(.up,.dn)").count()
        assert bool(coloured) == bool(verdict and verdict.decision != "cannot tell"), point.snapshot.label


def test_zoom_by_keys_is_kept_in_the_address_and_survives_a_reload(visit):
    page = visit(TREND)
    page.locator("[data-chart]").focus()
    page.keyboard.press("End")
    page.keyboard.press("+")
    page.wait_for_url(re.compile(r"#x=\d+-60$"))
    box = page.locator(".h-main .pl").get_attribute("viewBox") or ""
    page.go_back()
    expect(page.locator(".h-main .pl")).not_to_have_attribute("viewBox", box)
    page.go_forward()
    expect(page.locator(".h-main .pl")).to_have_attribute("viewBox", box)
    page.reload()
    expect(page.locator(".h-main .pl")).to_have_attribute("viewBox", box)
    page.locator("[data-chart]").focus()
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile(r"index\.html$"))


def test_the_last_fifty_points_fill_the_chart_by_a_button(visit):
    page = visit(TREND)
    page.get_by_role("button", name="Last 50").click()
    left, _, width, _ = page.locator(".h-main .pl").get_attribute("viewBox").split()
    assert (float(left), float(width)) == (9.5, 50)


def test_dragging_over_the_chart_zooms_every_row_alike(visit):
    page = visit(TREND)
    box = page.locator(".h-main .cv").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60, steps=4)
    page.mouse.up()
    boxes = [plot.get_attribute("viewBox").split() for plot in page.locator(".pl").all()]
    assert len({(left, width) for left, _, width, _ in boxes}) == 1
    assert float(boxes[0][2]) < 20


def test_a_click_on_the_chart_opens_the_report_below_the_cursor(visit):
    page = visit(TREND)
    errors = page.locator(".h-err .cv")
    errors.scroll_into_view_if_needed()
    box = errors.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 59.5 / 60, box["y"] + 40)
    page.wait_for_url(re.compile(r"evals/waybills/0060\.html$"))


def test_one_point_is_a_dot_in_the_middle(visit):
    page = visit("evals/receipts/index.html")
    dot = page.locator(".h-main .pt").bounding_box()
    box = page.locator(".h-main .cv").bounding_box()
    assert abs(dot["x"] + dot["width"] / 2 - (box["x"] + box["width"] / 2)) < 2


def _lines(page: Page) -> dict[str, bool]:
    """Which lines of the headline are seen."""
    return {clock: page.locator(f".h-main .{clock} .ln.m0").is_visible() for clock in ("then", "now")}


def test_the_clock_is_switched_by_buttons_and_kept_in_the_address(visit):
    page = visit(TREND)
    assert _lines(page) == {"then": True, "now": True}
    page.locator("[data-clock=now]").click()
    page.wait_for_url(re.compile(r"#clock=now$"))
    assert _lines(page) == {"then": False, "now": True}
    page.reload()
    assert _lines(page) == {"then": False, "now": True}
    expect(page.locator("[data-clock=now]")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Both").click()
    page.wait_for_url(re.compile(r"index\.html$"))
    assert _lines(page) == {"then": True, "now": True}


def test_the_clock_is_switched_by_the_keyboard_and_lives_with_the_zoom(visit):
    page = visit(f"{TREND}#x=1-20")
    page.locator("[data-clock=then]").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"#x=1-20&clock=then$"))
    assert _lines(page) == {"then": True, "now": False}
    page.locator("[data-chart]").focus()
    page.keyboard.press("+")
    page.wait_for_url(re.compile(r"#x=\d+-\d+&clock=then$"))


def test_both_values_and_the_change_with_its_parts_stand_beside_the_chart(visit):
    page = visit(TREND)
    page.locator("[data-chart]").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    row = page.locator("table.iters tbody tr").nth(58)
    then, now, change = (row.locator(f".c-{column}").text_content() for column in ("headline", "now", "change"))
    assert then != now
    expect(_tip(page)).to_contain_text(f"F1{then}{now}{change}")
    expect(_tip(page)).to_contain_text("change: outputs")
    expect(page.locator("[data-chart] [aria-live]")).to_contain_text(
        f"F1 {then}, as judged today {now}, change {change}"
    )


def test_the_end_of_a_line_has_the_value_of_the_last_iteration_shown_by_the_clock_that_is_chosen(visit):
    page = visit(f"{TREND}#x=1-12")
    row = page.locator("table.iters tbody tr").nth(48)
    value = page.locator(".h-main [data-v='0']")
    expect(value).to_have_text(row.locator(".c-headline").text_content())
    page.locator("[data-clock=now]").click()
    expect(value).to_have_text(row.locator(".c-now").text_content())


def test_without_scripts_both_lines_and_both_values_are_there_and_no_switch(visit):
    page = visit(TREND, java_script_enabled=False)
    assert _lines(page) == {"then": True, "now": True}
    assert not page.locator("[data-clock=now]").is_visible()
    assert page.get_by_role("columnheader", name="Today").is_visible()
    expect(page.locator(".chart ~ .rest").last).to_contain_text("the same since iteration-051 (settings changed)")


def test_an_eval_whose_clocks_never_part_has_no_switch_and_says_so(visit):
    page = visit("evals/receipts/index.html")
    expect(page.locator("[data-clock]")).to_have_count(0)
    below = page.locator(".chart ~ .rest").last
    expect(below).to_contain_text("Ground truth and rules are the same at every iteration.")


def test_the_three_largest_steps_in_view_are_marked_and_each_has_its_sentence(visit):
    for address, seen in ((TREND, "yyynnn"), (f"{TREND}#x=20-60", "nnnyyy")):
        page = visit(address)
        sentences = page.locator("p.step")
        expect(sentences).to_contain_text(["at iteration-009", "018", "016", "032", "024", "049"])
        for parts in (page.locator("svg[data-step]"), sentences):
            assert "".join("y" if part.is_visible() else "n" for part in parts.all()) == seen
    assert page.locator("p.step a:visible").first.get_attribute("href") == "0032.html"
    expect(visit(TREND, java_script_enabled=False).locator("p.step a:visible")).to_have_count(6)


def test_a_stale_point_is_marked_in_the_chart_and_says_why_in_the_table(visit):
    page = visit(TREND)
    assert page.locator(".h-main path.stale").get_attribute("d").count("M") == 1
    pill = page.locator("table.iters tbody tr").nth(8).locator(".pill", has_text="older instructions")
    expect(pill).to_have_attribute("title", "older than its instructions: these were edited after this output was made")


def test_iterations_sort_by_the_cells_that_they_broke(visit):
    page = visit(TREND)
    page.get_by_role("button", name="Broken").click()
    counts = page.locator("table.iters tbody tr:visible .c-broken").all_text_contents()
    numbers = [int(count) for count in counts if count]
    assert numbers == sorted(numbers, reverse=True)
    assert len(set(numbers)) > 3


LONG = "evals/manifests/index.html"


def test_a_long_chart_loads_its_older_iterations_when_one_is_pointed_at(visit):
    page = visit(LONG)
    count = page.locator("section:has(.iters) [data-count]")
    expect(count).to_have_text("30 shown, 500 rows")
    labels = page.locator(".xa text").all_text_contents()
    assert (labels[0], labels[-1]) == ("1 · 5 Jan", "500 · 13 Dec")
    rows = page.locator("table.iters tbody tr")
    expect(rows).to_have_count(200)
    expect(page.locator(".stack.grouped")).to_have_count(1)
    page.locator("[data-chart]").focus()
    page.keyboard.press("Home")
    expect(page.locator("[data-chart] [aria-live]")).to_contain_text("Point 1 of 500, iteration-001")
    expect(rows).to_have_count(500)
    expect(page.locator(".stack.grouped, [data-rest]")).to_have_count(0)


def test_a_zoom_into_older_iterations_and_a_filter_are_kept_in_the_address_of_a_long_page(visit):
    page = visit(f"{LONG}#x=11-40&q=iteration-012")
    row = page.locator("table.iters tbody tr:visible")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("iteration-012")
    expect(page.locator(".xa text").first).to_contain_text("11")


def test_the_iteration_after_an_old_one_is_looked_up_among_the_older_rows(site: Path, visit):
    (site / "evals/manifests/0013.html").write_bytes((site / "evals/waybills/0059.html").read_bytes())
    page = visit("evals/receipts/index.html")
    page.evaluate("() => { location.href = '../manifests/index.html#after=0012'; }")
    page.wait_for_url(re.compile(r"manifests/0013\.html$"))


def test_a_long_page_without_scripts_says_what_it_leaves_out_and_where_it_is(visit):
    page = visit(LONG, java_script_enabled=False)
    rest = page.locator("[data-rest]")
    assert rest.inner_text() == (
        "The newest 200 of 500 rows are drawn. "
        "All are in the data: the newest as JSON and CSV, the others in the files that the JSON lists."
    )
    found = [link.get_attribute("href") for link in rest.locator("a").all()]
    assert found == ["../../data/evals/manifests.json", "../../data/evals/manifests.csv"]
