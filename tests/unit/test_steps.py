"""Steps of one series, on synthetic ones: noise has none, and what has one has it at its place."""

import random
from collections.abc import Callable
from itertools import combinations
from math import sqrt
from typing import TypeAlias

import pytest

from sitegen.stats.outliers import Blip
from sitegen.stats.steps import Level, Levels, _starts, levels, noise, penalty
from tests.calibration import told_of_fall, told_of_noise
from tests.rows import in_table

Draw: TypeAlias = Callable[[random.Random, int], list[float]]


def normal(rng: random.Random, length: int) -> list[float]:
    return [rng.gauss(0.7, 0.02) for _ in range(length)]


def heavy(rng: random.Random, length: int) -> list[float]:
    """Student's t with 3 degrees of freedom: outliers are common."""
    return [0.7 + 0.01 * rng.gauss(0, 1) / sqrt(rng.gammavariate(1.5, 2) / 3) for _ in range(length)]


def alike(rng: random.Random, length: int) -> list[float]:
    """Each resembles the one before: a correlation of 0.2."""
    values = [rng.gauss(0, 1)]
    while len(values) < length:
        values.append(0.2 * values[-1] + sqrt(1 - 0.2**2) * rng.gauss(0, 1))
    return values


def of_few_cases(rng: random.Random, length: int) -> list[float]:
    """Ten cases, of which nearly all are right: three values in four are equal."""
    return [sum(rng.random() < 0.97 for _ in range(10)) / 10 for _ in range(length)]


def of_fifty_cases(rng: random.Random, length: int) -> list[float]:
    return [sum(rng.random() < 0.8 for _ in range(50)) / 50 for _ in range(length)]


def of_one_case(rng: random.Random, length: int) -> list[float]:
    """One of ten cases is right in four runs of five, all others always."""
    return [0.9 + 0.1 * (rng.random() < 0.8) for _ in range(length)]


def bounds(found: Levels) -> list[tuple[int, int, float]]:
    return [(level.start, level.end, round(level.mean, 4)) for level in found.levels]


LENGTHS = [5, 6, 8, 10, 12, 16, 20, 30, 40, 60] * 40 + [100] * 40 + [300] * 20


def stepped(draw: Draw, grain: float, seed: int) -> list[int]:
    """Lengths of the series of noise in which there is a step."""
    rng = random.Random(seed)
    series = [draw(rng, length) for length in LENGTHS]
    return [len(values) for values in series if len(levels(values, grain).levels) > 1]


@pytest.mark.parametrize(
    ("draw", "grain"),
    [(normal, 0.0), (heavy, 0.0), (of_few_cases, 0.1), (of_fifty_cases, 0.02), (of_one_case, 0.1), (of_one_case, 0.0)],
)
def test_independent_noise_has_a_step_in_one_of_two_hundred_series_at_most(draw, grain):
    found = [length for seed in (1, 2, 3) for length in stepped(draw, grain, seed)]
    assert len(found) <= 3 * len(LENGTHS) / 200


def test_noise_that_resembles_itself_has_a_step_in_two_of_a_hundred_series_at_most():
    found = [length for seed in (1, 2, 3) for length in stepped(alike, 0.0, seed)]
    assert len(found) <= 3 * len(LENGTHS) / 50


def test_units_that_differ_as_values_do_tell_a_short_step_that_values_alone_do_not():
    """Three values before and three after, four standard deviations apart; steps found of 200, and false ones."""
    rng = random.Random(4)
    noises = [[rng.gauss(0, 1) for _ in range(6)] for _ in range(200)]
    falls = [[value - 4 * (index > 2) for index, value in enumerate(values)] for values in noises]

    def stepped(rows: list[list[float]], variance: float | None) -> int:
        return sum(len(levels(row, 0.0, lambda before, after: variance).levels) > 1 for row in rows)

    assert [stepped(falls, variance) for variance in (None, 1.0, 0.25, 16.0)] == [19, 85, 125, 0]
    assert [stepped(noises, variance) for variance in (None, 1.0, 0.25, 16.0)] == [1, 0, 3, 0]


@pytest.mark.parametrize("draw", [normal, alike, of_fifty_cases])
def test_the_newest_values_of_noise_are_seldom_fresh(draw):
    rng = random.Random(2)
    series = [draw(rng, 5 + number % 60) for number in range(600)]
    assert sum(levels(values).fresh is not None for values in series) <= 18


@pytest.mark.parametrize("sign", [1, -1])
def test_a_step_of_three_standard_deviations_is_found_at_its_place(sign):
    rng = random.Random(3)
    found = [levels([rng.gauss(0.7 + sign * 0.06 * (i >= 25), 0.02) for i in range(40)]) for _ in range(100)]
    places = [[level.start for level in one.levels[1:]] for one in found]
    assert sum(len(one) == 1 and abs(one[0] - 25) <= 1 for one in places) >= 90


def test_the_candidates_are_those_with_the_least_cost():
    rng = random.Random(5)
    for _ in range(40):
        row = [rng.choice((0.0, 0.0, 1.0, 3.0)) + rng.uniform(-0.4, 0.4) for _ in range(9)]
        price = penalty(len(row)) * 0.1

        def cost(cuts: tuple[int, ...], row: list[float] = row, price: float = price) -> float:
            parts = [row[a:b] for a, b in zip((0, *cuts), (*cuts, len(row)), strict=True)]
            means = [sum(part) / len(part) for part in parts]
            return price * len(cuts) + sum(
                (v - mean) ** 2 for part, mean in zip(parts, means, strict=True) for v in part
            )

        every = (cuts for size in range(len(row)) for cuts in combinations(range(1, len(row)), size))
        assert cost(tuple(_starts(row, price)[1:])) == pytest.approx(min(map(cost, every)))


def test_a_series_upside_down_in_other_units_or_backwards_has_the_same_steps():
    rng = random.Random(9)
    for _ in range(50):
        values = [rng.gauss(0.7 - 0.1 * (index > 12) + 0.05 * (index > 25), 0.01) for index in range(36)]
        found = levels(values)
        other = levels([50 - 20 * value for value in values])
        assert [(one.start, one.end, one.size) for one in other.levels] == [
            (one.start, one.end, one.size) for one in found.levels
        ]
        assert [one.mean for one in other.levels] == pytest.approx([50 - 20 * one.mean for one in found.levels])
        back = levels(values[::-1])
        assert [(36 - one.end, 36 - one.start) for one in back.levels[::-1]] == [
            (one.start, one.end) for one in found.levels
        ]
        mirrored = tuple(Blip(tuple(35 - at for at in blip.at[::-1]), blip.far) for blip in back.blips[::-1])
        assert other.blips == found.blips == mirrored


def test_the_example_of_the_methods_page():
    high, low = [0.81, 0.80, 0.82, 0.81, 0.80, 0.81, 0.82, 0.80], [0.70, 0.71, 0.69, 0.70, 0.71, 0.70, 0.40, 0.70]
    found = levels([*high, *low, 0.80, 0.81, 0.80, 0.82])
    assert bounds(found) == [(0, 8, 0.8088), (8, 16, 0.7014), (16, 20, 0.8075)]
    assert (round(found.noise, 3), found.blips) == (0.010, (Blip((14,), far=True),))


@in_table
def test_without_randomness_fewer_cases_are_a_step_the_longer_they_last(sizes, cases):
    """Of a hundred cases."""
    before, after = sizes
    found = [
        [(level.size, round(level.mean, 4)) for level in levels([0.8] * before + [lower] * after, 0.01).levels]
        for lower in (0.8 - cases / 100, 0.8 - 0.6 * cases / 100)
    ]
    mean = (0.8 * before + (0.8 - 0.6 * cases / 100) * after) / (before + after)
    assert found == [[(before, 0.8), (after, round(0.8 - cases / 100, 4))], [(before + after, round(mean, 4))]]


def test_a_change_is_worth_as_many_cases_as_it_is_known_to_be():
    values = [0.8] * 6 + [0.7] * 6
    assert bounds(levels(values, 0.01)) == [(0, 6, 0.8), (6, 12, 0.7)]
    assert bounds(levels(values)) == [(0, 12, 0.75)]


def test_a_constant_series_and_too_few_values_are_one_level():
    assert levels([0.1] * 10) == Levels((Level(start=0, end=10, size=10, mean=0.1),), 0.0, ())
    assert bounds(levels([0.1, 0.1, 0.9, 0.9])) == [(0, 4, 0.5)]


def test_a_single_bad_value_is_a_blip_and_a_newest_one_too_new_to_tell():
    assert levels([0.9] * 10 + [0.2] + [0.9] * 10, 0.01).blips == (Blip((10,), far=True),)
    assert bounds(levels([0.9] * 10 + [0.2] + [0.9] * 10)) == [(0, 21, 0.9)]
    found = levels([0.9] * 10 + [0.2], 0.01)
    assert bounds(found) == [(0, 11, 0.8364)]
    assert found.fresh is not None
    assert bounds(Levels(found.fresh, 0.0, ())) == [(0, 10, 0.9), (10, 11, 0.2)]


STEADY = [0.81, 0.80, 0.82, 0.81, 0.80, 0.81, 0.82, 0.80]


def test_two_or_three_values_that_came_back_are_a_blip_and_hide_no_step():
    lower = [value - 0.12 for value in STEADY]
    for bad in ([0.5, 0.6], [0.5, 0.6, 0.5]):
        found = levels([*STEADY[:4], *bad, *STEADY[4:], *lower])
        assert found.blips == (Blip(tuple(range(4, 4 + len(bad))), far=True),)
        assert [(level.size, round(level.mean, 3)) for level in found.levels] == [(8, 0.809), (8, 0.689)]


def test_two_values_that_are_told_as_a_level_are_no_blip():
    found = levels([*STEADY, 0.5, 0.51, *STEADY])
    assert (bounds(found), found.blips) == ([(0, 8, 0.8088), (8, 10, 0.505), (10, 18, 0.8088)], ())


def test_values_that_two_others_are_beside_the_level_of_are_no_blip():
    found = levels([0.6] * 6 + [0.8] * 3 + [0.6] + [0.8] * 8, 0.01)
    assert (bounds(found), found.blips) == ([(0, 6, 0.6), (6, 18, 0.8)], (Blip((9,), far=True),))


@pytest.mark.parametrize(("draw", "most"), [(normal, 2), (alike, 2), (of_fifty_cases, 2), (of_few_cases, 5)])
def test_noise_is_seldom_far_off(draw, most):
    """In so many of a hundred series at most, to either side."""
    rng = random.Random(1)
    series = [draw(rng, 5 + number % 40) for number in range(600)]
    assert sum(any(blip.far for blip in levels(values).blips) for values in series) <= most * len(series) / 100


def test_newest_values_are_fresh_until_they_are_a_step():
    steady = [0.81, 0.80, 0.82, 0.81, 0.80, 0.81, 0.82, 0.80]
    newest = [0.78, 0.78, 0.79, 0.78, 0.78]
    found = [levels(steady + newest[:count], 0.001) for count in range(6)]
    assert [one.fresh and one.fresh[1].start for one in found] == [None, None, 8, 8, None, None]
    assert [len(one.levels) for one in found] == [1, 1, 1, 1, 2, 2]


def test_the_values_that_come_back_are_the_noise_where_most_are_equal():
    values = [1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0, 0.9]
    assert noise(values) == pytest.approx(0.1 * (3 / 16) ** 0.5)
    assert len(levels(values).levels) == 1


def test_gaps_belong_to_no_level_and_change_none():
    told = bounds(levels([None, 0.8, None, 0.8, 0.8, None, None, 0.6, 0.6, None, 0.6, None], 0.01))
    assert told == [(1, 5, 0.8), (7, 11, 0.6)]


@pytest.mark.parametrize("values", [[], [None, None]])
def test_without_a_value_there_is_no_level(values):
    assert levels(values) == Levels((), 0.0, ())


def test_a_drift_is_a_staircase_once_it_lasts():
    assert bounds(levels([index / 20 for index in range(20)])) == [(0, 20, 0.475)]
    told = bounds(levels([index / 60 for index in range(60)]))
    assert told == [(0, 12, 0.0917), (12, 32, 0.3583), (32, 48, 0.6583), (48, 60, 0.8917)]


def test_a_few_steps_do_not_change_the_noise():
    rng = random.Random(1)
    flat = [rng.gauss(0, 1) for _ in range(200)]
    stepped = [value + 30 * (index // 50) for index, value in enumerate(flat)]
    assert noise(stepped) == pytest.approx(noise(flat), rel=0.05)
    assert noise(flat) == pytest.approx(1, rel=0.15)


@pytest.mark.parametrize("length", [20, 40])
def test_of_numbers_without_documents_heavy_tails_tell_nothing_in_99_of_100_series(length):
    """Neither a step, nor a fall too new to tell, nor a bad run."""
    assert told_of_noise(3, length, 400) <= 1


@in_table
def test_of_numbers_without_documents_falls_are_still_told(tails, before, low, fall, least):
    assert told_of_fall(tails, before, low, fall, trials=60) >= least
