"""The interval beside a headline, verdicts on changes, and what repeated outputs tell."""

import re
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from sitegen.analysis.deltas import Compared
from sitegen.analysis.noise.changes import change_verdict, metric_verdict
from sitegen.analysis.noise.samples import interval_of
from sitegen.model.changes import ChangeVerdict, Ends, FlipRate, Interval, Noise, Overlap
from sitegen.model.metrics import Counts, Metric, MetricSpec
from sitegen.model.outcomes import Flips, State
from sitegen.model.scorecards import DocumentScore, FieldScore, Scorecard
from sitegen.scoring.kinds import scorer
from sitegen.stats.intervals import wilson
from sitegen.stats.steps import levels
from tests import calibration
from tests import pages_sample as sample
from tests.calibration import COUNTS, FEW, SETS, Pairs, Rows, words
from tests.rows import in_table
from tests.scored import scored as scored_files

STATES: dict[str, State] = {"+": "correct", "-": "wrong_value", "o": "omission", ".": "true_negative"}


def rows(documents: Sequence[str]) -> Rows:
    """Documents with one character a field: right, wrong, omitted, or blank on both sides."""
    return [[STATES[cell] for cell in document] for document in documents]


def card(*documents: str) -> Scorecard:
    return calibration.card(rows(documents))


def verdict(before: Sequence[str], after: Sequence[str], noise: Noise | None = None) -> ChangeVerdict:
    return calibration.verdict(rows(before), rows(after), (noise, noise))


def documents(cell: str) -> list[str]:
    """The documents of a cell of the table, in which a number repeats the character before it."""
    return [re.sub(r"(\D)(\d+)", lambda found: found[1] * int(found[2]), word) for word in cell.split()]


def scored(kind: str, truth: object, output: object, settings: str = "{}") -> Scorecard:
    return scored_files(kind, {"output.json": output}, {"truth.json": truth}, settings).scorecard


def ends(interval: Interval | Ends | None) -> tuple[float, float]:
    assert interval is not None
    return round(interval.low, 3), round(interval.high, 3)


@in_table
def test_five_documents_are_a_sample_and_fewer_are_searched_field_by_field(case, judged, unit, n, low, high):
    found = interval_of(card(*judged.split()))
    assert found is not None
    assert (found.unit, found.n, ends(found)) == (unit, n, (low, high))


@pytest.mark.parametrize("documents", [("+",), ("-",), ("....",), ("+....",)])
def test_one_unit_or_none_has_no_interval(documents):
    assert interval_of(card(*documents)) is None


def test_an_undefined_headline_has_no_interval():
    assert interval_of(scored_files("fields", {}).scorecard, "fields") is None
    assert interval_of(scored_files("responses", {}).scorecard, "responses") is None


def test_the_cases_of_responses_are_the_sample():
    found = interval_of(answers(*"+" * 15, *"-" * 5))
    assert found == Interval(*wilson(0.75, 20), "cases", 20, "Wilson")


def judged(*scores: float | None) -> Scorecard:
    lines = [{"id": str(index), "score": score} for index, score in enumerate(scores)]
    return scored_files("judged", {"j.jsonl": lines}).scorecard


def test_the_scores_of_a_judge_are_a_mean_over_cases():
    found = interval_of(judged(0.5, 0.75, 1.0, 0.75, None, 0.5, 0.7))
    assert found is not None
    assert (found.unit, found.n, ends(found)) == ("cases", 6, (0.486, 0.852))


def test_other_metrics_have_intervals_over_the_fields_that_they_count():
    truth = {**{name: name for name in "abcdefgh"}, "i": None, "j": None}
    output = {**{name: name for name in "abcde"}, "f": "wrong", "i": "made up"}
    some = scored("fields", truth, output)
    numbers = {"f1": 9, "precision": 7, "recall": 8, "field_accuracy": 10, "macro_f1": None}
    found = {metric: interval_of(some, metric) for metric in numbers}
    assert {metric: interval and interval.n for metric, interval in found.items()} == numbers
    assert interval_of(some, "macro_f1_attributes") is None
    assert ends(found["precision"]) == (0.271, 0.944)


def test_paragraphs_of_highlights_are_documents():
    gold = {"chunks": [{"paragraphs": [{"id": f"p{n}", "highlights": {"terms": ["a", "b"]}} for n in range(6)]}]}
    given = {"chunks": [{"paragraphs": [{"id": f"p{n}", "highlights": {"terms": ["a"]}} for n in range(6)]}]}
    some = scored("highlights", gold, given)
    found = interval_of(some)
    assert found is not None
    assert (some.metrics[0], found.unit, found.n) == (Metric("accuracy", 0.5), "documents", 6)


@in_table
def test_flips_decide_what_became_of_fields(
    case, before, after, decision, why, fixed, broken, p, change, interval, least, lost
):
    found = verdict(documents(before), documents(after))
    assert (found.decision, found.why, found.fixed, found.broken) == (decision, why, fixed, broken)
    assert (float(f"{found.p_value:.4g}"), round(found.change or 0, 4)) == (p, change)
    assert (f"{found.interval.low:.3f} to {found.interval.high:.3f}" if found.interval else "") == interval
    assert (round(found.detectable, 3) if found.detectable else "") == least
    assert " ".join(f"{field} {values}" for field, values in found.lost_fields) == lost


def test_where_less_is_better_a_fall_is_better():
    before, after = judged(*[0.5, 0.6, 0.7] * 4), judged(*[0.4, 0.2, 0.3] * 4)
    found = change_verdict(Compared(before, after), Flips(), higher_is_better=False)
    assert (found.decision, found.fixed, found.broken) == ("better", 12, 0)


def test_a_fall_that_two_outputs_cannot_tell_may_be_a_step_of_the_series():
    """The example of the Methods page."""
    found = verdict(["+" * 90 + "-" * 10], ["+" * 85 + "-" * 15])
    assert (found.decision, found.fixed, found.broken, found.p_value) == ("likely worse", 0, 5, 2 / 2**5)
    before, after = levels([0.91, 0.90] * 4 + [0.85, 0.86] * 4).levels
    assert (before.end, after.start, round(after.mean - before.mean, 3)) == (8, 8, -0.05)


def test_a_list_item_that_was_found_is_one_event_however_many_cells_it_has():
    def held(prefix: str, together: tuple[int, int]) -> ChangeVerdict:
        names = [f"{prefix}{letter}" for letter in "abcdefgh"]
        counts = (COUNTS["wrong_value"], COUNTS["correct"])
        first, last = (
            replace(card("+" * 12), fields=(*card("+" * 12).fields, *(FieldScore(name, side) for name in names)))
            for side in counts
        )
        flipped = Flips(fixed=tuple((name, 1) for name in names), together=together)
        return change_verdict(Compared(first, last), flipped)

    apart, together = held("item.", (0, 0)), held("items[].", (7, 0))
    assert (apart.decision, apart.fixed, apart.p_value) == ("better", 8, 2 / 2**8)
    assert (together.decision, together.why) == ("cannot tell", "flips may be chance")
    assert (together.fixed, together.counted, together.p_value) == (8, (1, 0), 1.0)


@pytest.mark.parametrize("limit", [None, 0.05, 0.5])
@pytest.mark.parametrize("broken", range(1, 16))
def test_what_broke_alone_is_never_undecided_if_that_is_rarer_than_one_in_a_hundred(broken, limit):
    noise = None if limit is None else Noise(groups=1, outputs=3, deviation=0.1, limit=limit)
    found = verdict(["+" * 20], ["-" * broken + "+" * (20 - broken)], noise)
    assert (found.fixed, found.broken, found.p_value) == (0, broken, min(1, 2 / 2**broken))
    if broken >= 8:
        assert found.decision in ("likely worse", "worse")


def test_a_change_that_repeats_differ_by_is_not_sure_however_sure_the_cells_are():
    before, after = ["+" * 14 + "-" * 26], ["+" * 24 + "-" * 16]
    assert verdict(before, after).decision == "better"
    found = verdict(before, after, Noise(groups=1, outputs=3, deviation=0.1, limit=0.277, pooled=FlipRate("", 5, 40)))
    assert (found.decision, found.why) == ("likely better", "within the noise of repeats")
    assert ends(found.interval) == (0.110, 0.390)
    # Found 8 times in 10: Student's t with 2 degrees of freedom is 4.303 at 95 %, the noise limit, and 1.061 at 60 %.
    assert found.detectable == pytest.approx(0.277 * (4.303 + 1.061) / 4.303, abs=1e-4)


@pytest.mark.parametrize("fixed", range(13))
@pytest.mark.parametrize("broken", [0, 2, 5])
@pytest.mark.parametrize("limit", [None, 0.05, 0.15])
def test_flips_and_repeats_decide_and_the_interval_does_not(fixed, broken, limit):
    before = ["-" * 20 + "+" * 20]
    after = ["+" * fixed + "-" * (20 - fixed + broken) + "+" * (20 - broken)]
    found = verdict(
        before, after, limit and Noise(groups=1, outputs=3, deviation=0.1, limit=limit, pooled=FlipRate("", 5, 40))
    )
    alone = verdict(before, after)
    assert found.p_value is not None
    assert (found.interval, found.p_value) == (alone.interval, alone.p_value)
    assert (alone.decision in ("better", "worse")) == (found.p_value < 0.05)
    assert (alone.decision in ("cannot tell", "same")) == (found.p_value >= 0.2)
    if limit and abs(found.change or 0) <= limit:
        assert found.decision not in ("better", "worse")
    assert (found.decision in ("better", "likely better")) <= (fixed > broken)
    assert (found.decision in ("worse", "likely worse")) <= (fixed < broken)


@pytest.mark.parametrize("pairs", [*SETS, *FEW[1:4]], ids=lambda pairs: pairs.name)
def test_of_pairs_without_a_change_few_get_a_word_for_one(pairs: Pairs):
    """Of 200 pairs, 10 and 30 are what is promised; a sample has up to 5 more by chance once in 20 times."""
    given = words(pairs, 0.0, trials=200)
    assert given["better"] + given["worse"] <= 15
    assert given["likely better"] + given["likely worse"] <= 36


@in_table
def test_a_true_change_is_found_as_often_as_methods_says(pairs, change, least):
    given = words(Pairs(*pairs), change, trials=100)
    assert given["better"] >= least
    assert not given["worse"]


def test_a_document_that_only_one_side_has_is_left_out():
    before = ["++++------", "+++++-----", "++++++----", "+++++-----", "++++------"]
    first, last = card(*before), card(*before, "+" * 10)
    found = change_verdict(Compared(first, last), Flips())
    assert (found.decision, found.change) == ("same", 0.0)


def test_points_without_a_document_in_common_cannot_be_compared():
    one, other = card("++--"), card("+++-")
    other = replace(other, documents=tuple(replace(each, name="another") for each in other.documents))
    found = change_verdict(Compared(one, other), Flips())
    assert (found.decision, found.why, found.change, found.p_value) == ("cannot tell", "nothing to compare", None, None)


def test_the_mean_of_a_judge_moves_by_cases_and_takes_six():
    def held(before: Sequence[float], after: Sequence[float]) -> ChangeVerdict:
        return change_verdict(Compared(judged(*before), judged(*after)), Flips())

    five, six = held([0.0] * 5, [1.0] * 5), held([0.0] * 6, [1.0] * 6)
    assert (five.decision, five.why, five.p_value) == ("likely better", "flips may be chance", 2 / 2**5)
    assert (six.decision, six.change, six.fixed, six.p_value) == ("better", 1.0, 6, 2 / 2**6)
    mixed = held([0.5, 0.6, 0.7, 0.5, 0.6, 0.7], [0.6, 0.5, 0.9, 0.4, 0.7, 0.7])
    assert (mixed.decision, mixed.fixed, mixed.broken) == ("cannot tell", 3, 2)


def test_the_accuracy_of_responses_moves_by_cases():
    before, after = (answers(*"+" * right, *"-" * (40 - right)) for right in (20, 30))
    found = change_verdict(Compared(before, after), Flips(fixed=(("(no category)", 10),)))
    assert (found.decision, found.change, found.unit) == ("better", 0.25, "cases")
    assert ends(found.interval) == (0.11, 0.39)


def answers(*cases: str) -> Scorecard:
    """Responses to cases, with one character an answer: right or wrong."""
    truth = [{"id": str(index), "expected": "yes"} for index in range(len(cases))]
    given = [
        {"case_id": str(index), "output": "yes" if answer == "+" else "no"}
        for index, case in enumerate(cases)
        for answer in case
    ]
    return scored("responses", truth, given)


def test_several_answers_to_a_case_are_one_case_of_the_verdict():
    """Twelve answers of four cases were fixed, which is four cases."""
    before, after = answers("+----", "+----", "++---", "-----"), answers("++++-", "++++-", "+++++", "+++--")
    found = change_verdict(Compared(before, after), Flips(fixed=(("(no category)", 12),)))
    assert (found.decision, found.fixed, found.counted, found.p_value) == ("likely better", 12, (4, 0), 2 / 2**4)
    assert found.change == pytest.approx(0.6)
    assert (found.unit, found.n) == ("cases", 4)
    assert found.interval is None


def test_units_that_all_moved_alike_tell_nothing_of_others():
    """Without scatter an interval would have no width, as if other cases were known for certain."""
    alike = change_verdict(Compared(answers(*["+-"] * 8), answers(*["++"] * 8)), Flips())
    assert (alike.decision, alike.change, alike.interval) == ("better", 0.5, None)
    one_else = change_verdict(Compared(answers(*["+-"] * 8, "+-"), answers(*["++"] * 8, "+-")), Flips())
    assert one_else.interval is not None
    unmoved = change_verdict(Compared(answers(*["+-"] * 8), answers(*["-+"] * 8)), Flips(fixed=(("a", 8),)))
    assert unmoved.interval == (0.0, 0.0)


@pytest.mark.parametrize(("cases", "lost"), [(2, False), (3, True)])
def test_a_category_is_lost_by_its_cases_and_not_by_its_answers(cases, lost):
    before, after = answers(*["++++"] * cases), answers(*["----"] * cases)
    found = change_verdict(Compared(before, after), Flips(lost=(("(no category)", cases),)))
    assert (found.lost_fields, found.decision) == (
        ((("(no category)", cases),), "worse") if lost else ((), "cannot tell")
    )


def test_a_case_that_only_one_side_answers_or_judges_changes_nothing():
    """A label was taken away from a case that was wrong."""

    answered = [{"case_id": name, "output": "no" if name == "b" else "yes"} for name in "abc"]
    sides = ([{"id": name, "expected": label if name == "b" else "yes"} for name in "abc"] for label in ("yes", None))
    compared = Compared(*(scored("responses", cases, answered) for cases in sides))
    answered_by_one = Compared(answers("+", "-", "+"), answers("+", "-"))
    for turned in (compared, Compared(compared.after, compared.before), answered_by_one):
        found = change_verdict(turned, Flips())
        assert (found.decision, found.change, turned.difference("accuracy")) == ("same", 0.0, 0.0)
    assert compared.overlap == Overlap(2, only_before=("b",))


def graded(*grades: int | None, cases: str = "abcdefgh", variants: str = "x") -> Scorecard:
    """Answers with a grade, in the order of the cases, the same of each variant."""
    documents = tuple(
        DocumentScore(
            name=f"{case} · {variant}",
            status="scored",
            counts=Counts(),
            metrics=() if grade is None else (Metric("average_quality", grade),),
            of_case=case,
        )
        for variant in variants
        for case, grade in zip(cases, grades, strict=False)
    )
    return sample.card(metrics=scorer("responses").metrics_for(documents), documents=documents, kind="responses")


QUALITY = MetricSpec("average_quality", "Average quality", "", low=1.0, high=5.0)


def quality_verdict(before: Scorecard, after: Scorecard) -> ChangeVerdict | None:
    return metric_verdict(QUALITY, Compared(before, after), Flips())


def test_a_fall_of_the_quality_of_most_answers_is_more_than_chance():
    verdict = quality_verdict(graded(5, 5, 4, 5, 4, 5, 5, 4), graded(3, 4, 3, 3, 3, 3, 4, 2))
    assert verdict is not None
    assert (verdict.decision, verdict.why, verdict.change) == ("worse", "beyond chance", -1.5)
    found = verdict.interval
    assert found is not None
    assert (verdict.unit, verdict.n) == ("cases", 8)
    assert (found.low, found.high) == pytest.approx((-1.947, -1.053), abs=1e-3)


def test_a_fall_of_the_quality_of_a_few_answers_is_not_told_from_chance():
    few = quality_verdict(graded(5, 5, 4), graded(3, 4, 3))
    some = quality_verdict(graded(5, 5, 4, 5, 4, 5, 5, 4), graded(1, 5, 4, 5, 4, 5, 5, 4))
    assert few
    assert some
    told = [(one.decision, one.fixed, one.broken) for one in (few, some)]
    assert told == [("cannot tell", 0, 3), ("cannot tell", 0, 1)]


def test_cases_that_only_one_side_answered_change_no_mean():
    before, after = graded(5, 4, 1, cases="abx"), graded(3, 4, 5, cases="aby")
    assert Compared(before, after).difference("average_quality") == -1.0
    assert Compared(before, graded(5, cases="z")).difference("average_quality") is None
    assert Compared(before, graded(None, None, cases="ab")).difference("average_quality") is None


def test_how_much_answers_are_alike_has_no_verdict():
    assert metric_verdict(MetricSpec("consistency_score", "", ""), Compared(graded(5), graded(3)), Flips()) is None


def test_an_accuracy_of_fewer_answers_than_variants_has_an_interval():
    """Of two test cases one variant answered one; every call of the others failed."""
    right, accuracy = Counts(tp=1), (Metric("accuracy", 1.0),)
    documents = DocumentScore("a", "scored", right, metrics=accuracy), DocumentScore("b", "scored", Counts())
    some = sample.card(counts=right, metrics=accuracy, documents=documents, kind="responses")
    assert interval_of(some) == Interval(*wilson(1.0, 1), "cases", 1, "Wilson")
    assert change_verdict(Compared(some, some), Flips()).decision == "same"
