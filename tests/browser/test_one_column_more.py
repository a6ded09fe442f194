"""One column more in a table is one line of its list; head, cells, labels, order, print and box follow."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]
EDIT = "instructions/claude--instructions--packet-reader--instructions.md/a5afcb53a043.html"
COMPARE = "evals/waybills/compare.html"

LINES = """
sitegen/pages/effects.py
    Column(name="verdict", head="Verdict on these values", label="Verdict", cell=EffectRow.verdict_cell),
    Column(name="flipped", head="Net", cell=lambda row, *_: len(row.flips.fixed), classes="num"),
sitegen/pages/trend/trend_rows.py
        Column(name="change", head="Change", cell=lambda at, _: _change_cell(view, at), classes="drawn"),
        Column(name="flipped", head="Right", cell=lambda at, _: view.points[at].scorecard.counts.tp),
site_templates/pages/compare.html
  tables.Column("broken", "Broken", "", "num"),
  tables.Column("flipped", "Flipped", "", "num"),
site_templates/pages/problems.html
  tables.Column("what", "What", c_what, "wrap"),
  tables.Column("flipped", "Kind", "severity"),
"""

WRITE = """
from pathlib import Path
from tests import pages_sample, sites
from tests.browser import sample_site
sample_site.write(Path("site"), sites.renderer_of(pages_sample.SITE), with_more=False)
"""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample site, written by a copy of sitegen: each of ``LINES`` that follows a line of a file is added to it."""
    copy = tmp_path_factory.mktemp("copy")
    for folder in ("sitegen", "site_templates"):
        shutil.copytree(ROOT / folder, copy / folder)
    (copy / "tests").symlink_to(ROOT / "tests")
    lines = LINES.strip().split("\n")
    for name, above, line in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        before, after = (copy / name).read_text().split(f"{above}\n")
        (copy / name).write_text(f"{before}{above}\n{line}\n{after}")
    (copy / "site").mkdir()
    subprocess.run([sys.executable, "-c", WRITE], cwd=copy, check=True)
    return copy / "site"


@pytest.mark.parametrize(
    ("address", "table", "label"),
    [(EDIT, ".efx", "Net"), (COMPARE, ".fields-ab", "Flipped"), ("problems.html", ".probs", "Kind")],
)
def test_it_has_a_head_on_wide_screens_and_paper_and_a_label_on_small_ones(visit, address, table, label):
    page = visit(address)
    head, cell = (page.locator(f"{table} {part} .c-flipped:visible").first for part in ("thead", "tbody"))
    for medium, width in (("screen", 1280), ("screen", 1100), ("print", 1100)):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(media=medium)
        expect(head).to_have_text(label)
        right = [box["x"] + box["width"] for box in (head.bounding_box(), cell.bounding_box())]
        assert right[0] == pytest.approx(right[1], abs=1)
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(media="screen")
    expect(cell).to_be_visible()
    assert cell.evaluate("cell => getComputedStyle(cell, '::before').content") == f'"{label} "'
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_trend_sorts_by_it_and_the_box_beside_a_point_has_its_number(visit):
    page = visit("evals/waybills/index.html", viewport={"width": 390, "height": 844})
    expect(page.locator(".iters .c-flipped").first).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 900})
    newest = page.locator(".iters tbody tr").first.locator(".c-flipped").text_content()
    page.locator("[data-chart]").focus()
    page.keyboard.press("End")
    expect(page.locator(".tip")).to_contain_text(f"Right {newest}")
    page.locator(".iters thead .c-flipped button").click()
    expect(page).to_have_url(f"{page.url.partition('#')[0]}#by-iteration=flipped-down")
    numbers = [int(text.replace(",", "")) for text in page.locator(".iters tbody .c-flipped").all_text_contents()]
    assert sorted(numbers) != numbers == sorted(numbers, reverse=True)


def test_the_script_fills_it_with_numbers(visit):
    page = visit(COMPARE)
    expect(page.locator(".fields-ab tbody tr").first).to_be_visible()
    numbers = page.locator(".fields-ab tbody .c-flipped").all_text_contents()
    assert set(numbers) - {"", "0"}
    assert all(number.isdigit() for number in numbers)
