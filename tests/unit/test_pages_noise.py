"""Intervals and verdicts in words."""

import pytest

from sitegen.model.metrics import Nouns
from sitegen.model.noise import Interval, Unit, Why
from sitegen.pages.labels import interval_basis, reason

PARAGRAPHS = Nouns("category", "categories", "paragraph", "paragraphs")


@pytest.mark.parametrize(
    ("unit", "n", "words"),
    [
        ("documents", 6, "6 paragraphs"),
        ("fields", 1_400, "1,400 categories of these paragraphs"),
        ("cases", 20, "20 cases"),
        ("cases", 1, "1 case"),
        ("runs", 3, "3 runs"),
    ],
)
def test_an_interval_says_what_it_was_made_from(unit: Unit, n: int, words: str):
    assert interval_basis(Interval(0.1, 0.9, unit, n, "Wilson"), PARAGRAPHS) == words


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("nothing moved", "no category flipped"),
        ("too few units", "there is too little to tell from"),
        ("within the noise of repeats", "outputs made again differ by as much"),
        ("flips go the other way", "the number and the categories that flipped go opposite ways"),
    ],
)
def test_a_verdict_says_what_decided(why: Why, words: str):
    assert reason(why, PARAGRAPHS) == words
