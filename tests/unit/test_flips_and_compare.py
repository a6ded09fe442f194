"""Cells followed through history, and two outputs compared: one answer of what was fixed and broken."""

import json
from typing import Any

import pytest

from sitegen.analysis.cells import CellTracker
from sitegen.analysis.flips import flipped_cells, flips
from sitegen.scoring.kinds import scorer
from sitegen.scoring.scorer import File, ScoringInputs


def marked(*texts: str, gold: tuple[str, ...]) -> list[tuple[str, str]]:
    """(path, outcome) of one paragraph."""

    def chunk(terms: tuple[str, ...], name: str) -> File:
        return File(name, json.dumps({"chunkIndex": 0, "paragraphs": [{"id": "p1", "terms": terms}]}).encode())

    inputs = ScoringInputs(outputs=(chunk(texts, "log.ndjson"),), ground_truth=chunk(gold, "gold.json"))
    return [(one.path, one.outcome) for one in scorer("highlights").score(inputs).judgements]


def test_a_highlight_is_a_cell_by_its_text_wherever_it_stands_and_however_often():
    assert marked("branch", "the", "branch", gold=("commit", "branch")) == [
        ('p1.terms["commit"]', "omission"),
        ('p1.terms["branch"]', "correct"),
        ('p1.terms["the"]', "hallucination"),
    ]


def test_long_texts_that_differ_at_their_end_are_two_cells():
    texts = tuple("a" * 200 + end for end in "xy")
    paths = [path for path, _ in marked(*texts, gold=texts)]
    assert (len(set(paths)), max(map(len, paths))) == (2, len("p1.terms[]") + 80)


HIGHLIGHTS: dict[str, Any] = {
    "gold-standard.json": {"chunkIndex": 0, "paragraphs": [{"id": "p1", "terms": []}, {"id": "p2", "terms": ["a"]}]},
    "before": {"chunkIndex": 0, "paragraphs": [{"id": "p1", "terms": []}, {"id": "p2", "terms": ["a"]}]},
    "after": {"chunkIndex": 0, "paragraphs": [{"id": "p1", "terms": ["x"]}, {"id": "p2", "terms": ["a"]}]},
}
FIELDS: dict[str, Any] = {
    "ground_truth.json": [{"id": "p1"}, {"id": "p2", "b": 1}],
    "before": [{"id": "p1"}, {"id": "p2", "b": 1}],
    "after": [{"id": "p1", "x": 1}, {"id": "p2", "b": 1}],
}


@pytest.mark.parametrize(("kind", "files"), [("highlights", HIGHLIGHTS), ("fields", FIELDS)])
def test_a_document_in_which_nothing_is_expected_is_a_document_and_a_value_in_it_breaks(kind, files):
    truth, before, after = (json.dumps(content).encode() for content in files.values())
    tracker = CellTracker()
    for output in (before, after, before):
        scored = scorer(kind).score(
            ScoringInputs(outputs=(File("output.json", output),), ground_truth=File(next(iter(files)), truth))
        )
        assert [document.id for document in scored.scorecard.documents] == ["p1", "p2"]
        tracker.follow_result(scored)
    cells = tracker.cells()
    assert [flip.fate for flip in flipped_cells(cells, 0, 1)] == ["broken"]
    assert [flip.fate for flip in flipped_cells(cells, 1, 2)] == ["fixed"]
    assert cells.holds("p1", 0, 1, 2)
    assert flips(cells, 1, 2).broken == ()
    assert [number for _, number in flips(cells, 1, 2).fixed] == [1]
