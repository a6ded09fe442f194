"""Two points side by side: what the page says without a script, and what it gives the script to say the rest."""

import json
import re
from collections import Counter
from itertools import product
from typing import Any

from msgspec.structs import replace

from sitegen.analysis.flips import flipped_cells, net_by_item
from sitegen.model.changes import ChangeVerdict, Ends
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import Cell, Period
from sitegen.model.scorecards import DocumentScore
from sitegen.model.series import EvalInfo, Series
from sitegen.model.site import SiteInfo
from sitegen.pages import compare, compare_cells
from sitegen.pages.compare import CompareData, CompareView, answers_data, compare_data, compare_page, edits_since
from sitegen.pages.edit import draw_few
from sitegen.scoring.kinds import scorer
from sitegen.text.values import written
from tests import pages_sample as sample
from tests.rows import in_table
from tests.scored import scored
from tests.sites import renderer_of
from tests.sites import written as html_with


def series(*cells: Cell, number: int = 3, headlines: tuple[float | None, ...] = (0.5, 0.7, 0.6)) -> Series:
    followed = sample.cell_map(number, cells)
    some = [
        replace(
            point,
            scorecard=replace(
                point.scorecard,
                metrics=(point.scorecard.metrics[0]._replace(value=value), *point.scorecard.metrics[1:]),
                documents=tuple(
                    DocumentScore(name, "scored", Counts())
                    for name in followed.documents
                    if followed.holds(name, index)
                ),
            ),
            now=None,
            change=None,
        )
        for index, (point, value) in enumerate(zip(sample.points(number), (*headlines, *[0.4] * number), strict=False))
    ]
    return Series(
        info=sample.WAYBILLS,
        history=sample.history("waybills", tuple(some)),
        specs=sample.SPECS,
        points=tuple(some),
        cells=followed,
    )


def answered(*signs: str) -> tuple[Cell, ...]:
    """Answers of variants to the test cases c0, c1 and so on, of one category: a row of signs for each answer."""
    return tuple(
        sample.cell(
            f"c{case} · {number}",
            "letters",
            *(
                Period(start=index, state="correct" if sign == "+" else "wrong_value", expected="1", actual=sign)
                for index, sign in enumerate(f"{row[0]}{row}")
            ),
        )
        for case, several in enumerate(signs)
        for number, row in enumerate(several.split())
    )


@in_table
def test_all_answers_to_a_test_case_count_once_in_the_interval_of_a_field(case, signs, nets):
    one = series(*answered(*signs))
    documents = tuple(
        DocumentScore(cell.document, "scored", Counts(), of_case=cell.document.partition(" ")[0])
        for cell in one.cells.cells
    )
    points = tuple(
        replace(point, scorecard=replace(point.scorecard, documents=documents, kind="responses"))
        for point in one.points
    )
    cells = replace(one.cells, cases={document.name: document.case for document in documents})
    found = compare_data(replace(one, points=points, cells=cells), ()).page
    assert found is not None
    assert list(net_by_item(flipped_cells(cells, 1, 2), cells.cases).values()) == nets
    assert [cell[5] for cell in found["block"]["cells"]] == [
        number for number, several in enumerate(signs) for _ in several.split()
    ]


def html_of(one: Series) -> str:
    return html_with(renderer_of(SiteInfo("t", "1")), compare_page(one, compare_data(one, ())))


def view(one: Series) -> CompareView:
    found = compare_page(one, compare_data(one, ())).view
    assert isinstance(found, CompareView)
    return found


RIGHT = sample.cell("a", "fine", Period(start=0, state="correct", expected="1", actual="1"))


NUMBER = 40


def long_cells(number: int, length: int) -> tuple[Cell, ...]:
    """Cells at so many points. One of them has another text of this length at each."""
    every = [
        Period(start=index, state="wrong_value", expected="1", actual=f'"{index}{"t" * length}"')
        for index in range(number)
    ]
    same = Period(start=0, state="correct", expected='"1"', actual='"1"')
    gone = Period(start=30, state="absent", expected="", actual="")
    changing, turned = sample.cell("a", "x", *every), sample.cell("a", "y", same, omitted(21))
    cells = (changing, turned, sample.cell("b", "x", omitted(3), gone), RIGHT)
    return tuple(cell._replace(periods=tuple(run for run in cell.periods if run.start < number)) for cell in cells)


def omitted(start: int) -> Period:
    return Period(start=start, state="omission", expected="1", actual="")


VAST = sample.cell(
    "a", "z" * (compare_cells.MOST // 8), Period(start=0, state="wrong_value", expected="1", actual="2")
)._replace(attribute="z")
"""A cell that fits into no block."""


def long_series(number: int = NUMBER, length: int = compare_cells.BOUND // 12) -> Series:
    return series(*long_cells(number, length), number=number, headlines=(0.5, 0.5, 0.5, 0.5, 0.9))


def bodies(found: CompareData) -> list[dict[str, Any]]:
    """What the pieces append, after checking how."""
    start, end = "(self.COMPARE=self.COMPARE||[]).push(", ");\n"
    texts = [piece.content.decode("ascii") for piece in found.pieces]
    assert all(text.startswith(start) and text.endswith(end) for text in texts)
    parts = [json.loads(text.removeprefix(start).removesuffix(end)) for text in texts]
    assert [part["piece"] for part in parts] == list(range(len(parts)))
    assert [piece.path for piece in found.pieces] == [f"evals/waybills/compare-{n}.js" for n in range(len(parts))]
    return parts


def cells_at(block: dict[str, Any], place: int) -> dict[tuple[str, str], tuple[str, str | None, str | None]]:
    """What a block says of its cells at one of its points, but absent ones, as the script reads it."""
    cells = {}
    for document, _, label, _, runs, _ in block["cells"]:
        groups = [runs[at : at + 4] for at in range(0, len(runs), 4) if runs[at] <= place]
        if groups and compare_cells.STATES[groups[-1][1]] != "absent":
            _, state, *places = groups[-1]
            texts = block["texts"]
            values = [texts[text if isinstance(texts, list) else str(text)] for text in places]
            cells[block["documents"][document], label] = (compare_cells.STATES[state], values[0], values[1])
    return cells


def expected_at(one: Series, index: int) -> dict[tuple[str, str], tuple[str, str | None, str | None]]:
    return {
        (cell.document, cell.label): (run.state, written(run.expected), written(run.actual))
        for cell in one.cells.cells
        if cell.label != RIGHT.label and (run := cell.at(index)) is not None and run.state != "absent"
    }


def test_linked_points_are_in_the_page_and_all_others_in_files_beside_it():
    one = long_series()
    found = compare_data(one, [(19, 20)])
    assert found.page is not None
    embedded = [point for point in found.page["points"] if isinstance(point, dict)]
    places = [place for place, point in enumerate(found.page["points"]) if isinstance(point, dict)]
    assert {0, 4, 19, 20, 38, 39} <= set(places)
    assert {"0020 0021", "0005 0040", "0039 0040"} <= found.page["judged"].keys()
    assert (found.page["best"], len(found.page["points"]), found.choosable) == ("0005", NUMBER, NUMBER)
    assert len(json.dumps((embedded, found.page["block"]))) <= compare_cells.BOUND + 12 * len(embedded)
    for place, index in enumerate(places):
        assert cells_at(found.page["block"], place) == expected_at(one, index)
    pieces = bodies(found)
    assert len(pieces) > 2
    assert [point["slug"] for piece in pieces for point in piece["points"]] == [
        point.snapshot.slug for point in one.points
    ]
    index = 0
    for number, piece in enumerate(pieces):
        assert len(json.dumps(piece)) < 2 * compare_cells.BOUND
        assert piece["stamp"] == pieces[0]["stamp"]
        for key in ("documents", "fields"):
            assert piece["block"][key] == pieces[0]["block"][key]
        assert [(*cell[:4], cell[5]) for cell in piece["block"]["cells"]] == [
            (*cell[:4], cell[5]) for cell in pieces[0]["block"]["cells"]
        ]
        for place in range(len(piece["points"])):
            assert cells_at(piece["block"], place) == expected_at(one, index)
            listed = found.page["points"][index]
            assert (listed["piece"] if isinstance(listed, dict) else listed[5]) == number
            index += 1


def test_equal_values_have_one_number_in_all_files():
    first, *_, last = (piece["block"] for piece in bodies(compare_data(long_series(), ())))
    assert first["cells"][0][4][2] == last["cells"][0][4][2]  # 1 is expected of x at all points,
    assert first["cells"][1][4][2] != last["cells"][1][4][2]  # and of y first "1", which looks the same, then 1


def test_another_point_changes_only_the_last_file():
    before, after = compare_data(long_series(NUMBER - 1), ()).pieces, compare_data(long_series(), ()).pieces
    assert len(after) >= len(before) > 2
    assert before[:-1] == after[: len(before) - 1]
    assert before[-1] != after[len(before) - 1]


def test_files_hold_the_newest_points_of_an_eval_that_has_too_many():
    one = long_series(length=compare_cells.MOST // 20)
    found = compare_data(one, ())
    assert found.page is not None
    assert NUMBER > found.choosable > 0
    slugs = [point["slug"] for piece in bodies(found) for point in piece["points"]]
    assert slugs == [point.snapshot.slug for point in one.points[-found.choosable :]]
    assert found.page["points"][1][5] is None
    html = html_with(renderer_of(SiteInfo("t", "1")), compare_page(one, found))
    assert f"{found.choosable} of {NUMBER} can be compared with each other here" in html


def test_an_eval_with_too_many_values_names_its_points_and_holds_no_values():
    found = compare_data(series(VAST, number=NUMBER), ())
    assert found.page is not None
    assert (found.page["block"], found.pieces, found.choosable) == (None, (), 0)
    assert [point[5] for point in found.page["points"]] == [None] * NUMBER
    assert compare_data(series(number=1), ()) == CompareData(None)


def test_a_page_says_that_an_eval_has_too_many_values_for_it():
    html = html_of(series(VAST))
    assert "this eval has too many values for a page" in html
    assert "<code>sitegen compare waybills@A waybills@B</code>" in html
    spaced = replace(series(VAST), info=replace(series(VAST).info, id="way bills"))
    assert "<code>sitegen compare &#39;way bills&#39;@A &#39;way bills&#39;@B</code>" in html_of(spaced)


VERDICT = ChangeVerdict(
    decision="cannot tell",
    why="flips may be chance",
    change=-0.02,
    interval=Ends(low=-0.1, high=0.06),
    unit="fields",
    n=14,
    fixed=1,
    broken=4,
    p_value=0.4,
    counted=(1, 4),
    detectable=0.11,
)


@in_table
def test_the_answer_is_the_word_for_the_change_with_its_reason_and_its_interval(changed, words):
    said, states_flips = compare.answer(series(), (0, 1), None if changed is None else replace(VERDICT, **changed))
    assert (said.striptags(), states_flips) == (words, "1 value fixed" in words)


def test_edits_of_instructions_stand_between_the_points_around_them_and_git_shows_them_as_one_diff():
    one = sample.series(20)
    commits = compare.editing_commits(one)
    assert [(row.point, len(row.paths)) for row in commits] == [(2, 1), (7, 2), (12, 1), (17, 1)]
    first, last = one.points[5].snapshot.commit, one.points[-1].snapshot.commit
    data = compare_data(one, ())
    command = compare.CompareView(series=one, data=data).diff_of(5, commits[1:3])
    assert (
        command == f"git diff {first.short} {last.short} -- .claude/instructions/waybill.md 'prompts/hazard classes.md'"
    )
    found = data.page
    assert found is not None
    assert [(place, len(paths)) for place, _, _, _, paths in found["edits"]] == [(2, 1), (7, 2), (12, 1), (17, 1)]
    assert found["paths"] == [".claude/instructions/waybill.md", "'prompts/hazard classes.md'"]


def test_several_edits_of_a_file_are_one_diff_from_its_first_text_to_its_last():
    one = sample.series(20)
    wanted: dict[str, tuple[Any, Any]] = {}
    for edit in (edit for point in one.points[6:] for edit in point.edits):
        wanted[edit.path] = (wanted.get(edit.path, (edit.old,))[0], edit.new)
    assert {edit.path: (edit.old, edit.new) for edit in edits_since(one, 5)} == wanted
    assert max(Counter(edit.path for point in one.points[6:] for edit in point.edits).values()) > 1
    (edit, *_), last = one.points[7].edits, one.points[-1]
    moved = replace(sample.edit(99, "prompts/moved.md"), status="renamed", old=one.points[17].edits[0].new)
    two = replace(one, points=(*one.points[:-1], replace(last, edits=(*last.edits, moved))))
    found = {each.path: (each.status, each.old, each.new) for each in edits_since(two, 5)}
    assert edit.path not in found
    assert found["prompts/moved.md"] == ("combined", edit.old, moved.new)
    patch = b"@@ -1 +1 @@\n-State the <b>area</b>.\n+State it in ha.\n"
    page = compare_page(one, compare_data(one, ()), lambda edits, _: draw_few(edits, [patch] * len(edits)))
    html = html_with(renderer_of(SiteInfo("t", "1")), page)
    assert "State the &lt;b&gt;" in re.sub("</?(del|ins)>", "", html)
    ids = re.findall(r'<tr class="hk" id="(\w+)"', html)
    assert len(ids) == len(set(ids)) == html.count('<div class="view lines on uni" data-table="60">') > 0


def test_variants_and_models_of_an_output_are_sides_and_those_of_one_sort_are_judged():
    answerers = list(product(("short", "polite"), ("mini", "large")))
    rows = (
        {"id": f"q{number}", "variant": variant, "model": model, "passed": number > place, "output": f"<{number}>"}
        for number in range(8)
        for place, (variant, model) in enumerate(answerers)
    )
    result = scored("judged", {"r.jsonl": list(rows)})
    one = sample.series(2)
    points = (one.points[0], replace(one.points[1], scorecard=result.scorecard))
    info = EvalInfo("qa", "Questions", kind="judged")
    found = answers_data(replace(one, info=info, points=points, specs=scorer("judged").metrics), result, 7, {"q1"}).page
    assert found is not None
    both = [(f"{variant} · {model}", f"variant={variant},model={model}") for variant, model in answerers]
    alone = [("variant", "short"), ("variant", "polite"), ("model", "mini"), ("model", "large")]
    named = [(point["label"], point["slug"]) for point in found["points"]]
    assert named == [*both, *((f"{axis}: {value}", f"{axis}={value}") for axis, value in alone)]
    sorts = Counter(re.sub("=[a-z]+", "", pair) for pair in found["judged"])
    assert (sorts["variant,model variant,model"], sorts["variant variant"], sorts["model model"]) == (6, 1, 1)
    assert "0 cases better, 3 worse" in found["judged"]["variant=short,model=mini variant=polite,model=large"][0]
    paged = {found["block"]["documents"][place]: page for place, page in found["block"]["pages"].items()}
    assert paged == {name: "q1" for name in found["block"]["documents"] if name.startswith("q1")}
