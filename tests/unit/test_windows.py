import json
import re

import pytest
from msgspec.structs import replace

from sitegen.analysis.edits import OutputEdits
from sitegen.analysis.effects import EffectIndex, windows
from sitegen.model.changes import Change, ChangeVerdict, DeltaParts, MetricDelta, Overlap
from sitegen.model.commits import Commit
from sitegen.model.metrics import Counts, Metric, MetricSpec
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Effect, EvalInfo, EvalSummary, Headline, Point, Window
from sitegen.model.timeline import Blob, Cause, Edit, Snapshot
from sitegen.model.usage import Exchange
from sitegen.pages.effects import effect_rows
from sitegen.pages.instructions import EditEffects, FileEdit, FileRecord, instructions_page
from tests import pages_sample
from tests import pages_sample_diffs as sample
from tests.sites import build_site, renderer_of, text_of, written

F1 = MetricSpec("f1", "F1", "")


def commit(position: int) -> Commit:
    """One commit an hour."""
    return Commit(f"{position:02x}" * 20, position, "Ann", committed_at=f"2026-03-02T{position:02}:00:00Z")


def edit(position: int) -> Edit:
    return Edit(commit=commit(position), path="a.md", status="modified", old=None, new=Blob("a.md", f"{position:040x}"))


def snapshot(
    iteration: int, position: int, cause: Cause = "outputs", recorded: str | None = None, made_at: str | None = None
) -> Snapshot:
    return pages_sample.snapshot(
        iteration, commit(position), (cause,), outputs=(), recorded_at=recorded, made_at=made_at
    )


def found(snapshots: list[Snapshot], *edits: int) -> list[tuple[int, int | None, int]]:
    every = [edit(position) for position in edits]
    points = [Point(one, card(None), (), change=delta(0, 0, 0)) for one in snapshots]
    return [window[:3] for window in windows(points, OutputEdits(snapshots, every))]


def delta(outputs: float, truth: float, rules: float) -> Change:
    parts, whole = DeltaParts(outputs, truth, rules), outputs + truth + rules
    return Change(Overlap(1), (MetricDelta("f1", whole, parts),))


def test_an_output_made_before_any_edit_is_only_what_the_first_one_is_compared_with():
    assert found([snapshot(1, 2), snapshot(2, 5)], 3) == [(3, 0, 1)]


def test_edits_before_the_same_output_share_its_window():
    assert found([snapshot(1, 2), snapshot(2, 9)], 1, 5, 6) == [(1, None, 0), (5, 0, 1), (6, 0, 1)]


def test_many_outputs_of_one_commit_speak_for_the_edits_at_the_times_they_record():
    late = [snapshot(number, 9, recorded=f"2026-03-02T0{number}:30:00Z") for number in (2, 4, 6)]
    assert found(late, 1, 3, 5) == [(1, None, 0), (3, 0, 1), (5, 1, 2)]


def test_no_edit_is_credited_with_a_change_if_it_is_open_which_one_the_output_was_made_with():
    window = Window(5, 0, 1, verdict=ChangeVerdict(decision="better", why="beyond chance"))
    effects = EffectIndex([summary("x", window)], {}).effects_of(5)
    in_doubt = EffectIndex([summary("x", window._replace(or_edit=commit(1)))], {})
    assert [(one.gain, one.decision) for one in (*effects, *in_doubt.effects_of(5))] == [(0.5, "better"), (None, None)]
    (row,) = effect_rows(in_doubt.effects_of(5))
    assert (row.grade, row.doubt) == ("better", f"by this edit or {commit(1).short}")
    of_edit = EditEffects((FileEdit(edit(5), "a.md"),), in_doubt.effects_of(5))
    assert [(one.change, one.gain) for one in of_edit.effects] == [(0.5, None)]
    page = instructions_page([FileRecord(history=sample.FILE, counts=(None,) * 3, grades=())], [of_edit], ())
    assert f"+0.500 <small>better</small><small>by this edit or {commit(1).short}</small></a>" in written(
        renderer_of(sample.SITE), page
    )


def test_the_commit_that_an_output_records_wins_over_time_and_place():
    recorded = "2026-03-02T08:30:00Z"
    assert found([snapshot(1, 9, recorded=recorded, made_at=commit(1).sha)], 1, 5) == [(1, None, 0)]
    third = snapshot(3, 9, recorded=recorded, made_at=commit(6).sha[:7])
    assert found([snapshot(1, 2), snapshot(2, 6), third], 1, 5, 7) == [(1, None, 0), (5, 0, 1)]
    assert found([snapshot(1, 9, recorded=recorded, made_at="f" * 40)], 1, 5) == [(5, None, 0)]


def test_an_output_that_is_scored_again_is_attributed_to_the_edit_it_was_made_with():
    again = [snapshot(1, 2), snapshot(1, 6, "mapping"), snapshot(2, 8)]
    assert found(again, 1, 5, 7) == [(1, None, 1), (5, 1, 2), (7, 1, 2)]


def card(value: float | None, **documents: Counts) -> Scorecard:
    return pages_sample.card(documents or {"a": Counts()}, metrics=(Metric("f1", value),))


RIGHT, WRONG = Counts(tp=1), Counts(fp=1, fn=1)


@pytest.mark.parametrize(
    ("before", "after", "over_common", "change", "why"),
    [
        (card(1.0, a=RIGHT), card(0.0, a=WRONG), None, -1.0, ""),  # the same documents
        (card(1.0, a=RIGHT, b=RIGHT), card(0.25, a=RIGHT, b=WRONG, c=WRONG, d=WRONG), (-0.5,), -0.5, ""),
        (card(1.0, a=RIGHT), card(0.0, b=WRONG), (None,), None, "nothing in common to compare"),
    ],
)
def test_the_change_across_an_edit_is_over_the_documents_that_both_outputs_have(
    before, after, over_common, change, why
):
    places = [snapshot(1, 2), snapshot(2, 5)]
    points = [Point(place, one) for place, one in zip(places, (before, after), strict=True)]
    _, window = windows(points, OutputEdits(places, [edit(1), edit(4)]))
    assert window.over_common == over_common
    heads = tuple(headline(point.scorecard.metric("f1")) for point in points)
    index = EffectIndex([replace(summary("x", window), headlines=heads)], {})
    (row,) = effect_rows(index.effects_of(4))
    assert (row.change, row.grade, row.why) == (change, "not judged", why)


def test_edit_and_commit_tell_the_same_change_of_the_same_two_outputs(repo, tmp_path):
    commits = []
    for number, (documents, right) in enumerate(((30, 30), (60, 27)), 1):
        names = [f"d{at}" for at in range(documents)]
        rows = [{"id": name, "x": "1" if at < right else "7"} for at, name in enumerate(names)]
        edited = repo.commit({"CLAUDE.md": f"Version {number}.\n"})
        files = {
            "evals/orders/ground_truth.csv": "id,x\n" + "".join(f"{name},1\n" for name in names),
            f"evals/orders/results/iteration-{number:03}/extracted.json": json.dumps(rows),
        }
        commits = [edited, repo.commit(files)]
    repo.checkout()
    build_site(repo.path, tmp_path / "site")
    names = [*[f"commits/{sha[:12]}.html" for sha in commits], "evals/orders/0002.html"]
    pages = [text_of(tmp_path / "site" / name) for name in names]
    assert all("down 0.100" in page for page in pages)
    verdicts = [re.findall(r"\d+ values? fixed.*?, p \d\.\d+", page) for page in pages]
    assert verdicts == [verdicts[0][:1]] * 3
    assert not any("down 0.550" in text_of(page) for page in (tmp_path / "site").rglob("*.html"))


def headline(value: float | None) -> Headline:
    return Headline(commit_position=0, sha="", slug="", label="", status="scored", values=(value,), errors=(0, 0, 0, 0))


def summary(eval_id: str, *windows: Window) -> EvalSummary:
    return EvalSummary(EvalInfo(eval_id, eval_id), (F1,), (headline(0.25), headline(0.75)), windows=windows)


def effect(eval_id: str, window: Window, before: float | None = 0.25, after: float = 0.75) -> Effect:
    first = None if before is None else headline(before)
    return Effect(info=EvalInfo(eval_id, eval_id), before=first, after=headline(after), specs=(F1,), window=window)


def test_effects_are_found_by_the_edit_and_by_the_files_that_drive_an_eval():
    index = EffectIndex(
        [summary("a", Window(3, None, 0), Window(edit=5, before=0, after=1)), summary("b", Window(5, 0, 1))],
        {"b": frozenset({"b.md"})},
    )
    both = (effect("a", Window(edit=5, before=0, after=1)), effect("b", Window(edit=5, before=0, after=1)))
    assert index.effects_of(5) == index.effects_of(5, "b.md") == both
    assert index.effects_of(5, "a.md") == both[:1]
    assert index.effects_of(3) == (effect("a", Window(edit=3, before=None, after=0), None, 0.25),)
    assert index.effects_of(4) == ()
    assert (index.drives("a.md", "a"), index.drives("a.md", "b"), index.drives("b.md", "b")) == (True, False, True)


def test_a_change_that_another_model_may_have_made_is_that_of_no_edit():
    window = Window(edit=1, before=0, after=1)
    assert (effect("a", window).change, effect("a", window).gain) == (0.5, 0.5)
    by_another = effect("a", window._replace(model=Exchange(("a",), ("b",))))
    assert (by_another.change, by_another.gain) == (0.5, None)
    assert effect("a", window, before=None).gain is None


def test_an_edit_has_no_effect_on_grades_that_two_judges_gave() -> None:
    quality, accuracy = MetricSpec("average_quality", "Average quality", "", high=5), MetricSpec("accuracy", "A", "")
    before, after = (replace(headline(0.25), values=(value, value)) for value in (0.25, 0.75))
    judge = Exchange(("j-1",), ("j-2",), ("average_quality",))
    window = Window(edit=1, before=0, after=1, judge=judge)
    graded = replace(effect("a", window), before=before, after=after, specs=(quality, accuracy))
    assert (graded.change, graded.gain) == (None, None)
    (row,) = effect_rows((graded,))
    told = (row.grade, row.why, row.remarks)
    assert told == ("not judged", "two judges do not grade alike", ("The judge changed from j-1 to j-2.",))
    assert [change for _, change in row.metrics] == [None, 0.5]
    other = replace(graded, specs=(accuracy, quality))
    assert other.change == 0.5
    assert [[change for _, change in row.metrics] for row in effect_rows((other,))] == [[0.5, None]]
