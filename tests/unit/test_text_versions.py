import pytest

from sitegen.text.patch import PatchCounts, VersionStep, version_steps

FIRST = PatchCounts(added=9, removed=0, version_before=None, version_after="1.0")


@pytest.mark.parametrize(
    ("edit", "step"),
    [
        (PatchCounts(added=2, removed=2, version_before="1.0", version_after="1.1"), VersionStep("1.1")),
        (
            PatchCounts(added=1, removed=1, version_before="1.0", version_after="1.1", only_version=True),
            VersionStep("1.1", "version alone"),
        ),
        (PatchCounts(1, 1), VersionStep("1.0", "text alone")),
        (PatchCounts(added=2, removed=2, version_before="1.0", version_after="1.0"), VersionStep("1.0", "text alone")),
        (PatchCounts(added=1, removed=1, version_before="1.0", version_after=None), VersionStep(None, "text alone")),
        (PatchCounts(added=0, removed=9, version_before="1.0", version_after=None), VersionStep(None)),
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
