"""Tables and events that tools in Python wrote: sitegen's totals are those of the same run of the tool."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from sitegen.importers import read_results
from sitegen.importers.case import JudgedResults, with_documents
from sitegen.scoring.case_files import kind_of_case_file
from tests.scored import scored

FIXTURES = Path(__file__).parent / "fixtures"
TOTALS: dict[str, dict[str, float]] = json.loads((FIXTURES / "totals.json").read_bytes())
QUESTIONS = [f"What is the capital of {place}?" for place in ("France", "Austria", "Norway")]
ANSWERS = [("Paris", "Paris"), ("Vienna", "Graz"), ("Oslo", "It is Oslo.")]
"""Expected and given."""


def read(name: str, **settings: Any) -> JudgedResults:
    return read_results(name, (FIXTURES / name).read_bytes(), json.dumps(settings))


def means(results: JudgedResults, variant: str = "") -> dict[str, float]:
    """The mean of each judge over the cases that it scored."""
    found: dict[str, list[float]] = {}
    for case in results.cases:
        for judge in case.judges if case.variant == variant else ():
            if judge.score is not None:
                found.setdefault(judge.name, []).append(judge.score)
    return {name: sum(scores) / len(scores) for name, scores in found.items()}


def own(name: str) -> dict[str, float]:
    return {key.removesuffix("/mean"): value for key, value in TOTALS[name].items()}


def answers(results: JudgedResults) -> list[tuple[str, str]]:
    return [(case.expected, case.output) for case in results.cases]


def test_totals_of_lm_eval_are_those_of_its_own_results() -> None:
    written = (FIXTURES / "lm-eval-results.json").read_bytes()
    stated = json.loads(written)["results"]
    cities, capitals = read("lm-eval-samples-cities.jsonl"), read("lm-eval-samples-capitals.jsonl")
    assert means(cities, "none") == {"acc": stated["cities"]["acc,none"], "acc_norm": stated["cities"]["acc_norm,none"]}
    for each in ("strict-match", "loose"):
        assert means(capitals, each) == {"exact_match": stated["capitals"][f"exact_match,{each}"]}
    assert [case.document for case in with_documents(capitals.cases)[:3]] == [
        f"{place} · strict-match" for place in range(3)
    ]
    assert [case.input for case in capitals.cases[:3]] == QUESTIONS
    assert answers(capitals)[3:] == [("Paris", "Paris"), ("Vienna", "[invalid]"), ("Oslo", "Oslo")]
    assert cities.findings == capitals.findings == ()
    recorded = scored("recorded", {"results.json": written}).scorecard
    assert {each.name: each.value for each in recorded.metrics} == {
        "cities.acc": stated["cities"]["acc,none"],
        "cities.acc_norm": stated["cities"]["acc_norm,none"],
        "capitals.exact_match,strict-match": stated["capitals"]["exact_match,strict-match"],
        "capitals.exact_match,loose": stated["capitals"]["exact_match,loose"],
    }


@pytest.mark.parametrize("name", ["match", "includes"])
def test_totals_of_openai_evals_are_its_final_report(name: str) -> None:
    results = read(f"openai-evals-{name}.jsonl")
    lines = (FIXTURES / f"openai-evals-{name}.jsonl").read_text("utf-8").splitlines()
    (report,) = (line["final_report"] for line in map(json.loads, lines) if "final_report" in line)
    assert means(results) == {"match": report["accuracy"]}
    assert sum(case.call.usage.tokens_in or 0 for case in results.cases) == report["usage_prompt_tokens"]
    assert sum(case.call.usage.tokens_out or 0 for case in results.cases) == report["usage_completion_tokens"]
    assert answers(results) == ANSWERS
    assert results.cases[0].input == f"system: Answer with one word.\n\nuser: {QUESTIONS[0]}"
    assert results.findings == ()


def test_totals_of_a_table_of_mlflow_evaluate_are_its_metrics() -> None:
    results = read("mlflow-eval_results_table.json", preset="mlflow")
    assert means(results) == pytest.approx(own("mlflow-eval_results_table.json"))
    assert answers(results) == ANSWERS
    assert [case.judges[0].reasoning for case in results.cases] == [
        f"It has {len(given)} characters." for _, given in ANSWERS
    ]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_totals_of_a_table_of_mlflow_genai_are_its_metrics(ending: str) -> None:
    results = read(f"mlflow-genai.{ending}", preset="mlflow")
    assert means(results) == pytest.approx(own("mlflow-genai.csv"))
    assert answers(results) == ANSWERS, "what was expected is no score"
    assert [case.error for case in results.cases] == ["", "I cannot tell.", ""], "a scorer that failed says so"
    assert results.findings[-1].message == "Scores in the column 'region/value' are not numbers from 0 to 1: 3 of 3"
    names = [case.id for case in results.cases]
    assert [QUESTIONS[place] in names[place] for place in range(3)] == [True] * 3, "no name that changes with each run"


@pytest.mark.parametrize("name", ["ragas.csv", "ragas.jsonl", "braintrust.json"])
def test_totals_of_ragas_and_braintrust_are_their_results(name: str) -> None:
    results = read(name, preset="ragas" if name.startswith("ragas") else "")
    assert means(results) == pytest.approx(own(name.replace("jsonl", "csv")))
    assert (answers(results), [case.input for case in results.cases]) == (ANSWERS, QUESTIONS)
    assert results.findings == ()


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_totals_of_a_table_of_langsmith_are_its_summary(ending: str) -> None:
    results = read(f"langsmith.{ending}", preset="langsmith")
    assert means(results)["correct"] == own("langsmith.csv")["correct"]
    assert answers(results) == [*ANSWERS, ("none", "")]
    assert [case.error for case in results.cases] == ["", "", "", "KeyError('What is the capital of Atlantis?')"]


def test_totals_of_deepeval_are_the_scores_and_the_verdicts_of_its_metrics() -> None:
    results = read("deepeval.json")
    stated = json.loads((FIXTURES / "deepeval.json").read_bytes())
    assert means(results) == {row["metric"]: sum(row["scores"]) / 3 for row in stated["metricsScores"]}
    for row in stated["metricsScores"]:
        counts = [field.counts for case in results.cases for judge in case.judges for field in judge.counts]
        named = [judge.name for case in results.cases for judge in case.judges]
        right = sum(count.tp for count, name in zip(counts, named, strict=True) if name == row["metric"])
        assert right == row["passes"]
    assert sum(case.passed == 1 for case in results.cases) == stated["testPassed"]
    assert (answers(results), [case.input for case in results.cases]) == (ANSWERS, QUESTIONS)
    assert results.findings == ()


def test_totals_of_pydantic_evals_are_the_averages_of_its_report() -> None:
    results = read("pydantic-evals.json")
    stated = own("pydantic-evals.json")
    found = means(results)
    assert {name: found[name] for name in ("letters", "tone")} == {name: stated[name] for name in ("letters", "tone")}
    assert (found["EqualsExpected"] + found["brief"]) / 2 == pytest.approx(stated["assertions"])
    assert answers(results) == [*ANSWERS, ("none", "")]
    assert [case.error for case in results.cases][2:] == ["", "KeyError: 'What is the capital of Atlantis?'"]
    assert [(finding.message, finding.value) for finding in results.findings] == [
        ("1 of 4 rows state an error", "KeyError: 'What is the capital of Atlantis?'"),
        ("An evaluator failed at 1 of 4 rows, whose other scores count", "ValueError: the judge is away"),
    ]


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    """The rows as the exports of these tools write them: lists and objects are JSON in a cell."""
    file = io.StringIO()
    table = csv.DictWriter(file, list(rows[0]), quoting=csv.QUOTE_ALL)
    table.writeheader()
    for row in rows:
        cells = {name: value if isinstance(value, str) else json.dumps(value) for name, value in row.items()}
        table.writerow({name: "" if cell == "null" else cell for name, cell in cells.items()})
    return file.getvalue().encode()


def exported(rows: list[dict[str, Any]], ending: str, key: str = "data") -> bytes:
    if ending == "csv":
        return as_csv(rows)
    return ("\n".join(map(json.dumps, rows)) if ending == "jsonl" else json.dumps({key: rows, "meta": {}})).encode()


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl"])
def test_an_export_of_braintrust_has_a_case_for_each_trace_named_by_its_input(ending: str) -> None:
    rows = [
        {"id": f"r{place}", "root_span_id": f"r{place}", "is_root": True, "span_parents": None, **row}
        for place, row in enumerate(json.loads((FIXTURES / "braintrust.json").read_bytes()))
    ]
    spans = [{**row, "span_parents": [row["id"]], "is_root": False, "scores": None} for row in rows]
    results = read_results(f"e.{ending}", exported([*rows, *spans], ending))
    assert means(results) == pytest.approx(own("braintrust.json"))
    assert [case.id for case in results.cases] == QUESTIONS
    assert kind_of_case_file(f"e.{ending}", exported(rows, ending)) == "judged"


def test_a_column_for_each_score_is_a_judge() -> None:
    rows = json.loads((FIXTURES / "braintrust.json").read_bytes())
    flat = [{**row, **{f"scores.{name}": score for name, score in row.pop("scores").items()}} for row in rows]
    assert means(read_results("e.csv", as_csv(flat))) == pytest.approx(own("braintrust.json"))
    assert kind_of_case_file("e.csv", as_csv(flat)) == "judged"


def test_totals_of_an_experiment_of_langfuse_are_the_averages_that_it_prints() -> None:
    results = read("langfuse.json")
    assert means(results) == pytest.approx(own("langfuse.json"), abs=0.0005), "which it rounds"
    assert (answers(results), [case.input for case in results.cases]) == (ANSWERS, QUESTIONS)
    said = [(judge.reasoning, *judge.misses) for judge in (case.judges[0] for case in results.cases)]
    assert said == [
        ("It has 5 characters.",),
        ("", "exact: It has 4 characters."),
        ("", "exact: It has 11 characters."),
    ]


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl"])
def test_a_list_of_scores_of_langfuse_has_a_case_for_each_trace(ending: str) -> None:
    stated = json.loads((FIXTURES / "langfuse.json").read_bytes())["item_results"]
    scores = [
        {
            "id": f"{place}-{score['name']}",
            "name": score["name"],
            "dataType": "BOOLEAN" if isinstance(score["value"], bool) else "NUMERIC",
            "value": float(score["value"]),
            "stringValue": str(score["value"]) if isinstance(score["value"], bool) else None,
            "comment": score["comment"],
            "traceId": f"trace-{place}",  # which the API writes before the type of the score
        }
        for score, place in ((score, place) for place, item in enumerate(stated) for score in item["evaluations"])
    ]
    results = read_results(f"scores.{ending}", exported(scores, ending))
    assert means(results) == pytest.approx(own("langfuse.json"), abs=0.0005)
    assert [case.id for case in results.cases] == ["trace-0", "trace-1", "trace-2"]
    assert kind_of_case_file(f"scores.{ending}", exported(scores, ending)) == "judged"


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl"])
def test_an_export_of_traces_of_langfuse_has_a_judge_for_each_list_of_scores(ending: str) -> None:
    stated = json.loads((FIXTURES / "langfuse.json").read_bytes())["item_results"]
    traces = [
        {
            "id": f"trace-{place}",
            "name": "capitals",
            "input": item["item"]["input"],
            "output": item["output"],
            "tags": ["a"],
            "observationCount": 1,
            "comments": [],
            **{score["name"]: [float(score["value"])] for score in item["evaluations"]},
        }
        for place, item in enumerate(stated)
    ]
    results = read_results(f"traces.{ending}", exported(traces, ending))
    assert means(results) == pytest.approx(own("langfuse.json"), abs=0.0005)
    assert [case.id for case in results.cases] == QUESTIONS
