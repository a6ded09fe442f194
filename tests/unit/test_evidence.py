"""What an output states about its values is not scored, and stays beside them on the pages."""

import json
from pathlib import Path
from typing import Any

import pytest

from sitegen.scoring.fields import FieldsScorer
from sitegen.scoring.kinds import File, ScoringInputs
from tests.gitrepo import GitRepo
from tests.sites import build_site, content


def evidence(expected: Any, given: Any) -> dict[str, str]:
    files = File("extracted.json", json.dumps(given).encode()), File("ground_truth.json", json.dumps(expected).encode())
    result = FieldsScorer().score(ScoringInputs(outputs=(files[0],), ground_truth=files[1]))
    return {f"{each.path} {each.outcome}": each.evidence for each in result.judgements if each.evidence}


@pytest.mark.parametrize(
    ("expected", "given", "stated"),
    [
        ({"a": 1}, {"a": {"value": 1, "page": 3, "quote": "one"}}, {"a correct": "page 3, “one”"}),
        ({"a": 5}, {"a": {"value": 5, "unit": "kg", "page": 2}}, {"a correct": "unit kg, page 2"}),
        ({"a": 1}, {"a": 2, "a_page": 3, "a_confidence": 0.5}, {"a wrong_value": "page 3, confidence 0.5"}),
        ({"a": 1}, {"a": {"value": None, "confidence": "low"}}, {"a omission": "confidence low"}),
        ({"a": 1}, {"b": {"value": 2, "page": 3}}, {"b hallucination": "page 3"}),
        (
            {"l": [{"name": "x", "n": 1}, {"name": "y", "n": 1}]},
            {"l": [{"name": "y", "n": {"value": 2, "page": 2}}, {"name": "z", "n": {"value": 1, "page": 9}}]},
            {"l[1].n wrong_value": "page 2", "l[1].n hallucination": "page 9"},
        ),
        ({"a": "x"}, {"a": {"value": "y", "quote": "q" * 300}}, {"a wrong_value": f"“{'q' * 200}…”"}),
    ],
)
def test_evidence_stands_beside_the_value_that_it_is_stated_for(expected: Any, given: Any, stated: Any) -> None:
    assert evidence(expected, given) == stated


def test_pages_show_the_evidence_escaped_beside_wrong_and_right_values(repo: GitRepo, tmp_path: Path) -> None:
    truth = {"items": [{"name": "Oak", "n": 1}, {"name": "Elm", "n": 2}]}
    given = {
        "items": [
            {"name": "Oak", "n": {"value": 1, "page": 7, "confidence": 0.75}},
            {"name": "Elm", "n": 3, "n_quote": "<b>three</b>"},
        ]
    }
    repo.commit({"evals/t/ground_truth.json": json.dumps(truth), "evals/t/extracted.json": json.dumps(given)})
    build_site(repo.path, tmp_path / "site", jobs=1)
    report = content(tmp_path / "site")["evals/t/0001.html"].decode()
    tree = next(
        text.decode()
        for path, text in content(tmp_path / "site").items()
        if path.startswith("evals/t/") and "tree" in path
    )
    assert "states “&lt;b&gt;three&lt;/b&gt;”" in report
    assert "states page 7, confidence 0.75" in tree
    assert "states “&lt;b&gt;three&lt;/b&gt;”" in tree
