"""The lines of models and tags on the trend page, which chips choose."""

import itertools
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.gitrepo import GitRepo
from tests.sites import build_site

TREND = "evals/desk/index.html"
MODELS = {"large": (True, True, True), "small": (True, False, False)}
"""Whether each model is right at each run."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``visit`` opens pages of."""
    folder = tmp_path_factory.mktemp("lines")
    repo = GitRepo(folder / "repo")
    repo.commit({"evals/manifest.yaml": "evals: {desk: {kind: judged}}", "prompts/a.md": "Answer.\n"})
    for run in range(3):
        rows = [
            {
                "id": f"c{case}",
                "model": model,
                "topic": ("bills", "travel")[case % 2],
                "passed": right[run] or case == 1,
            }
            for case in range(4)
            for model, right in MODELS.items()
        ]
        written = "".join(f"{json.dumps(row)}\n" for row in rows)
        path, day = f"evals/desk/results/iteration-{run + 1:03}/results.jsonl", 20_000 + (0, 3, 30)[run]
        repo.commit({path: written}, message=f"Run {run + 1}", when=day * 86_400)
    build_site(repo.path, folder / "site")
    return folder / "site"


def _expect_lines(page: Page, *names: str) -> None:
    """These names are at the ends of the lines that are shown, each with its line. None covers another."""
    expect(page.locator("[data-end]:visible")).to_have_count(len(names))  # a script hides the others, once it runs
    shown = page.locator("[data-end]:visible").evaluate_all(
        "ends => ends.map(end => [end.dataset.end, end.textContent.trim().split(' ')[1]])"
    )
    tops = page.locator("[data-end] text:visible").evaluate_all("all => all.map(one => one.getBoundingClientRect().y)")
    assert all(below - above > 11 for above, below in itertools.pairwise(sorted(tops)))
    lines = set(page.locator("path.ln:not([hidden])").evaluate_all("lines => lines.map(line => line.dataset.line)"))
    assert {line for line, _ in shown} == lines
    assert sorted(name for _, name in shown) == [*names]


def test_chips_choose_the_lines_and_the_address_keeps_them(visit):
    page = visit(TREND)
    _expect_lines(page, "Passed", "large", "small")
    chips = page.get_by_role("group", name="Lines")
    chips.locator("summary").click()
    chips.get_by_role("button", name="topic: bills").click()
    chips.get_by_role("button", name="small").click()
    _expect_lines(page, "Passed", "bills", "large")
    page.locator("[data-chart]").focus()
    page.keyboard.press("End")
    assert page.locator(".tip tbody tr").count() == 3
    page.reload()
    _expect_lines(page, "Passed", "bills", "large")
    expect(chips.get_by_role("button", name="topic: bills")).to_be_visible()
    page.goto(page.url.partition("#")[0] + "#lines=Passed,+small")
    page.reload()
    _expect_lines(page, "small")


def test_iterations_stand_by_date_if_that_is_chosen_and_the_address_keeps_it(visit):
    def second() -> float:
        """The place of the second of three dots between the others."""
        first, middle, last = (box["x"] for dot in page.locator(".h-main .pt").all() if (box := dot.bounding_box()))
        return float((middle - first) / (last - first))

    page = visit(f"{TREND}#lines=Passed")
    _expect_lines(page, "Passed")  # the script has run
    assert second() == pytest.approx(1 / 2, abs=0.01)
    page.get_by_role("button", name="By date").click()
    page.wait_for_url(re.compile(r"#lines=Passed&axis=time$"))
    assert second() == pytest.approx(3 / 30, abs=0.01)
    expect(page.locator(".xa text").first).to_have_text("4 Oct 2024")
    page.reload()
    _expect_lines(page, "Passed")
    assert second() == pytest.approx(3 / 30, abs=0.01)
    page.get_by_role("button", name="By iteration").click()
    assert second() == pytest.approx(1 / 2, abs=0.01)


def test_without_scripts_all_lines_are_there_and_named_at_their_ends(visit):
    page = visit(TREND, java_script_enabled=False)
    _expect_lines(page, "Passed", "bills", "large", "small", "travel")
    assert page.locator("[data-chip], [data-axis]").first.is_hidden()
