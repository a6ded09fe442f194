import pytest

from sitegen.text.patch import PatchCounts, VersionStep, version_steps

FIRST = PatchCounts(9, 0, None, "1.0")


@pytest.mark.parametrize(
    ("edit", "step"),
    [
        (PatchCounts(2, 2, "1.0", "1.1"), VersionStep("1.1")),
        (PatchCounts(1, 1, "1.0", "1.1", True), VersionStep("1.1", "version alone")),
        (PatchCounts(1, 1), VersionStep("1.0", "text alone")),
        (PatchCounts(2, 2, "1.0", "1.0"), VersionStep("1.0", "text alone")),
        (PatchCounts(1, 1, "1.0", None), VersionStep(None, "text alone")),
        (PatchCounts(0, 9, "1.0", None), VersionStep(None)),
        (PatchCounts(), VersionStep("1.0")),
        (None, VersionStep(None)),
    ],
)
def test_an_edit_of_a_file_that_states_a_version(edit: PatchCounts | None, step: VersionStep):
    assert version_steps((FIRST, edit)) == (VersionStep("1.0"), step)


def test_a_file_without_a_version_forgets_none():
    assert version_steps((PatchCounts(9, 0), PatchCounts(1, 1), FIRST)) == (
        VersionStep(None),
        VersionStep(None),
        VersionStep("1.0"),
    )
