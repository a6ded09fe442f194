"""Values as text, and what tells two of them apart."""

from decimal import Decimal

import pytest

from sitegen.commands.verify import discrepancy
from sitegen.model.metrics import Nouns
from sitegen.model.outcomes import Judgement, Value
from sitegen.pages.html.cells import shown_pair, shown_run
from sitegen.text.values import texts_with_types


@pytest.mark.parametrize(
    ("expected", "actual", "said"),
    [
        (12, "12", ("12 (number)", '"12" (text)')),
        ("12", 12, ('"12" (text)', "12 (number)")),
        (Decimal("1.50"), " 1.50", ("1.50 (number)", '" 1.50" (text)')),
        (True, "True", ("true (boolean)", '"True" (text)')),
        ("[1]", [1], ('"[1]" (text)', "[1] (list)")),
        (None, "null", ("null (nothing)", '"null" (text)')),
        (12, "13", None),
        ("a", "A", None),
        (1, Decimal("1"), None),
    ],
)
def test_types_are_named_where_they_alone_tell_two_values_apart(expected: Value, actual: Value, said: object) -> None:
    assert texts_with_types(expected, actual) == said


def test_a_discrepancy_of_types_shows_them_in_the_terminal_and_on_pages() -> None:
    one = Judgement(document="", path="total", attribute="total", outcome="format_error", expected=12, actual="12")
    assert discrepancy(one, Nouns()) == 'format error   total: expected 12 (number), found "12" (text)'
    assert ["".join(span.text for span in side.spans) for side in shown_pair(one)] == ["12 (number)", '"12" (text)']
    sides = shown_run("format_error", "12", '"12"')
    assert ["".join(span.text for span in side.spans) for side in sides] == ["12", '"12"']
