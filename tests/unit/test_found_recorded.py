"""Recorded numbers that no manifest names: what is found where, and what is none."""

import json
from typing import Any

import pytest

from sitegen.config.models import EvalConfig
from sitegen.questions.verify import verify
from sitegen.questions.work_tree import WorktreeProject
from tests.sites import build_site
from tests.unit.test_found_evals import found

HEADLINE = '{"headline":"accuracy"}'
F1 = '{"eval": {"f1": 0.5}}'


def entry(eval_id: str, **stated: Any) -> EvalConfig:
    return EvalConfig(id=eval_id, kind="recorded", **stated)


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"dvclive/metrics.json": "{}"}, [entry("dvclive", dir="dvclive", outputs="metrics.json")]),
        ({"a/dvclive/metrics.yaml": "x: 1"}, [entry("a", dir="a/dvclive", outputs="metrics.yaml")]),
        (
            {"out/org__m/results_2026-01-04T10-00-00.123456.json": "{}"},
            [entry("org__m", dir="out/org__m", outputs="results_20*.json")],
        ),
        ({"evals/sums/metrics.json": F1}, [entry("sums", outputs="metrics.json")]),
        ({"evals/sums/results/summary.json": F1}, [entry("sums", outputs="results/summary.json")]),
        (
            {"evals/results/run-2026-01-04T10-00-00.json": '{"accuracy": 0.5}'},
            [entry("highlights-runs", dir="evals", outputs="results/run-*.json", settings=HEADLINE)],
        ),
        (
            {"evals/notes/gold-standard.json": "{}", "evals/notes/results/run-1.json": '{"accuracy": 0.5}'},
            [
                EvalConfig(id="notes"),
                entry("notes-runs", dir="evals/notes", outputs="results/run-*.json", settings=HEADLINE),
            ],
        ),
        (
            {
                "evals/notes/results/run-1.json": '{"metrics": {"accuracy": 0.5}}',
                "evals/notes/results/run-2.json": '{"metrics": {"parts": {"a": {"f": 1}}, "all": {"accuracy": 0.5}}}',
            },
            [entry("notes", outputs="results/run-*.json", settings='{"headline":"metrics.all.accuracy"}')],
        ),
    ],
)
def test_files_whose_name_and_place_leave_no_doubt_are_evals(files, wanted):
    assert list(found(files)[1]) == wanted


@pytest.mark.parametrize(
    "files",
    [
        {"metrics.json": F1, "CLAUDE.md": "", "package.json": "{}"},
        {"src/metrics.json": F1, "src/README.md": ""},
        {"packages/a/summary.json": F1},
        {"prompts/sum/metrics.json": F1, "prompts/sum/README.md": ""},
        {"prompts/sum/metrics.json": '{"bundle_size": 3}', "prompts/sum/system.md": ""},
        {"evals/sums/metrics.json": '{"name": "f1", "size": 3}'},
        {"evals/sums/metrics.json": F1, "evals/sums/ground_truth.csv": "id,a\n1,2\n"},
        {"evals/manifest.yaml": "", "evals/results/run-1.json": '{"duration": 3}'},
        {"results_final.json": F1},
        {"evaluations/results/a.json": '{"prompt_path": "p.md"}', "evaluations/results/b.json": "["},
    ],
)
def test_numbers_that_may_be_anything_are_none(files):
    assert found(files)[1] == ()


def test_the_entry_of_a_manifest_goes_first():
    from sitegen.config.models import Manifest

    manifest = Manifest(evals=(EvalConfig(id="mine", kind="recorded", dir="dvclive", outputs="metrics.json"),))
    assert found({"dvclive/metrics.json": "{}"}, manifest)[1] == manifest.evals


def evaluation(prompt: str, accuracy: float, day: int) -> dict[str, Any]:
    return {
        "timestamp": f"2023-11-{day:02d}T01:14:40.123456",
        "prompt_path": prompt,
        "test_cases_path": "test_cases/examples/cases.json",
        "test_cases_count": 25,
        "config": {"max_tokens": 2048},
        "results": {"exact_match": {"accuracy": accuracy, "correct": 22, "total": 25, "meets_threshold": True}},
        "summary": {"overall_status": "PASS", "failed_criteria": [], "recommendations": []},
    }


def test_each_prompt_of_an_evaluation_framework_is_an_eval_with_its_runs_and_its_share_of_comparisons(repo, tmp_path):
    base, better = "templates/base/overview.md", "templates/enhanced/overview.md"
    repo.commit({base: "# 1\n", better: "# 1\n"})
    first = {
        "evaluations/results/a1.json": evaluation(base, 0.8, 16),
        "evaluations/results/b1.json": evaluation(better, 0.7, 16),
    }
    compared = {
        "timestamp": "2023-11-18T01:14:40.123456",
        "prompt_paths": [base, better],
        "individual_results": {"prompt_1": evaluation(base, 0.82, 18), "prompt_2": evaluation(better, 0.9, 18)},
        "statistical_comparison": {"overall_ranking": [["prompt_2", 0.892], ["prompt_1", 0.847]]},
        "recommendation": {"recommended_prompt": "prompt_2", "ranking_score": 0.892, "confidence": "high"},
    }
    for files in (first, {"evaluations/results/both/comparison_results.json": compared}):
        repo.commit({better: f"# {len(files)}\n"} | {path: json.dumps(body) for path, body in files.items()})
    build_site(repo.path, tmp_path / "site", jobs=1)
    found = {}
    for name in ("overview", "enhanced-overview"):
        series = json.loads((tmp_path / f"site/data/evals/{name}.json").read_text("utf-8"))
        assert series["kind"] == "recorded"
        found[name] = [
            (at["label"], at["recorded_at"], at["then"]["metrics"]["exact_match.accuracy"], sorted(at["instructions"]))
            for at in series["points"]
        ]
    both = "both/comparison_results"
    assert found == {
        "overview": [("a1", "2023-11-16T01:14:40.123456", 0.8, [base]), (both, "2023-11-18T01:14:40.123456", 0.82, [])],
        "enhanced-overview": [
            ("b1", "2023-11-16T01:14:40.123456", 0.7, [better]),
            (both, "2023-11-18T01:14:40.123456", 0.9, [better]),
        ],
    }
    repo.checkout()
    bench = WorktreeProject.open(repo.path)
    newest = [verify(bench, name).outputs[0].name for name in ("overview", "enhanced-overview")]
    assert newest == ["comparison_results.json"] * 2
