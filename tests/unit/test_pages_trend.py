"""The trend page of an eval as a view."""

import json
import re
from itertools import cycle, islice

import pytest
from markupsafe import Markup
from msgspec.structs import replace

from sitegen.analysis.noise.repeats import repeat_groups
from sitegen.analysis.noise.samples import interval_of
from sitegen.analysis.regressions import steps_of
from sitegen.model.changes import DeltaParts, FlipRate, MetricDelta
from sitegen.model.metrics import Counts, MetricSpec
from sitegen.model.outcomes import Flips
from sitegen.model.scorecards import FieldScore
from sitegen.model.series import Series
from sitegen.model.timeline import Edit
from sitegen.pages import links
from sitegen.pages.compare import errors
from sitegen.pages.labels import DisplayedChange
from sitegen.pages.trend import trend_rows
from sitegen.pages.trend.page import HEAT_ROWS, TrendView, heat_label, noise_of_repeats
from sitegen.pages.trend.trend_rows import older_rows
from sitegen.project import Options
from sitegen.questions.study import read_series
from tests import pages_sample as sample
from tests.sites import renderer_of


def test_an_eval_without_outputs_has_an_empty_page():
    view = sample.view_of(sample.trend(sample.none_yet()))
    assert (view.points, view.values, view.fields, view.heat) == ((), [], (), [])


def test_a_change_is_undefined_where_either_point_is():
    changes = sample.view_of(sample.trend(sample.series())).changes
    assert [change[0].amount is None for change in changes[29:33]] == [False, True, True, False]
    assert changes[0] == ()


def test_a_point_names_what_is_unusual_about_it():
    rows = trend_rows.iterations(sample.view_of(sample.trend(sample.series()))).splitlines()[::-1]
    remarks = {index: re.findall('<span class="pill (?:bad|warn)">(.*?)</span>', row) for index, row in enumerate(rows)}
    assert {index: found[0] for index, found in remarks.items() if found} == {
        17: "unreadable",
        24: "ground truth changed, field mapping changed",
        30: "ground truth unreadable",
        51: "settings changed",
    }


def test_every_metric_is_named_and_the_best_point_is_the_earliest_with_the_best_value():
    page = sample.trend(sample.series())
    view, html = sample.view_of(page), renderer_of(sample.SITE).render(page).decode()
    for k, (spec, values) in enumerate(zip(view.specs, zip(*view.values, strict=True), strict=True)):
        best = max(value for value in values if value is not None)
        assert view.best_of(k)[:2] == (view.points[values.index(best)], best)
        assert f'aria-label="{spec.label} over' in html or k < 3


def test_metrics_of_another_range_are_not_drawn_on_the_headline_axis():
    series = sample.series(3)
    quality = MetricSpec(name="quality", label="Quality", explanation="", low=1.0, high=5.0)
    view = sample.view_of(sample.trend(replace(series, specs=(series.specs[0], series.specs[1], quality))))
    assert view.drawn == 2


def test_targets_know_whether_they_are_met():
    view = sample.view_of(sample.trend(sample.series()))
    found = [(spec.label, least, met) for spec, least, met in view.targets]
    assert found == [("F1", 0.9, True), ("Recall", 0.85, True)]


def _series_of_fields(*counts_by_point: dict[str, Counts]) -> Series:
    base = sample.series(len(counts_by_point))
    points = tuple(
        replace(point,
            scorecard=replace(point.scorecard, fields=tuple(FieldScore(*pair) for pair in fields.items()))
        )
        for point, fields in zip(base.points, counts_by_point, strict=True)
    )  # fmt: skip
    return replace(base, points=points)


def test_fields_are_counted_over_all_points_and_old_ones_come_last():
    first = {"gone": Counts(omission=1, fn=1), "a": Counts(tp=3, tn=1)}
    second = {"a": Counts(tp=2, wrong_value=2, fp=2, fn=2), "b": Counts()}
    view = sample.view_of(sample.trend(_series_of_fields(first, second)))
    assert view.fields == (("a", second["a"], 2, 8), ("gone", None, 1, 1))  # b was judged at no point
    assert (view.heat, len(view.moved)) == ([], 1)  # one row alone is no map


def test_a_heat_map_shows_the_field_that_changed_last_first_and_no_steady_ones():
    right, wrong = Counts(tp=1), Counts(omission=1, fn=1)
    outcomes = {"steady": "rrrr", "first": "rwww", "never": "wwww", "last": "rrrw", "often": "rwrw", "gone": "ww  "}
    points = [
        {name: right if letters[k] == "r" else wrong for name, letters in outcomes.items() if letters[k] != " "}
        for k in range(4)
    ]
    view = sample.view_of(sample.trend(_series_of_fields(*points)))
    assert [name for name, _ in view.heat] == ["often", "last", "first"]
    assert view.heat[1][1] == (0.0, 0.0, 0.0, 1.0)
    assert len(view.fields) - len(view.moved) == 3


def test_a_heat_map_of_many_fields_leaves_out_what_changed_least():
    before = {f"f{i:03}": Counts(tp=1) for i in range(HEAT_ROWS + 40)}
    after = before | {f"f{i:03}": Counts(omission=1) for i in range(40, 100)}
    view = sample.view_of(sample.trend(_series_of_fields(before, after)))
    assert [name for name, _ in view.heat] == [f"f{i:03}" for i in range(40, 100)]
    assert (len(view.fields), len(view.moved)) == (HEAT_ROWS + 40, 60)


def test_fields_of_one_section_stand_below_the_share_of_all_of_it():
    right, wrong = Counts(tp=1), Counts(omission=1, fn=1)
    before = {"walls[].area": right, "walls[].name": wrong, "fuel": right, "walls[].kept": right, "doors[].name": right}
    after = before | {"walls[].area": wrong, "walls[].name": right, "fuel": wrong, "doors[].name": wrong}
    view = sample.view_of(sample.trend(_series_of_fields(before, before, after)))
    drawn = [name for name, _ in view.heat]
    assert [heat_label(name, drawn) for name in drawn] == ["walls", "area", "name", "fuel", "doors[].name"]
    assert view.heat[0][1] == (1 / 3, 1 / 3, 1 / 3)
    html = renderer_of(sample.SITE).render(sample.trend(_series_of_fields(before, before, after))).decode()
    assert '<li class="g" title="walls"><bdi>walls</bdi><li title="walls[].area"><bdi>area</bdi>' in html.replace(
        "\n", ""
    )


def test_the_clocks_part_where_today_s_truth_gives_other_numbers():
    view = sample.view_of(sample.trend(sample.series()))
    assert view.apart == 23
    assert view.rules_changes == [
        (view.points[24], "ground truth changed, field mapping changed"),
        (view.points[51], "settings changed"),
    ]
    now = sample.series().points[3].now
    assert now is not None
    assert view.now[3] == tuple(now.metric(name) for name in ("f1", "precision", "recall"))


def test_clocks_that_never_part_have_no_values_of_their_own():
    series = sample.series()
    points = tuple(replace(point, now=point.scorecard) for point in series.points)
    view = sample.view_of(sample.trend(replace(series, points=points)))
    assert (view.apart, view.now, len(view.rules_changes)) == (0, [], 2)


def test_a_point_counts_its_flipped_cells_and_knows_whether_it_is_stale():
    series = sample.series(3)
    flips = Flips(
        fixed=(("a", 2), ("b", 1)), broken=(("c", 4),), still=(("a", 5),), appeared=(("d", 1),), vanished=(("e", 7),)
    )
    last = sample.with_flips(replace(series.points[2], stale=True), flips)
    view = sample.view_of(sample.trend(replace(series, points=(*series.points[:2], last))))
    rows = trend_rows.iterations(view).splitlines()
    found = [Markup(re.search("<td class=c-fixed>(.*)<td class=c-errors", row)[1]).striptags() for row in rows]  # type: ignore[index]
    assert (found[0], found[-1]) == ("345", "")
    assert ["older instructions" in row for row in rows] == [True, False, False]


def test_every_headline_has_an_interval_around_it():
    view = sample.view_of(sample.trend(sample.series(3)))
    for point, at in zip(view.points, sample.series(3).points, strict=True):
        assert point.interval == interval_of(at.scorecard)
        assert point.interval.low < point.scorecard.metric("f1") < point.interval.high
    assert None not in [view.interval_of(k) for k in range(3)]


def test_the_best_so_far_is_known_at_every_point():
    one = sample.series()
    values = [(point.now or point.scorecard).metric("f1") for point in one.points]
    for index, best in enumerate(sample.view_of(sample.trend(one)).best_so_far):
        assert best == max(value for value in values[: index + 1] if value is not None)


def _last(*deltas: float, flips: Flips) -> tuple[TrendView, int]:
    """Of an eval whose points change by these numbers, and whose newest change flipped these cells."""
    series = sample.series(len(deltas) + 1)
    points = [series.points[0]]
    for nth, change in enumerate(deltas, 1):
        same = series.points[0].scorecard if not change else series.points[nth].scorecard
        metrics = (MetricDelta("f1", change, DeltaParts(change, 0.0, 0.0)),) * 3
        cells = (flips if nth == len(deltas) else Flips((("a", 1),))) if change else Flips()
        moved = sample.compared(points[-1], replace(series.points[nth], scorecard=same), cells)
        assert moved.change is not None
        points.append(replace(moved, change=replace(moved.change, metrics=metrics)))
    view = sample.view_of(sample.trend(replace(series, points=tuple(points))))
    last = view.last_change
    assert last is not None
    return view, last


def test_the_last_change_has_its_size_its_cells_and_its_verdict():
    view, last = _last(-0.2, flips=Flips((("a", 1),), (("b", 30),)))
    assert (last, view.changes[last][0]) == (1, DisplayedChange(-0.2, {"outputs": -0.2}))
    change = view.points[last].change
    verdict = change.verdict if change else None
    assert verdict is not None
    assert (verdict.fixed, verdict.broken) == (1, 30)
    assert (verdict.decision, verdict.why) == ("worse", "beyond chance")


def test_iterations_in_which_nothing_moved_are_passed_over():
    view, last = _last(0.1, 0.0, 0.0, flips=Flips())
    assert (last, view.changes[last][0].amount) == (1, 0.1)


def test_the_line_above_the_chart_names_the_last_change_in_the_unit_of_the_metric_and_its_details_stand_below():
    series = sample.series(2)
    metrics = (MetricDelta("f1", -0.2, DeltaParts(-0.3, 0.1, 0.0)),) * 3
    last = sample.compared(series.points[0], series.points[1], Flips((("a", 1),), (("b", 1_030),)))
    assert last.change is not None
    last = replace(last, change=replace(last.change, metrics=metrics))
    view = sample.trend(replace(series, points=(series.points[0], last)))
    page = renderer_of(sample.SITE).render(view).decode()
    change, more = (
        " ".join(Markup(line).striptags().split())
        for line in re.findall(r'<p class="(?:last|rest)">(.*?)</p>', page, re.DOTALL)[:2]
    )
    assert change.startswith(
        "Last change iteration-002 since iteration-001: F1 ▼down 0.200, worse: 1 value fixed, 1,030"
    )
    assert change.endswith("ground truth +0.100.")
    assert more.startswith("worse: 1 value fixed, 1,030 broken, p < 0.001; for other")
    assert more.endswith("ground truth +0.100. Compare with iteration-001.")


def test_iterations_of_one_commit_have_its_subject_once_and_name_the_files_edited_for_each():
    series = sample.series(3)
    paths = ("prompts/a/guide.md", "prompts/b/guide.md", "prompts/read.md", "prompts/check.md")
    edits = tuple([Edit(commit=sample.commit(3), path=path, status="modified", old=None, new=None) for path in paths])
    first, second, third = series.points
    third = replace(third, snapshot=replace(third.snapshot, commit=second.snapshot.commit), edits=edits)
    page = sample.trend(replace(series, points=(first, replace(second, edits=edits[2:3]), third)))
    rows = str(trend_rows.iterations(sample.view_of(page))).splitlines()
    subjects = [re.findall("<i>(.*?)</i>", row) for row in rows]
    assert subjects == [[second.snapshot.commit.subject], [], [first.snapshot.commit.subject]]
    edited = [re.findall('<span class="pill acc">(.*?)</span>', row) for row in rows]
    assert edited == [["a/guide.md", "b/guide.md", "read.md", "1 more"], ["read.md"], []]


def test_one_point_has_no_last_change():
    assert sample.view_of(sample.trend(sample.series(1))).last_change is None


@pytest.fixture(scope="module")
def long() -> TrendView:
    """The view of the sample, its points again and again."""
    few = sample.series()
    points = [
        replace(point, snapshot=replace(point.snapshot, slug=f"{index:04}"))
        for index, point in enumerate(islice(cycle(few.points), 4_000))
    ]
    steps = [replace(steps_of(few)[0], at=index) for index in range(16, 4_000, 16)]
    view: TrendView = sample.view_of(sample.trend(replace(few, points=tuple(points)), steps=tuple(steps)))
    return view


def test_the_page_of_thousands_of_iterations_is_no_larger_than_that_of_hundreds_and_counts_what_it_leaves_out(long):
    page = renderer_of(sample.SITE).render(replace(sample.trend(sample.series()), view=long)).decode()
    assert len(page) < 400_000
    words = " ".join(Markup(page).striptags().split())
    for sentence in (
        "The newest 200 of 4,000 rows are drawn.",
        "The newest 200 iterations are drawn one by one, the 3,800 before them in groups",
        "lasting changes: the newest 100 of 249",
    ):
        assert sentence in words
    assert re.findall(r"<tr><td class=c-iteration><div><a href=(\d+)", page) == [
        str(index) for index in range(3999, 3799, -1)
    ]
    assert 'data-rows="index.js" data-loadable="3800"' in " ".join(page.split())


def test_the_file_beside_a_long_page_has_every_older_row_and_every_value_of_the_chart(long):
    file = older_rows(long)
    assert file is not None
    assert file.path == "evals/waybills/index.js"
    script = r"\(self\.ROWS=self\.ROWS\|\|\[\]\)\.push\((.*)\);\n\(self\.CHART=self\.CHART\|\|\[\]\)\.push\((.*)\);\n"
    content = re.fullmatch(script, file.content.decode("ascii"))
    assert content is not None
    (folded, repeated), (paths, values) = map(json.loads, content.groups())
    rows = re.sub(r"<(\d+)>", lambda place: repeated[int(place[1])], folded)
    assert rows == f"<tbody>{trend_rows.iterations(long, older=True)}"
    assert len(folded) < 0.8 * len(rows)
    assert re.findall(r"<tr><td class=c-iteration><div><a href=(\d+)", rows) == [
        f"{index:04}" for index in range(3799, -1, -1)
    ]
    assert [len(values["values"][k]) for k in range(3)] == [4_000] * 3
    assert (len(values["now"][0]), len(values["spans"]), len(values["by_outputs"])) == (4_000,) * 3
    defined = sum(at[0] is not None for at in long.values)
    assert (paths[".then .ln"][-1] + paths[".then .lone"][-1]).replace("L", "M").count("M") == defined
    assert sum(path.count("V") for path in paths[".stack:not(.grouped) path"]) == sum(
        count > 0 for point in long.points for count in errors(point)
    )


def test_a_page_with_all_its_rows_has_no_file_beside_it():
    view = sample.view_of(sample.trend(sample.series()))
    assert (view.older, older_rows(view)) == (0, None)


def test_fields_that_flip_under_unchanged_instructions_are_named(demo):
    series = read_series(Options(demo), "freight-papers")
    noise = noise_of_repeats(series)
    assert noise is not None
    assert (noise.outputs, noise.pooled) == (6, FlipRate("", 12, 308))
    flipping = [rate for rate in noise.fields if rate.flips]
    assert flipping == [
        FlipRate("goods[].description", 4, 70),
        FlipRate("goods[].packages", 4, 70),
        FlipRate("goods[].weight_kg", 4, 70),
    ]
    page = renderer_of(sample.SITE).render(sample.trend(series)).decode()
    shown = page[page.index("that flip by themselves</h2>") :]
    rows = [f"fields/{links.slug(rate.attribute)}.html" for rate in flipping]
    assert re.findall(r'<a href="(fields/[^"]*)">', shown) == rows


def test_one_pair_of_repeats_names_no_field(demo):
    series = read_series(Options(demo), "freight-papers")
    pair, several = repeat_groups(series.points)
    of_pair, of_both = (
        noise_of_repeats(replace(series, points=series.points[: group[1] + 1])) for group in (pair, several)
    )
    assert (of_pair, of_both and of_both.outputs) == (None, 4)
