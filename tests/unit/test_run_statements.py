"""What a run states of itself, in its output or in a record beside it, and which instructions that names."""

import json
from pathlib import Path
from typing import Any

import pytest

from sitegen.config.models import EvalConfig, Manifest, SiteConfig
from sitegen.history.layout import Layout
from sitegen.history.repository import Repository
from sitegen.history.timeline import FoldedHistory, advance
from sitegen.model.recorded import Recorded
from sitegen.model.timeline import Snapshot
from sitegen.scoring.run_statements import recorded_in
from tests.gitrepo import GitRepo
from tests.sites import failing

FIXTURES = Path(__file__).parents[1] / "importers/fixtures"
NOON = "2026-02-07T12:00:00Z"


def stated(at: str | None = None, **origin: Any) -> Recorded:
    return Recorded({}, at, **{"git_commit": None, "instruction_hashes": (), **origin})


@pytest.mark.parametrize(
    ("kind", "name", "content", "expected"),
    [
        ("fields", "x.json", {"total": 1, "prompt_hash": "AB12345"}, stated(instruction_hashes=(("", "ab12345"),))),
        ("fields", "x.json", {"timestamp": NOON, "git_commit": "AB12345"}, stated(git_commit="ab12345")),
        (
            "fields",
            "x.json",
            {"metadata": {"timestamp": NOON, "prompt_version": 2}},
            stated(NOON, prompt_version=("", "2")),
        ),
        ("fields", "x.json", {"timestamp": NOON, "metadata": {"timestamp": NOON}}, None),
        ("responses", "x.json", {"timestamp": NOON, "responses": []}, stated(NOON)),
        ("responses", "x.json", [{"id": 1}, {"id": 2, "prompt_version": "v3"}], stated(prompt_version=("", "v3"))),
        ("responses", "x.jsonl", [{"git_commit": "aaaaaaa"}, {"git_commit": "bbbbbbb"}], stated(git_commit="bbbbbbb")),
        ("responses", "x.jsonl", [{"git_commit": "aaaaaaa"}, *[{"id": 1}] * 50], stated(git_commit="aaaaaaa")),
        ("responses", "x.json", {"prompt_hash": 5, "git_commit": "", "instruction_hashes": []}, None),
        (
            "fields",
            "x.json",
            {"prompt_path": "./prompts/a.md", "prompt_hash": "ab12345", "prompt_version": "1.2"},
            stated(instruction_hashes=(("prompts/a.md", "ab12345"),), prompt_version=("prompts/a.md", "1.2")),
        ),
    ],
)
def test_an_output_states_its_run_under_few_keys_and_a_document_keeps_its_own_time(kind, name, content, expected):
    lines = "\n".join(map(json.dumps, content)) if name.endswith("l") else json.dumps(content)
    assert recorded_in(kind, name, lines.encode(), "{}") == expected


def test_what_cannot_be_read_states_nothing():
    assert recorded_in("fields", "x.json", b'{"prompt_hash": ', "{}") is None
    assert recorded_in("judged", "x.json", b'{"evalId": 1, "results": 5}', "{}") is None


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def walk(repo: GitRepo, entry: EvalConfig) -> FoldedHistory:
    repository = Repository.open(repo.path)
    layout = Layout(SiteConfig(), Manifest(evals=(entry,)))
    return advance(repository, layout, head=repository.resolve("HEAD"))


def shop(repo: GitRepo, entry: EvalConfig) -> tuple[Snapshot, ...]:
    return next(one.snapshots for one in walk(repo, entry).evals if one.id == "shop")


RUN = "runs/run-20260207-154530"
TRUTH = {"evals/shop/test_cases.json": "[]"}
RUNS = EvalConfig(id="shop", outputs="runs/*/responses.jsonl")
FIELDS = EvalConfig(id="shop", ground_truth="truth.json", instructions=())
JUDGED = EvalConfig(id="shop", kind="judged", outputs="output.json")


def test_a_record_beside_a_run_goes_before_the_output_and_the_output_before_the_name(repo):
    answer = lines({"case_id": "a", "output": "b", "timestamp": "2026-02-07T15:00:00Z"})
    repo.commit({**TRUTH, f"evals/shop/{RUN}/responses.jsonl": answer})
    repo.commit({f"evals/shop/{RUN}/summary.json": json.dumps({"timestamp": NOON, "metrics": {"accuracy": 0.5}})})
    repo.commit({"evals/shop/runs/run-20260208-000000/summary.json": "{}"})
    repo.commit({"evals/shop/runs/run-20260209-101112/responses.jsonl": lines({"case_id": "a", "output": "c"})})
    snapshots = shop(repo, RUNS)
    assert [(each.label, each.recorded_at, each.recorded_metrics) for each in snapshots] == [
        ("run-20260207-154530", NOON, {"accuracy": 0.5}),
        ("run-20260209-101112", "2026-02-09T10:11:12+00:00", {}),
    ]


def test_a_fault_at_one_output_is_told_and_ends_nothing(repo, monkeypatch):
    failing(monkeypatch, "sitegen.importers.read_results", ZeroDivisionError())
    repo.commit({"evals/shop/output.json": "{}"})
    advanced = walk(repo, JUDGED)
    assert [len(history.snapshots) for history in advanced.evals] == [1]
    assert ["states about its run: ZeroDivisionError" in each.message for each in advanced.problems] == [True]


@pytest.mark.parametrize("first", [0, 99, 100, 250, 300])
def test_the_time_of_the_first_line_of_a_judge_that_has_one_counts_however_many_lines_there_are(first):
    rows = [{"test_id": n, "score": 1, **({"timestamp": NOON} if n >= first else {})} for n in range(300)]
    content = "\n".join(map(json.dumps, rows)).encode()
    assert recorded_in("judged", "r.jsonl", content, "{}") == (stated(NOON) if first < 300 else None)


def test_the_time_that_judged_results_state_is_the_time_of_the_run(repo):
    repo.commit({"evals/shop/output.json": (FIXTURES / "promptfoo-1.json").read_bytes()})
    (snapshot,) = shop(repo, JUDGED)
    stated_at = json.loads((FIXTURES / "promptfoo-1.json").read_bytes())["results"]["timestamp"]
    assert (snapshot.recorded_at, snapshot.made_at) == (stated_at, None)
