"""Lines of a field mapping that report pages offer: with them, scoring finds the values equal."""

import json

import pytest

from sitegen.analysis.mapping_lines import mapping_line
from sitegen.model.outcomes import Judgement
from sitegen.model.scorecards import Result
from sitegen.pages.report.discrepancies import Since, wrong_in
from sitegen.pages.report.patterns import headline_without, mapping_lines, pattern_rows
from sitegen.scoring.fields import FieldsScorer
from sitegen.scoring.rules import rules_of
from sitegen.scoring.scorer import File, ScoringInputs
from tests import pages_sample as sample

SCORER = FieldsScorer()


def _inputs(truth: list[object], output: list[object], mapping: str = "") -> ScoringInputs:
    def items(values: list[object]) -> bytes:
        return json.dumps({"w": [{"id": f"item {n}", "x": value} for n, value in enumerate(values)]}).encode()

    return ScoringInputs(
        outputs=(File("extracted.json", items(output)),),
        ground_truth=File("ground_truth.json", items(truth)),
        mapping=File("field_mapping.yaml", mapping.encode()) if mapping else None,
    )


def _lines(inputs: ScoringInputs, result: Result) -> tuple[tuple[str, ...], list[Judgement]]:
    wrong = wrong_in(result)
    rules = rules_of(inputs)[0]
    since = Since(label="1", file="1.html", points=1, new=True)
    return mapping_lines(pattern_rows(sample.SPECS[0], result, wrong, [since] * len(wrong)), result, lambda: rules)


@pytest.mark.parametrize(
    ("truth", "output", "line"),
    [
        ([1200, 17.5, 3], ["$1,200.00", "$17.50", "$3"], '"w[*].x": {type: "numeric", coerce: true}'),
        (["12", "7", "9"], [12, 7, 9], '"w[*].x": {type: "numeric", coerce: true}'),
        (["n7", "12", "7", "9"], ["n7", 12, 7, 9], None),
        ([12, 7, 9], ["12%", "7 %", "9%"], '"w[*].x": {type: "numeric", coerce: true}'),
        (
            ["2026-02-05", "2026-11-30", "2025-01-09"],
            ["05/02/2026", "30/11/2026", "09/01/2025"],
            '"w[*].x": {type: "date", formats: ["%Y-%m-%d", "%d/%m/%Y"]}',
        ),
        (["01/02/2026", "03/04/2026", "05/06/2026"], ["02/01/2026", "04/03/2026", "06/05/2026"], None),
        ([13.5, 22.25, 17.75], [13.0, 22, 17], '"w[*].x": {absolute: 0.75}'),
        (["N. Main St", "E. Oak St", "W. Elm St"], ["N Main St", "E Oak St", "W Elm St"], None),
    ],
)
def test_a_line_is_offered_only_where_scoring_with_it_finds_these_values_equal(
    truth: list[object], output: list[object], line: str | None
) -> None:
    inputs = _inputs(truth, output)
    result = SCORER.score(inputs)
    lines, equal = _lines(inputs, result)
    assert line is not None or lines == ()
    if line is not None:
        assert lines == (line,)
        mapped = SCORER.score(_inputs(truth, output, f"fields:\n  {line}\n"))
        assert (len(wrong_in(result)), len(equal), wrong_in(mapped)) == (3, 3, [])
        assert mapped.scorecard.metric("f1") == headline_without(sample.SPECS[0], result.scorecard, equal)


def test_no_line_is_offered_that_makes_a_correct_value_wrong_or_where_identity_counts() -> None:
    inputs = _inputs([12, 7, 9], ["12", "7", "9"])
    result = SCORER.score(inputs)
    wrong = wrong_in(result)
    rules = rules_of(inputs)[0]
    right = [
        Judgement(document="", path="w[9].x", attribute="w[].x", outcome="correct", expected=value, actual=value)
        for value in ("n7", 5)
    ]
    assert mapping_line(rules, wrong, [], rounded=False) == '"w[*].x": {type: "numeric", coerce: true}'
    assert mapping_line(rules, wrong, right, rounded=False) is None
    strict = rules_of(_inputs([], [], "equality: strict\n"))[0]
    assert mapping_line(strict, wrong, [], rounded=False) is None


@pytest.mark.parametrize(
    ("mapping", "line"),
    [
        ('"w[1].x": {type: string}', None),
        ('"w[*].x": {percent: 1}', '"w[*].x": {percent: 1, type: "numeric", coerce: true}'),
        ('"*.x": {type: string}', '"w[*].x": {type: "numeric", coerce: true}'),
    ],
)
def test_a_line_is_tried_in_the_whole_mapping_and_keeps_what_it_states_of_the_field(
    mapping: str, line: str | None
) -> None:
    truth: list[object] = [1200, 17.5, 3, 4]
    output: list[object] = ["$1,200.00", "$17.50", "$3", "$4"]
    inputs = _inputs(truth, output, f"fields:\n  {mapping}\n")
    result = SCORER.score(inputs)
    assert _lines(inputs, result)[0] == ((line,) if line else ())
    if line:
        other = "" if "percent" in mapping else f"  {mapping}\n"
        assert wrong_in(SCORER.score(_inputs(truth, output, f"fields:\n{other}  {line}\n"))) == []
