from collections.abc import Iterator
from functools import partial

from sitegen.model.commits import Commit
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import Effect, EvalInfo, Headline
from sitegen.model.timeline import Blob, Edit
from sitegen.pages.instructions import COLUMNS, ROWS, EditEffects, FileEdit, FileRecord, instructions_page, matrix
from tests import pages_sample_diffs as sample
from tests.sites import renderer_of, written

F1 = MetricSpec("f1", "F1", "")


def effect(eval_id: str, before: float | None, after: float | None, spec: MetricSpec = F1) -> Effect:
    sides = [
        Headline(
            commit_position=1, sha="s", slug="0001", label="one", status="scored", values=(value,), errors=(0, 0, 0, 0)
        )
        for value in (before, after)
    ]
    return Effect(info=EvalInfo(eval_id, eval_id.title()), before=sides[0], after=sides[1], specs=(spec,))


def edited(position: int, *effects: Effect, paths: tuple[str, ...] = ("a.md",)) -> EditEffects:
    at = "2026-03-02T10:00:00Z"
    commit = Commit(f"{position:040x}", position, "Ann", committed_at=at, subject=f"Edit {position} <b>")
    modified = partial(Edit, commit=commit, status="modified", old=None)
    edits = [FileEdit(modified(path=path, new=Blob(path, "0" * 40)), path) for path in paths]
    return EditEffects(tuple(edits), effects)


def html_of(*edits: EditEffects) -> str:
    """The page of all files."""
    record = FileRecord(history=sample.FILE, counts=(None,) * 3, grades=())
    return written(renderer_of(sample.SITE), instructions_page([record], edits, ()))


def test_older_commits_than_are_shown_are_not_asked_for():
    asked = []

    def edits() -> Iterator[EditEffects]:
        for position in range(2 * ROWS, 0, -1):
            asked.append(position)
            yield edited(position, effect("a", 0, 1))

    found = matrix(edits())
    assert found is not None
    assert (len(found.edits), found.older, len(asked)) == (ROWS, True, ROWS + 1)


def test_of_many_evals_those_that_moved_most_often_have_a_column():
    names = [f"e{number:02}" for number in range(COLUMNS)]
    moved = [effect(name, 0, 1) for name in (*names, "moved twice")]
    edits = [edited(2, *moved, effect("still", 0, 0)), edited(1, effect("moved twice", 1, 0))]
    found = matrix(edits)
    assert found is not None
    assert (list(found.evals), found.other_evals) == ([*names[:-1], "moved twice"], 2)
    html = html_of(*edits)
    rows = html.partition('<table class="mx')[2].partition("</table>")[0].split("<tr>")[2:]
    assert [row.count("<td") for row in rows] == [COLUMNS] * 3
    assert f"The {COLUMNS} evals that moved after most of these commits are shown, and 2 are not" in html


def test_a_change_has_its_sign_and_a_painted_one_its_word():
    rose = sample.decided(effect("a", 0.5, 0.6), "better")
    fell = sample.decided(effect("b", 0.5, 0.46), "likely worse")
    stayed = sample.decided(effect("c", 0.5, 0.5), "cannot tell")
    html = html_of(edited(1, rose, fell, stayed), edited(2, effect("a", 0, 0.1)))
    link = 'href="../instructions/a.md/000000000000.html"'
    better = f'<td class=c-eval-1 data-h="A"><a class="g2" {link}>+0.100 <small>better</small></a>'
    worse = f'<td class=c-eval-2 data-h="B"><a class="b1" {link}>−0.040 <small>likely worse</small></a>'
    assert f'{better}{worse}<td class=c-eval-3 data-h="C"><a {link}>no change</a>' in html
    last = html.partition("</tbody>")[0].rpartition("<tr")[2].removesuffix("</tr>").split("<td ")[2:]
    assert list(map(str.strip, last)) == ['class=c-eval-2 data-h="B">', 'class=c-eval-3 data-h="C">']
    assert html.count("<tr data-n>") == html.count('<span class="pill warn">mixed</span><td') == 1
    assert "Edit 1 &lt;b&gt;" in html
