"""What is worse than it was: one rule for the overview, the page of steps and the summary."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.analysis.change import ResultsOf, best_points, change
from sitegen.analysis.standing import Trouble, since_best, standing_of, standings, with_losses, worse_than_it_was
from sitegen.config.models import Mute
from sitegen.model.changes import ChangeVerdict, Decision, Step, StepStatus
from sitegen.model.scorecards import Result
from sitegen.model.series import BestOutput, EvalSummary, Series
from sitegen.model.timeline import Snapshot
from sitegen.pages.data.exports import MISSED, badge
from sitegen.project import Options
from sitegen.questions.study import open_study, read_series
from tests.gitrepo import GitRepo
from tests.sites import run, text_of
from tests.unit.test_for_machines import headline, step, summary


def unasked(snapshots: object) -> Iterable[Result]:
    """Nothing is scored again where the ground truth and the rules are what they were."""
    raise AssertionError(snapshots)


def losses_of(series: Series, steps: tuple[Step, ...] = ()) -> tuple[Step, ...]:
    """The steps of a series, with the losses that are none."""
    best = best_points(series.points, series.specs[:1])["f1"]
    return with_losses(series, steps, best, since_best(series, best[-1], unasked))


def scored_in(repo: GitRepo, eval_id: str) -> ResultsOf:
    """The results of snapshots of an eval."""

    def results_of(snapshots: Sequence[Snapshot]) -> tuple[Result, ...]:
        with open_study(Options(repo=repo.path, cache=repo.path.parent / "cache")) as study:
            return tuple(study.scorecards(study.history(eval_id)).results(snapshots))

    return results_of


def verdict(decision: Decision) -> ChangeVerdict:
    return ChangeVerdict(decision=decision, why="beyond chance", broken=9, p_value=0.01)


def fallen(name: str, best: float, newest: float | None, decision: Decision, **more: Any) -> EvalSummary:
    return summary(name, best, newest, best_output=BestOutput(0, best, 0), since_best=verdict(decision), **more)


def stepped(name: str, status: StepStatus, fall: float = 0.4) -> EvalSummary:
    return fallen(name, 0.9, 0.9 - fall, "cannot tell", steps=(step(1, 0.9, 0.9 - fall, status),))


CASES: list[tuple[EvalSummary, Trouble]] = [
    (summary("empty"), "no outputs"),
    (summary("first", 0.5, best_output=BestOutput(0, 0.5, 0)), "none"),
    (summary("undefined", None), "none"),
    (summary("lost", 0.5, None, best_output=BestOutput(0, 0.5, 0)), "unscored"),
    (replace(summary("unread"), headlines=(headline(1, None, status="unreadable"),)), "unscored"),
    (stepped("behind", "behind", 0.2), "worse"),
    (stepped("fell", "fell", 0.3), "worse"),
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
def test_each_eval_has_one_trouble(one, trouble):
    assert standing_of(one, ()).trouble == trouble


def test_a_default_target_of_a_kind_counts_wherever_a_target_does():
    one = fallen("answers", 0.9, 0.7, "cannot tell")
    one = replace(one, specs=(replace(one.specs[0], least=0.8), *one.specs[1:]))
    assert standing_of(one, ()).trouble == "below target"
    assert one.target == (0.8, False)
    assert badge(one)["color"] == MISSED
    stated = replace(one, info=replace(one.info, thresholds={one.specs[0].name: 0.6}))
    assert (standing_of(stated, ()).trouble, stated.target[1]) == ("behind", True)


def test_the_eval_in_most_trouble_comes_first_and_deleted_ones_are_left_out():
    every = [
        *(one for one, _ in CASES),
        stepped("open more", "open", 0.5),
        replace(stepped("gone", "open"), deleted=True),
    ]
    assert ", ".join(one.summary.info.id for one in standings(every, ())) == (
        "lost, unread, open more, open, fell, behind, new, target, blip, fixed, chance, equal, first, undefined, empty"
    )


def test_what_is_muted_is_not_worse():
    one = stepped("a", "open")
    mute = Mute(eval="a", commit=one.steps[0].commit.sha, why="harder documents")
    assert [standing_of(one, mutes).trouble for mutes in ((), (mute,))] == ["worse", "behind"]
    assert worse_than_it_was(standings([one], (mute,))) == ()


def test_of_an_amount_where_less_is_better_more_is_behind_and_no_percentage_is_ahead_of_a_share():
    for best, newest, behind in ((2.0, 5.0, 3.0), (75.0, 0.7, None)):
        one = summary("one", best, newest, best_output=BestOutput(0, best, 0))
        spec = replace(one.specs[0], higher_is_better=behind is None, recorded=True)
        assert standing_of(replace(one, specs=(spec, *one.specs[1:])), ()).behind == behind


def with_values(tmp_path: Path, *outputs: str) -> Series:
    """A series of outputs, each given by the ten documents in which its three values are right: ``abc``."""
    repo = GitRepo(tmp_path / "repo")
    names = "abcdefghij"
    repo.commit({"evals/orders/ground_truth.csv": "id,x,y,z\n" + "".join(f"{name},1,2,3\n" for name in names)})
    for number, right in enumerate(outputs, 1):
        rows = [{"id": name} | dict(zip("xyz", "123" if name in right else "789", strict=True)) for name in names]
        last = max(
            (index for index, earlier in enumerate(outputs[: number - 1], 1) if earlier is right), default=number
        )
        text = json.dumps(rows) + "\n" * last
        repo.commit({"CLAUDE.md": f"Read them {number} times.\n"})  # so that no output repeats another
        repo.commit({f"evals/orders/results/iteration-{number:03}/extracted.json": text})
    repo.checkout()
    return read_series(Options(repo=repo.path, cache=tmp_path / "cache"), "orders")


ALL, HALF, WORST = "abcdefghij", "abcde", "ab"
LOSSES: list[tuple[str, tuple[str, ...], list[tuple[str, int, int, float, tuple[int, int]]]]] = [
    ("the newest output fell", (ALL, HALF), [("fell", 0, 1, -50.0, (0, 15))]),
    ("a copy of it follows", (ALL, HALF, HALF), [("fell", 0, 1, -50.0, (0, 15))]),
    ("another one as bad follows", (ALL, HALF, HALF + "k"), [("behind", 0, 1, -50.0, (0, 15))]),
    ("it fell further", (ALL, "abcd", ""), [("behind", 0, 1, -100.0, (0, 18)), ("fell", 1, 2, -40.0, (0, 12))]),
    ("most of it fell now", (ALL, ALL[:9], WORST), [("fell", 1, 2, -70.0, (0, 21))]),
    ("the best output is in use again", (ALL, HALF, ALL), []),
    ("it rose, and is still behind", (ALL, WORST, HALF), [("behind", 0, 1, -50.0, (0, 24))]),
    ("it is at its best", (WORST, HALF, ALL), []),
    ("a fall that may be chance", (ALL, ALL[:9]), []),
    ("a single output", (ALL,), []),
]


@pytest.mark.parametrize(("name", "outputs", "expected"), LOSSES, ids=[name for name, *_ in LOSSES])
def test_losses_that_are_no_steps_have_their_output_and_what_broke_there(tmp_path, name, outputs, expected):
    series = with_values(tmp_path, *outputs)
    losses = losses_of(series)
    found = [(at.status, at.before, at.at, round(at.metrics[0].points, 1), at.verdict) for at in losses]
    assert [(*loss, (verdict.fixed, verdict.broken)) for *loss, verdict in found if verdict] == expected
    assert [at.commit.sha for at in losses] == [series.points[at.at].snapshot.commit.sha for at in losses]


def test_a_step_at_the_newest_output_is_listed_once_and_a_fall_beyond_chance_is_not_too_new(tmp_path):
    series = with_values(tmp_path, ALL, HALF)
    (fall,) = losses_of(series)
    for status, expected in (("new", "fell"), ("open", "open"), ("better", "better")):
        steps = (replace(fall, status=status),)
        found = [at.status for at in losses_of(series, steps)]
        assert found == ([expected] if status != "better" else ["better", "fell"])


def test_metrics_beside_the_newest_fall_are_measured_between_the_same_two_outputs_as_the_headline(tmp_path):
    series = with_values(tmp_path, ALL, HALF)
    (fall,) = losses_of(series)
    levels = tuple(replace(fall.metrics[0], name=name, before=0.8, points=-30.0) for name in ("f1", "recall"))
    (found,) = losses_of(series, (replace(fall, status="new", metrics=levels),))
    before, after = (point.scorecard.metric("recall") for point in series.points)
    told = [(metric.name, metric.before, metric.after) for metric in found.metrics]
    assert told == [("f1", fall.metrics[0].before, fall.metrics[0].after), ("recall", before, after)]


def test_a_step_of_another_metric_where_most_was_lost_stands_for_the_distance_from_the_best(tmp_path):
    series = with_values(tmp_path, ALL, HALF, HALF + "k")
    (behind,) = losses_of(series)
    recall = replace(behind, status="open", metrics=(replace(behind.metrics[0], name="recall", points=-2.0),))
    assert [step.status for step in losses_of(series, (recall,))] == ["open"]


@pytest.mark.parametrize(("change", "over_common"), [(-0.05, True), (-0.3, False)])
def test_a_distance_over_common_documents_alone_says_so(change, over_common):
    one = replace(fallen("a", 0.8, 0.5, "likely worse"), since_best=replace(verdict("likely worse"), change=change))
    standing = standing_of(one, ())
    assert (standing.behind, standing.behind_over_common) == (-change, over_common)


@pytest.mark.parametrize("kind", ["responses", "fields"])
def test_the_distance_from_the_best_is_the_change_of_the_pair_whatever_was_added_to_the_ground_truth(
    kind, repo, tmp_path
):
    for right in ([1, 1, 0, 1], [1, 0, 0, 1, 0, 0]):
        if kind == "responses":
            cases = [{"id": f"c{index}", "input": "?", "expected": "x"} for index in range(len(right))]
            answers = [{"case_id": f"c{index}", "output": "xy"[not is_right]} for index, is_right in enumerate(right)]
            repo.commit({"evals/q/test_cases.json": json.dumps(cases), "evals/q/responses.json": json.dumps(answers)})
        else:
            values = {f"c{index}": "xy"[not is_right] for index, is_right in enumerate(right)}
            repo.commit(
                {
                    "evals/q/ground_truth.csv": "id,v\n" + "".join(f"c{index},x\n" for index in range(len(right))),
                    "evals/q/extracted.json": json.dumps([{"id": name, "v": value} for name, value in values.items()]),
                }
            )
    repo.checkout()
    series = read_series(Options(repo=repo.path, cache=tmp_path / "cache"), "q")
    pair = change(series, 0, 1)
    assert (pair.overlap.common, pair.headline.change) == (4, -0.25)
    distance = since_best(series, 0, scored_in(repo, "q"))
    assert distance
    assert distance.change == -0.25
    assert pair.verdict
    assert (distance.decision, distance.fixed, distance.broken) == (pair.verdict.decision, 0, 1)
    if kind == "responses":
        for sides in (["q@1", "q@2"], ["HEAD~1", "HEAD"]):
            compared = json.loads(run("compare", *sides, "--json", cwd=repo.path).stdout)
            (between,), (moved,) = compared["variants"][0]["pairs"], compared["changes"]
            accuracy = between["tests"][0]
            assert (accuracy["first"], accuracy["second"], accuracy["difference"]) == (0.75, 0.5, -0.25)
            assert accuracy["verdict"]["decision"] == moved["verdict"]["decision"] == "cannot tell"
            assert accuracy["verdict"]["p_value"] == moved["verdict"]["p_value"]
            assert compared["variants"][0]["recommendation"].startswith("Cannot tell: ")
        assert run("build", "-o", tmp_path / "site", cwd=repo.path).returncode == 0
        overview, steps = (text_of(tmp_path / "site" / page) for page in ("index.html", "regressions.html"))
        assert "q is 0.250 behind its best Accuracy" in overview
        assert "0.250 behind its best over what both have" in overview
        assert "down 0.250 over what both have" in steps


def test_the_distance_from_the_best_is_judged_as_every_other_page_judges_the_pair(repo, tmp_path):
    """Also where each of the two is one of several outputs made under the same instructions."""
    names = [f"d{number}" for number in range(10)]
    repo.commit({"evals/orders/ground_truth.csv": "id,x,y,z\n" + "".join(f"{name},1,2,3\n" for name in names)})
    number = 0
    for version, rights in enumerate(([9, 8, 10, 8], [7, 6, 9, 7])):
        repo.commit({"CLAUDE.md": f"Version {version}.\n"})
        for right in rights:
            number += 1
            rows = [
                {"id": name} | dict(zip("xyz", "123" if at < right else "789", strict=True))
                for at, name in enumerate(names)
            ]
            text = json.dumps(rows) + "\n" * number
            repo.commit({f"evals/orders/results/iteration-{number:03}/extracted.json": text})
    repo.checkout()
    series = read_series(Options(repo=repo.path, cache=tmp_path / "cache"), "orders")
    last = len(series.points) - 1
    pairs = [(since_best(series, at, unasked), change(series, at, last).verdict) for at in range(last)]
    assert [judged for judged, _ in pairs] == [verdict for _, verdict in pairs]
    assert len({judged.decision for judged, _ in pairs if judged}) > 1
