"""Charts as paths in data coordinates."""

import re
from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.analysis.regressions import steps_of
from sitegen.model.changes import Change, DeltaParts, Ends, MetricDelta, MetricStep, Overlap
from sitegen.pages.html import charts, tables
from sitegen.pages.trend import trend_chart
from tests import pages_sample as sample
from tests.rows import in_table


@pytest.mark.parametrize(
    ("drawn", "expected"),
    [
        (
            charts.Plot().line([0.5, 0.75, None, 0.25, 1.0]),
            charts.ChartLine("M0 500L1 250M3 750L4 0", ""),
        ),  # a gap, never zero
        (charts.Plot().line([None, 0.5, None]), charts.ChartLine("", "M1 500h0")),  # a dot, without a neighbour
        (charts.Plot().line([0.5]), charts.ChartLine("", "M0 500h0")),
        (charts.Plot().line([None, None]), charts.ChartLine("", "")),
        (charts.Plot(Ends(1.0, 5.0)).line([1.0, 3.0, 5.0]), charts.ChartLine("M0 1000L1 500L2 0", "")),
        (charts.spark([None, None]), charts.Spark("", "", None)),
        (charts.spark([]), charts.Spark("", "", None)),
        (
            charts.spark([0.2, 0.4, 0.3]),
            charts.Spark("M2 26L60 2L118 14", "M2 26L60 2L118 14L118 28L2 28Z", (118.0, 14.0)),
        ),
        (charts.spark([0.7]).end, (118.0, 26.0)),
        (charts.stack([(1, 0, 3, 0)], 4), ("M0 1000V750", "", "M0 750V0", "")),  # on top of each other
        (charts.stack([], 4), ()),
        (charts.Plot().staircase([None, 0.5, 0.5, 0.75, 0.75]), "M1 500H3V250H4"),
        (charts.Plot().staircase([None, None]), ""),
        ([charts.bar_width(points) for points in (1, 2, 10, 60, 500)], [0.06, 0.1, 0.5, 0.8, 1.0]),
    ],
)
def test_values_are_drawn_as_paths(drawn: object, expected: object):
    assert drawn == expected


def test_a_sparkline_has_only_the_corners_of_its_line_and_of_very_many_values_the_extremes():
    assert charts.spark([1, 1, 1, 1, 0]).line == "M2 2L89 2L118 26"
    many = [float(index % 100 == 7) for index in range(10_000)]
    assert charts.spark(many).line.count("L") < 500
    assert charts.spark(many).line.count(" 2L") == 100


def test_a_heat_map_shows_what_changed_and_what_stays_wrong_and_joins_equal_neighbours():
    rows: list[list[float | None]] = [[0.5, 0.5, None, 1.0, 1.0], [0.0, 0.2, 0.1, 0.0, 0.0]]
    assert tables.painted(rows) == (
        "M-.5 .5m2 0h1",
        "M-.5 .5m0 0h2",
        "M-.5 .5m4 0h1",
        "M-.5 .5m3 0h1m-3 1h1",
        "M-.5 .5m2 1h2",
    )
    assert tables.painted(rows[1:], older=2) == ("", "M-.5 .5m1 0h2", "", "", "M-.5 .5m3 0h1")  # averages of groups


def test_numbers_beyond_the_range_that_a_first_run_suggests_are_inside_the_chart():
    assert trend_chart._shown_range([[100.0, 120.0]], Ends(0.0, 100.0)) == Ends(95.0, 120.0)
    assert trend_chart._shown_range([[1.0, -1.0]], Ends(0.0, 1.0)) == Ends(-1.0, 1.0)


@in_table
def test_ticks_are_round_numbers_inside_the_range(low, high, wanted, ticks):
    assert [*charts.nice_ticks(low, high, wanted)] == ticks


def test_the_script_of_a_chart_is_given_every_round_step_that_its_zoom_can_need():
    assert charts.round_steps(0.004, 0.3) == pytest.approx((0.005, 0.01, 0.02, 0.025, 0.05, 0.1, 0.2, 0.25, 0.5))
    assert charts.round_steps(0.5, 21) == (0.5, 1, 2, 2.5, 5, 10, 20, 25)
    assert charts.round_steps(1) == (1,)


def test_the_chart_of_one_point_has_one_label_in_the_middle():
    chart = trend_chart.trend(sample.view_of(sample.trend(sample.single())))
    assert chart.size == 1
    assert [(tick.at, tick.anchor) for tick in chart.days] == [("50.00%", "middle")]
    assert all(line.path == "" and line.lone.startswith("M0 ") for line in chart.lines)


def test_a_long_line_goes_through_the_extremes_of_each_group_and_through_all_of_the_newest():
    values = [5, 1, 9, 3, None, 7, 7, 2, 4, 4]
    assert charts.extremes(values, 4, 2) == [0, 1, 2, 3, 4, 5, 7, 8, 9]
    assert charts.extremes([1, 2, 3, 4, 5, 6, 7], 3, 0) == [0, 1, 3, 4, 6]  # the first group is the smaller one
    assert charts.extremes(values, 1, 2) == range(10)
    assert charts.Plot(Ends(0, 10), older=8, size=4).line(values).path == (
        "M0 500L1 900L2 100L3 700M5 300L7 800L8 600L9 600"
    )


def test_a_long_band_is_the_envelope_of_each_group():
    spans = [Ends(0.5, 0.6), Ends(0.2, 0.4), None, None, Ends(0.3, 0.9)]
    assert (
        charts.Plot(older=4, size=2).band(spans)
        == "M0.95 400L1.05 400L1.05 800L0.95 800ZM3.95 100L4.05 100L4.05 700L3.95 700Z"
    )


def test_the_first_mark_of_each_group_is_drawn_and_every_newer_one():
    marked = (index in (0, 2, 3, 4, 7, 8, 9) for index in range(10))
    assert list(charts.Plot(older=8, size=4).firsts(marked)) == [0, 4, 8, 9]


def test_a_long_chart_draws_the_newest_two_hundred_and_groups_the_others():
    view = sample.view_of(sample.trend(sample.long()))
    chart, whole = trend_chart.trend(view), trend_chart.trend(view, whole=True)
    assert chart.lines == whole.lines  # both values of each pair
    assert (re.findall(r"M(\d+) ", "".join(chart.errors))[0], chart.linked) == ("300", {})
    assert (re.findall(r"M([\d.]+) ", chart.grouped_errors[0])[:3], chart.bars[1]) == (["0", "1", "2"], 1.0)
    columns: Any = (chart.island, whole.island)
    for name in ("values", "now", "changes"):
        newest, every = (island[name] for island in columns)
        assert [column[300:] for column in every] == newest
    assert [len(island["spans"]) for island in columns] == [200, 500]


def test_the_range_reaches_to_ticks_beyond_all_values_targets_and_intervals():
    view = sample.view_of(sample.trend(sample.series(10)))
    chart = trend_chart.trend(view)
    assert chart.island["y"] == pytest.approx([0.2, 1.0])
    assert (chart.top, chart.height) == (0.0, 800.0)


def test_a_band_reaches_from_low_to_high_and_has_gaps():
    spans = [Ends(0.25, 0.5), Ends(0.5, 1.0), None, Ends(0.0, 0.5)]
    assert charts.Plot().band(spans) == "M0 500L1 0L1 500L0 750ZM2.95 500L3.05 500L3.05 1000L2.95 1000Z"


def test_the_script_knows_which_changes_the_outputs_alone_made():
    first, second, third = sample.series(3).points
    delta = Change(Overlap(1), (MetricDelta("f1", 0.1, DeltaParts(0.1, 0.0, 0.0)),) * 3)
    series = replace(sample.series(3), points=(first, replace(second, change=delta), third))
    assert trend_chart.trend(sample.view_of(sample.trend(series))).island["by_outputs"] == [0, 1, 0]


def test_a_step_stands_between_its_levels_and_a_single_bad_run_on_its_point():
    series = sample.series(10)
    step = steps_of(sample.series())[0]
    lost = MetricStep(name="f1", before=0.8, after=0.74, points=-6.0)
    steps = (
        replace(step, at=4, status="open", metrics=(lost,)),
        replace(step, at=7, status="blip", metrics=(lost,)),
        replace(step, at=8, status="better", metrics=(MetricStep(name="f1", before=0.74, after=0.79, points=5.0),)),
    )
    view = sample.view_of(sample.trend(series, steps=steps))
    drawn = trend_chart.trend(view).steps
    marks = [(step.place, trend_chart.STEPS[step.status][0], trend_chart.step_text(step, view)) for step in drawn]
    assert marks == [
        (3.5, "worse", "regression: mean F1 −0.060 at iteration-005 after “Correct the ground truth of two waybills”"),
        (7, "blip", "bad run: F1 −0.060 at iteration-008"),
        (7.5, "better", "better: mean F1 +0.050 at iteration-009 after “Correct the ground truth of two waybills”"),
    ]


@in_table
def test_two_neighbours_have_labels_only_where_all_have(points, labelled):
    days = trend_chart.trend(sample.view_of(sample.trend(sample.series(points)))).days
    assert " ".join(tick.text.partition(" ")[0] for tick in days) == labelled


def test_no_line_joins_values_that_cannot_be_compared() -> None:
    values = [0.8, 0.9, 0.4, None, 0.5, 0.6]
    assert charts.Plot(breaks=(2, 5)).line(values) == charts.ChartLine("M0 200L1 100", "M2 600h0M4 500h0M5 400h0")
    assert charts.Plot().line(values).path == "M0 200L1 100L2 600M4 500L5 400"
    assert (
        charts.Plot(breaks=(2, 5)).staircase([0.8, 0.9, 0.4, 0.4, 0.5, 0.6]) == "M0 200H1V100H1M2 600H4V500H4M5 400H5"
    )
    assert charts.spark([0.8, 0.9, 0.4, 0.5], breaks=(2,)).line.count("M") == 2
    ends = [Ends(value, value + 0.1) for value in (0.1, 0.2, 0.5, 0.6)]
    assert charts.Plot(breaks=(2,)).band(ends).count("M") == 2
