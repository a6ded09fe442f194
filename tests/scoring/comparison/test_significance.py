"""The tests of significance: against tables of published examples, and against scipy and statsmodels.

Statsmodels takes seconds to import: only the worker that runs these tests imports it, when they begin.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

import pytest
import scipy

from sitegen.stats import significance
from sitegen.stats.significance import Significance
from tests.scoring.test_tables import tables

Row: TypeAlias = dict[str, str]

UNDEFINED = "—"
CHI, CHI_UNDEFINED, T, T_ONE_VARIES, T_UNDEFINED = tables(
    Path(__file__).with_name("significance.md").read_text("utf-8")
)


def each(*rows: Iterable[Row]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", [pytest.param(row, id=row["case"]) for table in rows for row in table])


def said(test: Significance) -> tuple[str, str, str]:
    def number(value: float | None, digits: int) -> str:
        return UNDEFINED if value is None else f"{value:.{digits}f}"

    return (test.method, number(test.statistic, 3), number(test.p_value, 6))


def chi_square(row: Row) -> Significance:
    return significance.chi_square(*(count for side in json.loads(row["table"]) for count in side))


def t_test(row: Row) -> Significance:
    return significance.t_test(json.loads(row["first"]), json.loads(row["second"]))


@each(CHI, CHI_UNDEFINED)
def test_chi_square_is_what_the_table_says(row):
    found = chi_square(row)
    assert (*said(found), found.note) == ("chi-square with Yates' correction", row["statistic"], row["p"], row["note"])


@each(CHI)
def test_chi_square_is_that_of_scipy(row):
    expected = scipy.stats.chi2_contingency(json.loads(row["table"]), correction=True)
    found = chi_square(row)
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-12)


@each(T, T_ONE_VARIES, T_UNDEFINED)
def test_t_tests_are_what_the_table_says(row):
    assert said(t_test(row)) == (row["test"], row["statistic"], row["p"])


@pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning")
@each(T, T_ONE_VARIES)
def test_t_tests_are_those_of_scipy_also_if_one_sample_does_not_vary(row):
    expected = scipy.stats.ttest_ind(json.loads(row["first"]), json.loads(row["second"]))
    found = t_test(row)
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-12)


@each(row for row in T_UNDEFINED if "permutation" in row["test"] and "rounding" not in row["case"])
def test_permutations_are_counted_as_if_one_by_one(row):
    first, second = json.loads(row["first"]), json.loads(row["second"])

    def distance(one, other):
        return abs(sum(one) / len(one) - sum(other) / len(other))

    expected = scipy.stats.permutation_test(
        (first, second), distance, permutation_type="independent", n_resamples=float("inf"), alternative="greater"
    )
    assert t_test(row).p_value == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("level", [0.001, 0.01, significance.ALPHA])
def test_what_pages_look_up_is_the_sign_test(level: float):
    most = 150
    least = significance.least_discordant(level, most)
    for discordant in range(1, most + 1):
        for fewer in range(discordant // 2 + 1):
            p_value = significance.sign_test(fewer, discordant - fewer)
            assert (fewer < len(least) and discordant >= least[fewer]) is (p_value < level)


@pytest.mark.parametrize("signs", [0, 1, 2, 7, 24, 25, 100, 499])
def test_the_sign_test_is_the_exact_binomial_test_of_scipy(signs: int):
    for positive in range(0, signs + 1, 1 + signs // 20):
        expected = scipy.stats.binomtest(positive, signs).pvalue if signs else 1.0
        assert significance.sign_test(positive, signs - positive) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("positive", range(440, 501, 10))
def test_many_signs_are_tested_as_exactly_as_pages_show(positive: int):
    signs = 1000
    expected = scipy.stats.binomtest(positive, signs).pvalue
    assert significance.sign_test(positive, signs - positive) == pytest.approx(expected, rel=0.01, abs=1e-5)


def test_effect_sizes_are_those_of_statsmodels_and_of_the_definition():
    from statsmodels.stats.proportion import proportion_effectsize

    assert significance.cohens_h(0.9, 0.7) == pytest.approx(proportion_effectsize(0.9, 0.7))
    assert significance.cohens_d([4, 5, 3, 4], [2, 3, 3]) == pytest.approx(4 / 3 / ((2 + 2 / 3) / 5) ** 0.5)
    assert significance.cohens_d([4, 4], [3, 3]) is None
    assert significance.cohens_d([4], [3, 2]) is None


def test_the_sign_of_a_statistic_turns_with_the_sides_and_p_stays():
    first, second = [4, 5, 3, 4], [2, 3, 3]
    one, other = significance.t_test(first, second), significance.t_test(second, first)
    assert one.p_value == pytest.approx(other.p_value)
    assert one.statistic is not None
    assert other.statistic == pytest.approx(-one.statistic)
