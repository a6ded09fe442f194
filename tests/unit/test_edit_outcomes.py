"""How an eval changed across an edit, as the memo keeps it."""

from msgspec.structs import replace

from sitegen.analysis.change import change_between
from sitegen.engine.eval_job import with_outcome
from sitegen.model.metrics import MetricSpec
from sitegen.model.outcomes import Flips
from sitegen.model.series import Point, Window
from sitegen.model.timeline import Blob
from tests.unit.test_noise import card
from tests.unit.test_windows import F1, snapshot

WORSE = Flips(broken=(("a", 4), ("b", 4)), still=(("c", 10),))


def point(number: int, output: str, right: int) -> Point:
    at = replace(snapshot(number, number), outputs=(Blob("out.json", output),))
    return Point(at, card("+" * right + "-" * (40 - right)), ())


def outcome(output: str, headline: MetricSpec) -> Window:
    before, after = point(1, "x", 30), point(2, output, 22)
    change = change_between(before, after, WORSE, headline=headline)
    return with_outcome(Window(edit=1, before=0, after=1), change)


def test_a_change_around_an_edit_is_judged_and_what_stayed_wrong_is_left_out():
    found = outcome("y", F1)
    assert found.verdict is not None
    assert found.flips == Flips(broken=WORSE.broken)
    assert (found.verdict.decision, found.verdict.why, found.verdict.broken) == ("worse", "beyond chance", 8)


def test_the_same_output_scored_again_is_not_judged():
    assert outcome("x", F1).verdict is None
