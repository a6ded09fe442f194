"""The generator of the benchmark: repeatable, and its outputs fit their ground truths."""

import csv
import io
import json
import random
from pathlib import Path

import pytest
import yaml

from tests.bench import content
from tests.bench.generate import SIZES, generate, git

TINY = SIZES["tiny"]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench") / "tiny.git"
    generate(folder, TINY)
    return folder


def files(repository: Path, revision: str = "main") -> list[str]:
    return git(repository, "ls-tree", "-r", "--name-only", revision).splitlines()


def show(repository: Path, path: str) -> str:
    return git(repository, "show", f"main:{path}")


def flattened(value: object, path: str = "") -> dict[str, object]:
    if isinstance(value, dict):
        inner = [flattened(item, f"{path}.{key}" if path else key) for key, item in value.items()]
    elif isinstance(value, list):
        inner = [flattened(item, f"{path}[{index}]") for index, item in enumerate(value)]
    else:
        return {path: value}
    return {key: leaf for part in inner for key, leaf in part.items()}


def test_the_same_seed_gives_the_same_head(repository: Path, tmp_path: Path) -> None:
    assert generate(tmp_path / "again.git", TINY) == git(repository, "rev-parse", "main").strip()


def test_another_seed_gives_another_head(repository: Path, tmp_path: Path) -> None:
    assert generate(tmp_path / "other.git", TINY, seed=8) != git(repository, "rev-parse", "main").strip()


def test_it_has_as_many_commits_evals_and_fields_as_asked_for(repository: Path) -> None:
    assert git(repository, "rev-list", "--count", "--first-parent", "main").strip() == str(TINY.commits)
    truths = [path for path in files(repository) if path.endswith("ground_truth.csv")]
    assert len(truths) == TINY.evals
    rows = list(csv.DictReader(io.StringIO(show(repository, truths[0]))))
    assert [row["field"] for row in rows] == content.field_paths(TINY.fields, TINY.line_items)
    assert len(rows) == TINY.fields


def test_every_path_of_an_output_stands_in_its_ground_truth_or_is_ignored(repository: Path) -> None:
    outputs = [path for path in files(repository) if path.endswith("extracted.json")]
    assert len(outputs) > TINY.evals
    for path in outputs:
        document = json.loads(show(repository, path))
        assert document.pop("eval_id") == path.split("/")[1]
        assert document.pop("run") >= 1
        confidences = flattened(document.pop("confidence"))
        expected = set(content.field_paths(TINY.fields, TINY.line_items))
        assert flattened(document).keys() <= expected
        assert confidences.keys() == flattened(document).keys()


def test_most_values_are_right_but_not_all(repository: Path) -> None:
    rows = csv.DictReader(io.StringIO(show(repository, "evals/eval-000/ground_truth.csv")))
    truth = {row["field"]: row["expected"] for row in rows}
    document = flattened(json.loads(show(repository, "evals/eval-000/extracted.json")))
    right = sum(f"{value:.2f}" == truth.get(path) for path, value in document.items() if isinstance(value, float))
    right += sum(str(value) == truth.get(path) for path, value in document.items() if isinstance(value, int | str))
    assert TINY.fields // 2 < right < TINY.fields


def test_the_mapping_declares_a_type_for_every_attribute(repository: Path) -> None:
    mapping = yaml.safe_load(show(repository, "schemas/field_mapping.yaml"))
    attributes = {path if "[" not in path else f"line_items[*].{path.rpartition('.')[2]}" for path in mapping["fields"]}
    assert attributes == mapping["fields"].keys()
    kinds = {rule["type"] for rule in mapping["fields"].values()}
    assert kinds == {"numeric", "integer", "date", "string"}
    assert mapping["non_extractable_fields"] == ["eval_id", "run", "confidence.*"]


def test_one_eval_can_have_most_outputs(tmp_path: Path) -> None:
    generate(tmp_path / "one.git", TINY._replace(first_eval_outputs=20))
    log = git(
        tmp_path / "one.git", "log", "--first-parent", "--format=%H", "main", "--", "evals/eval-000/extracted.json"
    )
    assert 18 <= len(log.split()) <= 20


def test_both_layouts_occur(repository: Path) -> None:
    names = files(repository)
    assert "evals/eval-000/extracted.json" in names
    assert "evals/eval-001/results/iteration-001/extracted.json" in names


@pytest.mark.parametrize("path", content.field_paths(12, 2))
def test_a_drawn_value_has_the_declared_type(path: str) -> None:
    text = content.random_text(path, random.Random(1))
    value = content.extracted_json("e", 1, {path: text})
    leaf = flattened(json.loads(value))[path]
    wanted = {"numeric": float, "integer": int, "date": str, "string": str}[content.type_of(path)]
    assert type(leaf) is wanted
