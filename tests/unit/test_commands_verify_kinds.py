"""``verify-one`` for evals that are no extractions: the options of each kind, and what is saved."""

import json
import re
from pathlib import Path

import pytest

from tests.gitrepo import GitRepo
from tests.refusals import refusals
from tests.sites import run

GOLD = {
    "chunks": [
        {
            "chunkIndex": 0,
            "paragraphs": [
                {"id": "p-1", "text": "Moss grows on bark.", "highlights": {"terms": ["Moss", "bark"]}},
                {"id": "p-2", "text": "Ferns like shade.", "highlights": {"terms": ["Ferns"]}},
            ],
        }
    ]
}


def log(run_id: str, *marks: str) -> str:
    paragraphs = [
        {"id": "p-1", "highlights": {"terms": list(marks)}},
        {"id": "p-2", "highlights": {"terms": ["Ferns"]}},
    ]
    return json.dumps({"chunkIndex": 0, "run_id": run_id, "paragraphs": paragraphs}) + "\n"


CASES = [{"id": "a", "input": "1+1", "expected": "two"}, {"id": "b", "input": "2+2", "expected": "four"}]


def answers(*outputs: str) -> str:
    return "".join(
        json.dumps({"case_id": case["id"], "output": output, "quality": 5}) + "\n"
        for case, output in zip(CASES, outputs, strict=True)
    )


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    repo = GitRepo(tmp_path / "project")
    repo.commit(
        {
            "evals/gold-standard.json": json.dumps(GOLD),
            "evals/logs/processing-log.ndjson": log("1", "Moss") + log("2", "Moss", "bark"),
            "evals/sums/test_cases.json": json.dumps(CASES),
            "evals/sums/responses-short.jsonl": answers("two", "four"),
            "evals/sums/responses-long.jsonl": answers("two", "It is four"),
            "evals/cases/results.jsonl": '{"test_id": "a", "score": 0.5, "hits": ["x"], "misses": []}\n',
            "evals/manifest.yaml": "evals: {cases: {kind: judged}}\n",
        },
        message="Begin",
    )
    repo.checkout()
    return repo


def test_results_of_highlights_are_saved_with_their_time(repo):
    done = run("verify-one", "highlights", "--save", cwd=repo.path)
    name = re.fullmatch(
        r"saved .*/evals/results/(run-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.json)\nreport .*\.html\n", done.stderr
    )
    assert name is not None, done.stderr
    assert json.loads((repo.path / "evals/results" / name[1]).read_text())["accuracy"] == 1.0
    repo.git("add", "-A")
    assert "stranger" not in run("build", repo.path).stdout


def test_both_variants_are_kept_as_the_next_iteration(repo):
    run("verify-one", "sums", "--save", cwd=repo.path)
    folder = repo.path / "evals/sums/results/iteration-001"
    assert sorted(path.name for path in folder.iterdir()) == [
        "eval-report.html",
        "eval-results.json",
        "responses-long.jsonl",
        "responses-short.jsonl",
    ]
    aggregate = json.loads((folder.parent / "aggregate.json").read_text())
    assert aggregate["iterations"][0]["accuracy"] == 0.75


@refusals(1)
def test_an_option_that_does_not_fit_ends_with_2(repo, arguments, printed):
    done = run("verify-one", *arguments.split(), cwd=repo.path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", printed)
