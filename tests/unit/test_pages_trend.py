"""The trend page of an eval as a view."""

import json
import re
from itertools import cycle, islice

import pytest
from markupsafe import Markup
from msgspec.structs import replace

from sitegen.analysis.noise.repeats import repeats_among
from sitegen.analysis.regressions import steps_of
from sitegen.model.changes import DeltaParts, FlipRate, MetricDelta
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import Flips
from sitegen.model.scorecards import FieldScore
from sitegen.model.series import Series
from sitegen.pages import links
from sitegen.pages.trend import trend_rows
from sitegen.pages.trend.page import HEAT_ROWS, TrendView, noise_of_repeats
from sitegen.pages.trend.trend_chart import trend
from sitegen.pages.trend.trend_rows import older_rows
from sitegen.project import Options
from sitegen.questions.study import read_series
from sitegen.stats.counts import error_numbers
from tests import pages_sample as sample
from tests.rows import in_table


def _series_of_fields(*counts_by_point: dict[str, Counts]) -> Series:
    base = sample.series(len(counts_by_point))
    points = tuple(
        replace(point,
            scorecard=replace(point.scorecard, fields=tuple(FieldScore(*pair) for pair in fields.items()))
        )
        for point, fields in zip(base.points, counts_by_point, strict=True)
    )  # fmt: skip
    return replace(base, points=points)


def test_a_heat_map_of_many_fields_leaves_out_what_changed_least():
    before = {f"f{i:03}": Counts(tp=1) for i in range(HEAT_ROWS + 40)}
    after = before | {f"f{i:03}": Counts(omission=1) for i in range(40, 100)}
    view = sample.view_of(sample.trend(_series_of_fields(before, after)))
    assert [name for name, _ in view.heat] == [f"f{i:03}" for i in range(40, 100)]
    assert (len(view.fields), len(view.moved)) == (HEAT_ROWS + 40, 60)


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


def test_a_target_of_any_metric_stands_on_the_page_and_those_of_drawn_ones_in_the_chart():
    info = replace(sample.WAYBILLS, thresholds={"f1": 0.9, "field_accuracy": 0.999})
    view = sample.view_of(sample.trend(replace(sample.series(3), info=info)))
    assert [(spec.name, target) for spec, target, _ in view.targets] == [("f1", 0.9), ("field_accuracy", 0.999)]
    assert [label for _, _, _, label, _ in trend(view).targets] == ["F1 0.9"]


def test_iterations_in_which_nothing_moved_are_passed_over():
    view, last = _last(0.1, 0.0, 0.0, flips=Flips())
    assert (last, view.changes[last][0].amount) == (1, 0.1)


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
    page = sample.html_of(replace(sample.trend(sample.series()), view=long))
    assert len(page) < 400_000
    words = " ".join(Markup(page).striptags().split())
    for sentence in (
        "The newest 200 of 4,000 rows are drawn.",
        "The newest 200 iterations are drawn one by one, the 3,800 before them in groups",
        "steps: the largest of the newest 100",
    ):
        assert sentence in words
    assert re.findall(r'<tr><td class="c-iteration drawn"><div><a href=(\d+)', page) == [
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
    assert rows.replace("<tbody>", "") == trend_rows.iterations(long, older=True)
    assert max(body.count("<tr") for body in rows.split("<tbody>")) == 50, "each body is added by itself"
    assert len(folded) < 0.8 * len(rows)
    assert re.findall(r'<tr><td class="c-iteration drawn"><div><a href=(\d+)', rows) == [
        f"{index:04}" for index in range(3799, -1, -1)
    ]
    assert [len(values["values"][k]) for k in range(3)] == [4_000] * 3
    assert (len(values["now"][0]), len(values["spans"]), len(values["by_outputs"])) == (4_000,) * 3
    defined = sum(at[0] is not None for at in long.values)
    assert (paths[".then .ln"][-1] + paths[".then .lone"][-1]).replace("L", "M").count("M") == defined
    assert sum(path.count("V") for path in paths[".stack:not(.grouped) path"]) == sum(
        count > 0 for point in long.points for count in error_numbers(point.scorecard.counts)
    )


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
    page = sample.html_of(sample.trend(series))
    shown = page[page.index("that flip by themselves</h2>") :]
    rows = [f"fields/{links.slug(rate.attribute)}.html" for rate in flipping]
    assert re.findall(r'<a href="(fields/[^"]*)">', shown) == rows


@in_table
def test_documents_are_listed_by_how_many_different_outputs_got_them_wrong(demo, eval_id, first, last, shown):
    page = sample.trend(read_series(Options(demo), eval_id))
    documents = sample.view_of(page).documents
    assert [[*documents[0]], [*documents[-1]]] == [first, last]
    assert shown in sample.html_of(page)


def test_one_pair_of_repeats_names_no_field(demo):
    series = read_series(Options(demo), "freight-papers")
    pair, several = (each.indices for each in repeats_among(series.points, series.cells))
    of_pair, of_both = (
        noise_of_repeats(replace(series, points=series.points[: group[1] + 1])) for group in (pair, several)
    )
    assert (of_pair, of_both and of_both.outputs) == (None, 4)
