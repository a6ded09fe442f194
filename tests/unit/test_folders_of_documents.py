"""Ground truth, and outputs, that are folders with a file for each document."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from sitegen import api
from tests.gitrepo import Content, GitRepo
from tests.sites import broken_links, build_site, problems_text, run

Files = Mapping[str, Content]


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


def cases(**totals: int) -> str:
    """A file with both sides of cases."""
    return json.dumps(
        [{"id": name, "expected": {"total": int(name[1:])}, "output": {"total": n}} for name, n in totals.items()]
    )


GOLD = in_eval("gold c1=1 c2=2 c3=3")
RIGHT = in_eval("results/iteration-001 c1=1 c2=2 c3=3")
RUNS = manifest(ground_truth="gold/", outputs="results/*/*.json")
IN_PLACE = manifest(dir=".", ground_truth="golden", outputs="outputs/")
ONE_FILE = manifest(ground_truth="gold", outputs="extracted.json")
LINES = manifest(ground_truth="gold", outputs="runs/*.jsonl")
DEEP = manifest(ground_truth="gold", outputs="results/*/**/*.*")
BESIDE = manifest(ground_truth="../../labels/inv", outputs="results/*/*.json")
MODELS = manifest(ground_truth="gold", outputs="results/{model}/")
CASES = manifest(outputs="{model}.json", ground_truth_format="cases", kind="fields")
BOTH = manifest(dir=".", ground_truth="golden", outputs="runs/*/{model}_{variant}.json")
BY_NAME = json.dumps({f"c{n}": {"vendor": f"v-c{n}", "total": 1} for n in (1, 2, 3)})
BY_ID = "".join(json.dumps({"id": f"c{n}", "vendor": f"v-c{n}", "total": n}) + "\n" for n in (3, 2, 1))
OTHER_FORMATS = {
    "evals/inv/gold/north/a.expected.yaml": "total: 1\n",
    "evals/inv/gold/south/a.expected.csv": "total\n2\n",
    "evals/inv/gold/south/b.1.json": '{"total": 3}',
    "evals/inv/gold/south/b.2.json": '{"total": 4}',
    "evals/inv/results/r1/north/a.expected.json": '{"total": 1}',
    "evals/inv/results/r1/south/a.expected.csv": "total\n2\n",
    "evals/inv/results/r1/south/b.1.json": '{"total": 3}',
    "evals/inv/results/r1/south/b.2.json": '{"total": 5}',
}
RENAMED = documents("outputs c7=1") | {"outputs/c1.json": None}
OUTPUTS, TRUTH = ("outputs",), ("ground_truth",)

SHAPES: dict[str, tuple[list[Files], list[tuple[tuple[str, ...], float]]]] = {
    "a run is a folder of documents, of which one is called as a record": (
        [
            RUNS | in_eval("gold c1=1 c2=2 config=3") | in_eval("results/iteration-001 c1=1 c2=3 config=3"),
            in_eval("results/iteration-002 c1=1 c2=2 config=3"),
        ],
        [(OUTPUTS, 5 / 6), (OUTPUTS, 1.0)],
    ),
    "outputs that are overwritten, some in each commit": (
        [IN_PLACE | documents("golden c1=1 c2=2; outputs c1=1 c2=3"), documents("outputs c2=2"), {"README.md": "a"}],
        [(OUTPUTS, 3 / 4), (OUTPUTS, 1.0)],
    ),
    "a document whose file is renamed": (
        [
            RUNS | GOLD | RIGHT,
            in_eval("results/iteration-001 c7=1") | {"evals/inv/results/iteration-001/c1.json": None},
        ],
        [(OUTPUTS, 1.0), (OUTPUTS, 4 / 5)],
    ),
    "a document whose file is renamed, in an output that is overwritten": (
        [IN_PLACE | documents("golden c1=1 c2=2; outputs c1=1 c2=2"), RENAMED],
        [(OUTPUTS, 1.0), (OUTPUTS, 2 / 3)],
    ),
    "a file that is added to the truth changes it": (
        [
            RUNS | GOLD | in_eval("results/iteration-001 c1=1 c2=2 c3=3 c4=4"),
            in_eval("gold c4=5"),
            {"evals/inv/gold/README.md": "how it was labelled", "evals/inv/gold/.c5.json": "{}"},
        ],
        [(OUTPUTS, 1.0), (TRUTH, 7 / 8)],
    ),
    "a file that is removed from the truth changes it": (
        [RUNS | GOLD | in_eval("results/iteration-001 c1=1 c2=2 c3=4"), {"evals/inv/gold/c3.json": None}],
        [(OUTPUTS, 5 / 6), (TRUTH, 1.0)],
    ),
    "a document without output is omitted": (
        [manifest(ground_truth="gold/", outputs="results/*/") | GOLD | in_eval("results/iteration-001 c1=1 c2=2")],
        [(OUTPUTS, 2 * 4 / (2 * 4 + 2))],
    ),
    "a single document": ([RUNS | in_eval("gold c1=1; results/iteration-001 c1=2")], [(OUTPUTS, 1 / 2)]),
    "outputs with one end": ([RUNS | GOLD | in_eval("results/r c1_x=1 c2_x=2 c3_x=4")], [(OUTPUTS, 2 / 6)]),
    "outputs are all in one file": ([ONE_FILE | GOLD | {"evals/inv/extracted.json": BY_NAME}], [(OUTPUTS, 4 / 6)]),
    "outputs are lines with ids": ([LINES | GOLD | {"evals/inv/runs/1.jsonl": BY_ID}], [(OUTPUTS, 1.0)]),
    "in folders, in other formats, with names of several parts": ([DEEP | OTHER_FORMATS], [(OUTPUTS, 3 / 4)]),
    "a folder for each document": (
        [
            DEEP | {f"evals/inv/gold/c{n}/expected.json": json.dumps({"vendor": "v", "total": n}) for n in (1, 2)},
            {f"evals/inv/results/r1/c{n}/read.json": json.dumps({"vendor": "v", "total": 1}) for n in (1, 2)},
        ],
        [(OUTPUTS, 3 / 4)],
    ),
    "the truth is beside the eval's folder": (
        [BESIDE | documents("labels/inv c1=1 c2=2; evals/inv/results/r1 c1=1 c2=3"), documents("labels/inv c2=3")],
        [(OUTPUTS, 3 / 4), (TRUTH, 1.0)],
    ),
    "a folder for each model": (
        [
            MODELS | GOLD | in_eval("results/gpt-4o c1=1 c2=3 c3=3"),
            in_eval("results/claude-3 c1=1 c2=2") | {"evals/inv/results/summary.json": '{"c4": 1}'},
            in_eval("gold c2=3"),
        ],
        [(OUTPUTS, 5 / 6), (OUTPUTS, 2 * 9 / (2 * 12 - 2)), (TRUTH, 2 * 9 / (2 * 12 - 2))],
    ),
    "a file with both sides of the cases for each model": (
        [
            CASES | {"evals/inv/gpt-4o.json": cases(c1=1, c2=1), "evals/inv/claude-3.json": cases(c1=2, c2=2)},
            {"evals/inv/gpt-4o.json": cases(c1=1, c2=2)},
        ],
        [(OUTPUTS, 1 / 2), (OUTPUTS, 3 / 4)],
    ),
    "runs with a file for each variant of each model": (
        [
            BOTH
            | documents("golden c1=1")
            | {
                f"runs/{run}/gpt-4o_{variant}.json": json.dumps({"vendor": "v-c1", "total": int(run == 2)})
                for run in (1, 2)
                for variant in ("short", "long")
            }
        ],
        [(OUTPUTS, 1 / 2), (OUTPUTS, 1.0)],
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_documents_in_folders_are_paired_by_the_names_of_their_files(repo: GitRepo, shape: str) -> None:
    commits, points = SHAPES[shape]
    repo.commits(commits)
    series = api.history(repo.path, "inv").points
    assert [point.snapshot.cause for point in series] == [cause for cause, _ in points]
    assert [point.scorecard.metric("f1") for point in series] == [pytest.approx(f1) for _, f1 in points]


def test_a_document_without_an_output_is_named(repo: GitRepo) -> None:
    odd = {f"evals/inv/{at}/c\udcff.json": '{"total": 1}' for at in ("gold", "results/iteration-001")}
    records = {f"evals/inv/results/iteration-001/{name}.json": "{}" for name in ("run", "config", "metrics")}
    repo.commit(RUNS | GOLD | odd | records | in_eval("results/iteration-001 c1=1 c2=2 c4=4"))
    (point,) = api.history(repo.path, "inv").points
    assert [(each.id, each.status, each.counts.fn) for each in point.scorecard.documents] == [
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
    repo.commit(models)
    repo.checkout()
    (point,) = api.history(repo.path, "inv").points
    assert [(each.id, each.unit, each.axes, each.counts.fn) for each in point.scorecard.documents] == [
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


@pytest.mark.parametrize(
    ("broken", "f1", "message"),
    [
        ("gold/c2.json", 1.0, "evals/inv/gold/c2.json"),
        ("results/iteration-001/c2.json", 4 / 5, "evals/inv/results/iteration-001/c2.json"),
    ],
)
def test_a_file_that_cannot_be_read_loses_its_own_document_and_is_named_with_its_line(
    repo: GitRepo, tmp_path: Path, broken: str, f1: float, message: str
) -> None:
    repo.commit(RUNS | GOLD | RIGHT | {f"evals/inv/{broken}": '{"vendor": "v-c2",\n "total": \n}'})
    (point,) = api.history(repo.path, "inv").points
    assert point.scorecard.metric("f1") == pytest.approx(f1)
    assert [document.id for document in point.scorecard.documents if document.status == "scored"] == ["c1", "c3"]
    (finding,) = point.scorecard.findings
    assert (finding.severity, finding.line) == ("error", 3)
    build_site(repo.path, tmp_path / "site")
    assert f"{message}" in problems_text(tmp_path / "site")


def test_the_file_of_a_model_that_cannot_be_read_is_named(repo: GitRepo) -> None:
    outputs = {f"evals/inv/results/{name}.json": text for name, text in {"a": '{"total": 1}', "b": "{"}.items()}
    entry = manifest(ground_truth="gold.json", outputs="results/{model}.json")
    repo.commit(entry | outputs | {"evals/inv/gold.json": '{"total": 1}'})
    (point,) = api.history(repo.path, "inv").points
    (finding,) = point.scorecard.findings
    assert finding.file == "evals/inv/results/b.json"


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


def test_the_files_of_a_truth_are_bounded_together(repo: GitRepo) -> None:
    long = in_eval(f"gold c1={10**150} c2={10**150}")
    repo.commit(RUNS | long | RIGHT | {"sitegen.toml": "[limits]\nmax_blob_bytes = 300\n"})
    repo.checkout()
    (point,) = api.history(repo.path, "inv").points
    assert point.scorecard.status == "no_ground_truth"
    assert "larger than" in point.scorecard.findings[0].message


def test_the_work_tree_counts_without_a_commit(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit(RUNS | GOLD | RIGHT | {".gitignore": "c9.json\n"})
    repo.checkout()
    for name, text in {"gold/c2.json": '{"vendor": "v-c2", "total": 5}', "gold/c9.json": "{}"}.items():
        (repo.path / "evals/inv" / name).write_text(text)
    build_site(repo.path, tmp_path / "site", worktree=True)
    (checked,) = api.check(repo.path, "HEAD", worktree=True).report.evals
    recall = next(metric for metric in checked.metrics if metric.name == "f1")
    assert [recall.base, recall.head] == [1.0, pytest.approx(5 / 6)]


def test_one_output_is_verified_in_the_work_tree(repo: GitRepo) -> None:
    repo.commit(RUNS | GOLD | RIGHT)
    repo.checkout()
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


INPUTS = {"cases/inputs/c1.json": '{"text": "one"}', "cases/inputs/c2.json": '{"text": "two"}'}
FOUND: dict[str, tuple[str, list[float], list[Files]]] = {
    "outputs that are overwritten": (
        "evals",
        [5 / 6, 1.0],
        [
            documents("golden c1=1 c2=2 c3=3"),
            documents("outputs c1=1 c2=3 c3=3"),
            documents("outputs c2=2") | {"prompts/a.md": "Extract.\n"},
        ],
    ),
    "runs with numbers": (
        "inv",
        [5 / 6, 1.0],
        [
            in_eval("ground_truth c1=1 c2=2 c3=3; results/iteration-001 c1=1 c2=3 c3=3"),
            in_eval("results/iteration-002 c1=1 c2=2 c3=3"),
        ],
    ),
    "runs that recorded their own numbers beside": (
        "evals",
        [5 / 6, 1.0],
        [
            documents("golden c1=1 c2=2 c3=3; out/run1 c1=1 c2=3 c3=3") | {"out/run1/metrics.json": '{"f1": 0.9}'},
            documents("out/run2 c1=1 c2=2 c3=3") | {"out/run2/metrics.json": '{"f1": 0.8}'},
        ],
    ),
    "runs with dates, of documents in folders": (
        "evals",
        [5 / 6, 1.0],
        [
            documents("data/expected/north a=1 b=2; data/expected/south a=3")
            | documents("data/runs/2025-01-01/north a=1 b=2; data/runs/2025-01-01/south a=4"),
            documents("data/runs/2025-02-01/north a=1 b=2; data/runs/2025-02-01/south a=3"),
        ],
    ),
    "folders of models": (
        "inv",
        [7 / 8, 1.0],
        [
            in_eval("gold c1=1 c2=2; results/gpt-4o-2024-08-06 c1=1 c2=3; results/deepseek-v3 c1=1 c2=2"),
            in_eval("results/gpt-4o-2024-08-06 c2=2"),
        ],
    ),
    "folders of models, with runs in them": (
        "evals",
        [7 / 8, 12 / 14],
        [
            documents("golden c1=1 c2=2; out/gpt-4o/run-1 c1=1 c2=3; out/gpt-4o/run-2 c1=1 c2=2")
            | documents("out/claude-3/run-1 c1=1 c2=2; out/claude-3/run-2 c1=1")
        ],
    ),
    "folders of models in runs": (
        "evals",
        [7 / 8, 1.0],
        [
            documents("golden c1=1 c2=2; runs/2025-01-01/gpt-4o c1=1 c2=3; runs/2025-01-01/claude-3 c1=1 c2=2"),
            documents("runs/2025-01-02/gpt-4o c1=1 c2=2; runs/2025-01-02/claude-3 c1=1 c2=2"),
        ],
    ),
    "folders of variants": (
        "out",
        [7 / 8, 1.0],
        [documents("golden c1=1 c2=2; out/short c1=1 c2=3; out/long c1=1 c2=2"), documents("out/short c2=2")],
    ),
    "inputs of the same names are no outputs": (
        "cases",
        [3 / 4],
        [documents("cases/labels c1=1 c2=2; cases/predictions c1=1 c2=3") | INPUTS],
    ),
}


@pytest.mark.parametrize("shape", FOUND)
def test_folders_of_documents_are_found_without_configuration(repo: GitRepo, shape: str) -> None:
    eval_id, f1, commits = FOUND[shape]
    for files in commits:
        repo.commit(files)
    repo.checkout()
    points = api.history(repo.path, eval_id).points
    assert [point.scorecard.metric("f1") for point in points] == [pytest.approx(value) for value in f1]
    verified = json.loads(run("verify-all", "--json", cwd=repo.path).stdout)["evals"]
    assert {each["eval_id"]: each["metrics"]["f1"] for each in verified} == {eval_id: pytest.approx(f1[-1])}
    run("init", cwd=repo.path)
    repo.commit({"evals/manifest.yaml": (repo.path / "evals/manifest.yaml").read_text()})
    assert len(api.history(repo.path, eval_id).points) == len(f1)
