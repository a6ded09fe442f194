"""What is worse than it was: one rule for the overview, the page of regressions and the summary."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.analysis.standing import Trouble, nothing_is_worse, since_best, standing_of, standings
from sitegen.config import Mute
from sitegen.model.metrics import Threshold
from sitegen.model.noise import ChangeVerdict, Decision
from sitegen.model.regressions import StepStatus
from sitegen.model.series import EvalSummary, Peak
from sitegen.pages.data.exports import MISSED, badge
from sitegen.pages.overview.page import eval_row
from tests import pages_sample as sample
from tests.unit.test_for_machines import headline, step, summary


def verdict(decision: Decision) -> ChangeVerdict:
    return ChangeVerdict(decision, "beyond chance", -0.2, None, 0, 9, 0.01, None, ())


def fallen(name: str, best: float, newest: float | None, decision: Decision, **more: Any) -> EvalSummary:
    return summary(name, best, newest, peak=Peak(0, best, 0), since_best=verdict(decision), **more)


def stepped(name: str, status: StepStatus, fall: float = 0.4) -> EvalSummary:
    return fallen(name, 0.9, 0.9 - fall, "cannot tell", steps=(step(1, 0.9, 0.9 - fall, status),))


CASES: list[tuple[EvalSummary, Trouble]] = [
    (summary("empty"), "no outputs"),
    (summary("first", 0.5, peak=Peak(0, 0.5, 0)), "none"),
    (summary("undefined", None), "none"),
    (summary("lost", 0.5, None, peak=Peak(0, 0.5, 0)), "unscored"),
    (replace(summary("unread"), headlines=(headline(1, None, status="unreadable"),)), "unscored"),
    (fallen("behind", 0.9, 0.7, "worse"), "worse"),
    (fallen("chance", 0.9, 0.7, "cannot tell"), "behind"),
    (fallen("equal", 0.9, 0.9, "same"), "none"),
    (fallen("target", 0.9, 0.7, "cannot tell", target=0.8), "below target"),
    (stepped("open", "open"), "worse"),
    (stepped("new", "new"), "too new"),
    (stepped("fixed", "fixed"), "behind"),
    (stepped("blip", "blip"), "behind"),
]


@pytest.mark.parametrize(
    ("one", "trouble"), CASES, ids=lambda value: value.info.id if isinstance(value, EvalSummary) else ""
)
def test_each_eval_has_one_trouble(one: EvalSummary, trouble: Trouble) -> None:
    found = standing_of(one, ())
    assert (found.trouble, nothing_is_worse([found])) == (trouble, trouble not in ("unscored", "worse", "too new"))


def test_a_default_target_of_a_kind_counts_wherever_a_target_does() -> None:
    one = fallen("answers", 0.9, 0.7, "cannot tell")
    one = replace(one, specs=(replace(one.specs[0], least=0.8), *one.specs[1:]))
    assert standing_of(one, ()).trouble == "below target"
    row = eval_row(one, None, None)
    assert (row.least, row.met) == (0.8, False)
    assert badge(one)["color"] == MISSED
    stated = replace(one, info=replace(one.info, thresholds=(Threshold(one.specs[0].name, 0.6),)))
    assert (standing_of(stated, ()).trouble, eval_row(stated, None, None).met) == ("behind", True)


def test_the_eval_in_most_trouble_comes_first_and_deleted_ones_are_left_out() -> None:
    every = [
        *(one for one, _ in CASES),
        stepped("open more", "open", 0.5),
        replace(stepped("gone", "open"), deleted=True),
    ]
    assert [one.summary.info.id for one in standings(every, ())] == [
        "lost",
        "unread",
        "open more",
        "open",
        "behind",
        "new",
        "target",
        "blip",
        "fixed",
        "chance",
        "equal",
        "first",
        "undefined",
        "empty",
    ]


def test_a_mute_below_the_best_output_also_mutes_the_distance_to_it() -> None:
    one = replace(stepped("a", "open"), since_best=verdict("worse"))
    mute = Mute(eval="a", commit=one.steps[0].commit.sha, why="harder documents")
    assert [standing_of(one, mutes).trouble for mutes in ((), (mute,))] == ["worse", "behind"]


def test_of_an_amount_where_less_is_better_more_is_behind() -> None:
    one = summary("slow", 2.0, 5.0, peak=Peak(0, 2.0, 0))
    one = replace(one, specs=(replace(one.specs[0], higher_is_better=False), *one.specs[1:]))
    assert standing_of(one, ()).behind == 3.0


def test_the_newest_output_is_judged_against_the_best_one_by_documents_and_cells() -> None:
    series = sample.series(4)
    last = len(series.points) - 1
    values = [(point.now or point.scorecard).metrics[0].value or 0.0 for point in series.points]
    judged = since_best(series, Peak(0, values[0], 0))
    assert judged is not None
    assert judged.change == pytest.approx(values[last] - values[0])
    assert since_best(series, Peak(last, values[last], 0)) is None
    assert since_best(replace(series, info=replace(series.info, kind="recorded")), Peak(0, 1.0, 0)) is None
