"""Outputs that were made again: which they are, and what they tell."""

import json
from collections.abc import Sequence
from math import sqrt

import pytest
from msgspec.structs import replace

from sitegen.analysis.noise.repeats import (
    Repeat,
    Repeats,
    difference_of_repeats,
    noise_of,
    noise_so_far,
    repeats_among,
    repeats_of_runs,
)
from sitegen.analysis.series import first_points_with_output
from sitegen.model.changes import FlipRate, Noise
from sitegen.model.metrics import Counts, Metric
from sitegen.model.outcomes import Cell, CellMap, Period, State
from sitegen.model.scorecards import Result, Scorecard, Status
from sitegen.model.series import Point
from sitegen.model.timeline import Blob, Cause, Edit
from sitegen.model.usage import RunUsage
from sitegen.scoring.kinds import File, ScoringInputs, scorer
from sitegen.stats.intervals import mean, student
from tests import pages_sample as sample

CARD = Scorecard(status="scored", counts=Counts(), metrics=(Metric("f1", 0.5),), documents=(), fields=())
EDIT = sample.edit(0, "a.md")


def point(
    commit: str,
    *cause: Cause,
    output: str = "",
    truth: str = "t",
    edits: tuple[Edit, ...] = (),
    made_at: str | None = None,
    status: Status = "scored",
    model: str = "",
) -> Point:
    snapshot = sample.snapshot(
        1,
        replace(sample.commit(0), sha=commit * 40),
        cause or ("outputs",),
        outputs=(Blob("extracted.json", output or commit),),
        ground_truth=Blob("truth.json", truth),
        made_at=made_at,
    )
    usage = RunUsage(models=(model,)) if model else None
    return Point(snapshot, replace(CARD, status=status, usage=usage), edits)


def repeat_groups(points: Sequence[Point]) -> tuple[tuple[int, ...], ...]:
    return tuple(each.indices for each in repeats_among(points, CellMap((), (), {})))


def test_the_output_of_another_model_repeats_none():
    assert repeat_groups([point("a", model="m"), point("b", model="n"), point("c", model="n"), point("d")]) == (
        (1, 2, 3),
    )


def test_outputs_made_again_under_unchanged_instructions_are_repeats():
    assert repeat_groups([point("a", "outputs", "ground_truth"), point("b"), point("c")]) == ((0, 1, 2),)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(point("c", edits=(EDIT,)), id="an edit in between"),
        pytest.param(point("c", "outputs", "mapping"), id="the rules changed too"),
        pytest.param(point("c", "ground_truth", output="b"), id="only the truth changed"),
        pytest.param(point("c", truth="u"), id="another truth, whatever the cause says"),
        pytest.param(point("b", output="other"), id="of the same commit"),
    ],
)
def test_other_points_begin_anew(other):
    told = repeat_groups([point("a"), point("b"), other, point("d", truth=other.snapshot.ground_truth.oid)])
    assert told == ((0, 1), (2, 3))


def test_outputs_of_one_commit_are_repeats_if_they_record_one_commit_themselves():
    assert repeat_groups([point("a", made_at="1"), point("a", output="x", made_at="1")]) == ((0, 1),)
    assert repeat_groups([point("a", made_at="1"), point("b", made_at="2")]) == ()


def with_copies(*points: Point) -> list[Point]:
    """The points, each with what the first one with its output is."""
    earliest = first_points_with_output([point.snapshot for point in points], "fields")
    return [replace(point, first_with_output=index) for point, index in zip(points, earliest, strict=True)]


@pytest.mark.parametrize(
    ("points", "groups"),
    [
        pytest.param([point("a"), point("b", output="a")], (), id="a copy alone"),
        pytest.param([point("a"), point("b", output="a"), point("c")], ((0, 2),), id="a copy between two outputs"),
        pytest.param([point("a"), point("b"), point("c", output="a")], ((0, 1),), id="an old output put back"),
        pytest.param(
            [point("a"), point("b", output="a", edits=(EDIT,)), point("c"), point("d")],
            ((2, 3),),
            id="a copy after an edit, which no output before it can have been made with",
        ),
    ],
)
def test_a_copy_of_an_output_is_no_repeat(points: list[Point], groups: tuple[tuple[int, ...], ...]):
    points = with_copies(*points)
    assert repeat_groups(points) == groups
    *_, noise = noise_so_far([(at, ()) for at in points])
    assert (noise.outputs if noise else 0) == sum(map(len, groups))


def test_an_output_that_cannot_be_read_repeats_nothing_and_is_repeated_by_nothing():
    assert repeat_groups([point("a"), point("b", status="unreadable"), point("c"), point("d")]) == ((2, 3),)


def test_a_series_without_repeats_has_no_noise():
    assert repeat_groups([]) == repeat_groups([point("a")]) == ()
    assert noise_of([]) is None
    assert noise_of([Repeats(cells(), (0,), outputs(0.5))]) is None


def cell(path: str, *states: State) -> Cell:
    return sample.cell(
        "", path, *(Period(start=at, state=state, expected="", actual="") for at, state in enumerate(states))
    )


def outputs(*headlines: float | None, weight: float = 0.0) -> tuple[Repeat, ...]:
    return tuple(Repeat(f"run {number}", headline, weight) for number, headline in enumerate(headlines, 1))


def cells(*every: Cell) -> CellMap:
    return CellMap(tuple(range(max((len(one.periods) for one in every), default=0))), every, {})


def test_the_noise_is_the_share_of_pairs_that_differ_and_the_scatter_of_the_headline():
    three = cells(
        cell("name", "correct", "correct", "correct"),
        cell("walls[0].area", "correct", "wrong_value", "omission"),
        cell("walls[1].area", "omission", "omission", "correct"),
    )
    two = cells(cell("name", "correct", "wrong_value"))
    found = noise_of([Repeats(three, (0, 1, 2), outputs(0.5, 0.25, 0.75)), Repeats(two, (0, 1), outputs(0.5, None))])
    assert found == Noise(
        groups=2,
        outputs=5,
        deviation=0.25,
        limit=student(0.95, 2) * sqrt(2) * 0.25,
        pooled=FlipRate("", 6, 10),
        fields=(FlipRate("walls[].area", 5, 6), FlipRate("name", 1, 4)),
    )
    assert found is not None
    assert [each.rate for each in found.fields] == [pytest.approx(5 / 6), 0.25]


def test_only_the_points_of_the_group_count():
    found = noise_of([Repeats(cells(cell("name", "correct", "omission", "correct")), (0, 2), outputs(0.8, 0.8))])
    assert found == Noise(
        groups=1, outputs=2, deviation=0.0, limit=None, pooled=FlipRate("", 0, 1), fields=(FlipRate("name", 0, 1),)
    )


def test_one_pair_of_repeats_sets_no_limit_and_two_pairs_do():
    pair = Repeats(cells(cell("name", "correct", "correct")), (0, 1), outputs(0.5, 1.0))
    one, two = noise_of([pair]), noise_of([pair, pair])
    assert one is not None
    assert two is not None
    assert (one.deviation, one.limit) == (sqrt(0.125), None)
    assert (two.deviation, two.limit) == (sqrt(0.125), student(0.95, 2) * sqrt(2) * sqrt(0.125))


def test_a_value_that_nobody_expected_is_right_where_it_is_absent():
    some = cells(cell("extra", "hallucination", "absent"), cell("gone", "correct", "absent"))
    found = noise_of([Repeats(some, (0, 1), outputs(None, None))])
    assert found == Noise(
        groups=1, outputs=2, deviation=None, limit=None, pooled=FlipRate("", 1, 1), fields=(FlipRate("extra", 1, 1),)
    )


def test_only_points_that_judged_a_cell_count_however_long_it_stays_the_same():
    """The name appears at the second group, changes within the third, and is absent from the fourth."""
    states: dict[int, State] = {2: "correct", 5: "omission", 7: "absent"}
    name = (Period(start=start, state=state, expected="", actual="") for start, state in states.items())
    area = Period(start=4, state="correct", expected="", actual="")
    both = cells(sample.cell("", "name", *name), sample.cell("", "area", area))
    groups = [Repeats(both, indices, outputs(*[0.5] * len(indices))) for indices in ((0, 1), (2, 3), (4, 5, 6), (7, 8))]
    found = noise_of(groups)
    assert found is not None
    assert found.fields == (FlipRate("name", 2, 4), FlipRate("area", 0, 4))


def test_repeated_runs_are_scored_alike_and_followed_cell_by_cell():
    truth = File("truth.json", json.dumps({name: name for name in "abcd"}).encode())

    def run(output: bytes) -> Result:
        return scorer("fields").score(ScoringInputs(outputs=(File("o.json", output),), ground_truth=truth))

    all_right, last_wrong = (json.dumps(dict(zip("abcd", values, strict=True))).encode() for values in ("abcd", "abcx"))
    found = noise_of([repeats_of_runs([run(all_right), run(b"{"), run(last_wrong), run(last_wrong)])])
    assert found is not None
    assert (found.groups, found.outputs) == (1, 3)
    assert found.deviation == pytest.approx(0.25 / sqrt(3))
    assert found.fields[0] == FlipRate("d", 2, 3)
    assert found.pooled == FlipRate("", 2, 12)


def test_a_rate_of_no_pairs_is_undefined():
    assert FlipRate("", 0, 0).rate is None


def test_point_after_point_the_same_is_known_as_of_all_of_them_together():
    values = (0.5, 0.6, 0.8, 0.1, 0.4, 0.2, 0.9)
    series = [*map(point, "abc"), point("d", edits=(EDIT,)), *map(point, "ef"), point("g", truth="u")]
    series = [
        replace(each, scorecard=replace(CARD, metrics=(Metric("f1", value),)))
        for each, value in zip(series, values, strict=True)
    ]
    none = CellMap((), (), {})
    firsts = (0, 0, 0, 3, 3, 3, 6)
    for number, noise in enumerate(noise_so_far([(each, ()) for each in series]), 1):
        groups = repeat_groups(series[:number])
        assert (noise and replace(noise, repeats=0, mean=0.0, first=0)) == noise_of(
            Repeats(none, group, outputs(*(values[n] for n in group))) for group in groups
        )
        own = [values[n] for n in range(firsts[number - 1], number)]
        if noise:
            assert (noise.first, noise.repeats, noise.mean) == pytest.approx((firsts[number - 1], len(own), mean(own)))
    assert repeat_groups(series) == ((0, 1, 2), (3, 4, 5))


def test_the_means_of_repeats_are_compared_and_a_bad_run_is_in_neither():
    """Four repeats say more of their instructions than the one that happens to be compared."""
    apart = Noise(groups=2, outputs=8, deviation=0.02, limit=0.0692)
    before, after = replace(apart, repeats=4, mean=0.8), replace(apart, first=4, repeats=1, mean=0.75)
    found = difference_of_repeats(before, after, -0.06)
    assert found
    assert found.value == pytest.approx(-0.05)
    assert found.error == pytest.approx(0.02 * sqrt(1 / 4 + 1), rel=1e-3)
    turned = difference_of_repeats(after, before, 0.06)
    assert turned
    assert (turned.value, turned.error) == pytest.approx((-found.value, found.error))
    for one, other in ((before, before), (before, replace(after, repeats=0)), (None, after)):
        alone = difference_of_repeats(one, other, -0.06)
        assert alone
        assert (alone.value, alone.error) == pytest.approx((-0.06, 0.02 * sqrt(2)), rel=1e-3)
    assert difference_of_repeats(None, replace(after, limit=None), -0.06) is None
    repeated = zip("abcde", (0.90, 0.91, 0.40, 0.89, 0.90), strict=True)
    cards = ((point(name), replace(CARD, metrics=(Metric("f1", value),))) for name, value in repeated)
    *_, noise = noise_so_far([(replace(at, scorecard=card), ()) for at, card in cards])
    assert noise
    assert (len(noise.bad_runs), noise.repeats, noise.mean) == pytest.approx((1, 4, 0.9))


def test_one_broken_run_is_named_and_leaves_the_noise_as_it_is_without_it():
    some = cells(cell("name", "correct", "correct", "omission", "correct", "correct"))
    headlines = (0.90, 0.91, 0.40, 0.89, 0.90)
    found = noise_of([Repeats(some, (0, 1, 2, 3, 4), outputs(*headlines))])
    without = noise_of([Repeats(some, (0, 1, 3, 4), outputs(*headlines[:2], *headlines[3:]))])
    assert found is not None
    assert without is not None
    assert (found.bad_runs, found.outputs, without.bad_runs) == (("run 3",), 5, ())
    assert (found.deviation, found.limit, found.pooled) == (without.deviation, without.limit, without.pooled)
    assert found.limit == pytest.approx(0.0367, abs=1e-4)


def bad_runs(*headlines: float, weight: float = 0.0) -> tuple[str, ...] | None:
    found = noise_of([Repeats(cells(), tuple(range(len(headlines))), outputs(*headlines, weight=weight))])
    return found.bad_runs if found else None


def test_a_bad_run_is_far_off_and_by_three_cases_at_least_where_most_repeats_are_equal():
    assert bad_runs(0.90, 0.91, 0.86, 0.89, 0.90) == ()
    assert bad_runs(0.9, 0.9, 0.7, 0.9, weight=0.1) == ()
    assert bad_runs(0.9, 0.9, 0.4, 0.9, weight=0.1) == ("run 3",)


def test_of_a_pair_far_apart_both_outputs_leave_because_nothing_says_which_is_bad():
    pairs = [outputs(0.90, value, weight=0.01) for value in (0.91, 0.89, 0.92, 0.905)]
    found = noise_of([Repeats(cells(), (0, 1), pair) for pair in (*pairs, outputs(0.9, 0.1, weight=0.01))])
    without = noise_of([Repeats(cells(), (0, 1), pair) for pair in pairs])
    assert found is not None
    assert without is not None
    assert (found.bad_runs, found.limit) == (("run 1", "run 2"), without.limit)
