"""Scoring reads and parses an output once, under whatever ground truth and rules it is scored."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from msgspec.structs import replace

from sitegen.history.blobs import BlobRead
from sitegen.model.scorecards import Result
from sitegen.model.timeline import Blob
from sitegen.scoring.mapping import Mapping
from sitegen.scoring.outputs import ReadOutput, read_outputs
from sitegen.scoring.own import scored_with_own_metrics
from sitegen.scoring.scorer import File, Scorer, ScoringInputs
from sitegen.stages.scoring import all_inputs
from sitegen.stages.worker_context import WorkerContext
from tests.gitrepo import GitRepo
from tests.sites import build_site
from tests.unit.test_windows import snapshot


def output(**values: str) -> str:
    return json.dumps(values)


def test_a_first_build_with_a_corrected_ground_truth_and_other_rules_parses_each_output_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = [output(name="Oak", height=height) for height in ("20 m", "21 m", "22 m")]
    repo = GitRepo(tmp_path / "project")
    place = "evals/trees/results/iteration-{}/extracted.json".format
    repo.commit({"evals/trees/ground_truth.csv": "field,value\nname,Oak\nheight,20 m\n", place("001"): outputs[0]})
    repo.commit({place("002"): outputs[1]})
    repo.commit({"evals/trees/ground_truth.csv": "field,value\nname,Oak\nheight,21 m\n"})
    repo.commit({"evals/trees/ground_truth.csv": "field,value\nname,Oak\nheight,22 m\n", place("003"): outputs[2]})
    repo.commit({"schemas/field_mapping.yaml": "fields:\n  height: {type: string}\n"})
    parsed = Counter[str]()

    def counted_parse(files: tuple[File, ...], mapping: Mapping, *, expected: int, key: str | None) -> ReadOutput:
        parsed.update((file.content or b"").decode() for file in files)
        return read_outputs(files, mapping, expected=expected, key=key)

    monkeypatch.setattr("sitegen.scoring.fields.read_outputs", counted_parse)
    site = build_site(repo.path, tmp_path / "site", jobs=1)

    assert (site.iterations, site.failed) == (5, 0)
    assert parsed == Counter(outputs)


def test_iterations_that_differ_in_their_rules_alone_are_scored_once_by_the_newest_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = GitRepo(tmp_path / "project")
    trees = "evals/trees/{}".format
    repo.commit(
        {trees("ground_truth.csv"): "field,value\nheight,20 m\n", trees("results/iteration-001/extracted.json"): "{}"}
    )
    for height in ("21 m", "22 m", "23 m"):
        repo.commit({trees("ground_truth.csv"): f"field,value\nheight,{height}\n"})
    scored = Counter[bytes | None]()

    def counted(by: Scorer, inputs: ScoringInputs) -> Result:
        assert inputs.ground_truth is not None
        scored[inputs.ground_truth.content] += 1
        return scored_with_own_metrics(by, inputs)

    monkeypatch.setattr("sitegen.stages.scoring.scored_with_own_metrics", counted)
    site = build_site(repo.path, tmp_path / "site", jobs=1)

    assert (site.iterations, site.failed) == (4, 0)
    # The newest ground truth scores the newest iteration, and before it all others at once.
    assert [scored[b"field,value\nheight,%d m\n" % height] for height in (20, 21, 22, 23)] == [1, 1, 1, 2]


class RecordingRepository:
    """Gives every blob its id as content, and records what was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def read_blobs(self, oids: Sequence[str]) -> Iterator[BlobRead]:
        self.asked += oids
        return (BlobRead(oid, oid.encode()) for oid in oids)


def test_a_blob_that_one_of_the_snapshots_before_has_too_is_not_read_again() -> None:
    repository = RecordingRepository()
    context = cast("WorkerContext", SimpleNamespace(open=lambda: repository, mappings=()))
    first = replace(snapshot(1, 1), outputs=(Blob("a.json", "o1"), Blob("b.json", "o2")), ground_truth=Blob("t", "t1"))
    corrected = replace(first, ground_truth=Blob("t", "t2"))
    second = replace(corrected, outputs=(Blob("a.json", "o3"), Blob("b.json", "o2")))
    reverted = replace(first, outputs=(Blob("a.json", "o1"),))

    inputs = list(all_inputs(context, [first, corrected, second, reverted]))

    assert repository.asked == ["o1", "o2", "t1", "t2", "o3"]
    assert [(*(file.content for file in each.outputs), each.ground_truth) for each in inputs] == [
        (b"o1", b"o2", File("t", b"t1")),
        (b"o1", b"o2", File("t", b"t2")),
        (b"o3", b"o2", File("t", b"t2")),
        (b"o1", File("t", b"t1")),
    ]
