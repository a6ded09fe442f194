"""Runs the tables of ``responses.md``."""

import json

import pytest

from sitegen.model.metrics import Metric
from sitegen.model.scorecards import Result
from sitegen.scoring.kinds import File, ScoringInputs, scorer, verdict
from sitegen.text.similarity import rouge
from tests.scoring.test_tables import NOTHING, titled_rows

CASES = [
    {"id": "a", "input": "?", "expected": "Paris", "category": "capitals"},
    {"id": "b", "input": "?", "expected": "Rome", "category": "capitals"},
    {"id": "c", "input": "?"},
]
UNMENTIONED = ("Consistency is undefined", "Test cases with")
"""Findings that a table of another rule does not list."""


def rows(column: str) -> list[object]:
    """The rows of the tables that have a column."""
    return [row for row in titled_rows("responses.md") if column in row.values[0]]


def score(row: dict[str, str]) -> Result:
    if "lines" in row:
        output = File("responses.jsonl", row["lines"].replace("¶", "\n").encode())
    else:
        output = File("responses.json", row["given"].encode())
    cases = File("test_cases.json", (row.get("cases") or json.dumps(CASES)).encode())
    return scorer("responses").score(ScoringInputs(outputs=(output,), ground_truth=cases))


def said(result: Result, row: dict[str, str]) -> dict[str, str]:
    """What the result says in the words of the table."""

    def number(name: str) -> str:
        value = result.scorecard.metric(name)
        return NOTHING if value is None else f"{value:.3f}"

    findings = [
        each for each in result.scorecard.findings if "lines" in row or not each.message.startswith(UNMENTIONED)
    ]
    found = {
        "status": result.scorecard.status,
        "accuracy": number("accuracy"),
        "consistency": number("consistency_score"),
        "within cases": number("case_consistency"),
        "quality": number("average_quality"),
        "pass@k, pass^k, flaky, AUROC": " ".join(map(number, ("pass_any", "pass_all", "flaky", "auroc"))),
        "outcomes": "; ".join(
            f"{each.document} {each.outcome}" + (f" ({each.note})" if each.note else "") for each in result.judgements
        ),
        "findings": "; ".join(
            f"{each.severity}{f', line {each.line}' if each.line else ''}: {each.text}"
            for each in findings
            if not each.message.startswith("Consistency")
        ),
    }
    return {name: found[name] or NOTHING for name in row if name in found}


@pytest.mark.parametrize("row", [*rows("given"), *rows("lines")])
def test_the_result_is_what_the_table_says(row: dict[str, str]) -> None:
    found = said(score(row), row)
    assert found == {name: row[name] for name in found}


@pytest.mark.parametrize("row", rows("ROUGE-L"))
def test_rouge_is_that_of_rouge_score(row: dict[str, str]) -> None:
    found = rouge(row["expected"], row["actual"])
    assert [f"{value:.6f}" for value in found] == [row["ROUGE-1"], row["ROUGE-2"], row["ROUGE-L"]]


@pytest.mark.parametrize("row", rows("verdict"))
def test_the_verdict_is_what_the_table_says(row: dict[str, str]) -> None:
    names = ("accuracy", "consistency_score", "average_quality")
    values = [None if word == NOTHING else float(word) for word in row["accuracy, consistency, quality"].split()]
    thresholds = json.loads(row["thresholds"] or "{}")
    found = verdict(scorer("responses").metrics, thresholds, map(Metric, names, values))
    assert f"{' '.join(each.status for each in found.rows)}: {found.overall_status}" == row["verdict"]
