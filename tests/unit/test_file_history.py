from collections.abc import Iterable, Sequence

import pytest
from msgspec.structs import replace

from sitegen.model.commits import WORKTREE
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import Effect, EvalInfo
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages.html.charts import track
from sitegen.pages.instruction import CountedEdit, InstructionView, way_back
from sitegen.text.patch import PatchCounts
from tests import pages_sample_diffs as sample
from tests.unit.test_for_machines import commit, headline

F1 = MetricSpec("f1", "F1", "")


def edit(position: int, path: str = "a.md", *, gone: bool = False) -> Edit:
    text, status = str(position), "deleted" if gone else "modified"
    return sample.edit(commit(position), text, None if gone else text, path, status)  # type: ignore[arg-type]


def effect(eval_id: str, value: float | None, before: float | None = None) -> Effect:
    sides = (None if before is None else headline(1, before), headline(1, value))
    return Effect(info=EvalInfo(eval_id, eval_id.title()), before=sides[0], after=sides[1], specs=(F1,))


VERSIONS = ((None, "1.0"), ("1.0", "1.1"), ("1.1", None), (None, "1.2"))
FILE = InstructionHistory("a.md", (edit(1, "old name.md"), edit(2), edit(3)))


def view_of(
    file: InstructionHistory, counts: Sequence[PatchCounts], effects: Iterable[tuple[Effect, ...]] | None = None
) -> InstructionView:
    edits = tuple(CountedEdit(count, ()) for count in counts)
    of_edits = tuple(effects or [()] * len(edits))
    return InstructionView(file=file, edits=edits, effects=of_edits, text="")


@pytest.mark.parametrize(
    ("edited", "now", "command"),
    [
        (edit(2, "a.md"), "a.md", "git checkout 0000000~1 -- a.md"),
        (edit(2, "a.md", gone=True), "a.md", "git checkout 0000000~1 -- a.md"),
        (sample.edit(commit(1), None, "x", "a.md", "added"), "a.md", "git rm -q -- a.md"),
        (edit(2, "old name.md"), "a.md", "git show '0000000~1:old name.md' > a.md"),
        (edit(2, "it's $(x).md"), "it's $(x).md", "git checkout 0000000~1 -- 'it'\"'\"'s $(x).md'"),
        (edit(2, "*.md"), "*.md", "git --literal-pathspecs checkout 0000000~1 -- '*.md'"),
        (replace(edit(2), commit=replace(commit(2), sha=WORKTREE)), "a.md", None),
        (edit(2, "a\u202eb.md"), "a\u202eb.md", None),
        (edit(2, "old.md"), "a\nb.md", None),
    ],
)
def test_the_way_back_is_quoted_and_names_no_file_that_cannot_be_shown(edited, now, command):
    assert way_back([(edited, now)]) == command


def test_sizes_stand_beside_every_eval_that_was_measured_twice():
    grew, shrank = PatchCounts(added=2, words=None), PatchCounts(removed=1)
    effects = [(effect("b", 0.1), effect("a", 0.3)), (effect("b", None),), (effect("b", 0.2), effect("c", 0.9))]
    view = view_of(FILE, [PatchCounts(added=10, words=90), grew, shrank], effects)
    assert view.sizes == [("Lines", (10, 12, 11))]
    assert [(one.info.id, values) for one, values in view.tracks] == [("b", (0.1, None, 0.2))]


def test_a_file_with_one_version_has_no_growth():
    view = view_of(InstructionHistory("a.md", (edit(1),)), [PatchCounts(added=10, words=90)], [(effect("a", 0.5),)])
    assert (view.sizes, view.tracks) == ([], [])


def test_a_track_joins_what_is_known_and_a_size_holds_until_the_next():
    assert track((0.5, None, 1.0)) == ("M0 100L2 0", "M0 100h0M2 0h0")
    assert track((None, 0.5)) == ("", "M1 50h0")
    assert track((4, 8, 6), held=True) == ("M0 100H1V0H2V50h0.5", "")
    assert track((None, None)) == ("", "")
