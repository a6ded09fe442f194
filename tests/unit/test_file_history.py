import re
from collections.abc import Iterable, Sequence

from markupsafe import Markup
from msgspec.structs import replace

from sitegen.analysis.effects import BestVersion, EffectIndex
from sitegen.model.changes import Interval
from sitegen.model.commits import WORKTREE
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import BestOutput, Effect, EvalInfo, EvalSummary
from sitegen.model.site import Page
from sitegen.model.timeline import Edit, InstructionHistory
from sitegen.pages.html.charts import track
from sitegen.pages.instruction import CountedEdit, InstructionView, restore
from sitegen.text.patch import PatchCounts
from tests import pages_sample_diffs as sample
from tests.sites import renderer_of, written
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


def best_versions(file: InstructionHistory, **made_with: int) -> tuple[BestVersion, ...]:
    """The best versions of a file, for evals whose best outputs were made with these edits."""
    after = effect("a", 0.9).after
    assert after is not None
    evals = [
        EvalSummary(EvalInfo(name, name.title()), (F1,), (after,), best_output=BestOutput(0, 0.9, edit))
        for name, edit in made_with.items()
    ]
    return EffectIndex(evals, {}).best_versions(file)


def view_of(
    file: InstructionHistory,
    counts: Sequence[PatchCounts],
    effects: Iterable[tuple[Effect, ...]] | None = None,
    best: Sequence[BestVersion] = (),
) -> InstructionView:
    edits = tuple(CountedEdit(count, ()) for count in counts)
    of_edits = tuple(effects or [()] * len(edits))
    return InstructionView(file=file, edits=edits, effects=of_edits, text=None, best=tuple(best))


def test_the_best_version_is_the_one_in_force_at_the_best_output():
    file = InstructionHistory("a.md", (edit(3), edit(6)))
    found = best_versions(file, d=7, c=6, b=5, a=2, e=-1)
    assert [(best.info.id, best.edit) for best in found] == [("b", 0), ("c", 1), ("d", 1)]


def test_beside_the_last_headline_of_an_eval_stands_its_interval():
    around = [Interval(low=0.1 * n, high=0.9, unit="fields", n=9, method="Wilson") for n in range(3)]
    effects = [effect("a", value) for value in (0.5, 0.6, None)]
    known = [
        replace(one, after=one.after and replace(one.after, interval=side))
        for one, side in zip(effects, around, strict=True)
    ]
    view = view_of(FILE, [PatchCounts(added=1)] * 3, [(one,) for one in known])
    assert view.tracks == [(known[1], (0.5, 0.6, None))]
    html = written(renderer_of(sample.SITE), Page("x/y.html", "pages/instruction.html", view))
    assert "95 % interval over 9 fields: Wilson" in html
    assert "0.100 to 0.900" in html


def test_a_row_says_how_to_bring_the_version_back_unless_it_is_there():
    file = InstructionHistory("a.md", (*FILE.edits[:2], edit(3, gone=True), edit(4)))
    stated = [PatchCounts(version_before=before, version_after=after) for before, after in VERSIONS]
    view = view_of(file, stated, best=best_versions(file, a=1, b=2, c=3, d=9))
    html = written(renderer_of(sample.SITE), Page("x/y.html", "pages/instruction.html", view))
    versions = html.partition('<h2 id="h-b"')[2].partition("</details>")[0]
    assert re.findall(r">edit (\d)</a>(?: .version ([^)]+))?", versions) == [("1", "1.0"), ("2", "1.1"), ("3", "")]
    assert "the best output of 3 of 4 evals was made with an earlier version" in versions
    ways = [Markup(way).striptags() for way in re.findall("</a>: (.*?)(?=<li)", versions)]
    assert [way.removesuffix("Copy") for way in ways] == [
        "git show '0000000:old name.md' > a.md",
        "git checkout 0000000 -- a.md",
        "there was no file then",
    ]


def test_no_command_brings_back_what_is_not_there_or_cannot_be_named():
    assert restore(edit(1, gone=True), "a.md") is None
    assert restore(replace(edit(1), commit=replace(commit(1), sha=WORKTREE)), "a.md") is None
    assert restore(edit(1, "a\u202eb.md"), "a\u202eb.md") is None
    assert restore(edit(1, "old.md"), "a\nb.md") is None


def test_paths_are_quoted_for_the_shell_and_are_no_patterns_for_git():
    assert restore(edit(1, "it's $(x).md"), "it's $(x).md") == "git checkout 0000000 -- 'it'\"'\"'s $(x).md'"
    assert restore(edit(1, "*.md"), "*.md") == "git --literal-pathspecs checkout 0000000 -- '*.md'"


def test_sizes_stand_beside_every_eval_that_was_measured_twice():
    grew, shrank = PatchCounts(added=2, words=None), PatchCounts(removed=1)
    effects = [(effect("b", 0.1), effect("a", 0.3)), (effect("b", None),), (effect("b", 0.2), effect("c", 0.9))]
    view = view_of(FILE, [PatchCounts(added=10, words=90), grew, shrank], effects)
    assert view.sizes == [("Lines", (10, 12, 11))]
    assert [(one.info.id, values) for one, values in view.tracks] == [("b", (0.1, None, 0.2))]


def test_the_mean_of_the_evals_stands_beside_edits_that_made_the_file_longer_or_shorter():
    counts = [PatchCounts(added=10), PatchCounts(added=2), PatchCounts(removed=1), PatchCounts(added=1, removed=1)]
    effects = [(effect("a", value, before=0.5),) for value in (0.9, 0.7, 0.4, 0.8)]
    file = InstructionHistory("a.md", (*FILE.edits, edit(4)))
    view = view_of(file, counts, effects)
    assert (view.tendency(longer=True), view.tendency(longer=False)) == ((1, 1, 0), (1, 0, 1))


def test_a_file_with_one_version_has_no_growth():
    view = view_of(InstructionHistory("a.md", (edit(1),)), [PatchCounts(added=10, words=90)], [(effect("a", 0.5),)])
    assert (view.sizes, view.tracks) == ([], [])


def test_a_track_joins_what_is_known_and_a_size_holds_until_the_next():
    assert track((0.5, None, 1.0)) == ("M0 100L2 0", "M0 100h0M2 0h0")
    assert track((None, 0.5)) == ("", "M1 50h0")
    assert track((4, 8, 6), held=True) == ("M0 100H1V0H2V50h0.5", "")
    assert track((None, None)) == ("", "")
