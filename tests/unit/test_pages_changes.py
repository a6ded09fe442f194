"""Changes and intervals as pages show them: in points, with their parts, and with what has to be known."""

from msgspec.structs import replace

from sitegen.model.changes import Change, DeltaParts, MetricDelta, Overlap, Unit
from sitegen.model.metrics import MetricSpec, Nouns
from sitegen.model.series import Point
from sitegen.pages.labels import DisplayedChange, changes, interval_basis, own_unit
from sitegen.text import markdown_cells
from sitegen.text.values import NO_CHANGE
from tests import pages_sample as sample
from tests.rows import in_table

F1 = sample.SPECS[0]
PARAGRAPHS = Nouns(document="paragraph")


def _pair(delta: Change) -> tuple[Point, Point]:
    before, after = sample.points(2)
    return before, replace(after, change=delta)


def _change(delta: Change, spec: MetricSpec = F1) -> DisplayedChange:
    metrics = tuple(replace(one, name=spec.name) for one in delta.metrics)
    unknown, found = changes((replace(spec, name="else"), spec), PARAGRAPHS, *_pair(replace(delta, metrics=metrics)))
    assert unknown.amount is None, "an optional metric that neither side has"
    return found


def _moved(
    change: float, parts: DeltaParts | None, only_before: tuple[str, ...] = (), only_after: tuple[str, ...] = ()
) -> Change:
    return Change(
        Overlap(common=3, only_before=only_before, only_after=only_after), (MetricDelta("any", change, parts),)
    )


def test_digits_that_only_a_sum_leaves_are_no_part():
    assert _change(_moved(0.5, DeltaParts(0.5, 1e-16, -1e-16))).parts == {"outputs": 0.5}


def test_a_bridged_change_names_the_documents_of_one_side():
    delta = _moved(0.0, DeltaParts(0.0, 0.0, 0.0), only_before=("p-0",), only_after=("p-4", "p-5", "p-6", "p-7"))
    assert _change(delta).note == ("over 3 common paragraphs; only before: p-0; only after: p-4, p-5, p-6 and 1 more")


def test_a_refused_change_says_why_and_has_no_number():
    refused = Change(Overlap(common=0, only_before=("a",), only_after=("b",)), (MetricDelta("f1", None, None),))
    said = "not comparable: no paragraph in common with iteration-001; only before: a; only after: b"
    assert _change(refused) == DisplayedChange(None, note=said)
    before, after = _pair(refused)
    empty = replace(before, scorecard=replace(before.scorecard, documents=()))
    (found,) = changes((F1,), PARAGRAPHS, empty, after)
    assert found == DisplayedChange(None, note="not comparable: iteration-001 has no paragraphs that count")


def test_a_change_of_an_undefined_metric_says_where_it_is_undefined():
    before, after = _pair(Change(Overlap(1), (MetricDelta("f1", None, None),)))
    blank = replace(before.scorecard, metrics=())
    assert changes((F1,), PARAGRAPHS, replace(before, scorecard=blank), after) == (
        DisplayedChange(None, note="F1 is undefined at iteration-001"),
    )
    assert changes((F1,), PARAGRAPHS, before, replace(after, scorecard=blank)) == (
        DisplayedChange(None, note="F1 is undefined here"),
    )


def test_a_change_whose_mixtures_are_undefined_is_whole_but_not_split():
    assert _change(_moved(0.5, None)) == DisplayedChange(
        0.5, note="a mixture of both sides is undefined, so that it cannot be split"
    )


def test_points_that_nobody_compared_have_no_changes():
    before, after = sample.points(2)
    assert changes((F1,), PARAGRAPHS, before, replace(after, change=None)) == ()


@in_table
def test_a_change_in_its_own_unit_has_a_sign_and_the_digits_that_count(change, written):
    assert own_unit(change, F1) == written
    assert markdown_cells.signed(change) == (NO_CHANGE if written == "0" else written)


PARAGRAPH_NUMBERS = Nouns(attribute="category", attributes="categories", document="paragraph")


@in_table
def test_an_interval_says_what_it_was_made_from(unit: Unit, n: int, words: str):
    assert interval_basis(unit, n, PARAGRAPH_NUMBERS) == words
