"""The generator of the benchmark: repeatable, and its outputs fit their ground truths."""

import csv
import io
import json
from pathlib import Path

import pytest

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
