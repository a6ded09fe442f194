"""Scores snapshots one after the other, with their blobs from one stream, of which few are held at a time."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from sitegen.analysis.cached import CacheStore, within
from sitegen.errors import MissingObjectsError
from sitegen.frozen import Frozen
from sitegen.history.blobs import MISSING, BlobRead
from sitegen.model.kinds import traits_of
from sitegen.model.scorecards import Result
from sitegen.model.timeline import Blob, EvalHistory, Snapshot
from sitegen.scoring.own import scored_with_own_metrics
from sitegen.scoring.redaction import redaction
from sitegen.scoring.scorer import Embedder, File, Scorer, ScoringInputs
from sitegen.scoring.usage import with_stated
from sitegen.stages.cached_kinds import VECTORS
from sitegen.stages.failures import working_on
from sitegen.stages.mapping_cache import recall_mapping
from sitegen.stages.worker_context import WorkerContext
from sitegen.text.embedding import embed, installed

_LOST: Final = "missing "
"""Prefix of the blob id of an output whose content this clone lacks, so that its scorecard gets a key of its own."""


def results(
    context: WorkerContext, scorer: Scorer, snapshots: Sequence[Snapshot], embedder: Embedder | None = None
) -> Iterator[Result]:
    """The result of each snapshot, in order. Hidden values are removed here, so that no later step can show them."""
    hidden = redaction(context.redact)
    for snapshot, inputs in zip(snapshots, all_inputs(context, snapshots), strict=True):
        with working_on(snapshot):
            outputs = [file for file, blob in zip(inputs.outputs, snapshot.outputs, strict=True) if not _is_lost(blob)]
            for file in (*outputs, inputs.ground_truth, inputs.mapping, inputs.schema):
                if (
                    file is not None and file.reason == MISSING
                ):  # a scorecard without it would stay in the memo for ever
                    raise MissingObjectsError(file.path, snapshot.commit.sha)
            result = with_stated(scored_with_own_metrics(scorer, replace(inputs, embedder=embedder)), snapshot.usage)
            if len(outputs) < len(inputs.outputs):
                result = _with_fix(result)
            redacted = hidden.applied(result, kind=scorer.kind) if hidden else result
        yield redacted


class ReadableHistory(NamedTuple):
    """A history in which the outputs that this clone lacks are marked as unreadable."""

    history: EvalHistory
    lost_outputs: int
    """How many contents this clone lacks."""


def without_lost_outputs(context: WorkerContext, history: EvalHistory) -> ReadableHistory:
    """Mark the outputs that this clone lacks."""
    blobs = {blob for snapshot in history.snapshots for blob in (*snapshot.outputs, *snapshot.runs)}
    oids = sorted({blob.oid for blob in blobs})
    lost = {read.oid for read in context.open().read_blobs(oids) if read.reason == MISSING}

    def marked(several: Sequence[Blob]) -> tuple[Blob, ...]:
        return tuple(blob._replace(oid=_LOST + blob.oid) if blob.oid in lost else blob for blob in several)

    snapshots = tuple(
        replace(snapshot, outputs=marked(snapshot.outputs), runs=marked(snapshot.runs))
        for snapshot in history.snapshots
    )
    return ReadableHistory(replace(history, snapshots=snapshots), len(lost))


def _is_lost(blob: Blob) -> bool:
    return blob.oid.startswith(_LOST)


def _with_fix(result: Result) -> Result:
    """Add the git command that fetches missing contents to findings on them, which scorers cannot name."""
    card, fix = result.scorecard, MissingObjectsError().fix or ""
    findings = tuple(replace(finding, fix=fix) if MISSING in finding.message else finding for finding in card.findings)
    return replace(result, scorecard=replace(card, findings=findings))


def all_inputs(context: WorkerContext, snapshots: Sequence[Snapshot]) -> Iterator[ScoringInputs]:
    """The scoring inputs of each snapshot, in order, without the embedder."""
    if not snapshots:
        return
    requests = _Requests()
    plans = [requests.plan(snapshot) for snapshot in snapshots]
    shelf = _Shelf(context.open().read_blobs(requests.oids))
    mappings = dict(context.mappings)
    for snapshot, plan in zip(snapshots, plans, strict=True):
        inputs = shelf.inputs(snapshot, plan)
        recall_mapping(mappings, snapshot, inputs)
        yield inputs


class _Plan(Frozen):
    """Which blobs of the stream belong to one snapshot besides its outputs."""

    fresh: tuple[bool, bool, bool]
    """Whether ground truth, mapping and schema are read anew; False: the same as for the snapshot before, or none."""


class _Requests:
    """The blob ids to read, in the order of their use. What neighbouring snapshots share is read once."""

    def __init__(self) -> None:
        self.oids: list[str] = []
        self._last: tuple[Blob | None, ...] = (None, None, None)

    def plan(self, snapshot: Snapshot) -> _Plan:
        self.oids += (blob.oid for blob in snapshot.outputs)
        roles = (snapshot.ground_truth, snapshot.mapping, snapshot.schema)
        fresh = tuple(blob is not None and blob != last for blob, last in zip(roles, self._last, strict=True))
        self.oids += (blob.oid for blob, is_fresh in zip(roles, fresh, strict=True) if blob and is_fresh)
        self._last = roles
        return _Plan((fresh[0], fresh[1], fresh[2]))


class _Shelf:
    """Takes blobs from the stream as snapshots need them, and holds only those that the next snapshot may share."""

    def __init__(self, stream: Iterator[BlobRead]) -> None:
        self._stream = stream
        self._held: list[File | None] = [None, None, None]

    def inputs(self, snapshot: Snapshot, plan: _Plan) -> ScoringInputs:
        outputs = tuple(self._take(blob) for blob in snapshot.outputs)
        for role, blob in enumerate((snapshot.ground_truth, snapshot.mapping, snapshot.schema)):
            if blob is None:
                self._held[role] = None
            elif plan.fresh[role]:
                self._held[role] = self._take(blob)
        truth, mapping, schema = self._held
        return ScoringInputs(
            outputs=outputs, ground_truth=truth, mapping=mapping, schema=schema, settings=snapshot.settings
        )

    def _take(self, blob: Blob) -> File:
        read = next(self._stream)
        return File(blob.path, read.content, read.reason)


class EvalEmbedder:
    """The embedder of one eval, which caches vectors."""

    def __init__(self, store: CacheStore, eval_id: str) -> None:
        self._store = store
        self._eval_id = eval_id

    def __call__(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """One vector for each text, in order."""
        model = installed()
        keys = [within(self._eval_id, _text_digest(model, text)) for text in texts]
        vectors = {key: VECTORS.get(self._store, key) for key in dict.fromkeys(keys)}
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if vectors[key] is None}
        for key, vector in zip(unknown, embed(tuple(unknown.values())), strict=True):
            vectors[key] = VECTORS.keep(self._store, key, array("f", vector).tobytes())
        return [array("f", vectors[key] or b"") for key in keys]


def model_of(kind: str) -> str:
    """The embedding model of a kind; empty if it needs none, or none is installed."""
    return installed() if traits_of(kind).embeds_texts else ""


def embedder_for(kind: str, eval_id: str, store: CacheStore) -> EvalEmbedder | None:
    """The embedder for an eval of a kind; None without a model."""
    return EvalEmbedder(store, eval_id) if model_of(kind) else None


def _text_digest(model: str, text: str) -> str:
    """The digest of a text and the model, on both of which a vector depends."""
    return hashlib.sha256(f"{model}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
