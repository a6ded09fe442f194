"""What a verifier's instructions state of comparing two values, example by example."""

import pytest

from sitegen.questions.verify import verify
from sitegen.questions.work_tree import WorktreeProject
from tests.rows import in_table


@pytest.fixture(scope="module")
def outcomes(built) -> dict[str, str]:
    """Field path -> what came of it."""
    bench = WorktreeProject.open(built("verifier-instructions").repo.path)
    return {each.path: each.outcome for each in verify(bench, "examples").result.judgements}


def test_a_row_a_field_is_read_by_its_mapped_name(outcomes):
    assert len(outcomes) == 18


@in_table
def test_two_values_are_compared_as_the_document_does(outcomes, values, path, outcome):
    assert outcomes[path] == outcome


@in_table
def test_what_the_document_reads_otherwise_is_an_error_of_the_output(outcomes, values, path, outcome):
    assert outcomes[path] == outcome
