"""Reports of highlights, responses and judged results, and the page of variants, in the hands of a reader."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

HIGHLIGHTS = "evals/handbook-terms/0002.html"
JUDGED = "evals/letters/0003.html"
VARIANTS = "evals/help-desk/variants.html"
TREND = "evals/help-desk/index.html"


@pytest.fixture(scope="module")
def site(demo_site: Path) -> Path:
    """What ``visit`` opens pages of."""
    return demo_site


def _lit(page: Page) -> list[tuple[str, str]]:
    """(outcome, category) of the marks that stand out in texts that are shown."""
    marks = page.locator(".spans > li:visible .hl:not(.dim):has(> small)")
    found = marks.evaluate_all("marks => marks.map(mark => [mark.classList[1], mark.dataset.c])")
    return [(outcome, category) for outcome, category in found]


def _texts(page: Page) -> list[str]:
    return page.locator(".spans > li:visible .by > b").all_inner_texts()


def test_highlights_are_filtered_by_category_and_outcome(visit):
    page = visit(HIGHLIGHTS)
    every = _lit(page)
    assert {tuple(each) for each in every} == {
        ("correct", "terms"),
        ("correct", "concepts"),
        ("missed", "terms"),
        ("missed", "concepts"),
    }
    page.get_by_label("Category of highlights").select_option("concepts")
    assert {category for _, category in _lit(page)} == {"concepts"}
    page.get_by_role("button", name=re.compile(r"^Missed \d")).and_(page.locator("[data-outcome]")).click()
    assert [tuple(each) for each in _lit(page)] == [("missed", "concepts")]
    assert _texts(page) == ["p-1"]
    expect(page.locator("[data-spans] [data-count]")).to_have_text("1 highlight in 1 of 3 paragraphs")
    page.reload()
    assert [tuple(each) for each in _lit(page)] == [("missed", "concepts")]
    page.goto(page.url.partition("#")[0])
    assert _lit(page) == every


def test_a_link_may_choose_the_missed_highlights(visit):
    page = visit(f"{HIGHLIGHTS}#mark=missed,wrong")
    assert {outcome for outcome, _ in _lit(page)} == {"missed"}
    assert _texts(page) == ["p-1", "p-3"]


def test_outcomes_are_chosen_by_keys_and_their_state_is_told(visit):
    page = visit(HIGHLIGHTS)
    button = page.locator("[data-outcome=correct]")
    button.focus()
    page.keyboard.press("Space")
    assert button.get_attribute("aria-pressed") == "true"
    assert {outcome for outcome, _ in _lit(page)} == {"correct"}
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"


def test_discrepancies_of_highlights_are_filtered_by_their_category(visit):
    page = visit(HIGHLIGHTS)
    page.get_by_label("Category", exact=True).select_option("terms")
    rows = page.locator(".disc tbody tr:visible")
    expect(rows).to_have_count(3)
    assert rows.evaluate_all("rows => rows.every(row => row.dataset.g === 'terms')")


def _share(bar: Locator) -> tuple[float, str]:
    """How long a bar is drawn, and the number beside it."""
    width = bar.locator("rect").get_attribute("width")
    return float(width or 0) / 1000, bar.locator("xpath=following-sibling::span[@class='num']").inner_text()


def test_bars_of_variants_are_as_long_as_their_numbers_and_show_the_target(visit):
    page = visit(VARIANTS)
    accuracy = page.locator(".vbars > div").filter(has_text="Accuracy")
    drawn = [_share(bar) for bar in accuracy.locator(".vbar").all()]
    assert [number for _, number in drawn] == ["0.375", "0.875"]
    assert [f"{length:.3f}" for length, _ in drawn] == ["0.375", "0.875"]
    assert {line.get_attribute("x1") for line in accuracy.locator("line").all()} == {"850.0"}
    expect(accuracy).to_contain_text("target 0.85")


def test_two_variants_have_their_answers_side_by_side(visit):
    page = visit(VARIANTS)
    page.get_by_role("link", name="Answers side by side").click()
    rows = page.locator("[data-sides] .sides-values tbody tr")
    expect(rows.locator(".c-where a[href^=cases]")).to_have_text(["open-1", "open-2", "price-1", "firing-1"])
    expect(page.locator("[data-sides] .sides-ab")).to_contain_text("0 right only with polite, 4 only with short")


def test_the_trend_tells_the_headline_of_every_variant(visit):
    page = visit(TREND)
    page.locator("[data-chart]").focus()
    page.keyboard.press("End")
    expect(page.locator("[data-chart] .tip")).to_contain_text("Accuracy, polite")
    expect(page.locator("[data-chart] [aria-live]")).to_contain_text("Accuracy, short 0.875")
    expect(page.locator("path.ln:is(.v0, .v1)")).to_have_count(2)


def test_what_a_judge_counted_stands_by_attribute(visit):
    page = visit(JUDGED)
    rows = page.locator("section:has(> .card-h #h-f) tbody tr").all_inner_texts()
    assert rows[0].split("\t") == ["sender", "0.750", "3", "1"]
    assert len(rows) == 5


def test_the_details_of_a_judge_are_folded_opened_by_keys_and_printed(visit):
    page = visit(JUDGED)
    details = page.locator(".ans details", has_text="Details of the judges")
    first = details.first
    whole = first.locator("code")
    expect(whole).to_be_hidden()
    first.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(whole).to_be_visible()
    page.emulate_media(media="print")
    assert details.locator("code").evaluate_all("all => all.every(one => one.checkVisibility())")
