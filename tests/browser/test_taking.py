"""Charts and tables that a reader takes elsewhere, and blocks of lines to paste."""

import csv
import io
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

TREND = "evals/waybills/index.html"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chart_is_saved_as_svg_that_looks_the_same_elsewhere(visit, scheme):
    page = visit(TREND, color_scheme=scheme)
    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG").first.click()
    assert saved.value.suggested_filename == "waybills-trend.svg"
    root = ElementTree.parse(Path(saved.value.path())).getroot()
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert root[0].text == texts[0] == "Waybills: Trend"
    assert {"F1", "Recall", "Omission", "1.00"} <= {text.strip() for text in texts}
    attributes = {(name, value) for node in root.iter() for name, value in node.items()}
    assert not any("var(" in value or "light-dark" in value or "color(" in value for _, value in attributes)
    assert not {"class", "style", "href"} & {name for name, _ in attributes}
    surface = next(root.iter(f"{SVG}rect")).get("fill")
    assert surface == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 29)"}[scheme]


def test_a_table_is_copied_as_markdown_and_as_csv_with_the_rows_that_a_filter_leaves(visit):
    page = visit("evals/waybills/0042.html", permissions=["clipboard-read", "clipboard-write"])
    head = page.locator(".card-h", has=page.locator("#h-d"))

    def copied(name: str) -> str:
        button = head.get_by_role("button", name=name)
        button.focus()
        page.keyboard.press("Enter")
        expect(head.get_by_role("button", name="Copied")).to_have_count(1)
        expect(button).to_have_count(1)
        return str(page.evaluate("() => navigator.clipboard.readText()"))

    page.get_by_label("Search errors").fill("incoterm")
    shown = page.locator(".disc tbody tr:not(.item):visible")
    rows = list(csv.reader(io.StringIO(copied("CSV"))))
    assert len([row for row in rows[1:] if len(row) > 1 and any(row[1:])]) >= shown.count() > 0
    assert all(len(row) == len(rows[0]) for row in rows)
    assert not any(cell.startswith(("=", "@")) for row in rows for cell in row)
    heads, rule, *lines = copied("Markdown").splitlines()
    assert heads.startswith("| ")
    assert set(rule) == {"|", "-", " "}
    assert len(lines) == len(rows) - 1


def test_without_scripts_and_on_paper_nothing_offers_to_copy(visit):
    assert visit(TREND, java_script_enabled=False).locator(".take").count() == 0
    page = visit(TREND)
    page.emulate_media(media="print")
    expect(page.locator(".take").first).to_be_hidden()
