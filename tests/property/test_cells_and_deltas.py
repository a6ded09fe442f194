"""Laws of following cells, and of splitting a change into parts."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sitegen.analysis.cells import CellTracker, cells_of, short_json
from sitegen.analysis.deltas import shapley_values, subsets
from sitegen.analysis.flips import count_flips, flipped_cells, flipped_then, flips
from sitegen.config.models import BuildLimits
from sitegen.engine.cached_kinds import TaskCache
from sitegen.engine.scorecard_store import EvalScorecards
from sitegen.engine.worker_context import WorkerContext
from sitegen.history.repository_place import RepositoryPlace
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import BLANK, Cell, Judgement
from sitegen.model.scorecards import DocumentScore, Result, Scorecard
from sitegen.model.site import SiteInfo
from sitegen.model.timeline import ROLES, EvalHistory
from tests import pages_sample as sample

PATHS = st.sampled_from(["a", "b", "items[0].c", "items[1].c"])
VALUES = st.one_of(st.none(), st.integers(0, 2), st.sampled_from(["1", "x", "x" * 300, "x" * 299 + "y", "é"]))
OUTCOMES = st.sampled_from(["correct", "true_negative", "omission", "hallucination", "wrong_value", "format_error"])
POINT = st.dictionaries(PATHS, st.tuples(OUTCOMES, VALUES, VALUES))
DOCUMENTS = ("", "second")
SERIES = st.lists(POINT, max_size=8)


def _judged(point: dict[str, tuple[Any, ...]]) -> list[Judgement]:
    return [Judgement("second" if path == "b" else "", path, path, *rest) for path, rest in point.items()]


def _followed(points: list[dict[str, tuple[Any, ...]]]) -> CellTracker:
    follower = CellTracker()
    for point in points:
        follower.follow(_judged(point), DOCUMENTS)
    return follower


def _scorecards(cache: TaskCache, outputs: Sequence[int]) -> EvalScorecards:
    context = WorkerContext(
        place=RepositoryPlace(git_dir=Path(), common_dir=Path(), root=None, shallow=False),
        overlay={},
        site=SiteInfo("", ""),
        own_templates=None,
        look="",
        out=None,
        limits=BuildLimits(max_blob_bytes=0, discrepancies_per_type=1),
    )
    snapshots = tuple(sample.snapshot(number, sample.commit(number)) for number in outputs)
    return EvalScorecards(
        context, EvalHistory(id="eval", kind="fields", layout="iterations", snapshots=snapshots), cache
    )


@given(SERIES)
def test_a_cell_is_at_each_point_what_was_judged_there(points):
    cells = {cell.path: cell for cell in _followed(points).cells().cells}
    for index, point in enumerate(points):
        for path, cell in cells.items():
            run = cell.at(index)
            if path in point:
                outcome, expected, actual = point[path]
                assert run is not None
                assert run[1:] == (outcome, "" if outcome in BLANK else short_json(expected), short_json(actual))
            else:
                assert run is None or run.state == "absent"


@given(SERIES)
def test_only_changes_are_kept(points):
    for cell in _followed(points).cells().cells:
        assert all(one.start < two.start and one[1:] != two[1:] for one, two in pairwise(cell.periods))


@given(SERIES, st.integers(0, 8))
def test_following_may_stop_anywhere_and_go_on(points, stop):
    cards = _scorecards(TaskCache(()), range(len(points)))
    if first := points[:stop]:
        cards.keep_cells(_followed(first).cells())
    follower = CellTracker(cards.known_cells())
    assert follower.points == len(first)
    for point in points[stop:]:
        follower.follow(_judged(point), DOCUMENTS)
    assert follower.cells() == _followed(points).cells()


@given(SERIES.filter(bool))
def test_what_was_kept_belongs_to_its_own_points_alone(points):
    outputs, cache = range(len(points)), TaskCache(())
    _scorecards(cache, outputs).keep_cells(_followed(points).cells())
    assert _scorecards(cache, [99, *outputs[1:]]).known_cells() is None
    assert _scorecards(cache, outputs[:-1]).known_cells() is None
    assert _scorecards(cache, [*outputs, 99]).known_cells() == _followed(points).cells()


@given(SERIES.filter(bool))
def test_wrong_since_is_the_start_of_the_streak(points):
    follower = _followed(points)
    by_path: dict[str, Cell] = {cell.path: cell for cell in follower.cells().cells}
    for judgement in _judged(points[-1]):
        streak = None
        for index in reversed(range(len(points))):
            run = by_path[judgement.path].at(index)
            if run is None or not run.is_wrong:
                break
            streak = index
        assert by_path[judgement.path].wrong_since(len(points) - 1) == streak


@given(SERIES, st.booleans())
def test_a_report_counts_the_flips_of_the_series_under_the_names_of_its_time(points, moves):
    """A cell can move to another attribute, under which the series then counts all of its flips."""
    results = []
    for index, point in enumerate(points):
        suffix = f" {index // 4}" if moves else ""
        judged = [replace(one, attribute=one.attribute + suffix, named_path=suffix) for one in _judged(point)]
        documents = tuple(DocumentScore(name=name, status="scored", counts=Counts()) for name in DOCUMENTS)
        card = Scorecard(status="scored", counts=Counts(), metrics=(), documents=documents, fields=())
        results.append(Result(scorecard=card, judgements=tuple(judged)))
    cells = cells_of(*results)
    for index in range(1, len(points)):
        series = list(flipped_cells(cells, index - 1, index))
        report = flipped_then(cells, index, results[index], partial(results.__getitem__, index - 1))
        assert [(flip.cell.key, *flip[:1], *flip[2:]) for flip in report] == [
            (flip.cell.key, *flip[:1], *flip[2:]) for flip in series
        ]
        for flip in report:
            at = index if flip.cell.path in points[index] else index - 1
            suffix = f" {at // 4}" if moves else ""
            assert (flip.cell.attribute, flip.cell.named_path) == (flip.cell.path + suffix, suffix)
        if not moves:
            assert count_flips(report, {}) == replace(flips(cells, index - 1, index), doubts=())


TWICE = st.lists(st.lists(st.tuples(st.sampled_from("abc"), OUTCOMES, st.integers(0, 1)), max_size=5), max_size=6)


@given(TWICE)
def test_the_same_object_for_an_unchanged_judgement_changes_nothing_even_if_places_are_judged_twice(points):
    sharing, plain = CellTracker(), CellTracker()
    objects: dict[Judgement, Judgement] = {}
    for point in points:
        judged = [
            Judgement(document="", path=path, attribute=path, outcome=outcome, expected=1, actual=value)
            for path, outcome, value in point
        ]
        sharing.follow([objects.setdefault(judgement, judgement) for judgement in dict.fromkeys(judged)], DOCUMENTS)
        plain.follow(list(dict.fromkeys(judged)), DOCUMENTS)
        assert sharing.cells() == plain.cells()


def test_a_place_that_is_judged_twice_is_wrong_if_either_is():
    right, wrong = (
        Judgement(document="", path="a", attribute="a", outcome="correct", expected=1, actual=1),
        Judgement(document="", path="a", attribute="a", outcome="omission", expected=1, actual=None),
    )
    for order in ([right, wrong], [wrong, right]):
        follower = CellTracker()
        follower.follow(order, DOCUMENTS)
        assert [run.state for cell in follower.cells().cells for run in cell.periods] == ["omission"]


def test_a_cell_that_moves_to_another_category_is_found_under_both():
    follower = CellTracker()
    for category in ("(none)", "red", "(none)", "blue"):
        follower.follow(
            [Judgement(document="case", path="a", attribute=category, outcome="wrong_value", expected="x", actual="y")],
            ["case"],
        )
        follower = CellTracker(follower.cells())
    (cell,) = follower.cells().cells
    assert (cell.attribute, cell.earlier_attributes, len(cell.periods)) == ("blue", ("red", "(none)"), 1)
    assert follower.cells().by_attribute == {"blue": [cell], "red": [cell], "(none)": [cell]}


def test_an_extra_item_is_not_the_expected_item_of_its_number():
    follower = CellTracker()
    follower.follow(
        [
            sample.judgement("items[0].c", "omission", expected=1),
            sample.judgement("items[0].c", "hallucination", actual=2, note="extra item"),
        ],
        DOCUMENTS,
    )
    found = [(cell.extra, cell.periods[0].state) for cell in follower.cells().cells]
    assert found == [(False, "omission"), (True, "hallucination")]


@given(st.integers(0, 3), st.data())
def test_the_parts_of_a_change_sum_to_the_whole(size, data):
    roles = ROLES[:size]
    values = {taken: data.draw(st.floats(0, 1)) for taken in subsets(roles)}
    parts = shapley_values(roles, values.__getitem__)
    assert parts is not None
    assert [*parts] == [*roles]
    assert abs(sum(parts.values()) - (values[roles] - values[()])) < 1e-12


@given(st.data())
def test_a_role_that_never_matters_has_no_part(data):
    without = {taken: data.draw(st.floats(0, 1)) for taken in subsets(ROLES[:2])}
    parts = shapley_values(ROLES, lambda taken: without[tuple(role for role in taken if role != "rules")])
    assert parts is not None
    assert abs(parts["rules"]) < 1e-12


def test_two_roles_that_only_help_together_share_what_they_do():
    values = {(): 0.5, ("rules",): 0.5, ("ground_truth",): 0.5, ("ground_truth", "rules"): 0.75}
    assert shapley_values(ROLES[1:], values.__getitem__) == {"ground_truth": 0.125, "rules": 0.125}


def test_an_undefined_mixture_leaves_the_parts_undefined():
    values = {(): 0.5, ("ground_truth",): None, ("rules",): 0.5, ("ground_truth", "rules"): 0.75}
    assert shapley_values(ROLES[1:], values.__getitem__) is None
