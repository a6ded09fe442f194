"""Steps of an eval, what changed with them, whether they were regained; the best so far; mutes; the page."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sitegen.analysis.regressions import steps_of
from sitegen.analysis.series import first_points_with_output
from sitegen.analysis.standing import ListedStep, standings, unmatched_mutes
from sitegen.config.models import Mute
from sitegen.model.changes import Change, DeltaParts, Interval, MetricDelta, MetricStep, Moved, Overlap, Step
from sitegen.model.metrics import Counts, Metric, MetricSpec
from sitegen.model.scorecards import DocumentScore, FieldScore, Scorecard, Status
from sitegen.model.series import BestOutput, EvalInfo, EvalSummary, Point, Series, Window
from sitegen.model.timeline import Blob, Cause, Edit
from sitegen.pages import regressions
from sitegen.pages.html.charts import ChartLine
from sitegen.pages.regressions import LISTED_STEPS, regressions_page
from sitegen.scoring.kinds import scorer
from tests import pages_sample as sample
from tests.calibration import STAYS, said_of_loss
from tests.scoring.test_tables import tables
from tests.sites import build_site
from tests.unit.test_news import COUNTS
from tests.unit.test_standing import verdict

CASES = 100
"""Expected values of every point."""
ERRORS = MetricSpec("errors_per_page", "Errors per page", "", high=20.0, higher_is_better=False)


def point(
    index: int,
    *values: float | None,
    commit: int | None = None,
    cause: tuple[Cause, ...] = ("outputs",),
    edits: tuple[Edit, ...] = (),
    specs: tuple[MetricSpec, ...] = sample.SPECS[:3],
    status: Status = "scored",
    wrong: int = 0,
    documents: int = 1,
) -> Point:
    metrics = tuple(Metric(spec.name, value) for spec, value in zip(specs, values, strict=False))
    counts = Counts(omission=wrong)
    scores = tuple(DocumentScore(f"doc-{n}", status, Counts()) for n in range(documents))
    fields = (FieldScore("total", Counts(wrong_value=1)), FieldScore("lines[].amount", counts))
    snapshot = replace(sample.snapshot(index + 1, sample.commit(index if commit is None else commit)), cause=cause)
    return Point(
        snapshot,
        Scorecard(
            status=status, counts=counts, metrics=metrics, documents=scores, fields=fields, expected_values=CASES
        ),
        edits,
    )


def edit(path: str, commit: int) -> Edit:
    return Edit(
        commit=sample.commit(commit), path=path, status="modified", old=Blob(path, "a" * 40), new=Blob(path, "b" * 40)
    )


def series(*points: Point, specs: tuple[MetricSpec, ...] = sample.SPECS[:3]) -> Series:
    return Series(
        info=EvalInfo("orders", "Orders"),
        history=sample.history("orders", points),
        specs=specs,
        points=sample.with_edits_beside(points),
    )


@pytest.mark.parametrize(("whole", "loss"), [(0, 6.0), (3, 3.0), (8, 2.0)])
def test_a_loss_of_a_fifth_that_stays_is_hardly_ever_called_fixed(whole, loss):
    """It is 0.20 of F1, in as many standard deviations, at each of the twenty builds that follow."""
    said = said_of_loss(whole, [0.0] * 8 + [loss] * STAYS, builds=STAYS - 1, trials=40)
    assert said.total() >= 25
    assert said["fixed"] <= 0.05 * said.total()


def test_a_loss_that_was_regained_is_hardly_ever_called_open_after_the_next_fall():
    said = said_of_loss(3, [0.0] * 8 + [4.0] * 5 + [0.0] * 6 + [4.0], trials=100)
    assert said.total() >= 40
    assert said["open"] <= 0.05 * said.total()


def test_a_metric_that_is_better_low_is_worse_when_it_rises():
    points = [point(index, 4.0 if index < 6 else 9.0, specs=(ERRORS,)) for index in range(10)]
    (step,) = steps_of(series(*points, specs=(ERRORS,)))
    found = (step.status, step.metrics)
    assert found == ("open", (MetricStep(name="errors_per_page", before=4.0, after=9.0, points=-25.0),))


STEPS, TOGETHER, *_ = tables(Path(__file__).with_name("steps.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", TOGETHER, ids=lambda row: row["case"])
def test_metrics_that_step_together_are_one_step_but_no_gain_hides_a_loss(row):
    info = EvalInfo("orders", "Orders", **json.loads(row["eval"]))
    specs = tuple(replace(spec, recorded=info.recorded) for spec in sample.SPECS[:3])
    levels = [level.split(" * ") for level in row["outputs"].split("; ")]
    outputs = [map(float, values.split()) for values, times in levels for _ in range(int(times))]
    one = series(*(point(index, *values, specs=specs) for index, values in enumerate(outputs)), specs=specs)
    steps = steps_of(replace(one, info=info))
    metrics = (", ".join(f"{one.name} {one.points:.3g}" for one in step.metrics) for step in steps)
    stated = (row["steps"], row["metrics"])
    assert ("; ".join(f"{step.at} {step.status}" for step in steps), "; ".join(metrics)) == stated


def test_edits_since_the_last_output_of_an_earlier_commit_are_suspects():
    points = [point(index, 0.9) for index in range(6)]
    points.append(point(6, 0.9, cause=("mapping",), edits=(edit("a.md", 6),)))
    points.append(point(7, 0.5, commit=8, edits=(edit("b.md", 7), edit("a.md", 8))))
    points.extend(point(index, 0.5, commit=8) for index in range(8, 12))
    (step,) = steps_of(series(*points))
    assert [sha for _, sha in step.edits] == [sample.commit(at).sha for at in (8, 7, 6)]
    assert (step.causes, step.more_edits) == (("outputs",), 0)


def test_an_edit_after_the_time_that_the_output_records_is_no_suspect():
    points = [point(index, 0.9 if index < 6 else 0.5) for index in range(12)]
    recorded = replace(points[6].snapshot, recorded_at=sample.commit(4).committed_at)
    points[1] = replace(points[1], edits=(edit("a.md", 1),))
    points[6] = replace(points[6], snapshot=recorded, edits=(edit("a.md", 6),))
    assert steps_of(series(*points))[0].edits == ()


def test_of_several_outputs_of_one_commit_the_edits_of_the_commit_are_named():
    points = [point(index, 0.9 if index < 6 else 0.5, commit=3) for index in range(12)]
    points[0] = replace(points[0], edits=(edit("a.md", 2),))
    one = series(*points)
    (row,) = groups(sample.summary(one))["worse"]
    assert regressions.what_changed(row) == "New output, one of several outputs of its commit."
    assert [path for path, _ in row.step.edits] == ["a.md"]


def test_what_only_scored_an_old_output_again_comes_with_no_edit():
    points = [point(index, 0.9) for index in range(6)]
    points.extend(point(6 + n, 0.5, cause=("ground_truth",), edits=(edit("a.md", 6),)) for n in range(4))
    (step,) = steps_of(series(*points))
    assert (step.causes, step.edits, step.iterations) == (("ground_truth",), (), 0)


def with_copies(*outputs: tuple[float, str]) -> Series:
    """Points with these values, whose outputs have these blob ids."""
    points = [point(index, value) for index, (value, _) in enumerate(outputs)]
    snapshots = [
        replace(at.snapshot, outputs=(Blob("extracted.json", oid),))
        for at, (_, oid) in zip(points, outputs, strict=True)
    ]
    earliest = first_points_with_output(snapshots, "fields")
    return series(
        *(
            replace(at, snapshot=snapshot, first_with_output=index)
            for at, snapshot, index in zip(points, snapshots, earliest, strict=True)
        )
    )


HIGH = tuple((0.9, f"high-{number}") for number in range(6))
LOW = tuple((0.5, f"low-{number}") for number in range(3))
MORE_LOW = tuple((0.5, f"low-{number}") for number in range(3, 6))
AGAIN = (HIGH[2], HIGH[2])

VALUES = {"h": 0.9, "m": 0.7, "l": 0.5}


def stated(text: str) -> Series:
    """The outputs of a row of the table."""
    outputs: list[tuple[float, str]] = []
    for word in text.split():
        value, _, times = word.partition("*")
        if word[0] in VALUES:
            outputs.append((VALUES[word[0]], word))
        else:
            outputs += [(float(value), f"{len(outputs) + number}") for number in range(int(times or 1))]
    return with_copies(*outputs)


def told(step: Step) -> str:
    different = "" if step.different == step.iterations else f" ({step.different} different)"
    end = "" if step.until is None else f" until {step.until}"
    undone = "" if step.undoes is None else f", undoes {step.undoes}"
    points = f"{round(step.metrics[0].points, 3):+g}"
    return f"{step.at} {step.status} {points} for {step.iterations}{different}{end}{undone}"


@pytest.mark.parametrize("row", STEPS, ids=lambda row: row["case"])
def test_the_levels_of_an_eval_are_told_as_the_table_says(row):
    one = stated(row["outputs"])
    steps = steps_of(one)
    assert "; ".join(map(told, steps)) == row["steps"].removeprefix("—")
    assert [at.commit.sha for at in steps] == [one.points[at.at].snapshot.commit.sha for at in steps]


def test_a_step_says_what_it_is_compared_with_and_how_much_was_regained():
    assert steps_of(stated("0.9*6 0.5*4 0.7*3"))[0].regained == pytest.approx(0.5)
    assert steps_of(stated("0.9*6 0.5*4 0.8*3"))[0].regained == pytest.approx(0.75)
    assert steps_of(stated("h1 h2 h3 h4 h5 h6 l1 l2 l3 h3 h3"))[0].regained == pytest.approx(1.0)
    assert steps_of(stated("0.9*8 0.3 0.9*8"))[0].before == 7


def test_scoring_an_output_again_to_the_same_value_makes_no_level():
    again = [point(index, 0.9, cause=("ground_truth",)) for index in range(1, 6)]
    assert steps_of(series(point(0, 0.9), *again, *(point(index, 0.5) for index in range(6, 9)))) == ()


def test_more_cases_tell_a_smaller_change():
    points = [point(index, value) for index, value in enumerate([0.9] * 6 + [0.887] * 6)]
    many = [replace(one, scorecard=replace(one.scorecard, expected_values=1000)) for one in points]
    assert [told(step) for step in steps_of(series(*many))] == ["6 open -1.3 for 6"]


def test_a_fall_after_a_return_is_compared_with_the_output_in_use_before_it():
    *_, second = steps_of(with_copies(*HIGH, *LOW, *AGAIN, *MORE_LOW))
    assert (second.before, second.at, second.iterations) == (10, 11, 3)


@given(st.lists(st.sampled_from([*HIGH, *LOW, *MORE_LOW]), min_size=1, max_size=12))
def test_what_comes_after_a_return_changes_nothing_about_the_fall_that_it_ended(later):
    first = steps_of(with_copies(*HIGH, *LOW, *AGAIN, *later))[0]
    assert (first.at, first.status, first.until, first.metrics[0].after) == (6, "fixed", 9, 0.5)


def with_documents(*outputs: dict[str, int]) -> Series:
    """Outputs given by how many of ten values of each document are right."""
    points = []
    for index, right in enumerate(outputs):
        counts = {name: Counts(tp=n, fp=10 - n, fn=10 - n) for name, n in right.items()}
        card = sample.card(counts, expected_values=100)
        points.append(Point(sample.snapshot(index + 1, sample.commit(index)), card))
    return series(*points, specs=sample.SPECS[:1])


A9, A5 = {"a": 9, "b": 9}, {"a": 5, "b": 5}
HARD = {"c": 1, "d": 1}
DOCUMENTS: list[tuple[str, Series, list[tuple[int, str, float, float]]]] = [
    ("no document in common", with_documents(*[A9] * 7, *[HARD] * 5), []),
    ("the new ones are harder", with_documents(*[A9] * 7, *[A9 | HARD] * 5), []),
    ("the old ones are harder", with_documents(*[A9 | HARD] * 7, *[A9] * 5), []),
    ("worse over the common ones", with_documents(*[A9] * 7, *[A5 | HARD] * 5), [(7, "open", 0.9, 0.5)]),
    ("a fall that easier documents hide", with_documents(*[A9 | HARD] * 7, *[A5] * 5), []),
    (
        "regained over the common ones",
        with_documents(*[A9] * 7, *[A5 | HARD] * 5, *[A9 | HARD] * 5),
        [(7, "fixed", 0.9, 0.5), (12, "better", 0.3, 0.5)],
    ),
    ("a fall before the documents change", with_documents(*[A9] * 7, *[A5] * 5, *[HARD] * 5), [(7, "open", 0.9, 0.5)]),
    ("one bad newest output over more", with_documents(*[A9] * 8, A5 | HARD), [(8, "new", 0.9, 0.5)]),
    ("one output over harder ones between", with_documents(*[A9] * 7, A9 | HARD, *[A9] * 5), []),
]


def with_cases(*outputs: tuple[str, str]) -> Series:
    """Responses to test cases, given by the names of all cases and of those that are answered right."""
    points = []
    for index, (asked, right) in enumerate(outputs):
        wrong = Counts(fp=1, fn=1, wrong_value=1)
        counts = {name: Counts(tp=1) if name in right else wrong for name in asked}
        card = sample.card(counts, expected_values=100, kind="responses")
        documents = (replace(of, metrics=(Metric("accuracy", of.counts.tp),)) for of in card.documents)
        card = replace(card, documents=tuple(documents))
        card = replace(card, metrics=scorer("responses").metrics_for(card.documents))
        points.append(Point(sample.snapshot(index + 1, sample.commit(index)), card))
    one = series(*points, specs=scorer("responses").metrics[:1])
    return replace(one, info=replace(one.info, kind="responses"))


A, B = "abcdefghij", "klmnopqrst"
CASES_OF_RESPONSES: list[tuple[str, Series, list[tuple[int, str, float, float]]]] = [
    ("no case in common", with_cases(*[(A, A)] * 7, *[(B, "k")] * 5), []),
    ("the new ones are harder", with_cases(*[(A, A[:9])] * 7, *[(A + B, A[:9] + "k")] * 5), []),
    ("the old ones are harder", with_cases(*[(A + B, A[:9])] * 7, *[(A, A[:9])] * 5), []),
    ("worse over the common ones", with_cases(*[(A, A[:9])] * 7, *[(A + B, A[:5] + B)] * 5), [(7, "open", 0.9, 0.5)]),
    ("one bad newest output over more", with_cases(*[(A, A[:9])] * 8, (A + B, A[:5])), [(8, "new", 0.9, 0.5)]),
]


@pytest.mark.parametrize(
    ("one", "expected"), [pytest.param(*row, id=name) for name, *row in (*DOCUMENTS, *CASES_OF_RESPONSES)]
)
def test_outputs_are_compared_over_the_documents_and_cases_that_they_have_in_common(one, expected):
    steps = [(step, step.metrics[0]) for step in steps_of(one)]
    assert [(at.at, at.status, round(led.before, 3), round(led.after, 3)) for at, led in steps] == expected


def summary(eval_id: str, *values: float, deleted: bool = False) -> EvalSummary:
    one = series(*(point(index, value) for index, value in enumerate(values)))
    info = EvalInfo(eval_id, eval_id.title())
    return replace(sample.summary(one), info=info, deleted=deleted)


def test_where_the_change_came_from_is_told_if_it_came_from_more_than_one_place():
    def parted(*parts: float) -> ListedStep:
        metric = MetricDelta("f1", sum(parts), DeltaParts(*parts))
        points = [point(index, 0.9 if index < 6 else 0.5) for index in range(12)]
        points[6] = replace(points[6], change=Change(Overlap(1), (metric,)))
        one = series(*points)
        (row,) = groups(sample.summary(one))["worse"]
        return row

    assert regressions.parts(parted(-0.5, 0.1, 0.0)) == {"outputs": -0.5, "ground truth": 0.1}
    assert regressions.parts(parted(-0.4, 0.0, 0.0)) == {}


def groups(*summaries: EvalSummary, mutes: tuple[Mute, ...] = ()) -> dict[str, tuple[ListedStep, ...]]:
    shown: dict[str, tuple[ListedStep, ...]] = sample.view_of(regressions_page(summaries, mutes, {}))["groups"]
    return shown


def totals(shown: dict[str, tuple[ListedStep, ...]]) -> list[int]:
    return [len(steps) for steps in shown.values()]


def test_a_mute_that_names_nothing_is_a_note():
    one = summary("a", *[0.9] * 6, *[0.5] * 6)
    good = Mute(eval="a", commit=one.steps[0].commit.sha, why="")
    (note,) = unmatched_mutes((good, Mute(eval="a", commit="0000000", why="")), (one,))
    assert (note.severity, note.message) == ("note", "A mute names no step: eval 'a', commit '0000000'.")


def test_the_trend_of_an_eval_does_not_count_what_is_muted_as_open(repo, tmp_path):
    repo.commit({"CLAUDE.md": "Read.", "evals/a/ground_truth.json": json.dumps([{"id": n, "x": n} for n in range(10)])})
    shas = [""]
    for at in range(1, 13):
        output = [{"id": n, "x": n if (n + at) % 10 < (9 if at < 7 else 5) else -1} for n in range(10)]
        shas.append(repo.commit({f"evals/a/results/iteration-{at:03}/extracted.json": json.dumps(output)}))
    for file in ({}, {"sitegen.toml": f'[[regressions.mute]]\neval = "a"\ncommit = "{shas[7]}"\nwhy = "harder"\n'}):
        repo.check_in(file)
        build_site(repo.path, tmp_path / "out")
        trend = (tmp_path / "out/evals/a/index.html").read_text()
        assert [text in trend for text in ("1 open regression", "muted regression")] == [not file, bool(file)]


def test_a_muted_step_is_listed_last_with_its_reason():
    one = summary("a", *[0.9] * 6, *[0.5] * 6)
    shown = groups(one, mutes=(Mute(eval="a", commit=one.steps[0].commit.sha[:7], why="harder documents"),))
    assert totals(shown) == [0, 0, 0, 0, 1]
    assert [row.why for row in shown["muted"]] == ["harder documents"]
    page = regressions_page((one,), (Mute(eval="a", commit=one.steps[0].commit.sha[:7], why="harder documents"),), {})
    text = " ".join(re.sub("<[^>]*>", "", sample.html_of(page)).split())
    assert "Worse is only what is mutedA since iteration-007: harder documents; see what sitegen.toml mutes." in text
    assert "Nothing is worse" not in text


def test_steps_of_several_evals_at_one_iteration_are_named_together():
    falls = [summary(name, *[0.9] * 6, *[0.5] * 6) for name in ("a", "b")]
    steps = groups(*falls, summary("c", *[0.9] * 7, *[0.5] * 6))["worse"]
    ((at, names),) = regressions.together(steps)
    assert (at.label, names) == ("iteration-007", ["A", "B"])


def test_a_table_lists_a_bounded_number_of_steps():
    many = [summary(f"e{n:03}", *[0.9] * 6, *[0.5] * 6) for n in range(LISTED_STEPS["worse"] + 3)]
    html = sample.html_of(regressions_page(many, (), {}))
    assert html.count("<tr data-g=") == LISTED_STEPS["worse"]
    assert "3 smaller ones are not listed." in html


def test_the_one_furthest_behind_its_best_comes_first():
    shown = standings((summary("a", 0.5, 0.6), summary("b", 0.9, 0.4), summary("c", 0.8, 0.7)), ())
    found = [(at.summary.info.id, regressions.outputs_since_best(at), at.behind) for at in shown]
    assert found == [("b", 1, 0.5), ("c", 1, pytest.approx(0.1)), ("a", 0, 0.0)]


def test_copies_since_the_best_output_count_once():
    one = summary("a", 0.9, 0.4, 0.4, 0.4)
    heads = (*one.headlines[:2], *(replace(head, first_with_output=1) for head in one.headlines[2:]))
    (at,) = standings([replace(one, headlines=heads)], ())
    assert regressions.outputs_since_best(at) == 1


def test_the_best_and_the_newest_value_stand_with_their_intervals():
    best, newest = (Interval(low=low, high=0.9, unit="fields", n=40, method="Wilson") for low in (0.612, 0.523))
    one = replace(summary("a", 0.8, 0.7), best_output=BestOutput(at=0, value=0.8, edit=0, interval=best))
    one = replace(one, headlines=(one.headlines[0], replace(one.headlines[1], interval=newest)))
    html = sample.html_of(regressions_page([one], (), {}))
    assert html.index("0.612 to 0.900") < html.index("0.523 to 0.900")


def test_a_loss_that_came_and_went_with_one_edit_stands_beside_the_change_of_that_edit():
    one = summary("a", *[0.9] * 6, *[0.5] * 6, *[0.8] * 6)
    edit = replace(sample.commit(5), subject="Ask for totals (F1: 0.815)")
    window = Window(5, 4, 17, verdict=verdict("cannot tell"))
    one = replace(one, steps=(replace(one.steps[0], edited=edit),), windows=(window,))
    pages = regressions_page((one,), (), {}), sample.overview_page((one,), sample.commit(20), COUNTS)
    steps, first = (sample.html_of(page) for page in pages)
    words = " ".join(re.sub("<[^>]*>", "", steps).split())
    assert f"Ask for totals (F1: 0.815) ({edit.author})" in words
    assert "That edit, iteration-005 to iteration-018: F1 −0.100, cannot tell" in words
    assert "0.400 lost at iteration-007, regained at iteration-013" in " ".join(re.sub("<[^>]*>", "", first).split())


def test_the_line_of_a_step_has_both_levels_and_its_gaps():
    size, mark, line, before, after = regressions.step_line([0.8, None, 0.8, 0.4, 0.4], 3, 0.8, 0.4)
    assert line == ChartLine("M2 0L3 1000L4 1000", "M0 0h0")
    assert (size, mark, before, after) == (5, 2.5, "M0 0H2.5", "M2.5 1000H4")


def test_the_line_of_a_lost_level_ends_where_it_was_regained():
    assert regressions.step_line([0.8, 0.4, 0.8, 0.8, 0.8], 1, 0.8, 0.4, 2)[-1] == "M0.5 1000H1.5"


def test_the_line_of_a_champion_is_a_staircase():
    (standing,) = standings([summary("a", 0.4, 0.2, 0.8)], ())
    assert regressions.best_chart(standing) == (3, ChartLine("M0 600L1 800L2 200", ""), "M0 600H2V200H2")


def test_a_site_without_steps_says_how_many_values_a_step_takes():
    html = sample.html_of(regressions_page([summary("a", 0.5, 0.6)], (), {}))
    assert "A step takes at least five values of a metric" in html
    assert "Nothing is worse by more than chance" in html


def test_a_fall_too_new_to_tell_says_so_on_the_list():
    html = sample.html_of(regressions_page([summary("a", *[0.9] * 6, 0.5)], (), {}))
    assert '<h2 id="h-worse" class="grow">Worse than it was</h2>' in html
    assert 'one more run needed</span> <span class="nowrap">for 1 iteration</span>' in " ".join(html.split())


def test_hostile_names_are_escaped():
    one = summary("a", *[0.9] * 6, *[0.5] * 6)
    info = replace(one.info, name=sample.SCRIPT)
    heads = tuple(replace(head, label=sample.SCRIPT) for head in one.headlines)
    step = one.steps[0]
    nasty = replace(
        step,
        commit=replace(step.commit, subject=sample.SCRIPT),
        edits=((sample.SCRIPT, step.commit.sha),),
        fields=(Moved(sample.SCRIPT, 1.0, 2.0),),
    )
    again = replace(one, info=replace(info, id="b"), headlines=heads, steps=(nasty,))
    page = regressions_page([replace(one, info=info, headlines=heads, steps=(nasty,)), again], (), {})
    assert sample.SCRIPT not in sample.html_of(page)
