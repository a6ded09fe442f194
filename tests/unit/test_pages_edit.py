from collections.abc import Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.engine.worker_context import Renderer
from sitegen.model.changes import ChangeVerdict, Decision, Ends, Why
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import Flips
from sitegen.model.series import Effect, EvalInfo, Window
from sitegen.model.site import Page
from sitegen.model.timeline import Blob, Edit, EditStatus, InstructionHistory
from sitegen.pages import effects
from sitegen.pages.edit import EditView, RenderedPatch, draw_edit
from sitegen.pages.effects import effect_rows, fields_and_passages
from sitegen.pages.instruction import apart_since, thickens
from sitegen.pages.labels import verdict_word
from sitegen.text.patch import read_patch
from sitegen.text.sections import TextStats
from tests import pages_sample as points
from tests import pages_sample_diffs as sample
from tests.rows import in_table
from tests.sites import renderer_of, written

OLD, NEW = "a" * 40, "b" * 40


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    return renderer_of(sample.SITE)


def edit_page(
    file: InstructionHistory,
    index: int,
    patch: RenderedPatch,
    of_evals: Iterable[Effect],
    before: TextStats | None = None,
    after: TextStats | None = None,
) -> Page:
    effects, edits = effect_rows(of_evals), file.edits[max(0, index - 1) : index + 1]
    return EditView(path=file.path, edits=edits, index=index, patch=patch, effects=effects, sizes=(before, after)).page


def written_with(*of_evals: Effect) -> str:
    """The page of an edit with these effects."""
    return written(renderer_of(sample.SITE), edit_page(sample.FILE, 1, drawn(1, sample.V1, sample.V2), of_evals))


def drawn(index: int, old: str, new: str, file: InstructionHistory = sample.FILE) -> RenderedPatch:
    return draw_edit(file.edits[index], sample.patch_of(old, new))


def view_of(patch: bytes, status: EditStatus = "modified", sides: str = "ab", path: str = sample.PATH) -> EditView:
    """An edit of a file; *sides* has the letter of the content before and after, or a dash where there is no file."""
    old, new = (None if letter == "-" else Blob(path, letter * 40) for letter in sides)
    edit = Edit(commit=sample.commit(7, "Try"), path=path, status=status, old=old, new=new)
    page = edit_page(InstructionHistory(path, (edit,)), 0, draw_edit(edit, read_patch(patch)), ())
    assert isinstance(page.view, EditView)
    return page.view


def verdict(decision: Decision, why: Why, change: float = -0.1, detectable: float | None = None) -> ChangeVerdict:
    counts = {"fixed": 0, "broken": 6, "counted": (0, 6), "p_value": 0.03, "unit": "fields", "detectable": detectable}
    return points.verdict(decision=decision, why=why, change=change, interval=Ends(-0.2, -0.05), **counts)


@in_table
def test_no_word_contradicts_the_number_beside_it(decision, why, change, said):
    found = replace(verdict(decision, why, change), lost_fields=(("a", 4), ("b", 3)))
    assert [verdict_word(found, higher_is_better=True), effects.grade_of(found, sample.SPECS[0])] == said
    assert verdict_word(replace(found, change=-change), higher_is_better=False) == said[0]


def test_effects_stand_by_verdict_then_by_size_and_are_counted_by_verdict():
    judged = [
        sample.judged(sample.EFFECTS[0], verdict=verdict("better", "beyond chance", 0.04)),
        sample.judged(sample.EFFECTS[1], verdict=verdict("worse", "beyond chance")),
        sample.judged(sample.EFFECTS[4], verdict=verdict("cannot tell", "flips may be chance")),
    ]
    rows = effect_rows((*judged, *sample.EFFECTS[2:4]))
    assert [(row.info.id, row.grade) for row in rows] == [
        ("herbs", "worse"),
        ("vegetables", "better"),
        ("trees", "cannot tell"),
        ("flowers", "same output"),
        ("grasses", "first output"),
    ]
    counts = (("worse", 1), ("better", 1), ("cannot tell", 1), ("same output", 1), ("first output", 1))
    assert effects.grade_counts(row.grade for row in rows) == counts
    assert max(rows, key=lambda row: row.share) is rows[1]
    ends = (Ends(0.01, 0.07), Ends(-0.01, 0.09))  # what holds here alone has no colour
    found = verdict("better", "beyond chance", 0.04)
    sure = (replace(rows[1], verdict=replace(found, interval=each)) for each in ends)
    assert [row.interval_cell("", 1.0)[:19] for row in sure] == ['<svg class="ivl u" ', '<svg class="ivl n" ']
    assert [spec.label for spec, _ in rows[0].metrics] == ["F1", "Precision", "Recall"]
    assert (rows[1].spec, rows[1].change) == (sample.SPECS[0], 0.8514 - 0.8123)


def effect(before: float | None = 0.3, after: float = 0.4, **more: Any) -> Effect:
    sides = sample.headline(1, before), sample.headline(2, after)
    return Effect(**{"info": EvalInfo("a", "A"), "before": sides[0], "after": sides[1], "specs": sample.SPECS, **more})


def test_an_effect_has_one_verdict_and_one_reason():
    recorded = effect(specs=(MetricSpec("n", "N", "", recorded=True),))
    judged = sample.judged(effect(), verdict=verdict("worse", "beyond chance"))
    rows = [row for each in (effect(before=None), recorded, judged) for row in effect_rows((each,))]
    assert [(row.grade, row.why) for row in rows] == [
        ("first output", "nothing to compare with"),
        ("recorded", "whether this is more than chance is unknown"),
        ("worse", "0 values fixed, 6 broken, p 0.030"),
    ]
    assert ['</summary><div class="by">' in row.verdict_cell() for row in rows] == [False, False, True]


def test_a_side_that_could_not_be_read_is_named_with_where_to_read_on():
    before = replace(sample.headline(1, 0.5), status="unreadable")
    after = replace(sample.headline(2, 0.25), status="no_ground_truth")
    html = written_with(Effect(info=EvalInfo("a", "A"), before=before, after=after, specs=sample.SPECS))
    assert (
        "<b>The output of iteration-001 cannot be read,</b> and all that it should hold counts as missing: "
        '<a href="../../evals/a/0001.html">its report</a> names the file.'
    ) in html
    assert "<b>The ground truth of iteration-002 cannot be read,</b> so that nothing was scored" in html


@in_table
def test_an_edit_without_lines_says_why(
    patch: str, status: EditStatus, sides: str, path: str, note: str, command: str
) -> None:
    view = view_of(patch.encode(), status, sides, path)
    assert (view.patch.rows, view.patch.notes) == ((), (note,))
    assert view.patch.command == command.replace("SHA", sample.commit(7, "Try").short)


def test_a_huge_edit_is_cut_and_says_how_to_see_the_rest():
    view = view_of(b"@@ -0,0 +1,2600 @@ " + b"Read the page, " * 5 + b"and t\n" + b"+a\n" * 2600)
    assert (view.patch.rows[0].old or ())[0].text.endswith(" @@ " + "Read the page, " * 5 + "and…")
    assert view.patch.notes == ("The first 2,000 lines of the diff are shown, 600 more are left out.",)
    assert view.patch.command == f"git diff {OLD[:12]} {NEW[:12]}"
    assert view.patch.counts.added == 2600


def test_a_moved_file_says_where_from():
    file = InstructionHistory(
        "new.md",
        (
            sample.edit(sample.commit(1, "a"), None, "x\n", "old.md", "added"),
            sample.edit(sample.commit(2, "b"), "x\n", "y\n", "new.md", "renamed"),
        ),
    )
    page = edit_page(file, 1, drawn(1, "x\n", "y\n", file), ())
    assert '<span>moved from <span class="mono">old.md</span></span>' in written(renderer_of(sample.SITE), page)


def test_the_diff_is_side_by_side_at_first_where_it_has_no_table_of_evals_beside_it(renderer: Renderer):
    html = renderer.render(edit_page(sample.FILE, 1, drawn(1, sample.V1, sample.V2), ())).decode()
    assert '<input type="radio" name="v" id="v-split" checked>' in html
    assert 'class="beside"' not in html


def test_an_added_file_has_one_view_because_it_has_one_side(renderer: Renderer):
    html = renderer.render(edit_page(sample.FILE, 0, drawn(0, "", sample.V1), ())).decode()
    assert '<div class="view lines on uni" data-table="60">' in html
    assert 'type="radio"' not in html


def test_passages_of_several_files_are_told_apart_by_their_folders():
    flips = Flips((("price", 2),), ())
    rows = effect_rows((sample.judged(sample.EFFECTS[0], flips=flips),))
    hunks = drawn(1, sample.V1, sample.V2).hunks
    fields = fields_and_passages(rows, {"a/rules.md": hunks, "b/rules.md": hunks})
    assert fields.passages_cell("price") == (
        'a/<wbr>rules.md <a href="#f1p2">2</a><br>b/<wbr>rules.md <a href="#f2p2">2</a>'
    )


def test_an_effect_says_what_besides_the_output_moved_it():
    flips = Flips(fixed=(("<b>", 3),))
    window = Window(edit=5, before=0, after=1, over_common=(-0.125, 0.0, 0.0), flips=flips)
    (row,) = effect_rows((replace(sample.EFFECTS[0], window=window),))
    assert row.change == -0.125
    assert row.remarks == ("Over the documents that both have.",)
    assert "compare.html#a=" in row.count(flips.fixed, "up", "")
    (row,) = effect_rows((replace(sample.EFFECTS[0], window=window._replace(values=((0.5,), (0.375,)))),))
    assert row.count(flips.fixed, "up", "") == '<span class="delta up">3</span>'


AGENT, RULES = ".claude/agents/reader.md", ".claude/instructions/reader/rules.md"


def edit_at(position: int, path: str, status: EditStatus = "modified") -> Edit:
    return Edit(
        commit=sample.commit(position, "Try"), path=path, status=status, old=Blob(path, OLD), new=Blob(path, NEW)
    )


@in_table
def test_an_edit_of_an_agent_is_flagged_once_instructions_have_files_of_their_own(position, path, status, flagged):
    edit = edit_at(position, path, status)
    since = apart_since([InstructionHistory(RULES, (edit_at(7, RULES, "added"), edit_at(9, RULES)))])
    assert since == 7
    assert thickens(edit, since) is flagged
    assert thickens(edit, apart_since([InstructionHistory(AGENT, (edit_at(1, AGENT, "added"),))])) is False


def test_the_pages_of_the_demonstration_flag_the_edits_of_its_agent_and_no_other(demo_site):
    def flagged(below: str, words: str) -> list[str]:
        pages = (demo_site / below).rglob("*.html")
        return sorted(path.relative_to(demo_site).as_posix() for path in pages if words in path.read_text("utf-8"))

    edits = flagged("instructions", "<p>This edit changes the definition of an agent,")
    commits = flagged("commits", '<span class="muted">instructions have files of their own</span>')
    assert len(edits) == 2
    assert {path.split("/")[1] for path in edits} == {"claude--agents--document-reader.md"}
    assert [path[-17:-5] for path in sorted(edits)] == sorted(path[8:20] for path in commits)
