"""The answers of an output, case by case, in the hands of a reader. Its site is built from a repository."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.gitrepo import GitRepo
from tests.sites import build_site

REPORT = "evals/qa/0002.html"
CASES = 230
SECRET = "</script><img src=x onerror=alert(1)>"


def _output(run: int) -> str:
    """Answers of three models: ``large`` fails at every tenth case, in the second run ``small`` at every fifth.

    ``medium`` answers as ``large`` does.
    """
    rows = []
    for number in range(CASES):
        for model in ("small", "large", "medium"):
            failed = run == 2 and number % 5 == 0 if model == "small" else number % 10 == 0
            wrong = f"{'small' if model == 'small' else 'large'} knows no {number} {SECRET}"
            row = {"id": f"case-{number:03}", "model": model, "passed": not failed, "topic": f"t{number % 4}"}
            row |= {"input": f"Which is {number}?\nSay it.", "expected": str(number), "source": f"List {number}"}
            rows.append(json.dumps(row | {"output": wrong if failed else f"It is {number}."}))
    return "\n".join(rows)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cases")
    repo = GitRepo(folder / "repo")
    for run in (1, 2):
        files = {"evals/manifest.yaml": "evals: {qa: {kind: judged}}\n"}
        repo.commit({**files, f"evals/qa/results/iteration-00{run}/results.jsonl": _output(run)})
    build_site(repo.path, folder / "public")
    return folder / "public"


def _names(page: Page) -> list[str]:
    return page.locator(".cases > li:visible > .case b").all_text_contents()


def test_more_cases_are_loaded_from_disk_when_they_are_asked_for(visit):
    page = visit(REPORT)
    card = page.locator("section", has=page.locator("#h-ca"))
    expect(card.locator("[data-count]")).to_have_text(f"20 shown, {CASES} rows")
    card.get_by_role("button", name="Show").press("Enter")
    expect(card.locator("[data-count]")).to_contain_text(f"220 shown, {CASES} rows")
    card.get_by_role("button", name="Show").press("Enter")
    expect(page.locator(".cases > li:visible")).to_have_count(CASES)
    assert len(set(_names(page))) == CASES
    assert page.locator("img").count() == 0
    expect(page.locator("#d3 summary", has_text="Which is 0?")).to_be_visible()
    expect(page.locator("section[aria-labelledby=h-d] [data-count]")).to_contain_text("10 shown")


def test_a_filter_loads_what_it_looks_for_and_stays_in_the_address(visit):
    page = visit(REPORT)
    card = page.locator("section", has=page.locator("#h-ca"))
    card.get_by_role("button", name="Only failing").click()
    expect(card.locator("[data-count]")).to_contain_text(f"20 shown, 46 matching of {CASES}")
    card.get_by_role("button", name="large", exact=True).click()
    expect(card.locator("[data-count]")).to_contain_text(f"20 shown, 23 matching of {CASES}")
    assert {int(name[5:]) % 10 for name in _names(page)} == {0}
    assert page.locator(".an:visible").count() == 20
    page.reload()
    assert page.locator(".an:visible").count() == 20
    card.get_by_label("Filter cases").fill("which 229")
    card.get_by_role("button", name="Only failing").click()
    card.get_by_role("button", name="large", exact=True).click()
    expect(page.locator(".cases > li:visible > .case")).to_have_text(["case-229"])


def test_the_head_of_a_column_sorts_all_cases_by_its_score_and_the_address_keeps_the_order(visit):
    page = visit(REPORT)
    head = page.get_by_role("columnheader", name="small")
    for way, remainders in (("ascending", {0}), ("descending", {1, 2, 3, 4})):
        head.get_by_role("button", name="Sort by small").press("Enter")
        page.reload()
        expect(head).to_have_attribute("aria-sort", way)
        expect(page.locator(".cases > li")).to_have_count(CASES)
        assert {int(name[5:]) % 5 for name in _names(page)} == remainders


def test_an_answer_has_an_address_that_shows_it_wherever_it_is(visit):
    answer = visit(f"{REPORT}#c230.1").locator(":target", has_text="It is 229.")
    expect(answer).to_be_in_viewport()
    expect(answer.page.locator(".cases > li").first).to_contain_text("case-229")
    page = visit(f"{REPORT}#c1.1", java_script_enabled=False)
    expect(page.locator(":target .who b")).to_have_text("large")
    page.locator("#c1\\.2").get_by_role("link", name="medium").click()
    expect(page.locator(":target .who b")).to_have_text("medium")


def test_an_address_may_ask_for_what_changed(visit):
    page = visit(f"{REPORT}#changed=1")
    assert {int(name[5:]) % 10 for name in _names(page)} == {0, 5}
    page.locator(".an details").first.click()
    expect(page.locator(".an details .out").first).to_have_text("It is 0.")


def test_only_different_looks_at_the_columns_that_are_shown(visit):
    page = visit(f"{REPORT}#different=1&columns=1,2")
    card = page.locator("section", has=page.locator("#h-ca"))
    expect(card.locator("[data-count]")).to_have_text(f"0 matching of {CASES}")
    expect(card.locator("[data-flag=f] .n")).to_have_text("23")
    card.get_by_role("button", name="small", exact=True).click()
    expect(card.locator("[data-count]")).to_contain_text(f"20 shown, 46 matching of {CASES}")
    assert page.locator(".an:visible").count() == 60
    expect(card.locator("[data-flag=f] .n")).to_have_text("46")
    card = visit(f"{REPORT}#columns=1,2").locator("section[data-ready]:has(#h-ca)")
    expect(card.locator("[data-flag=f]")).to_be_visible()  # without a number: not all rows are there to be counted
    expect(card.locator(".n:visible")).to_have_count(0)


def test_parts_of_what_was_asked_are_chosen_apart_from_answers_and_stay_in_the_address(visit):
    page = visit(f"{REPORT}#columns=1&failing=1")
    card = page.locator("section", has=page.locator("#h-ca"))
    first = card.locator(".cases > li:visible").first
    expect(first.locator("h3:visible")).to_have_text(["Input", "topic", "source", "Expected"])
    card.get_by_role("button", name="source").click()
    card.get_by_role("button", name="topic").click()
    page.reload()
    expect(first.locator("h3:visible")).to_have_text(["topic", "source", "Expected"])
    expect(first.locator(".an:visible")).to_have_count(1)
    expect(card.locator("[data-count]")).to_contain_text(f"20 shown, 23 matching of {CASES}")
    assert page.url.endswith("#columns=1%2Cv2%2Cv1&failing=1")


def test_models_stand_side_by_side_and_the_address_keeps_them(visit):
    page = visit("evals/qa/compare.html")
    card = page.locator("section[data-sides]")
    expect(card.locator(".sides-ab")).to_contain_text("23 only with large, 23 wrong with both")
    card.get_by_role("button", name="Add a side").click()
    expect(card.locator(".sides-values th")).to_have_text(["Where", "Expected", "small", "large", "medium"])
    assert page.url.endswith("#m=model%3Dsmall&n=model%3Dlarge&o=model%3Dmedium")
    page.reload()
    expect(card.locator(".sides-metrics thead")).to_contain_text("medium")
    expect(page.locator("section[data-compare]:not([data-sides]) .sides-ab")).to_contain_text("iteration-002")


def test_a_model_leads_to_its_answers_beside_the_best_others_and_its_name_chooses_it(visit):
    page = visit("evals/qa/index.html")
    page.locator("table:has(.c-slice)").get_by_role("link", name="small").click()
    card = page.locator("section:has(#h-v)")
    sides = card.locator("[data-choices] input")
    expect(sides.nth(0)).to_have_value("small · Passed 0.800")
    expect(sides.nth(1)).to_have_value("large · Passed 0.900")
    sides.nth(0).fill("medium")
    sides.nth(0).press("Tab")
    expect(sides.nth(0)).to_have_value("medium · Passed 0.900")
    assert "m=model%3Dmedium&n=model%3Dlarge" in page.url


def test_on_a_small_screen_a_case_is_folded_to_its_verdicts(open_context, site: Path):
    page = open_context(viewport={"width": 390, "height": 800}).new_page()
    page.goto((site / REPORT).as_uri())
    expect(page.locator(".cases > li:visible .out:visible")).to_have_count(0)
    page.locator(".cases > li > details").first.click()
    expect(page.locator(".cases > li:visible .out:visible").first).to_be_visible()


def test_the_first_fifty_cases_are_there_without_scripts_and_no_link_that_leads_nowhere(visit):
    page = visit(REPORT, java_script_enabled=False)
    dead = "all => all.some(one => !document.getElementById(one.hash.slice(1)))"
    assert not page.locator("main a[href^='#']:visible").evaluate_all(dead)
    assert len(_names(page)) == 50
    page.emulate_media(media="print")
    assert len(_names(page)) == 50
