"""Intervals and verdicts in words."""

import pytest

from sitegen.model.changes import Unit
from sitegen.model.metrics import Nouns
from sitegen.pages.labels import interval_basis

PARAGRAPHS = Nouns(attribute="category", attributes="categories", document="paragraph")


@pytest.mark.parametrize(
    ("unit", "n", "words"),
    [
        ("documents", 6, "6 paragraphs"),
        ("fields", 1_400, "1,400 categories of these paragraphs"),
        ("cases", 20, "20 cases"),
        ("cases", 1, "1 case"),
    ],
)
def test_an_interval_says_what_it_was_made_from(unit: Unit, n: int, words: str):
    assert interval_basis(unit, n, PARAGRAPHS) == words
