"""What is said of a value of the ground truth names the line that states it."""

import json

import pytest

from sitegen.scoring.fields import FieldsScorer
from sitegen.scoring.kinds import File, ScoringInputs

SECTIONS = {
    "csv_to_json": {"Title": "title"},
    "array_mappings": {"walls": {"csv_section": "Walls:", "fields": {"Name": "name", "Area": "area"}}},
}


@pytest.mark.parametrize(
    ("truth", "output", "settings", "line"),
    [
        ("id,n\na,1\nb,N/A\n", [{"id": "a", "n": 1}, {"id": "b", "n": 2}], {}, 3),
        ('id,n\na,7\nb,"1,200"\n', [{"id": "a", "n": 7}, {"id": "b", "n": 1200}], {}, 3),
        ("id,n\na,7\nb,12 ft\n", [{"id": "a", "n": 7}, {"id": "b", "n": 12}], {}, 3),
        ("id,n\na,1\nb,x\n", [{"id": "a", "n": 1}, {"id": "b", "n": 2}], {"fields": {"n": {"type": "integer"}}}, 3),
        ("field,value\na,1\n\nb.c,-\n", {"a": 1, "b": {"c": 2}}, {}, 4),
        ("Report\n,Title,None\n", {"title": "Hall"}, {"ground_truth_format": "building_summary_csv", **SECTIONS}, 2),
        (
            ",Walls:,Name,Area\n,,A,1\n,,B,NA\n",
            {"walls": [{"name": "A", "area": 1}, {"name": "B", "area": 2}]},
            SECTIONS,
            3,
        ),
        (",Walls:,Name,Area\n,,A,1\n\n,,B,2\n", {"walls": [{"name": "A", "area": 1}]}, SECTIONS, 4),
    ],
)
def test_a_finding_on_an_expected_value_has_its_line(truth: str, output: object, settings: object, line: int) -> None:
    outputs, expected = (File("extracted.json", json.dumps(output).encode()),), File("truth.csv", truth.encode())
    inputs = ScoringInputs(outputs=outputs, ground_truth=expected, settings=json.dumps(settings))
    result = FieldsScorer().score(inputs)
    [finding] = [each for each in result.scorecard.findings if each.severity == "warning"]
    assert (finding.about, finding.line) == ("ground_truth", line)


def test_a_line_that_moved_is_the_new_one_although_nothing_is_judged_again() -> None:
    scorer = FieldsScorer()
    output = (File("extracted.json", b'[{"id": "b", "w": {"n": 2}}]'),)
    lines = []
    for truth in (b"id,w.n\nb,N/A\n", b"id,w.n\nc,1\nb,N/A\n"):
        result = scorer.score(ScoringInputs(outputs=output, ground_truth=File("ground_truth.csv", truth)))
        lines += [each.line for each in result.scorecard.findings if each.path]
    assert lines == [2, 3]
