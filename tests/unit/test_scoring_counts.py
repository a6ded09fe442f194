"""The arithmetic of counts."""

import pytest

from sitegen.model.metrics import Counts
from sitegen.model.outcomes import Judgement, Outcome
from sitegen.stats import counts


def judged(*outcomes: Outcome) -> list[Judgement]:
    return [
        Judgement(document="", path="a", attribute="a", outcome=outcome, expected=1, actual=2) for outcome in outcomes
    ]


def test_each_outcome_is_counted_as_the_convention_says() -> None:
    every = judged("correct", "true_negative", "omission", "hallucination", "wrong_value", "format_error")
    expected = Counts(tp=1, fp=3, fn=3, tn=1, omission=1, hallucination=1, wrong_value=1, format_error=1)
    assert (counts.tally(every), counts.tally(every, "omissions_only")) == (expected, expected._replace(fn=1))


def test_a_format_error_of_a_whole_list_has_no_false_negative() -> None:
    whole = Judgement(
        document="",
        path="walls",
        attribute="walls",
        outcome="format_error",
        expected=None,
        actual="none",
        note="not a list of objects",
    )
    assert counts.tally([whole]) == Counts(fp=1, format_error=1)


def test_the_total_of_nothing_is_nothing() -> None:
    assert counts.total([]) == Counts()


def test_totals_are_summed_number_by_number() -> None:
    assert counts.total(
        [
            Counts(tp=1, fp=2, fn=3, tn=4, omission=5, hallucination=6, wrong_value=7, format_error=8),
            Counts(tp=1, format_error=2),
        ]
    ) == Counts(tp=2, fp=2, fn=3, tn=4, omission=5, hallucination=6, wrong_value=7, format_error=10)


@pytest.mark.parametrize(
    ("given", "expected"), [([], None), ([None], None), ([0.5, None, 1.0, None], 0.75), ([0.0], 0.0)]
)
def test_a_mean_leaves_out_what_is_undefined(given: list[float | None], expected: float | None) -> None:
    assert counts.mean(given) == expected


def test_the_mean_of_decimal_numbers_is_the_same_by_every_python() -> None:
    assert counts.mean([0.1] * 10) == 0.1
