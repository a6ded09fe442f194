"""The comparison of two points that the page computes, held against the one that sitegen computes."""

import itertools
import re
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from sitegen.analysis.change import change
from sitegen.analysis.flips import flipped_cells, net_by_item
from sitegen.analysis.flips import flips as flips_of
from sitegen.model.outcomes import ABSENT, Cell, Outcome, Period, Tally
from sitegen.model.series import Series
from sitegen.pages import compare_cells
from sitegen.pages.compare import compare_data, compare_page
from sitegen.project import Options
from sitegen.questions.comparison_files.changes import result_change
from sitegen.questions.study import read_series
from sitegen.stats.significance import ALPHA, sign_test
from sitegen.text.values import MINUS, metric_text
from tests import pages_sample as sample
from tests.sites import renderer_of

PAGE = "evals/waybills/compare.html"
ASK = """async pairs => {
  const fates = ["fixed", "broken", "still_wrong", "appeared", "vanished"];
  const number = fate => +(/: (\\d+)/.exec(document.querySelector(`#h-0-${fate}`)?.textContent)?.[1] ?? 0);
  const found = [];
  for (const [a, b] of pairs) {
    const changed = new Promise(resolve => addEventListener("hashchange", resolve, { once: true }));
    location.hash = `a=${a}&b=${b}`;
    await changed;
    const result = document.querySelector(".js [data-result]");
    while (result.textContent.startsWith("Loading")) await new Promise(requestAnimationFrame);
    const nets = [...result.querySelectorAll(".fields-ab .by")].map(net => net.textContent).sort();
    const named = [.../From (.*?) to (.*?):/.exec(result.querySelector(".answer").textContent) ?? []].slice(1).sort();
    found.push([fates.map(number), nets, named]);
  }
  return found;
}"""


def total(tally: Tally) -> int:
    return sum(number for _, number in tally)


def expected(series: Series, before: int, after: int) -> tuple[list[int], list[str]]:
    flips = flips_of(series.cells, before, after)
    totals = [total(tally) for tally in (flips.fixed, flips.broken, flips.still, flips.appeared, flips.vanished)]
    cells = sorted(flipped_cells(series.cells, before, after), key=lambda flip: flip.cell.attribute)
    intervals = []
    for _, of_field in itertools.groupby(cells, key=lambda flip: flip.cell.attribute):
        nets = [net for net in net_by_item(of_field, series.cells.cases).values() if net]
        net = sum(net > 0 for net in nets) - sum(net < 0 for net in nets)
        by_chance = [broken for broken in range(len(nets) + 1) if sign_test(broken, len(nets) - broken) >= ALPHA]
        reach = min(len(nets), max(abs(len(nets) - 2 * broken) for broken in by_chance) + 1)
        ends = (max(-len(nets), net - reach), min(len(nets), net + reach))
        low, high = (f"{end:+,}".replace("-", MINUS) if end else "0" for end in ends)
        if nets:
            intervals.append(f"{low} to {high}, {'more than chance' if abs(net) > reach else 'could be zero'}")
    return totals, sorted(intervals)


def agree(page: Page, series: Series, pairs: list[tuple[int, int]]) -> None:
    slugs, labels = zip(*((point.snapshot.slug, point.snapshot.label) for point in series.points), strict=True)
    answers = page.evaluate(ASK, [(slugs[a], slugs[b]) for a, b in pairs])
    assert [(fates, nets) for fates, nets, _ in answers] == [expected(series, a, b) for a, b in pairs]
    for (a, b), (*_, named) in zip(pairs, answers, strict=True):  # those that were chosen, also of copies
        assert named in ([], sorted([labels[a], labels[b]]))


EVALS = ["lab-reports", "roof-surveys", "rental-contracts", "help-desk", "handbook-terms", "freight-papers"]


@pytest.mark.parametrize("eval_id", EVALS)
def test_pairs_all_over_a_series_are_compared_as_sitegen_compares_them(eval_id, demo, demo_site, open_context):
    series = read_series(Options(repo=demo, cache=demo_site.with_name("public-memo")), eval_id)
    page = open_context().new_page()
    page.goto((demo_site / f"evals/{eval_id}/compare.html").as_uri() + "#a=none")
    pairs = list(itertools.permutations(range(len(series.points)), 2))
    first, last = ends = 0, len(series.points) - 1
    agree(page, series, [*pairs[:: 1 + len(pairs) // 30], ends])
    flips = result_change(series, first, last, change(series, *ends), names=("", "")).flips
    since = [re.sub("after [0-9a-f]{7} ", "after ", flip.since) for flip in flips if flip.since]
    assert sorted(filter(None, page.locator("td.c-since").all_text_contents())) == sorted(since)
    for table in page.locator("table:has(td.c-since)").all():  # an edit is shown once for rows that follow each other
        edits = (table.locator(f"td.c-since .by{state}").all_text_contents() for state in (":visible", ""))
        assert next(edits) == [text for text, _ in itertools.groupby(next(edits))]


def test_many_flips_of_a_field_are_held_against_chance_as_sitegen_does(site: Path, visit):
    signs = ["+-+"] * 40 + ["+--"] * 150 + ["-+-"] * 30 + ["++-"] * 12 + ["--+"] * 3
    cells = tuple(
        Cell(document="", path=f"f{index}", attribute="f", extra=False, periods=runs(each))
        for index, each in enumerate(signs)
    )
    put_back = Cell(  # of a label that was changed with the second output, and put back with the third
        document="",
        path="label",
        attribute="f",
        extra=False,
        periods=(
            period(0, "wrong_value", "x", "q"),
            period(1, "wrong_value", "q", "z"),
            period(2, "correct", "x", "x"),
        ),
        rejudged=(period(1, "correct", "q", "q"), period(2, "wrong_value", "x", "z")),
    )
    series = replace(sample.series(3), cells=sample.cell_map(3, (*cells, put_back)))
    assert [flip.fate for flip in flipped_cells(series.cells, 0, 2)][-1] == "fixed"
    page = compare_page(series, compare_data(series, ()))
    (site / "evals/waybills/many.html").write_bytes(renderer_of(sample.SITE).render(page))
    pairs = list(itertools.permutations(range(3), 2))
    assert all(sum(expected(series, *pair)[0][:2]) >= 25 for pair in pairs)
    agree(visit("evals/waybills/many.html#a=none"), series, pairs)


def period(start: int, state: Outcome, expected: str, actual: str) -> Period:
    return Period(start=start, state=state, expected=expected, actual=actual)


def runs(signs: str) -> tuple[Period, ...]:
    return tuple(
        Period(start=index, state="correct" if sign == "+" else "omission", expected="1", actual="")
        for index, sign in enumerate(signs)
    )


def test_the_newest_point_is_compared_with_the_best_one_before_it(visit):
    page = visit(PAGE)
    series = sample.series()
    values = [point.scorecard.metric("f1") or 0 for point in series.points[:-1]]
    expect(page.locator("[data-result] b + a").nth(1)).to_have_text("iteration-060")
    assert chosen(page) == [series.points[values.index(max(values))].snapshot.label, "iteration-060"]


def chosen(page: Page) -> list[str]:
    """The names of the sides that are chosen."""
    return [side.input_value().partition(" ")[0] for side in page.locator("[data-choices] input").all()]


def choose(page: Page, side: int, name: str) -> None:
    page.locator("[data-choices] input").nth(side).fill(name)
    page.keyboard.press("Enter")


@pytest.fixture(scope="module")
def in_pieces(site: Path) -> Series:
    """An eval whose page holds a few points only, as ``pieces.html``, with the files beside it."""
    series = replace(sample.series(), baselines=(("production", 29),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare_cells, "BOUND", 20_000)
        data = compare_data(series, ())
    folder = site / "evals/waybills"
    page = renderer_of(sample.SITE).render(compare_page(series, data))
    (folder / "pieces.html").write_bytes(page)
    assert len(data.pieces) > 2
    for piece in data.pieces:
        (site / piece.path).write_bytes(piece.content)
    return series


def test_points_in_files_beside_the_page_are_compared_as_well(in_pieces: Series, visit):
    pairs = [(1, 2), (2, 30), (30, 2), (0, 45), (59, 3), (58, 59), (17, 40)]
    agree(visit("evals/waybills/pieces.html"), in_pieces, pairs)


def test_what_cannot_be_shown_is_said_and_no_other_pair_takes_its_place(in_pieces: Series, site: Path, open_context):
    page = open_context().new_page()
    page.goto((site / "evals/waybills/pieces.html").as_uri() + "#a=0001&b=0999")
    result = page.locator("[data-result]")
    expect(result).to_contain_text("This page has no iteration “0999”, which the address asks for.")
    expect(result.locator("table")).to_have_count(0)
    assert chosen(page) == ["iteration-001", ""]
    choose(page, 1, "iteration-060")
    expect(result.locator("b + a").nth(1)).to_have_text("iteration-060")
    (site / "evals/waybills/compare-0.js").rename(site / "evals/waybills/moved.js")
    choose(page, 0, "2")
    expect(result).to_contain_text("compare-0.js could not be loaded")
    (site / "evals/waybills/moved.js").rename(site / "evals/waybills/compare-0.js")
    assert page.url.endswith("#a=0002&b=0060")


def test_three_sides_stand_beside_each_other_and_differ_where_values_do(in_pieces: Series, site: Path, open_context):
    page = open_context().new_page()
    page.goto((site / "evals/waybills/pieces.html").as_uri() + "#a=2&b=iteration-030&c=0045")
    places, result = (1, 29, 44), page.locator("[data-result]")
    expect(result.locator(".sides-metrics thead th")).to_have_text(
        ["Metric", "iteration-002", "iteration-030", "iteration-045"]
    )
    for side, place in enumerate(places[1:], 1):
        fixed, broken, still, *_ = expected(in_pieces, places[0], place)[0]
        head = result.locator(".sides-ab > div").nth(side)
        expect(head).to_contain_text(f"{fixed} fixed, {broken} broken, {still} still wrong.")
        values = [in_pieces.points[at].scorecard.metric("f1") or 0 for at in (places[0], place)]
        shown = result.locator(f".sides-metrics tbody tr:first-child .c-side{side}")
        expect(shown).to_contain_text(f"{values[1]:.3f}")
        expect(shown.locator(".delta")).to_contain_text(f"{abs(values[1] - values[0]):.3f}")
        toned = head.locator(".answer > .pill:is(.good,.bad,.warn)").count() == 1
        muted, colour = (
            each.evaluate("of => getComputedStyle(of).color")
            for each in (page.locator(".muted").first, shown.locator(".delta"))
        )
        assert (colour != muted) is toned, "what may be chance has no colour"
    differing = 0
    for cell in in_pieces.cells.cells:
        runs = [cell.at(place) or ABSENT for place in places]
        same = len({(run.state, run.actual if run.state != "absent" else "") for run in runs}) == 1
        differing += not same and any(run.is_wrong for run in runs)
    expect(page.locator("#h-c-differ")).to_have_text(f"Not the same on all sides: {differing}")
    page.get_by_role("button", name="Remove side 2").click()
    assert page.url.endswith("#a=0002&b=0045")
    page.get_by_role("button", name="Add a side").click()
    assert chosen(page)[:2] == ["iteration-002", "iteration-045"]
    choose(page, 2, "99")
    expect(result).to_contain_text("This page has no iteration “99”.")
    for typed, slug in (("007", "0007"), ("ration-008 \xb7", "0008"), ("1", "0001")):
        choose(page, 2, typed)
        assert page.url.endswith(f"#a=0002&b=0045&c={slug}")
    choose(page, 2, "production")
    assert page.url.endswith("#a=0002&b=0045&c=0030")


def test_nothing_moves_while_the_page_is_filled(visit):
    page = visit(PAGE)
    moved = page.evaluate("""() => new Promise(done => {
      const sum = list => list.reduce((total, entry) => total + entry.value, 0);
      new PerformanceObserver(list => done(sum(list.getEntries()))).observe({ type: "layout-shift", buffered: true });
      setTimeout(() => done(0), 300);
    })""")
    room = "one => [getComputedStyle(one).minHeight, one.querySelector('.c-field code').innerHTML]"
    assert [moved <= 0.001, *page.locator("[data-result]").evaluate(room)] == [True, "0px", "waybill.<wbr>currency"]


def test_a_choice_is_in_the_address_and_comes_back_from_it(visit):
    page = visit(PAGE)
    choose(page, 0, "iteration-004")
    assert page.url.endswith("#a=0004&b=0060")
    page.get_by_role("button", name="Swap").click()
    assert page.url.endswith("#a=0060&b=0004")
    page.reload()
    assert chosen(page) == ["iteration-060", "iteration-004"]
    expect(page.locator("[data-result] b + a").nth(0)).to_have_text("iteration-060")
    page.get_by_role("button", name="Newest and previous").click()
    assert page.url.endswith("#a=0059&b=0060")
    page.get_by_role("button", name="Swap").click()
    expect(page.locator("[data-result] .answer")).to_contain_text(
        "other way round. From iteration-059 to iteration-060"
    )


def test_a_choice_can_be_made_with_the_keyboard_alone(visit):
    page = visit(PAGE)
    page.locator("[data-choices] input").nth(0).focus()
    page.keyboard.type("12")
    page.keyboard.press("Enter")
    page.wait_for_url("**#a=0012&b=0060")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert chosen(page) == ["iteration-060", "iteration-012"]


def test_scripts_write_numbers_as_pages_do(chromium):
    folder = Path(__file__).parents[2] / "site_templates/assets/js"
    code = "".join((folder / name).read_text() for name in ("dom.js", "point.js"))
    numbers = [0.8125, -0.0625, 1.0005, 1e-4, 1.25e-7, 3e-5, 100.35, 99.9999, 0.99997, 0.9995, 1234.0, 1.2e12]
    with closing(chromium.new_page()) as page:
        drawn = page.evaluate(f"numbers => {{ {code} return numbers.map(written); }}", numbers)
    assert drawn == [metric_text(number) for number in numbers]


def test_the_script_and_the_page_without_it_say_the_same(visit):
    scripted, plain = visit(PAGE), visit(PAGE, java_script_enabled=False)
    parts = [".sides-ab p", ".answer", ".around .ends", ".verdict > .answer ~ p:not(.muted)"]
    for place, further in ((0, []), (1, [".edited li", ":not(.verdict) > p.muted code"])):
        without = plain.locator("[data-pair]").nth(place)
        before, after = (without.get_attribute("data-pair") or "").split()
        scripted.evaluate("address => { location.hash = address; }", f"a={before}&b={after}")
        expect(scripted.locator("[data-result] a[href$='.html']").first).to_have_attribute("href", f"{before}.html")
        for part in parts + further:
            listed = [said(text) for text in without.locator(part).all_text_contents()]
            drawn = [said(text) for text in scripted.locator(f"[data-result] {part}").all_text_contents()]
            assert drawn == listed != [], part
        rows = scripted.locator("[data-result] .metrics-ab tbody tr")
        for line in without.locator(".metrics li").all_text_contents():
            metric, values = line.strip().split(": ")
            row = said(rows.filter(has_text=metric).first.text_content() or "")
            assert all(value in row for value in values.replace(",", "").split() if value[:1].isdigit())


def said(text: str) -> str:
    return " ".join(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())


def test_without_scripts_the_page_says_what_it_cannot_do(visit):
    page = visit(PAGE, java_script_enabled=False)
    expect(page.locator("main")).to_contain_text("that pair is not shown below")
    expect(page.get_by_role("heading", name="The newest iteration and the one before it")).to_be_visible()


def test_names_from_the_project_stay_text(visit):
    page = visit("evals/étiquettes/compare.html")
    listed = page.locator("[aria-labelledby=h-0-still_wrong] tbody tr")
    expect(listed).to_have_count(len(sample.NASTY))
    expect(listed.first).to_contain_text(sample.SCRIPT)
    assert page.locator("[data-result]").evaluate("all => all.querySelectorAll('script, img, b b').length") == 0
    assert "\u202e" not in page.locator("main").inner_text()
