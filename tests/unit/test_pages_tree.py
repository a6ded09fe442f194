"""Ground truth beside output, as one tree."""

import pytest
from msgspec.structs import replace

from sitegen.engine.worker_context import Renderer
from sitegen.pages.report.discrepancies import error_groups, placed_error
from sitegen.pages.report.tree import VALUES, tree_page, value_tree
from tests import pages_sample as sample

NAMED = sample.judgement("cargo[0].name", "correct", "Cod", "cod")


def test_the_page_is_bounded_and_shows_hostile_names_as_text():
    many = [replace(NAMED, path=f"cargo[{n}].name", named_path="") for n in range(VALUES)]
    hostile = replace(NAMED, document=sample.SCRIPT, path="cargo[0].x", named_path=f"cargo[{sample.SCRIPT}].x")
    result = sample.result([hostile, *many])
    series = sample.series(2)
    page = tree_page(series.info, series.points[1].snapshot, result)
    html = Renderer(sample.SITE).render(page).decode()
    assert sample.view_of(page).more == 1
    assert "1 more values are not shown" in html
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html


@pytest.mark.parametrize(("masses", "guess"), [(("7", "5"), " (perhaps cargo[0], by 2 of 3 values)"), (("7", "7"), "")])
def test_an_extra_item_names_the_missing_one_that_alone_has_most_of_its_values(masses, guess):
    names = ("mass", "port", "name")
    of_items = [
        sample.judgement(f"cargo[{at}].{name}", "omission", value, note="missing item")
        for at, mass in enumerate(masses)
        for name, value in zip(names, (mass, "Oslo", "Ling"), strict=True)
    ]
    for name, value in zip(names, ("7", "Oslo", "Eel"), strict=True):
        of_items.append(sample.judgement(f"cargo[0].{name}", "hallucination", None, value, note="extra item"))
    items = value_tree(of_items, sample.result(of_items)).nodes["cargo"].nodes.values()
    assert [node.guess for node in items] == ["", "", guess]
    assert error_groups([*map(placed_error, of_items)], [True] * 9, {})[-1].whole == f"not expected{guess}"
