"""Ground truth beside output, as one tree."""

import re

from msgspec.structs import replace

from sitegen.engine.worker_context import Renderer
from sitegen.model.outcomes import Judgement, Outcome, Value
from sitegen.model.scorecards import AlignmentPanel, AlignmentRow
from sitegen.pages.report.tree import VALUES, has_tree, tree_page
from tests import pages_sample as sample


def judged(outcome: Outcome, path: str, expected: Value, actual: Value, *, item: str = "", note: str = "") -> Judgement:
    return Judgement(
        document="",
        path=path,
        attribute=re.sub(r"\d+", "", path),
        outcome=outcome,
        expected=expected,
        actual=actual,
        note=note,
        named_path=f"cargo[{item}].name" if item else "",
    )


JUDGED = [
    judged("correct", "port", "Oslo", "Oslo"),
    judged("correct", "cargo[0].name", "Cod", "cod", item="Cod"),
    replace(judged("wrong_value", "cargo[0].lots[0].mass", 5, 7), named_path="cargo[Cod].lots[A].mass"),
    judged("omission", "cargo[1].name", "Ling", None, item="Ling", note="missing item"),
    judged("true_negative", "cargo[2].name", None, None),
    judged("hallucination", "cargo[1].name", None, "Eel", item="Eel", note="extra item"),
]
PAIRED = AlignmentPanel(
    document="",
    path="cargo",
    algorithm="greedy",
    threshold=0.8,
    rows=(
        AlignmentRow(expected=0, actual=3, similarity=0.9, paired_by="key", label="Cod"),
        AlignmentRow(expected=2, actual=2, similarity=0.5, paired_by="agreement"),
        AlignmentRow(expected=1, label="Ling"),
        AlignmentRow(actual=1, label="Eel"),
    ),
)


def test_items_stand_as_they_were_paired_and_open_where_something_in_them_is_wrong():
    result = replace(sample.result(JUDGED), panels=(PAIRED,))
    series = sample.series(2)
    page = tree_page(series.info, series.points[1].snapshot, result)
    assert (page.path, has_tree(series.info, result), has_tree(series.info, replace(result, panels=()))) == (
        "evals/waybills/0002-tree.html",
        True,
        False,
    )
    html = str(sample.view_of(page).tree_rows)
    heads = [
        (bool(is_open), re.sub("<[^>]*>", "", head))
        for is_open, head in re.findall(r"<details( open)?><summary>(.*?)</summary>", html)
    ]
    assert heads == [
        (True, "cargo 3 of 5 wrong"),
        (True, "cargo[Cod] [0], in the output [3], paired by key 1 of 2 wrong"),
        (True, "lots 1 of 1 wrong"),
        (True, "cargo[Cod].lots[A] 1 of 1 wrong"),
        (False, "cargo[Ling] missing from the output"),
        (False, "cargo[2] [2], in the output [2], paired by agreement 1 field, all right"),
        (False, "cargo[Eel] only in the output"),
    ]
    rows = [re.sub("<[^>]*>", " ", row).split() for row in re.findall(r"<tr.*?(?=<tr|</table>)", html)]
    assert rows == [
        ["port", "Oslo", "Oslo"],
        ["name", "Cod", "cod"],
        ["mass", "Wrong", "value", "5", "7"],
        ["name", "Omission", "Ling", "missing"],
        ["name", "blank", "blank"],
        ["name", "Hallucination", "extra", "item", "Eel"],
    ]


def test_the_page_is_bounded_and_shows_hostile_names_as_text():
    many = [replace(JUDGED[1], path=f"cargo[{n}].name", named_path="") for n in range(VALUES)]
    hostile = replace(JUDGED[1], document=sample.SCRIPT, path="cargo[0].x", named_path=f"cargo[{sample.SCRIPT}].x")
    result = replace(sample.result([hostile, *many]), panels=(PAIRED,))
    series = sample.series(2)
    page = tree_page(series.info, series.points[1].snapshot, result)
    html = Renderer(sample.SITE).render(page).decode()
    assert sample.view_of(page).more == 1
    assert "1 more values are not shown" in html
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html
