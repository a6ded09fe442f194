"""Means and medians are those of Python's own module."""

import statistics

import pytest

from sitegen.stats.intervals import low_median, mean, median


@pytest.mark.parametrize("values", [[3], [2, 1], [0.1, 0.2, 0.3], [1e16, 1.0, -1e16], [5, 1, 4, 2], [2, 2, 2, 7, -1]])
def test_they_are_those_of_python(values: list[float]) -> None:
    expected = [statistics.fmean(values), statistics.median(values), statistics.median_low(values)]
    computed = [mean(values), median(values), low_median(values)]  # type: ignore[arg-type]
    assert [repr(number) for number in computed] == [repr(number) for number in expected]


def test_a_mean_reads_its_values_once() -> None:
    assert mean(iter([1.0, 2.0])) == 1.5
