"""Ground truth beside output, as one tree."""

import re

from msgspec.structs import replace

from sitegen.engine.worker_context import Renderer
from sitegen.model.outcomes import Judgement, Outcome, Value
from sitegen.model.scorecards import AlignmentPanel, AlignmentRow
from sitegen.pages.report.tree import VALUES, tree_page
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
