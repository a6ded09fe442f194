"""Blame: what each run of a cell began with, which point flipped it, and what the terminal says of it."""

import json

import pytest
from msgspec.structs import replace

from sitegen.analysis.blame import Blame, CellBlame, ChangePoint, ExplainedPeriod, change_points
from sitegen.commands.history import matching_cells
from sitegen.errors import ConfigurationError
from sitegen.model.outcomes import Cell, Period, State
from sitegen.model.scorecards import Result
from sitegen.model.timeline import Blob, Role, Snapshot
from sitegen.pages.field import FieldView
from tests import pages_sample as sample
from tests.rows import in_table
from tests.sites import run


def cell(*runs: tuple[int, State, str, str], path: str = "total", document: str = "", extra: bool = False) -> Cell:
    return Cell(document=document, path=path, attribute=path, extra=extra, periods=tuple(Period(*one) for one in runs))


OUTPUTS: tuple[Role, ...] = ("outputs",)


def snapshots(*changed: tuple[Role, ...]) -> list[Snapshot]:
    """One snapshot more than given: what each later one changed."""
    at = sample.snapshot(1, sample.commit(0))
    found = [at]
    for number, roles in enumerate(changed, 2):
        oid = f"{number:040x}"
        if "outputs" in roles:
            at = replace(at, outputs=(Blob("extracted.json", oid),))
        if "ground_truth" in roles:
            at = replace(at, ground_truth=Blob("ground_truth.csv", oid))
        if "rules" in roles:
            at = replace(at, settings=oid)
        found.append(replace(at, commit=sample.commit(number)))
    return found


def blamed(one: Cell, some: list[Snapshot], *others: Cell) -> CellBlame:
    return Blame(sample.cell_map(len(some), (one, *others)), some, never).trace(one)


def never(mixed: Snapshot) -> Result:
    """In place of scoring a mixture, where the rules did not change together with another role."""
    raise AssertionError(mixed)


def test_a_cell_is_followed_from_run_to_run():
    one = cell(
        (0, "correct", "1", "1"), (2, "wrong_value", "1", "2"), (3, "omission", "1", ""), (5, "correct", "1", "1")
    )
    some = snapshots(*[OUTPUTS] * 6)
    found = blamed(one, some)
    first, second, third, last = one.periods
    assert found == CellBlame(
        one,
        (
            ExplainedPeriod(period=first, end=2, fate=None, causes=(), outputs=2),
            ExplainedPeriod(period=second, end=3, fate="broken", causes=("outputs",), outputs=1),
            ExplainedPeriod(period=third, end=5, fate="still_wrong", causes=("outputs",), outputs=2),
            ExplainedPeriod(period=last, end=7, fate="fixed", causes=("outputs",), outputs=2),
        ),
        wrong_since=None,
        judged=7,
        wrong=3,
        wrong_for=0,
    )
    assert (found.flips, found.judged, found.wrong, found.ever_wrong) == (2, 7, 3, True)
    assert [explained.points for explained in found.periods] == [2, 1, 2, 2]


def test_the_history_through_the_first_points_has_nothing_of_later_ones():
    one = cell((0, "wrong_value", "1", "2"), (2, "absent", "", ""))
    some = snapshots(*[OUTPUTS] * 2)
    (period,) = Blame(sample.cell_map(len(some), (one,)), some, never).trace(one, 2).periods
    assert (period.period.start, period.end) == (0, 2)


def test_an_error_that_lasts_says_since_when():
    one = cell((0, "correct", "1", "1"), (1, "wrong_value", "1", "2"), (2, "wrong_value", "1", "3"))
    assert blamed(one, snapshots(*[OUTPUTS] * 3)).wrong_since == 1


@in_table
def test_each_output_counts_once_however_often_it_was_copied_or_scored_again(case, outputs, states, counted):
    names: dict[str, State] = {"w": "wrong_value", "c": "correct", "-": "absent"}
    at = sample.snapshot(1, sample.commit(0))
    some = [
        replace(at, commit=sample.commit(number), outputs=(Blob("extracted.json", oid * 40),))
        for number, oid in enumerate(outputs)
    ]
    one = cell(*[(point, names[state], str(point), "9") for point, state in enumerate(states)])
    found = blamed(one, some)
    assert [found.judged, found.wrong, found.wrong_for] == counted


@in_table
def test_the_cause_is_what_changed_at_the_point_and_in_the_cell(changed, before, after, causes):
    one = cell((0, "wrong_value", *before), (1, "correct", *after))
    assert [*blamed(one, snapshots(changed)).periods[1].causes] == causes


TRUTH = "evals/e/ground_truth.json"
OUTPUT = "evals/e/extracted.json"
MANIFEST = "evals/manifest.yaml"
PLAIN = "evals: {e: {settings: {}}}"
JUDGING = "evals: {e: {settings: {ignore: [b]}}}"
IGNORING = "evals: {e: {settings: {ignore: [c]}}}"


@pytest.mark.parametrize(
    ("first", "then", "causes"),
    [
        pytest.param({}, {MANIFEST: IGNORING, TRUTH: {"a": 2, "c": 5}}, ["rules"], id="ignored while a label changed"),
        pytest.param({}, {MANIFEST: IGNORING, OUTPUT: {"a": 1, "c": 5}}, ["rules"], id="ignored with a new output"),
        pytest.param({}, {MANIFEST: IGNORING, TRUTH: {"a": 1}}, ["rules"], id="ignored, and gone from the truth"),
        pytest.param({}, {MANIFEST: JUDGING, TRUTH: {"a": 1}}, ["ground_truth"]),
        pytest.param({MANIFEST: IGNORING}, {MANIFEST: JUDGING, TRUTH: {"a": 2, "c": 5}}, ["rules"], id="judged again"),
        pytest.param({TRUTH: {"a": 1}}, {MANIFEST: JUDGING, TRUTH: {"c": 5}}, ["ground_truth"]),
    ],
)  # fmt: skip
def test_rules_that_alone_make_a_cell_come_or_go_are_the_cause(repo, first, then, causes):
    def files(changes: dict[str, object]) -> dict[str, str]:
        return {path: body if isinstance(body, str) else json.dumps(body) for path, body in changes.items()}

    repo.commits([files({MANIFEST: PLAIN, TRUTH: {"a": 1, "c": 5}, OUTPUT: {"a": 1}} | first), files(then)])
    repo.checkout()
    done = run("blame", "e", "c", "--json", "--repo", repo.path)
    ((*_, last),) = (cell["runs"] for cell in json.loads(done.stdout)["cells"])
    assert (last["became"], last["causes"]) in [("vanished", causes), ("appeared", causes)]


def test_an_extra_item_that_comes_and_goes_flips_if_its_document_stays():
    extra = cell((1, "hallucination", "", "9"), (2, "absent", "", ""), path="rows[3].x", document="a", extra=True)
    there = cell((0, "correct", "1", "1"), document="a")
    found = blamed(extra, snapshots(*[OUTPUTS] * 2), there)
    assert [explained.fate for explained in found.periods] == ["broken", "fixed"]
    alone = blamed(extra, snapshots(*[OUTPUTS] * 2))
    assert [explained.fate for explained in alone.periods] == ["appeared", "vanished"]
    assert (found.flips, found.judged, found.wrong, alone.flips) == (2, 1, 1, 0)


def test_what_happened_is_summed_up_by_point():
    some = snapshots(("outputs",), ("outputs", "ground_truth"), ("outputs",))
    one = cell((0, "correct", "1", "1"), (1, "wrong_value", "1", "2"), (2, "correct", "2", "2"), path="a")
    other = cell((0, "omission", "1", ""), (2, "wrong_value", "1", "3"), path="b")
    late = cell((2, "omission", "5", ""), path="c")
    cells = sample.cell_map(4, (one, other, late))
    blame = Blame(cells, some, never)
    assert change_points(map(blame.trace, cells.cells), 4) == (
        ChangePoint(point=0, fates={}, causes=(), wrong=1, judged=2),
        ChangePoint(point=1, fates={"broken": 1}, causes=("outputs",), wrong=2, judged=2),
        ChangePoint(
            point=2,
            fates={"appeared": 1, "fixed": 1, "still_wrong": 1},
            causes=("ground_truth", "outputs"),
            wrong=2,
            judged=3,
        ),
    )


def test_what_is_wrong_now_comes_first_and_then_what_flips_most():
    some = snapshots(*[OUTPUTS] * 3)
    right = cell((0, "correct", "1", "1"), path="right")
    past = cell((0, "wrong_value", "1", "2"), (1, "correct", "1", "1"), path="past")
    stuck = cell((0, "omission", "1", ""), path="stuck")
    flaky = cell((0, "correct", "1", "1"), (1, "omission", "1", ""), (2, "correct", "1", "1"), path="flaky")
    flaky = flaky._replace(periods=(*flaky.periods, Period(start=3, state="omission", expected="1", actual="")))
    cells = sample.cell_map(4, (right, past, stuck, flaky))
    blamed = tuple(map(Blame(cells, some, never).trace, cells.cells))
    field = FieldView(info=sample.series(1).info, attribute="", points=(), cells=blamed)
    assert [one.cell.path for one in field.wrong] == ["flaky", "stuck", "past"]


CELLS = (
    cell((0, "correct", "1", "1"), path="walls[0].area", document="a")._replace(attribute="walls[].area"),
    cell((0, "correct", "1", "1"), path="walls[1].area", document="a")._replace(attribute="walls[].area"),
    cell((0, "correct", "1", "1"), path="walls[0].area", document="b")._replace(attribute="walls[].area"),
    cell((0, "correct", "1", "1"), path="name", document="a")._replace(earlier_attributes=("title",)),
    cell((0, "correct", "1", "1"), path="na*e", document="b"),
)


@in_table
def test_a_field_is_an_attribute_an_earlier_one_a_path_or_a_pattern(field, document, found):
    assert matching_cells(CELLS, field, document) == [CELLS[index] for index in found]


@in_table
def test_a_miss_names_what_comes_near(field, document, what, fix):
    with pytest.raises(ConfigurationError) as caught:
        matching_cells(CELLS, field, document)
    assert caught.value.message == what
    assert (caught.value.fix or "").startswith(fix)


def test_the_terminal_shows_each_run_with_its_commit_and_what_did_it(demo):
    done = run("blame", "lab-reports", "reported_on", "--document", "report-b", "--repo", str(demo))
    assert (done.returncode, done.stderr) == (0, "")
    assert [" ".join(line.split()) for line in done.stdout.splitlines()] == [
        "reported_on, report-b: right in 9 of 14 outputs, flipped 1 time",
        'iteration-009 6c8ae81 29 Mar 2026 right expected "2026-11-26", actual "2026-11-26" fixed: new output',
        'iteration-003 b72d906 14 Jan 2026 omission expected "2026-11-26", actual missing still wrong: ground truth',
        'iteration-001 d3fce7b 8 Jan 2026 omission expected "2026-01-01", actual missing',
    ]


def test_json_has_every_run_oldest_first(demo):
    done = run("blame", "lab-reports", "reported_on", "--document", "report-b", "--json", "--repo", str(demo))
    body = json.loads(done.stdout)
    (one,) = body.pop("cells")
    runs = one.pop("runs")
    assert body == {"schema": "sitegen/blame/1", "eval_id": "lab-reports", "field": "reported_on"}
    assert one == {
        "document": "report-b",
        "path": "reported_on",
        "attribute": "reported_on",
        "extra_item": False,
        "wrong_since": None,
        "wrong_for_points": 0,
        "wrong_for_outputs": 0,
        "flips": 1,
        "points_judged": 35,
        "points_wrong": 10,
        "outputs_judged": 14,
        "outputs_wrong": 5,
    }
    told = [(each["points"], each["outputs"], each["became"], each["causes"]) for each in runs]
    assert told == [(3, 3, None, []), (7, 3, "still_wrong", ["ground_truth"]), (25, 9, "fixed", ["outputs"])]
    assert [each["same_as"] for each in runs] == [None, None, None]


def test_an_unknown_field_is_an_error_that_names_the_nearest(demo):
    assert "do: The evals of this project: freight-papers, " in run("history", "--repo", str(demo)).stderr
    done = run("blame", "lab-reports", "reportd_on", "--repo", str(demo))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("'reportd_on'.\n  do: Did you mean 'reported_on' or 'sampled_on'?\n")
