"""How an eval changed across an edit, as the memo keeps it."""

from msgspec.structs import replace

from sitegen.analysis.noise.changes import output_verdict
from sitegen.analysis.noise.metrics import unit_changes
from sitegen.model.cells import Flips
from sitegen.model.metrics import MetricSpec
from sitegen.model.series import Point
from sitegen.model.timeline import Blob
from sitegen.stages.cached_kinds import EditOutcome
from sitegen.stages.commit_effects import edit_outcome
from tests.unit.test_noise import card
from tests.unit.test_windows import F1, snapshot

WORSE = Flips(broken=(("a", 4), ("b", 4)), still=(("c", 10),))
DISTANCE = MetricSpec("distance", "Distance", "", higher_is_better=False)


def point(number: int, output: str, right: int) -> Point:
    at = replace(snapshot(number, number), outputs=(Blob("out.json", output),))
    return Point(at, card("+" * right + "-" * (40 - right)), ())


def outcome(output: str, headline: MetricSpec) -> EditOutcome:
    before, after = point(1, "x", 30), replace(point(2, output, 22), flips=WORSE)
    return edit_outcome(after, output_verdict(before, after, "fields", higher_is_better=headline.higher_is_better))


def test_a_change_around_an_edit_is_judged_and_what_stayed_wrong_is_left_out():
    found = outcome("y", F1)
    assert found.verdict is not None
    assert (found.flips, found.verdict.fields) == (Flips(broken=WORSE.broken), ())
    assert (found.verdict.decision, found.verdict.why, found.verdict.broken) == ("worse", "beyond chance", 8)
    assert outcome("y", DISTANCE).verdict == replace(found.verdict, decision="better")


def test_the_same_output_scored_again_is_not_judged():
    assert outcome("x", F1).verdict is None


def test_a_verdict_takes_over_the_changes_over_units_that_the_later_point_has():
    before, after = point(1, "x", 30), replace(point(2, "y", 22), flips=WORSE)
    (change,) = unit_changes(before.scorecard, after.scorecard, "fields", ["f1"], WORSE)
    computed = output_verdict(before, after, "fields")
    assert output_verdict(before, replace(after, unit_changes=(change,)), "fields") == computed
    unknown = output_verdict(before, replace(after, unit_changes=(replace(change, spread=None),)), "fields")
    assert unknown is not None
    assert (unknown.why, unknown.fixed, unknown.broken) == ("too few units", 0, 8)
