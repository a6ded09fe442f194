"""List items go by their names wherever a cell is named; their indices stay in the data."""

from msgspec.structs import replace

from sitegen.analysis.cells import CellTracker
from sitegen.analysis.suspect_truth import suspect_truth
from sitegen.commands.history import matching_cells
from sitegen.commands.verify import discrepancy
from sitegen.model.outcomes import CellFlip, CellMap
from sitegen.model.scorecards import Result
from sitegen.questions.comparison_files.markdown import change_lines
from sitegen.questions.gate_markdown import _broken_cell_row
from sitegen.questions.gate_pair import _gate_cell
from sitegen.scoring.kinds import scorer
from sitegen.scoring.redaction import Redaction
from tests.pages_sample import series
from tests.unit.test_comparison_variants import change, scored

TRUTH = {"walls": [{"name": "N Wall", "area": 1}, {"name": "E Wall", "area": 2}]}
OUTPUT = {"walls": [{"name": "Porch"}, {"name": "E Wall", "area": 3}, {"name": "N Wall", "area": 1}]}


def followed(*results: Result) -> CellMap:
    follower = CellTracker()
    for result in results:
        follower.follow_result(result)
    return follower.cells()


def test_an_item_that_is_renamed_stays_the_same_cell_under_its_newest_name():
    renamed = {"walls": [TRUTH["walls"][0], {"name": "E Walls", "area": 2}]}
    first, second = scored(TRUTH, OUTPUT), scored(renamed, OUTPUT)
    area = followed(first, second).cells[3]
    assert (area.path, area.label, len(area.periods)) == ("walls[1].area", "walls[E Walls].area", 1)
    going_on = CellTracker(followed(first))
    going_on.follow_result(second)
    assert going_on.cells() == followed(first, second)


def test_blame_takes_a_path_with_a_name_as_it_takes_one_with_an_index():
    cells = followed(scored(TRUTH, OUTPUT)).cells
    named, numbered = (matching_cells(cells, f"walls[{item}].area", None) for item in ("E Wall", 1))
    assert named == numbered == [cells[3]]


def test_the_terminal_names_the_item_of_a_discrepancy():
    wrong = next(one for one in scored(TRUTH, OUTPUT).judgements if one.outcome == "wrong_value")
    assert discrepancy(wrong, scorer("fields").nouns) == "wrong value    walls[E Wall].area: expected 2, actual 3"
    failed = replace(wrong, expected="passed", actual="failed: No.")
    assert discrepancy(failed, replace(scorer("judged").nouns, are_verdicts=True)).endswith("E Wall].area: No.")


def test_a_comparison_names_the_items_whose_cells_flipped():
    lines = list(change_lines(change(TRUTH, TRUTH, OUTPUT)))
    found = [line.split(" | ")[0].strip("| ") for line in lines if line.endswith("| broken |")]
    assert found == [r"walls\[Porch\].name", r"walls\[E Wall\].area"]


def test_a_suspect_label_and_a_row_of_the_gate_are_named_as_their_cell_is():
    results = [scored(TRUTH, OUTPUT)] * 3
    cells = followed(*results)
    points = [replace(point, snapshot=replace(point.snapshot, cause=("outputs",))) for point in series(3).points]
    judged = replace(series(3), points=tuple(points), cells=cells)
    (suspect,) = (one for one in suspect_truth(judged) if one.attribute == "walls[].area")
    assert (suspect.path, suspect.label) == ("walls[1].area", "walls[E Wall].area")
    flip = CellFlip(fate="broken", cell=cells.cells[3], before=None, after=cells.cells[3].periods[0])
    assert _broken_cell_row(_gate_cell(flip))[1] == r"`walls[E Wall].area`"


def test_redaction_takes_the_names_of_items_out_of_paths():
    shown = Redaction(("walls[*].name",)).applied(scored(TRUTH, OUTPUT))
    paths = {f"walls[{place}].{name}" for place in (0, 1) for name in ("name", "area")}
    assert {one.label for one in shown.judgements} == paths
