"""The trend page of an eval as a view."""

from sitegen.model.metrics import Counts, MetricSpec
from sitegen.model.scorecards import FieldScore
from sitegen.model.series import Series
from sitegen.pages.heat import HEAT_ROWS, FieldRow
from sitegen.pages.trend import trend_page
from tests import pages_sample as sample


def test_the_page_stands_in_the_folder_of_its_eval():
    page = trend_page(sample.series(2))
    assert (page.path, page.template) == ("evals/waybills/index.html", "pages/trend.html")


def test_an_eval_without_outputs_has_an_empty_page():
    view = sample.view_of(trend_page(sample.none_yet()))
    assert (view.points, view.metrics, view.fields, view.counts) == ((), (), (), Counts())


def test_a_change_is_undefined_where_either_point_is():
    points = sample.view_of(trend_page(sample.series())).points
    assert [point.changes[0].points is None for point in points[29:33]] == [False, True, True, False]
    assert points[0].changes == ()


def test_a_point_names_what_is_unusual_about_it():
    points = sample.view_of(trend_page(sample.series())).points
    assert {index: point.remark for index, point in enumerate(points) if point.remark} == {
        17: "unreadable",
        24: "ground truth changed, field mapping changed",
        30: "no ground truth",
        51: "settings changed",
    }


def test_the_best_point_is_the_earliest_with_the_best_value():
    view = sample.view_of(trend_page(sample.series()))
    for now, k in zip(view.metrics, range(4), strict=True):
        values = [point.values[k] for point in view.points]
        known = [value for value in values if value is not None]
        assert now.best_value == max(known)
        assert now.best == view.points[values.index(max(known))]


def test_metrics_of_another_range_are_not_drawn_on_the_headline_axis():
    series = sample.series(3)
    quality = MetricSpec("quality", "Quality", "", 1.0, 5.0)
    view = sample.view_of(trend_page(series._replace(specs=(series.specs[0], series.specs[1], quality))))
    assert view.drawn == 2


def test_targets_know_whether_they_are_met():
    view = sample.view_of(trend_page(sample.series()))
    assert [(one.label, one.least, one.met) for one in view.targets] == [("F1", 0.9, True), ("Recall", 0.85, True)]


def _series_of_fields(*counts_by_point: dict[str, Counts]) -> Series:
    base = sample.series(len(counts_by_point))
    points = tuple(
        point._replace(
            scorecard=point.scorecard._replace(fields=tuple(FieldScore(*pair) for pair in fields.items()))
        )
        for point, fields in zip(base.points, counts_by_point, strict=True)
    )  # fmt: skip
    return base._replace(points=points)


def test_fields_are_counted_over_all_points_and_old_ones_come_last():
    first = {"gone": Counts(omission=1, fn=1), "a": Counts(tp=3, tn=1)}
    second = {"a": Counts(tp=2, wrong_value=2, fp=2, fn=2), "b": Counts()}
    view = sample.view_of(trend_page(_series_of_fields(first, second)))
    assert view.fields == (
        FieldRow("a", second["a"], 2, 8),
        FieldRow("b", Counts(), 0, 0),
        FieldRow("gone", None, 1, 1),
    )
    assert view.heat.shares == ((0.0, 0.5), (None, None), (1.0, None))


def test_a_heat_map_of_many_fields_shows_those_wrong_most_often_in_their_order():
    fields = {f"f{i:03}": Counts(tp=100 - i % 100, omission=i % 100) for i in range(HEAT_ROWS + 40)}
    view = sample.view_of(trend_page(_series_of_fields(fields)))
    assert view.heat.attributes == tuple(f"f{i:03}" for i in range(40, 100))
    assert view.heat.left_out == 40
    assert len(view.fields) == HEAT_ROWS + 40
