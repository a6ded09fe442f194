"""Cohen's kappa, against the table of its authors' kind and against another implementation."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.model.scorecards import NotePanel
from sitegen.scoring.responses.scorer import SCORER as RESPONSES
from sitegen.scoring.scorer import File, ScoringInputs
from sitegen.stats.agreement import cohens_kappa

GRADES = st.integers(1, 5)


def pairs_of(table: list[list[int]]) -> list[tuple[int, int]]:
    """A table of counts as pairs of categories."""
    return [
        (row, column) for row, counts in enumerate(table) for column, count in enumerate(counts) for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("table", "value", "low", "high"),
    [  # low and high as statsmodels 0.14 gives them
        ([[20, 5], [10, 15]], 0.4, 0.15109229, 0.64890771),
        ([[5, 1, 0], [2, 7, 3], [0, 1, 9]], 0.61867704, 0.37573335, 0.86162074),
        ([[3, 0], [0, 4]], 1.0, 1.0, 1.0),
        ([[0, 5], [5, 0]], -1.0, -1.0, -1.0),
    ],
)
def test_kappa_and_its_interval(table: list[list[int]], value: float, low: float, high: float) -> None:
    found = cohens_kappa(pairs_of(table))
    assert found
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high))


def test_what_luck_alone_decides_has_no_kappa() -> None:
    assert cohens_kappa([]) is None
    assert cohens_kappa([(1, 2)]) is None
    assert cohens_kappa([(4, 4)] * 9) is None


@given(st.lists(st.tuples(GRADES, GRADES), max_size=40))
def test_kappa_is_symmetric_bounded_and_knows_no_order(pairs: list[tuple[int, int]]) -> None:
    found = cohens_kappa(pairs)
    turned = cohens_kappa([(other, one) for one, other in reversed(pairs)])
    assert (found is None) == (turned is None)
    if found and turned:
        assert (found.value, found.low, found.high) == pytest.approx((turned.value, turned.low, turned.high), abs=1e-9)
        assert -1 <= found.low <= found.value + 1e-12
        assert found.value - 1e-12 <= found.high <= 1
        assert found == cohens_kappa(list(reversed(pairs)))
        assert (found.value == pytest.approx(1)) == (found.agreed == found.judged)


def test_a_report_says_how_far_the_judge_agrees_with_people() -> None:
    grades = pairs_of([[20, 5], [10, 15]])
    rows = [
        {"case_id": f"c{number}", "output": "x", "quality": judge + 1, "human_quality": person + 1}
        for number, (judge, person) in enumerate(grades)
    ]
    cases = [{"id": row["case_id"], "input": "?"} for row in rows]
    rows[0]["human_quality"] = "four"
    files = [File(name, json.dumps(body).encode()) for name, body in (("responses.json", rows), ("c.json", cases))]
    result = RESPONSES.score(ScoringInputs(outputs=(files[0],), ground_truth=files[1]))
    assert result.panels[0] == NotePanel(
        "The judge and people graded 34 of 49 responses alike: Cohen's kappa 0.390, 95 % interval 0.138 to 0.642."
    )
