"""Scoring reads and parses an output once, under whatever ground truth and rules it is scored."""

import json
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import cast

from msgspec.structs import replace

from sitegen.engine.scoring import all_inputs
from sitegen.engine.worker_context import WorkerContext
from sitegen.history.blobs import BlobRead
from sitegen.model.timeline import Blob
from sitegen.scoring.scorer import File
from tests.unit.test_windows import snapshot


def output(**values: str) -> str:
    return json.dumps(values)


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
