"""Why the numbers of a report moved, as views and as words."""

from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.analysis.noise.repeats import Repeat, Repeats, noise_of
from sitegen.model.changes import Change, Ends, FlipRate, MetricDelta, Overlap
from sitegen.model.metrics import Counts, Metric, MetricSpec, Nouns
from sitegen.model.outcomes import CellFlip, CellMap, Flips, Period, State
from sitegen.model.series import Point
from sitegen.model.timeline import Blob
from sitegen.pages.labels import beyond_them, on_these_cases, smallest_change
from sitegen.pages.report import why_rows
from sitegen.pages.report.discrepancies import Since
from sitegen.pages.report.why_rows import FIXED, FLIPPED_FIELDS, computed
from sitegen.stats.counts import BY_NAME
from tests import pages_sample as sample
from tests.rows import in_table
from tests.sites import words_of

F1 = MetricSpec("f1", "F1", "")
CITY = sample.judgement("consignee.city", "wrong_value", expected="Oslo", actual="Olso")
NAME = sample.judgement("shipper.name", "omission", expected="Havn")


def _view(point: Point, before: Point | None, **known: Any):
    series = sample.series(6)
    result = sample.result([CITY, NAME])
    point = replace(point, scorecard=result.scorecard) if before is None else point
    return sample.report(series, point, before, result, **known)


def _points(cause: str = "outputs") -> tuple[Point, Point]:
    before, after = sample.series(6).points[4:]
    after = replace(after, scorecard=sample.result([CITY, NAME]).scorecard)
    return before, sample.compared(before, after)


def test_what_cannot_be_compared_has_no_change_anywhere():
    before, after = _points()
    refused = Change(
        Overlap(common=0, only_before=("a",), only_after=("b",)),
        tuple(MetricDelta(s.name, None, None) for s in sample.SPECS),
    )
    view = _view(replace(after, change=refused), before)
    assert [view.change_of(spec) for spec in view.specs] == [None] * 4
    assert view.error_changes == (None,) * 4


def test_errors_of_documents_that_only_one_point_holds_are_no_change():
    series = sample.series(6)
    first = sample.scorecard([replace(CITY, document="a"), replace(NAME, document="b")])
    last = sample.result([replace(CITY, document="a"), replace(NAME, document="c"), replace(CITY, document="c")])
    before = replace(series.points[4], scorecard=first)
    bridged = Change(
        Overlap(common=1, only_before=("b",), only_after=("c",)),
        tuple(MetricDelta(s.name, 0.0, None) for s in sample.SPECS),
    )
    after = replace(series.points[5], scorecard=last.scorecard, change=bridged)
    view = sample.report(series, after, before, last)
    assert (view.errors, view.error_changes) == ((1, 0, 2, 0), (0, 0, 0, 0))


def _page(after: Point, before: Point, **known: Any) -> str:
    """The words of the report."""
    series, result = sample.series(6), sample.result([CITY, NAME])
    return words_of(sample.html_of(sample.report(series, after, before, result, **known).page))


def test_many_flips_are_bounded_and_the_rest_is_counted():
    before, after = _points()
    run = Period(start=0, state="omission", expected='"x"', actual="")
    every = (sample.cell("", f"a{n}", run) for n in range(FIXED + 3))
    many = [CellFlip(fate="fixed", cell=cell, before=run, after=run) for cell in every]
    flips = Flips(fixed=tuple((f"field{n:02}", 1) for n in range(FLIPPED_FIELDS + 2)))
    shown = _page(sample.with_flips(after, flips), before, fixed=many)
    assert ("field11" in shown, "field12" in shown, "2 more fields with fewer." in shown) == (True, False, True)
    assert ("a49" in shown, "a50" in shown, "the first 50 are listed" in shown) == (True, False, True)


def test_a_discrepancy_says_since_when_it_is_one_and_leads_to_its_field():
    before, after = _points()
    view = _view(after, before, wrong_since={CITY.key: 2})
    assert [(row.path, row.since, row.placed.field) for row in view.discrepancies.drawn] == [
        (
            "consignee.city",
            Since(label="iteration-003", file="0003.html", iterations=4, new=False),
            "fields/consignee.city.html",
        ),
        (
            "shipper.name",
            Since(label="iteration-006", file="0006.html", iterations=1, new=True),
            "fields/shipper.name.html",
        ),
    ]


def test_repeated_runs_show_how_far_they_are_apart_and_in_which_fields():
    states: tuple[State, ...] = ("correct", "omission", "correct")
    cell = sample.cell(
        "", "x", *tuple(Period(start=n, state=state, expected='"1"', actual="") for n, state in enumerate(states))
    )
    calm = sample.cell("", "y", Period(start=0, state="correct", expected='"1"', actual='"1"'))
    before, after = _points()
    runs = tuple(Blob(f"r/runs/{n}/extracted.json", f"{n:040x}") for n in range(4))
    after = replace(after, snapshot=replace(after.snapshot, runs=runs))
    repeats = Repeats(
        CellMap((0, 1, 2), (cell, calm), {}), (0, 1, 2), tuple(Repeat(f"run {n + 1}", 0.5 + n / 10) for n in range(3))
    )
    noise = noise_of([repeats])
    assert noise is not None
    assert (noise.pooled, [rate for rate in noise.fields if rate.flips]) == (FlipRate("", 2, 6), [FlipRate("x", 2, 3)])
    assert why_rows.runs(repeats, noise, F1) == (
        "F1 lies between 0.500 and 0.700; the mean of such runs from 0.352 to 0.848 (95\u202f%). "
        "Standard deviation: 0.100. Of 6 pairs of values 33.3\u202f% differ in outcome."
    )
    shown = _page(after, before, runs=repeats)
    assert "Repeated runs 3 of 4 can be read" in shown
    assert "Pairs of runs Share x 2 3 67 %" in shown


MOVED = sample.verdict(decision="cannot tell", why="flips may be chance", interval=Ends(-0.04, 0.01))


@in_table
def test_a_verdict_says_what_decided_on_these_cases(why, said):
    verdict = replace(MOVED, why=why, lost_fields=(("walls[].area", 9),) if why == "a field was lost" else ())
    assert on_these_cases(verdict, F1, Nouns()) == said


def test_a_verdict_says_what_counts_of_the_items_of_lists():
    lists = replace(MOVED, fixed=40, counted=(4, 9), p_value=0.0004)
    said = "40 values fixed, 9 broken (each list item counted once: 4 fixed, 9 broken), p < 0.001"
    assert on_these_cases(lists, F1, Nouns()) == on_these_cases(replace(lists, decision="worse"), F1, Nouns()) == said
    answers = replace(lists, unit="cases")
    assert on_these_cases(answers, F1, Nouns()) == said.replace("each list item", "all answers to a case")
    slices = replace(answers, fixed=0, broken=0)  # of one output: values are not compared one by one
    assert on_these_cases(slices, F1, Nouns()) == "4 cases better, 9 worse, p < 0.001"


def test_a_verdict_of_a_mean_counts_cases():
    score = MetricSpec("score", "Score", "")
    assert on_these_cases(MOVED, score, Nouns(document="case")) == "2 cases better, 9 worse, p 0.040"
    assert on_these_cases(replace(MOVED, fixed=1), score, Nouns()) == "1 document better, 9 worse, p 0.040"


@in_table
def test_a_verdict_says_what_holds_beyond_these_cases(changed, said):
    ends = {"interval": Ends(*changed["interval"])} if changed.get("interval") else {}
    verdict = replace(MOVED, **changed | ends)
    assert beyond_them(verdict, F1, Nouns()).startswith(said)
    assert bool(beyond_them(verdict, F1, Nouns())) is bool(said)


def test_a_verdict_that_is_open_says_which_changes_could_be_told_from_chance():
    assert smallest_change(MOVED, F1) == "too few values: only changes above about 0.050 can be told from chance"
    assert (
        smallest_change(replace(MOVED, detectable=1.0), F1)
        == "too few values: hardly any change can be told from chance"
    )
    assert smallest_change(replace(MOVED, decision="worse"), F1) == ""


def test_the_reason_for_a_verdict_is_escaped_and_leads_to_how_it_is_found():
    lost = replace(MOVED, why="a field was lost", lost_fields=(("<b>", 3),))
    said = str(why_rows.because(lost, F1, Nouns(), "methods.html"))
    assert said.startswith(": &lt;b&gt; broke in all 3 values; 2 values fixed, 9 broken. For other documents it could")
    assert said.endswith('<span class="how"> <a href="methods.html#noise-verdict">(how?)</a></span>')


@pytest.mark.parametrize(("status", "said"), [("scored", False), ("unreadable", True)])
def test_a_change_from_an_output_that_cannot_be_read_says_so(status, said):
    before, after = _points()
    series, result = sample.series(6), sample.result([CITY])
    before = replace(before, scorecard=replace(before.scorecard, status=status))
    html = sample.html_of(sample.report(series, after, before, result).page)
    assert ("The output of iteration-005 cannot be read," in html) is said


def test_metrics_that_are_ratios_of_counts_are_worked_out_in_the_numbers_of_the_output() -> None:
    counts = Counts(tp=126, fp=64, fn=84, wrong_value=64, omission=20)
    ratios = [BY_NAME[name] for name in ("f1", "precision", "recall", "field_accuracy")]
    values = {ratio.name: ratio.of(counts) for ratio in ratios} | {"recall": 0.5}  # which another rule gave
    card = replace(sample.scorecard([]), counts=counts, metrics=tuple(map(Metric, values, values.values())))
    worked = computed(card, [each.spec for each in ratios], Nouns())
    assert [(spec.label, *steps) for spec, *steps in worked.values()] == [
        ("F1", "2 TP / (2 TP + FP + FN)", "2 × 126 / (2 × 126 + 64 + 84) = 252 / 400"),
        ("Precision", "TP / (TP + FP)", "126 / (126 + 64) = 126 / 190"),
        ("Field accuracy", "(TP + TN) / fields judged", "126 / 210"),
    ]
