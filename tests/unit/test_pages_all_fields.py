"""The page of all fields: a field path over all evals that have it."""

from msgspec.structs import replace

from sitegen.engine.worker_context import Renderer
from sitegen.model.outcomes import Flips
from sitegen.model.series import EvalInfo, EvalSummary, FailingValue, FieldSummary, Window
from sitegen.pages.field import MOVED, MOVED_BY, NAMED_FIELDS, ROWS, fields_page, moved_by
from sitegen.pages.instructions import EditEffects, FileEdit
from tests import pages_sample as sample
from tests.pages_sample_diffs import EFFECTS


def _eval(eval_id: str, *fields: FieldSummary) -> EvalSummary:
    summary = sample.summary(sample.series(3))
    return replace(summary, info=replace(summary.info, id=eval_id, name=eval_id.upper()), fields=fields)


def _field(attribute: str, wrong: int = 0) -> FieldSummary:
    failing = (
        (FailingValue(label=f"{attribute} of W13", document="", expected="7", actual="<b>", outputs=3),)
        if wrong
        else ()
    )
    return FieldSummary(attribute=attribute, wrong=wrong, judged=9, right=(0.5, None, 1.0), failing=failing)


def _edit(position: int, *flips: Flips) -> EditEffects:
    """A commit with one edit, after which the values of the evals ``e``, ``f`` and so on flipped."""
    effects = tuple(
        replace(
            EFFECTS[0], info=EvalInfo(name, name.upper()), window=Window(edit=position, before=0, after=1, flips=each)
        )
        for name, each in zip("ef", flips, strict=False)
    )
    edit = sample.edit(position)
    return EditEffects(edit.commit, (FileEdit(edit, edit.path),), effects)


def test_of_many_fields_those_that_moved_most_are_shown_and_of_many_edits_the_newest():
    edits = [_edit(number, Flips(broken=((f"f{number}", number),))) for number in range(MOVED_BY + 5, 0, -1)]
    total, rows, *_ = moved_by(edits)
    assert list(total) == [f"f{MOVED_BY + 5 - place}" for place in range(MOVED)]
    assert [edit.commit.position for edit, _ in rows] == [MOVED_BY + 5 - place for place in range(MOVED_BY)]


def test_fields_of_one_name_are_counted_together_over_evals():
    edits = [_edit(2, *(Flips(broken=((f"rooms[].{name}", 2),)) for name in "ab")), _edit(1, Flips(fixed=(("g", 1),)))]
    total, *_, evals = moved_by(edits)
    assert (total, evals) == ({"rooms": [0, 4, -4], "g": [1, 0, 1]}, {"rooms": ["E", "F"], "g": ["E"]})


def test_a_field_names_the_edits_that_moved_it_most_and_its_doubts():
    edits = [_edit(number, Flips(broken=(("f", number),), doubts=(("f", 1, 0),))) for number in (3, 1, 2)]
    page = fields_page([replace(_eval("e", _field("f", 1)), suspects=(sample.suspect("f", "7", "8"),))], edits)
    said, (*_, changed, flaky) = "1 flips often", sample.view_of(page)
    assert flaky == [(-1, "f", "E", "e")]
    assert [(edit.commit.position, *counts) for edit, *counts in changed["e", "f"]] == [
        (3, 0, 3, said),
        (2, 0, 2, said),
    ]
    html = " ".join(Renderer(sample.SITE).render(page).decode().split())
    assert all(map(html.count, (f"3 broken</data>; {said}", "Fields that flip often", ">1 label may be wrong</div>")))


def test_of_very_many_fields_the_rest_is_named_and_what_goes_beyond_is_counted():
    page = fields_page([_eval("a", *[_field(f"f{number:04}", 1) for number in range(ROWS + NAMED_FIELDS + 2)])])
    shown, named, more, *_ = sample.view_of(page)
    assert (len(shown), len(named), more) == (ROWS, NAMED_FIELDS, 2)
    html = Renderer(sample.SITE).render(page).decode()
    assert f'<li id="f{ROWS:04}"><a href="evals/a/fields/f{ROWS:04}.html">' in html
    line = f"Here are the {ROWS + NAMED_FIELDS:,} fields with most errors. Links to the other 2 lead to this line"
    assert line in " ".join(html.split("<table")[0].split())


def test_without_a_wrong_value_the_page_says_so():
    assert "No field was ever wrong" in Renderer(sample.SITE).render(fields_page([])).decode()
