"""The best output of an eval: the earliest of equals by the newest rules, and the same one wherever it is named."""

from msgspec.structs import replace

from sitegen.analysis.change import best_points
from sitegen.analysis.deltas import comparable_since
from sitegen.analysis.effects import best_output
from sitegen.model.metrics import Counts
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import EvalSummary, Series
from sitegen.pages.compare import compare_data, compare_page
from sitegen.pages.data.feed import feed_file
from sitegen.pages.regressions import regressions_page
from tests import pages_sample as sample
from tests.rows import in_table


def series(*values: float | None, now: tuple[float | None, ...] = ()) -> Series:
    """An eval with these headlines; ``now``: the same outputs by the newest ground truth and rules."""
    points = tuple(
        replace(point, scorecard=card(point.scorecard, value), now=card(point.scorecard, today))
        for point, value, today in zip(sample.points(len(values)), values, now or values, strict=True)
    )
    return Series(info=sample.WAYBILLS, history=sample.history("waybills", points), specs=sample.SPECS, points=points)


def card(of: Scorecard, value: float | None) -> Scorecard:
    return replace(of, metrics=(of.metrics[0]._replace(value=value), *of.metrics[1:]))


def summary(one: Series) -> EvalSummary:
    best = best_points(one.points, one.specs[:1])["f1"]
    return EvalSummary(
        one.info,
        one.specs[:3],
        tuple(replace(sample.headline(point), committed_at="2026-01-02T03:04:05Z") for point in one.points),
        best_output=best_output(one, best[-1], [(sample.commit(index),) for index in range(len(one.points))]),
        now=tuple((point.now or point.scorecard).metric("f1") for point in one.points),
        best=best,
    )


def test_the_best_so_far_is_the_earliest_of_equals():
    f1 = sample.SPECS[0]
    values = series(None, 0.5, 0.4, None, 0.7, 0.7, 0.6)
    assert best_points(values.points, [f1])["f1"] == (None, 1, 1, 1, 4, 4, 4)
    assert best_points(series(3.0, 2.0, 5.0).points, [replace(f1, higher_is_better=False)])["f1"] == (0, 1, 1)
    assert best_points((), [f1]) == {"f1": ()}


@in_table
def test_every_page_and_file_names_the_same_output(case, then, now, best):
    one = series(*then, now=now)
    stored = summary(one)
    label, slug, value = one.points[best].snapshot.label, one.points[best].snapshot.slug, (now or then)[best]
    trend = sample.view_of(sample.trend(one))
    of_trend, best_value, _ = trend.bests[0]
    assert of_trend is not None
    assert (of_trend.snapshot.label, best_value) == (label, value)
    (at,) = sample.view_of(regressions_page([stored], (), {}))["standings"]
    assert (at.best.label, at.summary.best_output.value) == (label, value)
    compared = sample.view_of(compare_page(one, compare_data(one, ())))
    assert one.points[compared.data.earlier[-1]].snapshot.label == label
    feed = feed_file(sample.SITE, one.points[-1].snapshot.commit, [stored]).content.decode()
    newest_entry = feed.split("<entry>")[1]
    assert "New best" in newest_entry
    assert f"/{slug}.html" in newest_entry


def test_the_feed_names_no_output_with_a_lower_value_as_the_best_although_it_has_more_documents():
    stored = summary(one := series(0.9, 0.6))
    feed = feed_file(sample.SITE, one.points[-1].snapshot.commit, [replace(stored, best=(0, 1))]).content.decode()
    assert "New best" not in feed


def test_the_best_by_other_rules_than_those_of_its_time_says_so():
    moved = sample.view_of(sample.trend(series(0.9, 0.8, 0.7, now=(0.95, 0.8, 0.7))))
    assert moved.bests[0][1:] == (0.95, "as judged today")
    assert sample.view_of(sample.trend(series(0.9, 0.8, 0.7))).bests[0][2] == ""


@in_table
def test_outputs_are_compared_over_the_documents_that_both_have(name, outputs, best):
    points = []
    for point, right in zip(sample.points(len(outputs)), outputs, strict=True):
        card = sample.card({document: Counts(tp=n, fp=10 - n, fn=10 - n) for document, n in right.items()})
        points.append(replace(point, scorecard=card, now=None))
    assert [*best_points(points, sample.SPECS[:1])["f1"]] == best


def test_outputs_are_comparable_as_long_as_each_has_a_document_of_the_one_before():
    for cards, expected in (
        (("ab", "bc", "cd"), [0, 0, 0]),
        (("ab", "cd", "cd"), [0, 1, 1]),
        (("ab", "", "cd", "ab"), [0, 0, 2, 3]),
        (("", "", ""), [0, 0, 0]),
        (("12", "23", "45", "", "51"), [0, 0, 2, 2, 2]),
    ):
        documents = [sample.card(dict.fromkeys(names, Counts())) for names in cards]
        assert comparable_since(documents, ["f1"]) == {"f1": expected}
