"""Two points side by side: what the page says without a script, and what it gives the script to say the rest."""

import json

import pytest

from sitegen.analysis.cells import fate_of
from sitegen.model.cells import Cell, CellMap, Run
from sitegen.model.series import Series
from sitegen.model.site import SiteInfo
from sitegen.pages.compare import compare_data as data
from sitegen.pages.compare.compare_data import compare_data
from sitegen.pages.compare.page import (
    ROWS,
    ByField,
    CellSide,
    ComparedCell,
    CompareView,
    FateCells,
    PointPair,
    Valued,
    compare_page,
)
from sitegen.render.environment import Renderer, find_templates
from tests import pages_sample as sample


def series(*cells: Cell, number: int = 3, headlines: tuple[float | None, ...] = (0.5, 0.7, 0.6)) -> Series:
    some = [
        point._replace(
            scorecard=point.scorecard._replace(
                metrics=(point.scorecard.metrics[0]._replace(value=value), *point.scorecard.metrics[1:])
            ),
            now=None,
        )
        for point, value in zip(sample.points(number), (*headlines, *[0.4] * number), strict=False)
    ]
    return Series(
        sample.WAYBILLS, sample.history("waybills", tuple(some)), sample.SPECS, tuple(some), CellMap(number, cells)
    )


def view(one: Series) -> CompareView:
    found = compare_page(one).view
    assert isinstance(found, CompareView)
    return found


BROKEN = Cell(
    "a", "rows[0].x", "rows[].x", False, (Run(0, "correct", '"1"', '"1"'), Run(2, "wrong_value", '"2"', '"1"'))
)
STILL = Cell("a", "name", "name", False, (Run(0, "omission", '"n"', ""),))
EXTRA = Cell("a", "rows[3].x", "rows[].x", True, (Run(0, "hallucination", "", "9"), Run(2, "absent", "", "")))
GONE = Cell("b", "name", "name", False, (Run(0, "omission", "5", ""), Run(2, "absent", "", "")))
RIGHT = Cell("a", "fine", "fine", False, (Run(0, "correct", "1", "1"),))


def test_the_newest_point_is_held_against_the_one_before_it():
    one = series(BROKEN, STILL, EXTRA, GONE, RIGHT)
    before, after = one.points[1].scorecard, one.points[2].scorecard
    (pair,) = view(one).pairs
    rows, name = "fields/rows-.x-4b117dd51dd6967a12f58d239961e592.html", "fields/name.html"
    assert pair == PointPair(
        title="The newest point and the one before it",
        before=one.points[1].snapshot,
        after=one.points[2].snapshot,
        metrics=tuple(Valued(spec, before.metric(spec.name), after.metric(spec.name)) for spec in one.specs),
        errors=tuple(zip(before.counts[4:], after.counts[4:], strict=True)),
        lists=(
            FateCells(
                "broken",
                1,
                (
                    ComparedCell(
                        "rows[0].x", "a", False, rows, "2", "1", CellSide("correct", "1"), CellSide("wrong_value", "1")
                    ),
                ),
                (ByField("rows[].x", rows, 1),),
            ),
            FateCells(
                "fixed",
                1,
                (
                    ComparedCell(
                        "rows[3].x",
                        "a",
                        True,
                        rows,
                        None,
                        None,
                        CellSide("hallucination", "9"),
                        CellSide("absent", None),
                    ),
                ),
                (ByField("rows[].x", rows, 1),),
            ),
            FateCells(
                "still_wrong",
                1,
                (
                    ComparedCell(
                        "name", "a", False, name, "n", None, CellSide("omission", None), CellSide("omission", None)
                    ),
                ),
                (ByField("name", name, 1),),
            ),
            FateCells("appeared", 0, (), ()),
            FateCells(
                "vanished",
                1,
                (
                    ComparedCell(
                        "name", "b", False, name, "5", None, CellSide("omission", None), CellSide("absent", None)
                    ),
                ),
                (ByField("name", name, 1),),
            ),
        ),
        by_truth=1,
        counted=(1, 1),
        p_value=1.0,
        common=1,
        only_before=1,
        only_after=0,
        intervals=(one.points[1].interval, one.points[2].interval),
    )


def test_the_script_is_told_what_becomes_of_a_cell_from_any_state_to_any_other():
    found = compare_data(series(BROKEN))
    assert found is not None
    for held, table in enumerate(found["fates"]):
        for before, row in zip(data.STATES, table, strict=True):
            for after, fate in zip(data.STATES, row, strict=True):
                runs = Run(0, before, "", ""), Run(0, after, "", "")
                assert (None if fate is None else data.FATES[fate]) == fate_of(*runs, bool(held))


def test_points_without_a_common_document_are_not_tested_for_chance():
    one = series(
        Cell("a", "x", "x", False, (Run(0, "omission", "1", ""), Run(2, "absent", "", ""))),
        Cell("b", "x", "x", False, (Run(2, "omission", "1", ""),)),
    )
    (pair,) = view(one).pairs
    assert (pair.p_value, pair.common, pair.only_before, pair.only_after) == (None, 0, 1, 1)
    assert (pair.number("vanished"), pair.number("appeared"), pair.number("fixed")) == (1, 1, 0)


def test_the_script_is_given_every_cell_that_was_ever_wrong():
    one = series(BROKEN, STILL, EXTRA, GONE, RIGHT)
    found = compare_data(one)
    assert found is not None
    points = found.pop("points")
    fates = found.pop("fates")
    assert [[len(row) for row in table] for table in fates] == [[7] * 7] * 2
    assert found == {
        "metrics": [["F1", 1], ["Precision", 1], ["Recall", 1], ["Field accuracy", 1]],
        "noun": "documents",
        "documents": ["a", "b"],
        "held": [[0], [0, 2]],
        "best": 1,
        "fields": [["rows[].x", "rows-.x-4b117dd51dd6967a12f58d239961e592.html", 0], ["name", "name.html", 1]],
        "below": [[0.001, ()], [0.01, ()], [0.05, ()]],
        "errors": ["omission", "hallucination", "wrong value", "format error"],
        "letters": ["O", "H", "W", "F"],
        "cells": [
            [0, 0, "rows[0].x", 0, [0, 0, 0, 0, 2, 4, 1, 0]],
            [0, 1, "name", 0, [0, 2, 2, 3]],
            [0, 0, "rows[3].x", 1, [0, 3, 3, 4, 2, 6, 3, 3]],
            [1, 1, "name", 0, [0, 2, 5, 3, 2, 6, 3, 3]],
        ],
        "texts": ["1", "2", "n", None, "9", "5"],
    }
    assert points[0] == {
        "slug": "0001",
        "label": "iteration-001",
        "commit": f"../../commits/{one.points[0].snapshot.commit.sha[:12]}.html",
        "short": one.points[0].snapshot.commit.short,
        "day": "2025-01-05",
        "subject": one.points[0].snapshot.commit.subject,
        "again": 0,
        "values": [one.points[0].scorecard.metric(spec.name) for spec in one.specs],
        "errors": tuple(one.points[0].scorecard.counts[4:]),
        "ends": [0.451, 0.786],
    }


def test_what_does_not_fit_is_the_oldest_points(monkeypatch: pytest.MonkeyPatch):
    runs = tuple(Run(index, "wrong_value", "1", f'"{index}"') for index in range(40))
    one = series(Cell("a", "x", "x", False, runs), number=40)
    whole = compare_data(one)
    assert whole is not None
    monkeypatch.setattr(data, "BOUND", len(json.dumps(whole, ensure_ascii=False)) - 1)
    half = compare_data(one)
    assert half is not None
    assert half["points"] == whole["points"][20:]
    assert half["cells"][0][4][:8] == [0, 4, 0, 1, 1, 4, 0, 2]
    assert (half["held"], half["texts"][:3]) == ([[0]], ["1", "20", "21"])
    monkeypatch.setattr(data, "BOUND", 10)
    assert compare_data(one) is None


def test_what_is_left_out_is_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(data, "BOUND", 10)
    cells = [
        Cell("", f"rows[{index}].x", "rows[].x", False, (Run(0, "omission", "1", ""),)) for index in range(ROWS + 7)
    ]
    one = series(*cells)
    html = Renderer([find_templates()], SiteInfo("t", "1")).render(compare_page(one)).decode()
    assert "7 more are not listed here." in html
    assert "this eval has too many cells for a page" in html
    assert "<code>sitegen compare waybills@A waybills@B</code>" in html


def test_names_and_values_are_text_and_nothing_else():
    one = series(
        *(Cell(text, text, text, False, (Run(0, "wrong_value", f'"{text}"', f'"{text}x"'),)) for text in sample.NASTY)
    )
    html = Renderer([find_templates()], SiteInfo("t", "1")).render(compare_page(one)).decode()
    assert "<script>alert" not in html
    assert html.count("</script>") == html.count("<script")
