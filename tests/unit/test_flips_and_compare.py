"""Cells followed through history, and two outputs compared: one answer of what was fixed and broken."""

from typing import Any

from tests.scored import scored


def marked(*texts: str, gold: tuple[str, ...]) -> list[tuple[str, str]]:
    """(path, outcome) of one paragraph."""

    found, wanted = ({"chunkIndex": 0, "paragraphs": [{"id": "p1", "terms": terms}]} for terms in (texts, gold))
    result = scored("highlights", {"log.ndjson": found}, {"gold.json": wanted})
    return [(one.path, one.outcome) for one in result.judgements]


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
