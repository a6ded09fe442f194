"""What wrong values have in common. The table beside this file has the rules for two values."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitegen.analysis.error_patterns import OTHER_ITEM, RULES, SWAPPED, error_patterns, pattern_of, without_errors
from sitegen.model.metrics import Counts, Metric
from sitegen.model.outcomes import REDACTED, Judgement, Outcome, Value
from sitegen.model.scorecards import Result
from sitegen.pages.report.discrepancies import Since
from sitegen.pages.report.patterns import headline_without, pattern_rows, pattern_summaries, pattern_words
from sitegen.scoring.kinds import File, ScoringInputs, scorer
from sitegen.stats.counts import f1, tally
from tests import pages_sample as sample
from tests.rows import in_table
from tests.scoring.test_tables import tables

CASES = tables(Path(__file__).with_name("error_patterns.md").read_text(encoding="utf-8"))[0]


def _judged(path: str, expected: Value, actual: Value, outcome: Outcome = "wrong_value") -> Judgement:
    return Judgement(document="", path=path, attribute=path, outcome=outcome, expected=expected, actual=actual)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_the_difference_of_two_values_has_the_name_of_the_table(case):
    assert (pattern_of(case["expected"], case["actual"]) or "—") == case["pattern"]


def test_every_rule_has_a_case_in_the_table():
    assert {name for name, _ in RULES} == {case["pattern"] for case in CASES} - {"—"}


def test_three_errors_alike_are_a_pattern_and_two_are_not():
    wrong = [_judged(f"p{i}", Decimal(i + 7), f"${i + 7}", "format_error") for i in range(3)]
    wrong += [_judged("a", Decimal("1.25"), Decimal("1.3")), _judged("b", Decimal("7.55"), Decimal("7.6"))]
    assert error_patterns(wrong, wrong) == (("a currency sign", (0, 1, 2)),)


def test_two_fields_with_the_value_of_the_other_are_swapped():
    wrong = [_judged(f"w[{i}].{a}", f"{i}{a}", f"{i}{b}") for i in range(2) for a, b in ("xy", "yx")]
    assert error_patterns(wrong, wrong) == ((SWAPPED, (0, 1, 2, 3)),)


def test_an_item_whose_wrong_values_all_stand_in_the_next_one_is_off_by_one():
    wrong = [_judged(f"w[{i}].{name}", f"{name} of {i}", f"{name} of {i + 1}") for i in (1, 2) for name in ("a", "b")]
    right = [_judged(f"w[3].{name}", f"{name} of 3", f"{name} of 3", "correct") for name in ("a", "b")]
    assert error_patterns(wrong, [*wrong, *right]) == ((OTHER_ITEM, (0, 1, 2, 3)),)
    assert error_patterns(wrong, wrong) == ()  # the last item has no next one, and two errors are too few
    lone = [*wrong[2:], _judged("w[2].c", "c of 2", "none of these")]
    assert error_patterns(lone, [*lone, *right]) == ()


def test_values_that_are_missing_extra_hidden_very_long_or_equal_have_no_pattern():
    pairs: list[tuple[Value, Value, Outcome]] = [
        ("7", None, "omission"),
        (None, "$7", "hallucination"),
        (REDACTED, "$7", "wrong_value"),
        ("a" * 600, "a" * 501, "wrong_value"),
        (["7"], ["$7"], "wrong_value"),
        ("as is", "as is ", "wrong_value"),
    ]
    wrong = [_judged(f"p{i}", *pair) for pair in pairs for i in range(3)]
    assert error_patterns(wrong, wrong) == ()


@pytest.mark.parametrize("convention", ["standard", "omissions_only"])
def test_without_errors_the_counts_are_those_of_right_values(convention):
    wrong = [_judged("a", "7", "$7"), _judged("b", Decimal(7), "$7", "format_error")]
    rest = [_judged("c", "x", "y"), _judged("d", "x", None, "omission"), _judged("e", "x", "x", "correct")]
    right = [replace(judgement, outcome="correct") for judgement in wrong]
    assert without_errors(tally([*wrong, *rest], convention), wrong, convention) == tally([*right, *rest], convention)
    assert without_errors(Counts(), [], convention) == Counts()


def test_a_report_says_what_the_headline_would_be_without_each_pattern_where_and_since_when():
    signs = [_judged(f"p[{i}].price", Decimal(i + 10), f"${i + 10}", "format_error") for i in range(3)]
    signs = [replace(sign, attribute="p[].price") for sign in signs]
    cut = [_judged(f"name{i}", "Dried cod, salted", "Dried cod") for i in range(4)]
    result = sample.result([*signs, *cut, _judged("x", "a", "a", "correct"), _judged("y", "a", "b")])
    card = replace(result.scorecard, metrics=(Metric("f1", f1(result.scorecard.counts)),))
    wrong = result.wrong
    old, new = (
        Since(label="1", file="0001.html", iterations=2, new=False),
        Since(label="2", file="0002.html", iterations=1, new=True),
    )
    starts = [old, old, new, new, new, old, old, new]
    rows = pattern_rows(sample.SPECS[0], replace(result, scorecard=card), wrong, starts)
    assert [(row.name, len(row.errors), row.since, row.since_errors, row.without, row.setting) for row in rows] == [
        ("a text cut short or continued", 4, old, 2, 5 / 9, ""),
        ("a currency sign", 3, old, 2, 4 / 9, "coerce: true"),
    ]
    assert (rows[1].fields, rows[1].example, len(rows[0].fields)) == (["p[].price"], ("10", "$10"), 4)
    explained = [error for row in rows for error in row.errors]
    assert (len(explained), headline_without(sample.SPECS[0], card, explained)) == (7, 8 / 9)
    summaries = pattern_summaries(rows, 8)
    found = [(summary.name, summary.since, summary.all_since) for summary in summaries]
    assert found == [("a text cut short or continued", "", False), ("a currency sign", "1", False)]
    words = pattern_words(summaries[1], sample.SPECS[0], 2 / 9, sample.series(2).info.nouns)
    assert "".join(words) == (
        "3 of 8 errors come down to a currency sign, in 1 field, most of them since 1: "
        "if these were right, F1 0.222 would be 0.444"
    )
    # The headline does not come from the counts alone.
    assert headline_without(sample.SPECS[0], replace(card, metrics=()), explained) is None
    assert pattern_rows(sample.SPECS[0], result, cut[:2], starts) == ()


@in_table
def test_the_setting_that_stands_beside_a_pattern_leaves_its_difference_out(truth, output, setting, stated):
    def scored(mapping: str) -> Result:
        sides = (
            json.dumps({"w": [{"id": f"item {n}", "x": value} for n, value in enumerate(values)]}).encode()
            for values in (truth, output)
        )
        expected, actual = (File(name, side) for name, side in zip(("truth.json", "out.json"), sides, strict=True))
        rules = File("field_mapping.yaml", mapping.encode())
        return scorer("fields").score(ScoringInputs(outputs=(actual,), ground_truth=expected, mapping=rules))

    result = scored("")
    wrong = result.wrong
    since = Since(label="1", file="1.html", iterations=1, new=True)
    [row] = pattern_rows(sample.SPECS[0], result, wrong, [since] * len(wrong))
    assert (len(row.errors), row.setting) == (3, setting)
    assert scored(f'fields:\n  "w[*].x": {{{stated}}}\n').wrong == []
