"""What a reader does on the pages about instructions and commits."""

from playwright.sync_api import ViewportSize, expect

from tests.browser import diff_pages

EDIT = next(page.path for page in diff_pages.pages() if page.path.endswith("1fc1b597a8ea.html"))
FILE = "instructions/claude--instructions--packet-reader--instructions.md/index.html"
PHONE: ViewportSize = {"width": 390, "height": 844}


def test_the_views_of_a_diff_change_without_scripts(visit):
    page = visit(EDIT, java_script_enabled=False)
    page.locator("label[for=v-split]").click()
    removed = page.locator("td.d:has(del)").first
    added = page.locator("td.a:has(ins)").first
    left, right = removed.bounding_box(), added.bounding_box()
    assert left["y"] == right["y"]
    assert left["x"] < right["x"]
    page.locator("label[for=v-uni]").click()
    above, below = removed.bounding_box(), added.bounding_box()
    assert above["y"] < below["y"]
    assert above["x"] == below["x"]
    page.locator("label[for=v-ren]").click()
    assert not removed.is_visible()
    assert page.locator(".prose li.chg").first.is_visible()


def test_the_diff_side_by_side_takes_the_whole_width_below_the_table(visit):
    page = visit(EDIT, viewport={"width": 1280, "height": 900}, java_script_enabled=False)
    page.locator("label[for=v-split]").click()
    table, diff = page.locator(".efx").bounding_box(), page.locator(".diff").bounding_box()
    assert (diff["x"], diff["width"]) == (table["x"], table["width"])
    assert diff["y"] >= table["y"] + table["height"]


def test_one_column_more_of_the_effects_stands_in_the_line_of_the_others(visit):
    page = visit(EDIT, viewport={"width": 1280, "height": 900})
    page.locator("label[for=v-uni]").click()
    edges = """rows => rows.map(row => {
        const cell = row.querySelector(".c-fixed");
        cell.before(cell.cloneNode(true));
        const boxes = [...row.cells].filter(one => !one.matches(".c-eval")).map(one => one.getBoundingClientRect());
        return [Math.max(...boxes.map(box => box.top)), Math.min(...boxes.map(box => box.bottom))];
    })"""
    lines = page.locator(".efx tr").evaluate_all(edges)
    assert len(lines) > 1
    assert all(highest <= lowest for highest, lowest in lines)


def test_the_views_can_be_changed_with_the_keyboard(visit):
    page = visit(EDIT)
    page.locator("#v-split").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator(".view.ren").is_visible()
    assert page.url.endswith("#view=v-ren")
    page.reload()
    assert page.locator(".view.ren").is_visible()


def test_on_a_phone_removed_and_added_lines_stand_below_each_other(visit):
    page = visit(EDIT, viewport=PHONE)
    above = page.locator("td.d:has(del)").first.bounding_box()
    below = page.locator("td.a:has(ins)").first.bounding_box()
    assert above["y"] < below["y"]
    assert above["width"] > 300


def test_the_numbers_of_a_list_count_what_is_there_and_not_what_was_removed(visit):
    page = visit(EDIT)
    page.locator("label[for=v-ren]").click()
    display = page.locator(".prose ol > li").evaluate_all("items => items.map(item => getComputedStyle(item).display)")
    assert display == ["block", "list-item", "list-item", "block", "list-item", "list-item"]


def test_a_heading_is_reached_from_the_outline_although_it_was_folded(visit):
    page = visit(FILE)
    page.locator("[data-noun]").evaluate("({ filtered: text }) => { text.limit = text.first = 2; text.show(); }")
    assert not page.locator("#t-example").is_visible()
    page.locator(".outline a", has_text="Example").click()
    assert page.url.endswith("#t-example")
    expect(page.locator("#t-example")).to_be_visible()


def test_edits_can_be_filtered(visit):
    page = visit(FILE)
    page.locator("[data-q]").fill("inches")
    expect(page.locator("table.edits tbody tr:visible")).to_have_count(1)


def test_a_button_copies_the_command_before_it(visit):
    page = visit(EDIT, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_text("The way back").click()
    page.locator("[data-copy]").first.click()
    page.get_by_text("Copied", exact=True).wait_for()
    command = page.locator(".cmd code").first.text_content()
    assert page.evaluate("() => navigator.clipboard.readText()") == command
    assert command.startswith("git checkout ")
