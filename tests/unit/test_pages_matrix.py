from collections.abc import Iterator

from sitegen.model.commits import Commit
from sitegen.model.metrics import ErrorNumbers, MetricSpec
from sitegen.model.series import Effect, Headline
from sitegen.model.timeline import Blob, Edit
from sitegen.pages.instructions.edits import EditEffects, FileEdit
from sitegen.pages.instructions.matrix import ROWS, MatrixColumn, Shift, matrix
from sitegen.pages.instructions.matrix_rows import body
from sitegen.pages.instructions.page import FileRecord, FileSize, instructions_page
from tests import pages_sample_diffs as sample
from tests.sites import renderer_of

F1 = MetricSpec("f1", "F1", "")
GRADE = MetricSpec("grade", "Grade", "", low=1, high=5)
ERRORS = MetricSpec("errors", "Errors", "", higher_is_better=False)


def effect(eval_id: str, before: float | None, after: float | None, spec: MetricSpec = F1) -> Effect:
    sides = [
        Headline(
            commit_position=1,
            sha="s",
            slug="0001",
            label="one",
            status="scored",
            values=(value,),
            errors=ErrorNumbers(omission=0, hallucination=0, wrong_value=0, format_error=0),
        )
        for value in (before, after)
    ]
    return Effect(eval_id=eval_id, name=eval_id.title(), before=sides[0], after=sides[1], specs=(spec,))


def edited(position: int, *effects: Effect, paths: tuple[str, ...] = ("a.md",)) -> EditEffects:
    commit = Commit(
        sha=f"{position:040x}",
        position=position,
        author="Ann",
        committed_at="2026-03-02T10:00:00Z",
        subject=f"Edit {position} <b>",
    )
    edits = [
        FileEdit(Edit(commit=commit, path=path, status="modified", old=None, new=Blob(path, "0" * 40)), path)
        for path in paths
    ]
    return EditEffects(commit, tuple(edits), effects)


def test_rows_are_commits_columns_the_evals_that_moved_and_cells_their_changes():
    found = matrix(
        [
            edited(9, effect("b", 0.5, 0.4), effect("a", 0.25, 0.75), effect("c", None, 0.9)),
            edited(8, effect("c", None, 0.9)),
            edited(7, effect("b", 0.5, 0.5)),
        ]
    )
    assert found is not None
    assert found.columns == (
        MatrixColumn(eval_id="a", name="A", gained=1, lost=0),
        MatrixColumn(eval_id="b", name="B", gained=0, lost=1),
    )
    assert [(row.commit.position, row.mixed) for row in found.rows] == [(9, True), (7, False)]
    assert found.rows[0].shifts[0] == Shift(change=0.5, better=0.5, spec=F1, decision=None)
    assert found.rows[1].shifts == (None, Shift(change=0.0, better=0.0, spec=F1, decision=None))
    assert (found.mixed, found.older) == (1, False)


def test_a_change_is_in_its_own_unit_and_knows_which_way_is_better():
    found = matrix([edited(1, effect("a", 2, 3, GRADE), effect("b", 0.25, 0.5, ERRORS))])
    assert found is not None
    assert found.rows[0].shifts == (
        Shift(change=1, better=0.25, spec=GRADE, decision=None),
        Shift(change=0.25, better=-0.25, spec=ERRORS, decision=None),
    )
    assert found.rows[0].mixed


def test_a_change_that_is_written_as_none_makes_no_edit_mixed():
    found = matrix([edited(1, effect("a", 0.5, 0.6), effect("b", 0.5, 0.4996))])
    assert found is not None
    assert not found.rows[0].mixed


def test_a_commit_of_one_edit_leads_to_it_and_of_several_to_the_commit():
    found = matrix([edited(2, effect("a", 0, 1)), edited(1, effect("a", 0, 1), paths=("a.md", "b.md"))])
    assert found is not None
    assert [row.target for row in found.rows] == [
        "instructions/a.md/000000000000.html",
        "commits/000000000000.html",
    ]


def test_older_commits_than_are_shown_are_not_asked_for():
    asked = []

    def edits() -> Iterator[EditEffects]:
        for position in range(2 * ROWS, 0, -1):
            asked.append(position)
            yield edited(position, effect("a", 0, 1))

    found = matrix(edits())
    assert found is not None
    assert (len(found.rows), found.older, len(asked)) == (ROWS, True, ROWS + 1)


def test_of_many_evals_those_that_moved_most_often_have_a_column(monkeypatch):
    monkeypatch.setattr("sitegen.pages.instructions.matrix.COLUMNS", 2)
    moved = [effect("a", 0, 1), effect("b", 0, 0), effect("c", 0, 1)]
    edits = [edited(2, *moved), edited(1, effect("c", 1, 0))]
    found = matrix(edits)
    assert found is not None
    assert ([column.eval_id for column in found.columns], found.other_evals) == (["a", "c"], 1)
    assert [len(row.shifts) for row in found.rows] == [2, 2]
    record = FileRecord(history=sample.FILE, size=FileSize(None, (), None), grades=())
    html = " ".join(renderer_of(sample.SITE).render(instructions_page([record], edits)).decode().split())
    assert "The 2 evals that moved after most of these commits are shown, and 1 are not" in html


def test_without_output_before_and_after_any_edit_there_is_no_matrix():
    assert matrix([]) is None
    assert matrix([edited(1, effect("a", None, 1)), edited(2)]) is None


def test_a_change_has_its_sign_and_a_painted_one_its_word():
    found = matrix(
        [
            edited(
                1,
                sample.decided(effect("a", 0.5, 0.6), "better"),
                sample.decided(effect("b", 0.5, 0.46), "likely worse"),
                sample.decided(effect("c", 0.5, 0.5), "cannot tell"),
            ),
            edited(2, effect("a", 0, 0.1)),
        ]
    )
    assert found is not None
    html = body(found, "../")
    link = 'href="../instructions/a.md/000000000000.html"'
    better, worse = f"<a {link}>+0.100<small>better</small></a>", f"<a {link}>−0.040<small>likely worse</small></a>"
    assert f"<td class=g2>{better}</td><td class=b1>{worse}</td><td><a {link}>0</a></td>" in html
    assert html.count("<td></td>") == 2
    assert html.count("<tr data-n>") == html.count('<span class="pill warn">mixed</span>') == 1
    assert "Edit 1 &lt;b&gt;" in html


def test_the_index_shows_the_matrix_below_the_files():
    page = instructions_page([], [edited(1, effect("a", 0.5, 0.6), effect("b", 0.5, 0.4))])
    html = renderer_of(sample.SITE).render(page).decode()
    assert '<a href="#h-m">Edits by evals</a>' not in renderer_of(sample.SITE).render(instructions_page([])).decode()
    assert '<a href="#h-m">Edits by evals</a>' in html
