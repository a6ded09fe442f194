"""What a verifier's instructions state of comparing two values, example by example."""

import pytest

from sitegen.questions.verify import verify
from sitegen.questions.work_tree import WorktreeProject


@pytest.fixture(scope="module")
def outcomes(built) -> dict[str, str]:
    """Field path -> what came of it."""
    bench = WorktreeProject.open(built("verifier-instructions").repo.path)
    return {each.path: each.outcome for each in verify(bench, "examples").result.judgements}


def test_a_row_a_field_is_read_by_its_mapped_name(outcomes):
    assert len(outcomes) == 18


@pytest.mark.parametrize(
    ("path", "outcome"),
    [
        ("envelope.conditioned_floor_area", "correct"),  # 1200, 1205
        ("windows[0].u_factor", "correct"),  # 0.31, 0.3099
        ("envelope.roof_area", "wrong_value"),  # 1200, 1210
        ("envelope.slab_area", "correct"),  # 0, 0.01
        ("envelope.door_area", "wrong_value"),  # 0, 0.02
        ("project.climate_zone", "correct"),  # Climate Zone 12, climate zone 12
        ("project.city", "correct"),  # San Francisco, with more white space
        ("project.zone", "wrong_value"),  # Zone 4, Zone 5
        ("project.apartment", "true_negative"),  # nothing, null
        ("project.all_electric", "correct"),  # true, "True"
        ("project.addition", "correct"),  # TRUE, 1
        ("project.attic", "correct"),  # false, 0
        ("project.bedrooms", "omission"),
        ("project.garage", "hallucination"),
        ("walls[1].name", "correct"),  # walls.1.name
    ],
)
def test_two_values_are_compared_as_the_document_does(outcomes, path, outcome):
    assert outcomes[path] == outcome


@pytest.mark.parametrize(
    ("path", "outcome"),
    [
        ("project.pool", "format_error"),  # true, "yes": the document reads any other text as false
        ('["walls[-1].name"]', "omission"),  # the document reads a negative index from the end
    ],
)
def test_what_the_document_reads_otherwise_is_an_error_of_the_output(outcomes, path, outcome):
    assert outcomes[path] == outcome
