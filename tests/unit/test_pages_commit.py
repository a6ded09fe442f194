import re

from msgspec.structs import replace

from sitegen.model.cells import Flips
from sitegen.model.commits import WORKTREE, ChangedPath
from sitegen.model.noise import ChangeVerdict, Ends
from sitegen.model.site import SiteInfo
from sitegen.pages.change_text import DisplayedChange as Moved
from sitegen.pages.change_text import Flipped, Part
from sitegen.pages.commit import move_rows
from sitegen.pages.commit.effects import FIELDS, CommitEffect, EarlierEdit, commit_effect, earlier_edits
from sitegen.pages.commit.page import (
    MOST_POINTS,
    CommitView,
    EvalMove,
    InstructionEdit,
    LinkedEdit,
    commit_page,
)
from sitegen.pages.commit.touched import OutputChanges, PathChange, Touched, outputs
from sitegen.pages.edit import effect_rows
from sitegen.pages.edit.effects import FlippedField, effects_view
from sitegen.pages.edit.page import draw_edit
from tests import pages_sample as points
from tests import pages_sample_diffs as sample
from tests.sites import renderer_of

BROUGHT = CommitEffect(
    changes=(-0.02, None, 0.01),
    headline=Moved(-0.02, (Part("outputs", -0.03), Part("ground truth", 0.01)), "over 3 common documents"),
    verdict=ChangeVerdict(
        decision="worse",
        why="beyond chance",
        change=-0.02,
        interval=Ends(-0.03, -0.01),
        unit="documents",
        n=3,
        fixed=1,
        broken=9,
        p_value=0.02,
        counted=(1, 9),
    ),
    flipped=Flipped(fixed=1, broken=9, still=7, appeared=1, vanished=0),
    fields=(FlippedField("a<b>", 1, 4),),
    more_fields=2,
)


def view_of(moves: tuple[EvalMove, ...] = sample.MOVES) -> CommitView:
    view = commit_page(sample.inputs(moves=moves)).view
    assert isinstance(view, CommitView)
    return view


def html_of(site: SiteInfo = sample.SITE) -> str:
    page = commit_page(sample.inputs())
    return renderer_of(site).render(page).decode()


def test_what_changed_is_grouped_and_iterations_are_counted():
    view = view_of()
    assert view.instructions == (InstructionEdit(sample.PATH, sample.PATH, "modified", thickens=False),)
    assert view.outputs == (
        OutputChanges(
            eval_id="herbs", name="Herbs", added=0, modified=1, deleted=0, overwritten=True, runs=0, recorded=0
        ),
        OutputChanges(
            eval_id="vegetables",
            name="Vegetables",
            added=40,
            modified=0,
            deleted=0,
            overwritten=False,
            runs=0,
            recorded=0,
        ),
    )
    assert [row.words for row in view.outputs] == ["1 output changed", "40 iterations added"]
    assert view.ground_truths == (
        PathChange(path="evals/herbs/ground_truth.csv", how="modified", eval_id="herbs", name="Herbs"),
    )
    assert [change.path for change in view.rules] == ["evals/manifest.yaml", "schemas/field_mapping.yaml"]
    assert (view.others, view.more_others) == ((), 3)


def test_other_files_are_named_as_far_as_the_record_holds_them_and_the_rest_is_counted():
    record = replace(sample.RECORD, others=(ChangedPath("src/<b>.py", None, "1"),))
    page = commit_page(sample.inputs(record=record, moves=()))
    assert isinstance(page.view, CommitView)
    assert (page.view.others, page.view.more_others) == ((PathChange("src/<b>.py", "added"),), 2)
    html = renderer_of(sample.SITE).render(page).decode()
    assert "src/<wbr>&lt;b&gt;.<wbr>py</span>" in html
    assert "2 other files changed that no number depends on" in html


def test_an_iteration_is_counted_once_however_many_files_it_has():
    def touched(iteration: str, name: str, old: str | None, new: str | None, role: str = "output") -> Touched:
        return Touched(
            change=ChangedPath(f"evals/a/results/{iteration}/{name}", old, new),
            role=role,  # type: ignore[arg-type]
            eval_id="a",
            iteration=iteration,
        )

    found = outputs(
        (
            touched("iteration-001", "extracted.json", None, "1"),
            touched("iteration-001", "eval-results.json", None, "2", "recorded"),
            touched("iteration-002", "extracted.json", "1", None),
            touched("iteration-002", "extracted.yaml", None, "3"),
            touched("iteration-003", "extracted.json", "1", None),
            touched("iteration-003", "runs/1/extracted.json", None, "4", "run"),
        ),
        {"a": "a"},
    )
    assert found == (
        OutputChanges(eval_id="a", name="a", added=1, modified=1, deleted=1, overwritten=False, runs=1, recorded=1),
    )
    assert found[0].words == "1 iteration added, 1 changed, 1 deleted, 1 repeated run, 1 record of metrics"


def test_copies_are_named_and_not_counted_as_outputs_of_the_commit():
    html = html_of()
    assert "<summary>40 iterations, 38 outputs of this commit</summary>" in html
    assert "Best of 38 outputs: " in html
    assert re.findall(r"iteration-0(\d\d)</a> <span>[\d.]+</span> <i>(.+?)</i>", html) == [
        ("39", "same output as iteration-038"),
        ("40", "same output as iteration-036"),
    ]


def test_moves_stand_by_size_with_the_best_of_several_points():
    view = view_of()
    assert [(move.row.eval_id, move.row.grade, len(move.move.points), move.row.why) for move in view.moves] == [
        ("vegetables", "first output", 40, "new output"),
        ("herbs", "first output", 1, "new output, ground truth changed"),
        ("bulbs", "first output", 1, "new output"),
        ("mosses", "first output", 1, "field mapping changed"),
    ]
    assert view.effects.counts == (("first output", 4),)
    best = view.moves[0].best
    assert best
    assert (best.slug, best.label, best.values[0], best.interval) == ("0011", "iteration-011", 0.86, None)
    assert view.moves[1].best is None


def test_edits_of_earlier_commits_stand_once_with_the_evals_that_they_may_have_to_do_with():
    old, new = (
        EarlierEdit(position=2, sha="a" * 40, short="a" * 7, subject="Trim", files=1),
        EarlierEdit(position=3, sha="b" * 40, short="b" * 7, subject="Grow", files=2),
    )
    first, second = (replace(move, effect=replace(BROUGHT, edits=(new,))) for move in sample.MOVES[:2])
    again = replace(sample.MOVES[3], effect=replace(BROUGHT, verdict=None, edits=(old,), changes=(None,) * 3))
    assert view_of((first, second, again)).earlier_edits == (LinkedEdit(new, ()),)
    first = replace(first, effect=replace(BROUGHT, edits=(new, old)))
    assert view_of((first, second)).earlier_edits == (LinkedEdit(new, ()), LinkedEdit(old, ("Vegetables",)))
    page = commit_page(sample.inputs(moves=(first, second)))
    html = renderer_of(sample.SITE).render(page).decode()
    assert f'<a href="../commits/{"a" * 12}.html">Trim</a>' in html
    assert "1 file; for Vegetables</span>" in " ".join(html.split())


def test_an_earlier_edit_names_three_evals():
    edit = EarlierEdit(position=3, sha="b" * 40, short="b" * 7, subject="Grow <i>", files=1_200)
    assert move_rows.earlier_edits([LinkedEdit(edit, ("A&B", "C", "D", "E", "F"))], "../") == (
        f'<li><a href="../commits/{"b" * 12}.html">Grow &lt;i&gt;</a><span class="muted">\n'
        '<span class="sha">bbbbbbb</span> 1,200 files;\nfor A&amp;B, C, D and 2 more</span></li>'
    )


def test_the_edits_of_the_commit_itself_are_no_earlier_ones():
    edits = [points.edit(1), points.edit(3), points.edit(3, "CLAUDE.md"), points.edit(4)]
    of = [edit.commit for edit in edits]
    found = earlier_edits([*edits, *edits], of[3].sha)
    assert [(one.position, one.sha, one.short, one.subject, one.files) for one in found] == [
        (3, of[1].sha, of[1].short, of[1].subject, 2),
        (1, of[0].sha, of[0].short, of[0].subject, 1),
    ]


def test_points_beyond_the_bound_are_counted_not_listed():
    move = replace(sample.MOVES[0], points=tuple(sample.headline(6, 0.5, f"{n:04}") for n in range(MOST_POINTS + 7)))
    html = move_rows.moves(view_of((move,)).moves, "../")
    assert html.count("<li><a href=") == MOST_POINTS
    assert "<li>and 7 more</li>" in html


def test_a_commit_that_only_edits_instructions_shows_how_evals_changed_with_its_edits():
    page = commit_page(sample.edit_inputs(effects=sample.EFFECTS))
    assert isinstance(page.view, CommitView)
    assert (page.view.effects, page.view.moves) == (effects_view(sample.EFFECTS), ())
    html = renderer_of(sample.SITE).render(page).decode()
    assert "Last output before this edit, against the last one before the next edit" in html
    assert str(effect_rows.effects(page.view.effects.rows, "../")) in html

    html = renderer_of(sample.SITE).render(commit_page(sample.edit_inputs())).decode()
    assert "has an output made between this edit and the next one" in html


def test_the_message_is_plain_text_and_the_commit_links_to_the_repository():
    html = html_of()
    assert "&lt;b&gt;Not bold.&lt;/b&gt;" in html
    assert f'href="https://example.org/garden/seed-packets/commit/{sample.RECORD.commit.sha}"' in html
    assert (
        f"../instructions/claude--instructions--packet-reader--instructions.md/{sample.RECORD.commit.sha[:12]}" in html
    )


def test_only_a_web_address_becomes_a_link():
    assert "In the repository" not in html_of(replace(sample.SITE, repository_url="javascript:alert(1)//"))
    assert "In the repository" not in html_of(replace(sample.SITE, repository_url=None))


def test_the_uncommitted_state_links_to_no_repository():
    record = replace(sample.RECORD, commit=replace(sample.RECORD.commit, sha=WORKTREE))
    page = commit_page(sample.inputs(record=record))
    assert b"In the repository" not in renderer_of(sample.SITE).render(page)


def test_a_long_message_is_cut():
    record = replace(sample.RECORD, commit=replace(sample.RECORD.commit, subject="", body="x" * 20_000))
    view = commit_page(sample.inputs(record=record, moves=(), files={})).view
    assert isinstance(view, CommitView)
    assert (view.subject, view.body) == ("(no subject)", "x" * 10_000 + " … (10,000 more characters)")


def test_an_eval_without_a_page_is_named_and_not_linked():
    changed = (
        Touched(
            change=ChangedPath("evals/gone/results/iteration-001/extracted.json", None, "1"),
            role="output",
            eval_id="gone",
            iteration="x",
        ),
    )
    page = commit_page(sample.edit_inputs(changed=changed, names={}))
    html = renderer_of(sample.SITE).render(page).decode()
    assert "<span>gone</span>" in html
    assert "evals/gone/" not in html


def test_a_move_says_why_the_number_moved_and_what_flipped():
    move = replace(sample.MOVES[1], effect=BROUGHT)
    row = view_of((move,)).moves[0]
    assert [one.change for one in row.row.moves] == [-0.02, None, 0.01]
    page = commit_page(sample.inputs(moves=(move,)))
    html = renderer_of(sample.SITE).render(page).decode()
    assert '<p class="by">Outputs −0.030, ground truth +0.010; over 3 common documents.</p>' in html
    assert '<p class="by">1 error appeared and 0 went with documents or expected values.</p>' in html
    assert '<span class="pill bad">1 worse</span>' in html
    both = "1 fixed, 9 broken; also beyond these 3 documents: between −0.030 and −0.010"
    assert f'<span class="pill bad">worse</span><div class="by">{both}</div>' in html
    assert "95 % interval of the change: </span>−0.030 to −0.010" in html
    assert '#a=0004&amp;b=0007">9</a></td>' in html
    assert "<code>a&lt;b&gt;</code>" in html


def test_a_commit_shows_its_diffs_and_links_their_passages_with_the_fields_that_they_name():
    flips = replace(BROUGHT, fields=(FlippedField("price", 3, 0), FlippedField("variety", 0, 2)))
    move = replace(sample.MOVES[1], effect=flips)
    drawn = draw_edit(sample.FILE.edits[1], sample.patch_of(sample.V1, sample.V2), with_passages=False)
    page = commit_page(sample.inputs(moves=(move,)), {sample.PATH: drawn})
    html = renderer_of(sample.SITE).render(page).decode()
    assert '<td class="pg"><a href="#p2">2</a>' in html
    assert '<tr class="hk" id="p2">' in html
    assert '<a href="#d1"><code>price</code></a> +3' in html
    assert "<ins>without currency</ins>" in html


def test_a_change_that_may_be_chance_leads_to_how_it_can_be_a_step():
    assert BROUGHT.verdict is not None
    unsure = replace(BROUGHT, verdict=replace(BROUGHT.verdict, decision="cannot tell", why="interval holds zero"))
    page = commit_page(sample.inputs(moves=(replace(sample.MOVES[1], effect=unsure),)))
    html = renderer_of(sample.SITE).render(page).decode()
    assert '<a href="../methods.html#steps-verdict">why what may be chance can still be a step</a>' in html


def test_a_commit_that_only_scores_again_is_not_judged_for_chance():
    move = replace(sample.MOVES[1], effect=replace(BROUGHT, verdict=None))
    copied = replace(sample.MOVES[0], effect=replace(BROUGHT, verdict=None))
    page = commit_page(sample.inputs(moves=(move, copied)))
    html = renderer_of(sample.SITE).render(page).decode()
    assert '<span class="pill">same output</span><div class="by">ground truth changed</div>' in html
    assert '<span class="pill">same output</span><div class="by">identical to an earlier one</div>' in html
    assert view_of((move, replace(sample.MOVES[2], effect=BROUGHT))).effects.counts == (
        ("worse", 1),
        ("same output", 1),
    )


def test_the_fields_that_are_stored_are_those_with_the_most_flips():
    before, after = points.series(6).points[4:]
    flips = Flips((("a", 1), ("b", 3)), (("a", 3), *((f"c{n}", 1) for n in range(FIELDS))))
    change = points.compared(before, after, flips).change
    assert change is not None
    effect = commit_effect(points.WAYBILLS, points.SPECS, before, after, change)
    assert effect.fields[:3] == (FlippedField("a", 1, 3), FlippedField("b", 3, 0), FlippedField("c0", 0, 1))
    assert (len(effect.fields), effect.more_fields, effect.flipped) == (FIELDS, 2, Flipped(4, 3 + FIELDS, 0))
