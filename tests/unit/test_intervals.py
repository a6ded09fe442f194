"""Means, kappa, intervals, repeats and least changes: against published tables, scipy and statsmodels."""

import statistics
from collections import Counter
from math import sqrt

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from sitegen.model.changes import Spread
from sitegen.model.scorecards import NotePanel
from sitegen.stats.agreement import Repeatability, cohens_kappa, differing_pairs, repeatability, repeated_values
from sitegen.stats.counts import Share
from sitegen.stats.intervals import (
    Paired,
    around,
    effective_wilson,
    mean,
    mean_of,
    median,
    normal,
    ratio,
    ratio_change,
    student,
    wilson,
)
from sitegen.stats.significance import least_change, least_net_flips
from tests.rows import in_table
from tests.scored import scored


@pytest.mark.parametrize("values", [[3], [2, 1], [0.1, 0.2, 0.3], [1e16, 1.0, -1e16], [5, 1, 4, 2], [2, 2, 2, 7, -1]])
def test_they_are_those_of_python(values: list[float]) -> None:
    expected = [statistics.fmean(values), statistics.median(values)]
    computed = [mean(iter(values)), median(values)]  # a mean reads its values once
    assert [repr(number) for number in computed] == [repr(number) for number in expected]


GRADES = st.integers(1, 5)


def pairs_of(table: list[list[int]]) -> list[tuple[int, int]]:
    """A table of counts as pairs of categories."""
    return [
        (row, column) for row, counts in enumerate(table) for column, count in enumerate(counts) for _ in range(count)
    ]


@in_table
def test_kappa_and_its_interval(table: list[list[int]], value: float, low: float, high: float) -> None:
    found = cohens_kappa(pairs_of(table))
    assert found
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high))


def test_what_luck_alone_decides_has_no_kappa() -> None:
    assert cohens_kappa([]) is None
    assert cohens_kappa([(1, 2)]) is None
    assert cohens_kappa([(4, 4)] * 9) is None


@given(st.lists(st.tuples(GRADES, GRADES), max_size=40))
def test_kappa_is_symmetric_bounded_and_knows_no_order(pairs: list[tuple[int, int]]) -> None:
    found = cohens_kappa(pairs)
    turned = cohens_kappa([(other, one) for one, other in reversed(pairs)])
    assert (found is None) == (turned is None)
    if found and turned:
        assert (found.value, found.low, found.high) == pytest.approx((turned.value, turned.low, turned.high), abs=1e-9)
        assert -1 <= found.low <= found.value + 1e-12
        assert found.value - 1e-12 <= found.high <= 1
        assert found == cohens_kappa(list(reversed(pairs)))
        assert (found.value == pytest.approx(1)) == (found.agreed == found.judged)


def test_a_report_says_how_far_the_judge_agrees_with_people() -> None:
    grades = pairs_of([[20, 5], [10, 15]])
    rows = [
        {"case_id": f"c{number}", "output": "x", "quality": judge + 1, "human_quality": person + 1}
        for number, (judge, person) in enumerate(grades)
    ]
    cases = [{"id": row["case_id"], "input": "?"} for row in rows]
    rows[0]["human_quality"] = "four"
    result = scored("responses", {"responses.json": rows}, {"c.json": cases})
    assert result.panels[0] == NotePanel(
        "The judge and people graded 34 of 49 responses alike: Cohen's kappa 0.390, 95 % interval 0.138 to 0.642."
    )


DOCUMENTS = [
    Share(*pair) for pair in ((18.0, 20.0), (10.0, 14.0), (30.0, 31.0), (4.0, 9.0), (22.0, 26.0), (12.0, 12.0))
]


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 10, 29, 30, 31, 100, 5000])
def test_quantiles_are_those_of_scipy(level, freedom):
    wanted = scipy.stats.t.ppf((1 + level) / 2, freedom)
    assert student(level, freedom) == pytest.approx(wanted, rel=2e-7)
    assert normal(level) == pytest.approx(scipy.stats.norm.ppf((1 + level) / 2), rel=1e-13)


@in_table
def test_wilson_gives_the_intervals_that_newcombe_printed_in_1998(right, trials, low, high):
    from statsmodels.stats.proportion import proportion_confint

    found = wilson(right / trials, trials)
    assert found == pytest.approx((low, high), abs=5e-5)
    assert found == pytest.approx(proportion_confint(right, trials, method="wilson"), abs=1e-12)


def test_the_error_of_a_ratio_is_the_robust_error_of_a_weighted_mean():
    from statsmodels.regression.linear_model import WLS

    part, whole = np.array(DOCUMENTS).T
    fit = WLS(part / whole, np.ones(len(whole)), weights=whole).fit(cov_type="HC1")
    spread = ratio(Counter(DOCUMENTS))
    assert spread is not None
    assert astuple(spread) == pytest.approx((fit.params[0], fit.bse[0], 5))


def test_the_change_of_means_has_the_error_of_the_mean_difference():
    before, after = [0.5, 0.7, 0.2, 0.9], [0.6, 0.9, 0.1, 0.95]
    units = Counter(Paired(Share(one, 1.0), Share(other, 1.0)) for one, other in zip(before, after, strict=True))
    differences = np.subtract(after, before)
    found = ratio_change(units)
    assert found is not None
    assert astuple(found) == pytest.approx((differences.mean(), scipy.stats.sem(differences), 3))
    assert around(found) == pytest.approx(
        scipy.stats.t.interval(0.95, 3, differences.mean(), scipy.stats.sem(differences))
    )


def test_the_change_of_a_paired_share_is_that_of_agresti():
    """Approval of a prime minister: 944 of 1,600 at first, 880 later; 150 turned away, 86 turned to."""
    turned = {(0.0, 1.0): 86, (1.0, 0.0): 150, (1.0, 1.0): 794, (0.0, 0.0): 570}
    found = ratio_change({Paired(Share(one, 1.0), Share(two, 1.0)): times for (one, two), times in turned.items()})
    assert found is not None
    assert (found.value, found.error) == pytest.approx((-0.04, 0.0095), abs=1e-4)
    assert [round(end, 2) for end in around(found)] == [-0.06, -0.02]


def test_independent_units_make_as_many_effective_trials_as_there_are():
    """48 of 60 right, one trial a unit: Wilson's own interval, but for what Student's t adds to 59 degrees."""
    spread = ratio(Counter({Share(1.0, 1.0): 48, Share(0.0, 1.0): 12}))
    assert spread is not None
    trials = 59 * (normal(0.95) / student(0.95, 59)) ** 2
    assert effective_wilson(spread, 60) == pytest.approx(wilson(0.8, trials))


def test_units_that_differ_as_a_whole_make_a_wider_interval():
    alike = ratio(Counter({Share(8.0, 10.0): 10}))
    apart = ratio(Counter({Share(10.0, 10.0): 8, Share(0.0, 10.0): 2}))
    assert alike is not None
    assert apart is not None
    assert effective_wilson(alike, 100) == pytest.approx((0.696, 0.875), abs=5e-4)
    assert effective_wilson(apart, 100) == pytest.approx((0.427, 0.955), abs=5e-4)


def test_where_all_is_right_the_interval_still_has_a_width():
    spread = ratio(Counter({Share(20.0, 20.0): 5}))
    assert spread == Spread(1.0, 0.0, 4)
    assert effective_wilson(spread, 50) == pytest.approx((0.866, 1.0), abs=5e-4)


def test_one_unit_alone_says_nothing():
    assert ratio(Counter([Share(1.0, 2.0)])) is None
    assert ratio_change(Counter([Paired(Share(1.0, 2.0), Share(2.0, 2.0))])) is None
    assert mean_of([0.5]) is None


def test_a_change_from_or_to_nothing_at_all_is_none():
    assert ratio_change(Counter({Paired(Share(0.0, 0.0), Share(1.0, 2.0)): 3})) is None


@in_table
def test_pairs_that_differ_are_what_agreement_lacks(outcomes, differ, pairs):
    """The first two are subjects of the usual example of Fleiss' kappa, with an agreement of 1.000 and 0.253."""
    assert differing_pairs(outcomes) == (differ, pairs)


def test_repeatability_pools_the_scatter_within_groups_not_between_them():
    groups = [repeated_values(group) for group in ([0.8, 0.9], [0.1, 0.2, 0.3])]
    pooled = repeatability(groups)
    assert pooled.deviation == pytest.approx(sqrt((0.005 + 0.02) / 3))
    assert (pooled.freedom, pooled.bad) == (3, {})
    assert repeatability([]) == Repeatability(deviation=None, freedom=0, bad={})


def test_repeatability_is_the_same_in_any_order_of_groups():
    groups = [repeated_values([0.1 * n, 0.7 / n, 1 / 3, 1e-9 * n]) for n in range(1, 6)]
    assert repeatability(groups).deviation == repeatability(groups[::-1]).deviation


def test_the_least_change_is_2_8_standard_errors_of_many_units():
    assert least_change(Spread(0.0, 1.0, 100_000)) == pytest.approx(2.8016, abs=1e-4)
    assert least_change(Spread(0.0, 0.01, 4)) == pytest.approx(0.01 * (2.7764 + 0.9410), abs=1e-6)


@pytest.mark.parametrize(("pairs", "flips"), [(100, 20), (200, 40), (1000, 50), (5000, 1000)])
def test_the_least_net_flips_are_the_fewest_that_connors_sample_size_allows(pairs, flips):
    def sample_size(net: float) -> float:
        alpha, beta = scipy.stats.norm.ppf([0.975, 0.8])
        share = flips / pairs
        return float((alpha * sqrt(share) + beta * sqrt(share - net**2)) ** 2 / net**2)

    found = least_net_flips(pairs, flips)
    assert found is not None
    assert sample_size(found / pairs) <= pairs < sample_size((found - 1) / pairs)


def test_where_nothing_flips_by_chance_eight_cells_going_one_way_are_enough():
    assert [least_net_flips(pairs, 0) for pairs in (0, 7, 8, 100, 10_000)] == [None, None, 8, 8, 8]
    assert least_net_flips(100, 4) == 8
