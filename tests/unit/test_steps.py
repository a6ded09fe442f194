"""Steps of one series, on synthetic ones: noise has none, and what has one has it at its place."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations

import pytest

from sitegen.stats.steps import Level, Levels, levels, noise


def normal(rng: random.Random) -> float:
    return rng.gauss(0.7, 0.02)


def heavy(rng: random.Random) -> float:
    """Laplace: outliers are common."""
    return 0.7 + rng.choice((-1, 1)) * rng.expovariate(70)


def of_fifty_cases(rng: random.Random) -> float:
    return sum(rng.random() < 0.8 for _ in range(50)) / 50


def bounds(found: Levels) -> list[tuple[int, int, float]]:
    return [(level.start, level.end, round(level.mean, 4)) for level in found.levels]


@pytest.mark.parametrize(
    ("draw", "length", "at_most"),
    [(normal, 8, 4), (normal, 12, 4), (normal, 40, 4), (normal, 200, 4), (heavy, 40, 8), (of_fifty_cases, 40, 6)],
)
def test_noise_has_no_step(draw: Callable[[random.Random], float], length: int, at_most: int) -> None:
    rng = random.Random(length)
    series = ([draw(rng) for _ in range(length)] for _ in range(200))
    assert sum(len(levels(values).levels) > 1 for values in series) <= at_most


@pytest.mark.parametrize("sign", [1, -1])
def test_a_step_of_three_standard_deviations_is_found_at_its_place(sign: int) -> None:
    rng = random.Random(3)
    found = [levels([rng.gauss(0.7 + sign * 0.06 * (i >= 25), 0.02) for i in range(40)]) for _ in range(100)]
    places = [[level.start for level in one.levels[1:]] for one in found]
    assert sum(len(one) == 1 and abs(one[0] - 25) <= 1 for one in places) >= 95


def test_the_levels_are_those_with_the_least_cost() -> None:
    from sitegen.stats.steps import penalty

    rng = random.Random(5)
    for _ in range(40):
        values = [rng.choice((0.0, 0.0, 1.0, 3.0)) + rng.uniform(-0.4, 0.4) for _ in range(9)]
        found = levels(values)
        kept = [value for index, value in enumerate(values) if index not in found.blips]
        price = penalty(len(kept)) * found.noise**2

        def cost(cuts: tuple[int, ...], row: list[float] = kept, price: float = price) -> float:
            parts = [row[a:b] for a, b in zip((0, *cuts), (*cuts, len(row)), strict=True)]
            means = [sum(part) / len(part) for part in parts]
            return price * len(cuts) + sum(
                (v - mean) ** 2 for part, mean in zip(parts, means, strict=True) for v in part
            )

        every = (cuts for size in range(len(kept)) for cuts in combinations(range(1, len(kept)), size))
        sizes = [level.size for level in found.levels]
        chosen = tuple(sum(sizes[:n]) for n in range(1, len(sizes)))
        assert cost(chosen) == pytest.approx(min(map(cost, every)))


def test_a_series_upside_down_in_other_units_or_backwards_has_the_same_steps() -> None:
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
        assert other.blips == found.blips == tuple(35 - index for index in back.blips[::-1])


def test_the_example_of_the_methods_page() -> None:
    high, low = [0.81, 0.80, 0.82, 0.81, 0.80, 0.81, 0.82, 0.80], [0.70, 0.71, 0.69, 0.70, 0.71, 0.70, 0.40, 0.70]
    found = levels([*high, *low, 0.80, 0.81, 0.80, 0.82])
    assert bounds(found) == [(0, 8, 0.8087), (8, 16, 0.7014), (16, 20, 0.8075)]
    assert (round(found.noise, 3), found.blips) == (0.010, (14,))


def test_every_change_of_an_exact_series_is_a_step() -> None:
    found = levels([0.8] * 6 + [0.7] * 4 + [0.71] * 2)
    assert bounds(found) == [(0, 6, 0.8), (6, 10, 0.7), (10, 12, 0.71)]
    assert found.noise == 0.0


def test_a_constant_series_is_one_level() -> None:
    assert levels([0.5] * 9) == Levels((Level(0, 9, 9, 0.5),), 0.0, ())


def test_a_single_bad_value_is_a_blip_and_a_newest_one_a_level_of_its_own() -> None:
    assert levels([0.9] * 10 + [0.2] + [0.9] * 10).blips == (10,)
    assert bounds(levels([0.9] * 10 + [0.2] + [0.9] * 10)) == [(0, 21, 0.9)]
    assert bounds(levels([0.9] * 10 + [0.2])) == [(0, 10, 0.9), (10, 11, 0.2)]


def test_the_values_that_come_back_are_the_noise_where_most_are_equal() -> None:
    values = [1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0, 0.9]
    assert noise(values) == pytest.approx(0.1 * (3 / 16) ** 0.5)
    assert len(levels(values).levels) == 1


def test_gaps_belong_to_no_level_and_change_none() -> None:
    assert bounds(levels([None, 0.8, None, 0.8, 0.8, None, None, 0.6, 0.6, None, 0.6, None])) == [
        (1, 5, 0.8),
        (7, 11, 0.6),
    ]


@pytest.mark.parametrize("values", [[], [None, None]])
def test_without_a_value_there_is_no_level(values: list[float | None]) -> None:
    assert levels(values) == Levels((), 0.0, ())


def test_too_few_values_are_one_level() -> None:
    assert bounds(levels([0.1, 0.1, 0.9, 0.9])) == [(0, 4, 0.5)]


def test_a_lasting_drift_is_a_staircase() -> None:
    found = bounds(levels([index / 20 for index in range(20)]))
    assert found == [(0, 5, 0.1), (5, 10, 0.35), (10, 15, 0.6), (15, 20, 0.85)]


def test_a_few_steps_do_not_change_the_noise() -> None:
    rng = random.Random(1)
    flat = [rng.gauss(0, 1) for _ in range(200)]
    stepped = [value + 30 * (index // 50) for index, value in enumerate(flat)]
    assert noise(stepped) == pytest.approx(noise(flat), rel=0.05)
    assert noise(flat) == pytest.approx(1, rel=0.15)
