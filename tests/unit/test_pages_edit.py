import pytest

from sitegen.model.cells import Flips
from sitegen.model.metrics import MetricSpec
from sitegen.model.noise import ChangeVerdict, Interval
from sitegen.model.series import Effect
from sitegen.model.timeline import Blob, Edit, EditStatus, InstructionHistory
from sitegen.pages.edit.move_rows import NAMED, effects
from sitegen.pages.edit.page import EditView, Move, RenderedPatch, draw_edit, edit_page, effects_view
from sitegen.pages.instruction.file_history import apart_since, thickens
from sitegen.render.environment import Renderer, find_templates
from sitegen.text.sections import TextStats
from tests import pages_sample_diffs as sample

OLD, NEW = "a" * 40, "b" * 40


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    return Renderer([find_templates()], sample.SITE)


def drawn(index: int, old: str, new: str, file: InstructionHistory = sample.FILE) -> RenderedPatch:
    return draw_edit(file.edits[index], sample.patch_of(old, new))


def view_of(
    patch: bytes, status: EditStatus = "modified", old: str | None = OLD, new: str | None = NEW, path: str = sample.PATH
) -> EditView:
    edit = Edit(sample.commit(7, "Try"), path, status, old and Blob(path, old), new and Blob(path, new))  # type: ignore[arg-type]
    page = edit_page(InstructionHistory(path, (edit,)), 0, draw_edit(edit, patch), ())
    assert isinstance(page.view, EditView)
    return page.view


def test_an_edit_has_its_address_and_its_facts():
    page = edit_page(
        sample.FILE, 1, drawn(1, sample.V1, sample.V2), sample.EFFECTS, TextStats(38, 117), TextStats(37, 107)
    )
    view = page.view
    assert isinstance(view, EditView)
    assert (page.path, page.template) == (
        "instructions/claude--instructions--packet-reader--instructions.md/1fc1b597a8ea.html",
        "pages/edit.html",
    )
    assert (view.subject, view.number, view.earlier) == (
        "Months as numbers; never guess; no currency",
        2,
        sample.FILE.edits[0].commit,
    )
    assert view.patch.counts == (6, 7, "1.0.0", "1.1.0", False, -10)
    assert (view.patch.notes, view.patch.command, len(view.patch.passages)) == ((), None, 3)


def test_the_first_edit_has_none_before_it():
    view = edit_page(sample.FILE, 0, drawn(0, "", sample.V1), ()).view
    assert isinstance(view, EditView)
    assert (view.number, view.earlier, view.moved_from) == (1, None, None)


def test_effects_are_sorted_by_what_changed_most():
    view = effects_view(sample.EFFECTS)
    assert [(row.eval_id, row.verdict) for row in view.changed] == [
        ("vegetables", "improved"),
        ("herbs", "worse"),
        ("trees", "improved"),
    ]
    assert [row.eval_id for row in view.unchanged] == ["flowers"]
    assert [row.eval_id for row in view.first] == ["grasses"]
    assert (view.silent, view.improved) == (("Bulbs",), 2)
    assert [move.label for move in view.changed[0].moves] == ["F1", "Precision", "Recall"]
    assert view.changed[0].moves[0] == Move("F1", 0.8123, 0.8514, 0.8514 - 0.8123, True)


def test_of_a_metric_where_less_is_better_a_drop_is_an_improvement():
    spec = MetricSpec("distance", "Distance", "", higher_is_better=False)
    effect = Effect("a", "A", sample.headline(1, 0.5), sample.headline(2, 0.4), (spec,))
    assert effects_view((effect,)).changed[0].verdict == "improved"


def test_an_undefined_value_is_nothing_to_compare_with():
    effect = Effect("a", "A", sample.headline(1, None), sample.headline(2, 0.4), sample.SPECS)
    assert effects_view((effect,)).first[0].moves[0].change is None


def test_an_effect_that_names_no_metrics_shows_its_headline():
    effect = Effect("a", "A", sample.headline(1, 0.3), sample.headline(2, 0.4))
    assert [move.label for move in effects_view((effect,)).changed[0].moves] == ["F1"]


def test_beside_a_headline_stand_its_intervals_and_what_they_were_made_from():
    before = sample.headline(1, 0.5)._replace(interval=Interval(0.4, 0.6, "fields", 12, "Wilson"))
    after = sample.headline(2, 0.25)._replace(interval=Interval(0.125, 0.5, "fields", 14, "Wilson"))
    html = str(effects(effects_view((Effect("a", "A", before, after, sample.SPECS),)).changed, ""))
    assert 'title="95 % interval of F1: Wilson"' in html
    to = ' <span aria-hidden="true">→</span><span class="vh"> then </span> '
    assert f">95\u202f%: 0.400 to 0.600{to}0.125 to 0.500, over 12 then 14 fields</span>" in html


def test_a_side_without_an_interval_is_not_given_one():
    after = sample.headline(2, 0.25)._replace(interval=Interval(0.125, 0.5, "cases", 3, "Wilson"))
    alone = str(effects(effects_view((Effect("a", "A", None, after, sample.SPECS),)).first, ""))
    assert ">95\u202f%: 0.125 to 0.500, over 3 cases</span>" in alone
    assert "95\u202f%" not in str(effects(effects_view(sample.EFFECTS).changed, ""))


def test_whether_a_change_is_more_than_chance_stands_beside_it_and_is_counted(renderer: Renderer):
    sure = ChangeVerdict(
        "worse", "beyond chance", -0.1, Interval(-0.2, -0.05, "fields", 9, "paired"), 0, 6, 0.03, None, ()
    )
    unsure = sure._replace(decision="cannot tell", why="flips may be chance", broken=3, p_value=0.25, detectable=0.12)
    known = [one._replace(verdict=each) for one, each in zip(sample.EFFECTS, (unsure, sure), strict=False)]
    page = edit_page(sample.FILE, 1, drawn(1, sample.V1, sample.V2), (*known, sample.EFFECTS[5]))
    html = renderer.render(page).decode()
    assert "1 of 2 by more than chance" in html
    assert '<span class="pill bad">worse</span> Its 95\u202f% interval, −0.200 to −0.050, leaves out zero' in html
    assert (
        '<span class="pill">cannot tell</span> It may be chance: 0 fixed against 3 broken happens by luck (p 0.250, '
        "the fields of a list counted once). A change of 0.120 would be seen here 8 times in 10.</p>"
    ) in html


def test_a_side_that_could_not_be_read_is_named_with_where_to_read_on():
    before = sample.headline(1, 0.5)._replace(status="unreadable")
    after = sample.headline(2, 0.25)._replace(status="no_ground_truth")
    html = str(effects(effects_view((Effect("a", "A", before, after, sample.SPECS),)).changed, "../"))
    assert (
        "<b>The output of iteration-001 cannot be read,</b> and all that it should have held counts as missing: "
        '<a href="../evals/a/0001.html">its report</a> names the file and what to do.'
    ) in html
    assert "<b>The ground truth of iteration-002 cannot be read,</b> so that nothing was scored" in html


@pytest.mark.parametrize(
    ("view", "note", "command"),
    [
        (
            view_of(b"", "renamed", OLD, OLD),
            "The file was moved. Its text did not change.",
            "git show -m --first-parent {sha} -- .claude/instructions/packet-reader/instructions.md",
        ),
        (
            view_of(b"", "modified", OLD, OLD, "it's.md"),
            "The file's mode changed. Its text did not.",
            "git show -m --first-parent {sha} -- 'it'\"'\"'s.md'",
        ),
        (view_of(b""), "Only line endings changed (carriage return). No text changed.", "git diff {old} {new}"),
        (
            view_of(b"@@ -1 +1 @@\n-a\r\n+a\n"),
            "1 line changed only in the line ending (carriage return). No text changed.",
            "git diff {old} {new}",
        ),
        (
            view_of(b"diff --git a/x b/x\nBinary files a/x and b/x differ\n"),
            "The file is binary, or git takes it for binary. There are no lines to show.",
            "git diff {old} {new}",
        ),
        (
            view_of(b"", "added", None, NEW),
            "The file is empty.",
            "git show -m --first-parent {sha} -- .claude/instructions/packet-reader/instructions.md",
        ),
    ],
)
def test_an_edit_without_lines_says_why(view: EditView, note: str, command: str):
    sha = sample.commit(7, "Try").short
    assert (view.patch.rows, view.patch.notes) == ((), (note,))
    assert view.patch.command == command.format(sha=sha, old=OLD[:12], new=NEW[:12])


def test_a_huge_edit_is_cut_and_says_how_to_see_the_rest():
    view = view_of(b"@@ -0,0 +1,2600 @@\n" + b"+a\n" * 2600)
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
    view = edit_page(file, 1, drawn(1, "x\n", "y\n", file), ()).view
    assert isinstance(view, EditView)
    assert view.moved_from == "old.md"


def test_the_page_shows_everything_and_executes_nothing(renderer: Renderer):
    file = InstructionHistory(
        "prompts/<i>odd\u202e.md", (sample.edit(sample.commit(12, sample.HOSTILE_SUBJECT), sample.V1, sample.HOSTILE),)
    )
    page = edit_page(file, 0, drawn(0, sample.V1, sample.HOSTILE, file), sample.MANY_EFFECTS)
    html = renderer.render(page).decode()
    for harm in ("<script>alert", "<i>odd", "<b>bold", "onerror=alert(1)>", "\u202e", "\x1b", "<td onclick", "style="):
        assert harm not in html
    assert 'href="javascript' not in html
    assert "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt; ‹U+202E›txt.exe" in html
    assert html.count("Shelf ") == 50


def test_the_three_views_need_no_script(renderer: Renderer):
    page = edit_page(sample.FILE, 1, drawn(1, sample.V1, sample.V2), sample.EFFECTS)
    html = renderer.render(page).decode()
    assert '<input type="radio" name="v" id="v-split" checked>' in html
    assert '<td class="d">**Version:** <del>v1.0.0</del></td>' in html
    assert '<td class="a">**Version:** <ins>v1.1.0</ins></td>' in html
    assert '<p class="chg"><strong>Version:</strong> v1.1.0</p>' in html


def test_an_added_file_is_shown_in_one_column_at_first(renderer: Renderer):
    html = renderer.render(edit_page(sample.FILE, 0, drawn(0, "", sample.V1), ())).decode()
    assert 'id="v-uni" checked' in html


def test_an_effect_names_the_fields_that_were_fixed_and_broken_and_what_else_moved_it():
    fixed = tuple((f"field_{number}", 1) for number in range(NAMED + 1))
    one = sample.EFFECTS[0]._replace(flips=Flips(fixed, (("<b>", 3),), by_truth=2), by_rules=0.25, comparable=False)
    html = str(effects(effects_view((one,)).changed, "../"))
    assert f'<span class="delta up">{NAMED + 1} fixed</span> <code>field_<wbr>0</code>' in html
    assert "<summary>1 more field</summary>" in html
    assert '<span class="delta dn">3 broken</span> <code>&lt;b&gt;</code> 3' in html
    assert "2 of them while the ground truth of the field changed" in html
    assert "0.250</span> of the change is by ground truth and rules, not by the output" in html
    assert "not over the same documents" in html
    plain = str(effects(effects_view(sample.EFFECTS[:1]).changed, "../"))
    assert "ef-f" not in plain


AGENT, RULES = ".claude/agents/reader.md", ".claude/instructions/reader/rules.md"


def edit_at(position: int, path: str, status: EditStatus = "modified") -> Edit:
    return Edit(sample.commit(position, "Try"), path, status, Blob(path, OLD), Blob(path, NEW))


@pytest.mark.parametrize(
    ("edit", "flagged"),
    [
        (edit_at(8, AGENT), True),
        (edit_at(8, f"apps/web/{AGENT}"), True),
        (edit_at(7, AGENT), False),  # the commit that gives the instructions a file of their own
        (edit_at(6, AGENT), False),
        (edit_at(8, AGENT, "added"), False),
        (edit_at(8, AGENT, "renamed"), False),
        (edit_at(8, RULES), False),
    ],
)
def test_an_edit_of_an_agent_is_flagged_once_instructions_have_files_of_their_own(edit, flagged):
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
