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


def test_gold_directly_in_evals_is_one_eval_named_highlights(repo):
    done = run("verify-one", "highlights", cwd=repo.path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:3] == [
        "highlights  evals/logs/processing-log.ndjson",
        "  expected 3  found 3  correct 3  accuracy 100 %",
        "  Accuracy   1.000",
    ]


@pytest.mark.parametrize(
    ("options", "correct", "missed"),
    [((), 3, []), (("--run-id", "1"), 2, [["p-1", "terms", "bark"]]), (("--run-id", "1", "--range", "2-2"), 1, [])],
)
def test_a_run_and_a_range_of_paragraphs_can_be_asked_for(repo, options, correct, missed):
    done = run("verify-one", "highlights", "--json", *options, cwd=repo.path)
    read = json.loads(done.stdout)
    assert (read["schema"], read["correct"], read["missed"]) == ("sitegen/highlights-results/1", correct, missed)


def test_results_of_highlights_are_saved_with_their_time(repo):
    done = run("verify-one", "highlights", "--save", cwd=repo.path)
    name = re.fullmatch(
        r"saved .*/evals/results/(run-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.json)\nreport .*\.html\n", done.stderr
    )
    assert name is not None, done.stderr
    assert json.loads((repo.path / "evals/results" / name[1]).read_text())["accuracy"] == 1.0
    repo.git("add", "-A")
    assert "stranger" not in run("build", repo.path).stdout


@pytest.mark.parametrize("words", [("exact_match", "quality"), ("exact_match", "--methods", "quality")])
def test_methods_can_stand_in_a_row(repo, words):
    done = run("verify-one", "sums", "--json", "--methods", *words, cwd=repo.path)
    read = json.loads(done.stdout)
    assert list(read["results"]) == ["exact_match", "quality"]
    assert (read["results"]["exact_match"]["accuracy"], read["summary"]["overall_status"]) == (0.75, "FAIL")


def test_a_configuration_file_goes_before_the_manifest(repo):
    (repo.path / "loose.yaml").write_text("thresholds: {accuracy: 0.5}\n")
    done = run("verify-one", "sums", "--methods", "exact_match", "--config", "loose.yaml", "--json", cwd=repo.path)
    assert json.loads(done.stdout)["summary"] == {
        "overall_status": "PASS",
        "failed_criteria": [],
        "recommendations": [],
    }


def test_debug_tells_what_was_read_on_standard_error(repo):
    done = run("verify-one", "cases", "--debug", "--json", cwd=repo.path)
    assert json.loads(done.stdout)["schema"] == "sitegen/judged-results/1"
    assert done.stderr.splitlines()[:2] == [
        "debug: cases is of kind judged, in evals/cases",
        "debug: output evals/cases/results.jsonl, 60 bytes",
    ]


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


def test_a_finding_and_its_remedy_are_two_sentences(repo):
    (repo.path / "evals/cases/results.jsonl").write_text('{"test_id": "a", "score": 7}\n')
    lines = run("verify-one", "cases", cwd=repo.path).stdout.splitlines()
    assert [line for line in lines if "error: " in line] == [
        "  error: The score of the case 'a' is not a number from 0 to 1, and is left out. Correct the judge's results."
    ]


def test_every_kind_has_a_row_of_its_own_in_verify_all(repo):
    rows = run("verify-all", cwd=repo.path).stdout.splitlines()
    assert [row.split()[0] for row in rows] == ["eval", "cases", "highlights", "sums", "macro", "pooled", "the"]
    assert re.match(r"sums +Accuracy +0.750 .* — +— .* evals/sums/responses-long.jsonl, responses-short.*", rows[3])


@refusals(1)
def test_an_option_that_does_not_fit_ends_with_2(repo, arguments, printed):
    done = run("verify-one", *arguments.split(), cwd=repo.path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", printed)
