"""Ground truth, and outputs, that are folders with a file for each document."""

import json
from pathlib import Path

import pytest

from sitegen import api
from tests.gitrepo import Content, GitRepo
from tests.sites import broken_links, build_site, run


def documents(text: str) -> dict[str, Content]:
    """Files such as ``gold c1=1 c2=2; out c1=1``: folders, and in each a file for every document with its total."""
    files: dict[str, Content] = {}
    for folder, *totals in map(str.split, text.split(";")):
        for name, _, total in (each.partition("=") for each in totals):
            files[f"{folder}/{name}.json"] = json.dumps({"vendor": f"v-{name}", "total": json.loads(total)})
    return files


def in_eval(text: str) -> dict[str, Content]:
    """Such files below the folder of the eval."""
    return {f"evals/inv/{path}": content for path, content in documents(text).items()}


def manifest(**entry: str) -> dict[str, Content]:
    keys = ", ".join(f"{key}: {json.dumps(value)}" for key, value in entry.items())
    return {"evals/manifest.yaml": f'version: "2.0"\nevals: {{inv: {{{keys}}}}}\n'}


GOLD = in_eval("gold c1=1 c2=2 c3=3")
RIGHT = in_eval("results/iteration-001 c1=1 c2=2 c3=3")
RUNS = manifest(ground_truth="gold/", outputs="results/*/*.json")


def test_a_document_without_an_output_is_named(repo: GitRepo) -> None:
    odd = {f"evals/inv/{at}/c\udcff.json": '{"total": 1}' for at in ("gold", "results/iteration-001")}
    records = {f"evals/inv/results/iteration-001/{name}.json": "{}" for name in ("run", "config", "metrics")}
    repo.commit(RUNS | GOLD | odd | records | in_eval("results/iteration-001 c1=1 c2=2 c4=4"))
    (point,) = api.history(repo.path, "inv").points
    assert [(each.name, each.status, each.counts.fn) for each in point.scorecard.documents] == [
        ("c1", "scored", 0),
        ("c2", "scored", 0),
        ("c3", "unreadable", 2),
        ("c\udcff", "scored", 0),
    ]
    assert sorted(finding.text for finding in point.scorecard.findings) == [
        "1 document of the output is not in the ground truth and not scored: c4",
        "The document 'c3' is missing from the output; each of its values is an omission",
    ]


@pytest.mark.parametrize("axis", ["model", "repeat"])
def test_the_answers_of_models_to_a_document_and_its_repeats_are_one_sample(repo: GitRepo, axis: str) -> None:
    a, b = ({axis: name} if axis == "model" else {} for name in ("a", "b"))
    models = in_eval("results/b c1=1 c2=9; results/a c1=1")
    repo.commit(manifest(ground_truth="gold/", outputs=f"results/{{{axis}}}/") | in_eval("gold c1=1 c2=2"))
    repo.check_in(models)
    (point,) = api.history(repo.path, "inv").points
    assert [(each.name, each.case, each.axes, each.counts.fn) for each in point.scorecard.documents] == [
        ("c1 · a", "c1", a, 0),
        ("c1 · b", "c1", b, 0),
        ("c2 · a", "c2", a, 2),
        ("c2 · b", "c2", b, 1),
    ]
    (finding,) = point.scorecard.findings
    assert finding.message == "The document 'c2' is missing from the output of a; each of its values is an omission"
    verified = json.loads(run("verify-one", "inv", "--json", cwd=repo.path).stdout)
    assert verified["metrics"]["f1"] == pytest.approx(10 / 14)
    assert {each["document"] for each in verified["discrepancies"]} == {"c2 · a", "c2 · b"}


def test_the_same_files_of_another_model_are_another_output(repo: GitRepo) -> None:
    for number, models in enumerate([("a", "b"), ("a", "c"), ("a", "c")]):
        outputs = {f"evals/inv/runs/{number}/{model}/o.json": f'{{"total": "{model > "a"}"}}' for model in models}
        entry = manifest(ground_truth="gold.json", outputs="runs/*/{model}/o.json")
        repo.commit(entry | outputs | {"evals/inv/gold.json": '{"total": "True"}'})
    first, second, third = api.history(repo.path, "inv").points
    assert [second.first_with_output, third.first_with_output] == [None, 1]
    assert first.snapshot.roles_changed_in(second.snapshot) == ("outputs",)
    assert second.snapshot.roles_changed_in(third.snapshot) == ()


@pytest.mark.parametrize("outputs", ["runs/*/{model}/o.json", "{model}/o.json"])
def test_a_folder_of_a_model_that_is_renamed_makes_another_output(repo: GitRepo, tmp_path: Path, outputs: str) -> None:
    entry = manifest(ground_truth="gold.json", outputs=outputs) | {"evals/inv/gold.json": '{"total": 1}'}
    place = outputs.replace("*", "run-1")
    for model, gone in (("a", None), ("a", None), ("b", "a")):
        files = {f"evals/inv/{place.format(model=name)}": '{"total": 1}' for name in ("z", model)}
        repo.commit(entry | files | ({f"evals/inv/{place.format(model=gone)}": None} if gone else {}))
    points = api.history(repo.path, "inv").points
    models = [[document.axes["model"] for document in point.scorecard.documents] for point in points]
    assert models == [["a", "z"], ["b", "z"]]
    assert points[1].snapshot.cause == ("outputs",)
    assert points[1].first_with_output is None
    build_site(repo.path, tmp_path / "site")
    assert broken_links(tmp_path / "site") == []


def test_the_work_tree_counts_without_a_commit(repo: GitRepo, tmp_path: Path) -> None:
    repo.check_in(RUNS | GOLD | RIGHT | {".gitignore": "c9.json\n"})
    for name, text in {"gold/c2.json": '{"vendor": "v-c2", "total": 5}', "gold/c9.json": "{}"}.items():
        (repo.path / "evals/inv" / name).write_text(text)
    build_site(repo.path, tmp_path / "site", worktree=True)
    (checked,) = api.check(repo.path, "HEAD", worktree=True).report.evals
    recall = next(metric for metric in checked.metrics if metric.name == "f1")
    assert [recall.base, recall.head] == [1.0, pytest.approx(5 / 6)]


def test_one_output_is_verified_in_the_work_tree(repo: GitRepo) -> None:
    repo.check_in(RUNS | GOLD | RIGHT)
    (repo.path / "evals/inv/results/iteration-001/c3.json").write_text('{"vendor": "v-c3", "total": 9}')
    done = run("verify-one", "inv", "--json", cwd=repo.path)
    assert json.loads(done.stdout)["metrics"]["f1"] == pytest.approx(5 / 6)
    (repo.path / "evals/inv/gold/c3.json").write_text('{"vendor": "v-c3", "total": 9}')
    assert json.loads(run("verify-one", "inv", "--json", cwd=repo.path).stdout)["metrics"]["f1"] == 1.0


def test_the_gate_sees_a_document_that_broke(repo: GitRepo) -> None:
    repo.commit(RUNS | GOLD | RIGHT)
    repo.commit(in_eval("results/iteration-002 c1=1 c2=2 c3=4"), branch="try", parent="main")
    (checked,) = api.check(repo.path, "main", rev="try").report.evals
    assert (checked.fixed, checked.broken) == (0, 1)
