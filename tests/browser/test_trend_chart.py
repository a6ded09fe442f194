"""The chart of the trend page under the hands of a reader."""

import re

from playwright.sync_api import Locator, Page, expect

TREND = "evals/waybills/index.html"


def _tip(page: Page) -> Locator:
    return page.locator(".tip")


def test_arrow_keys_walk_along_the_points_and_say_what_is_there(visit):
    page = visit(TREND)
    page.locator("[data-chart]").focus()
    page.keyboard.press("End")
    expect(page.locator("[data-chart] [aria-live]")).to_contain_text("Point 60 of 60, iteration-060")
    page.keyboard.press("ArrowLeft")
    expect(_tip(page)).to_contain_text("iteration-059")
    page.keyboard.press("Shift+ArrowLeft")
    expect(_tip(page)).to_contain_text("iteration-049")


def test_enter_opens_the_report_of_the_point(visit):
    page = visit(TREND)
    page.locator("[data-chart]").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"evals/waybills/0060\.html$"))


def test_an_undefined_metric_is_a_dash_and_not_zero(visit):
    page = visit(TREND)
    page.locator("[data-chart]").focus()
    page.keyboard.press("Home")
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    expect(_tip(page)).to_contain_text("F1—")
    expect(_tip(page)).to_contain_text("no ground truth")


def test_zoom_by_keys_is_kept_in_the_address_and_survives_a_reload(visit):
    page = visit(TREND)
    page.locator("[data-chart]").focus()
    page.keyboard.press("End")
    page.keyboard.press("+")
    page.wait_for_url(re.compile(r"#x=\d+-60$"))
    box = page.locator(".h-main .pl").get_attribute("viewBox")
    page.reload()
    assert page.locator(".h-main .pl").get_attribute("viewBox") == box
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
