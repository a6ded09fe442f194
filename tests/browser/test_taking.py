"""Charts and tables that a reader takes elsewhere, and blocks of lines to paste."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect

from sitegen.analysis.causes import causes_of
from sitegen.model.series import Correction
from sitegen.pages.other_pages import problems_page
from sitegen.pages.suspect_truth import suspect_labels_page
from tests import pages_sample as sample
from tests.sites import renderer_of

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
    assert {"F1", "Recall", "Omission", "1.00"} <= {word for text in texts for word in text.split()}
    attributes = {(name, value) for node in root.iter() for name, value in node.items()}
    assert not any("var(" in value or "light-dark" in value or "color(" in value for _, value in attributes)
    assert not {"class", "style", "href"} & {name for name, _ in attributes}
    surface = next(root.iter(f"{SVG}rect")).get("fill")
    assert surface == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 29)"}[scheme]


def test_a_table_is_copied_as_markdown_and_as_csv_with_the_rows_that_a_filter_leaves(visit):
    page = visit("evals/waybills/0042.html", permissions=["clipboard-read", "clipboard-write"])
    head = page.locator(".card-h", has=page.locator("#h-d"))

    def copied(name: str) -> str:
        button = head.get_by_role("button", name=name).element_handle()
        button.press("Enter")
        page.wait_for_function("button => button.textContent === 'Copied'", arg=button)
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
    expect(head.get_by_role("button", name="Copied")).to_have_count(0)


def test_patches_and_lines_to_paste_are_copied_as_they_are(site, visit):
    """Carriage returns, signs of markup, and text in other scripts."""
    fix = Correction(path="a/truth.csv", line=2, before="Ann,<6>\t", after="Ann,<7>\t", end="\r\n")
    suspect = sample.suspect("area", "6", "7", correction=fix)
    summary = replace(sample.summary(sample.series(3)), suspects=(suspect,))
    paste = {"map.yaml": {"csv_to_json": {"Gr\xf6\xdfe <m>": "size"}}}
    problem = replace(sample.PROBLEMS[1], paste=json.dumps(paste))
    pages = suspect_labels_page([summary]), problems_page(causes_of([problem]), (), sample.commit(0), "main")
    for page in pages:
        (site / f"copied-{page.path}").write_bytes(renderer_of(sample.SITE).render(page))
    patch = "--- a/a/truth.csv\n+++ b/a/truth.csv\n@@ -2 +2 @@\n-Ann,<6>\t\r\n+Ann,<7>\t\r\n"
    texts = (patch, 'csv_to_json:\n  "Gr\xf6\xdfe <m>": "size"')
    for page, text in zip(pages, texts, strict=True):
        shown = visit(f"copied-{page.path}", permissions=["clipboard-read", "clipboard-write"])
        for fold in shown.locator(".corrections details").all()[:1]:
            fold.locator("summary").click()
        shown.locator(".corrections [data-copy]").first.click()
        shown.get_by_text("Copied", exact=True).wait_for()
        assert shown.evaluate("() => navigator.clipboard.readText()") == text


def test_without_scripts_and_on_paper_nothing_offers_to_copy(visit):
    assert visit(TREND, java_script_enabled=False).locator(".take").count() == 0
    page = visit(TREND)
    page.emulate_media(media="print")
    expect(page.locator(".take").first).to_be_hidden()
