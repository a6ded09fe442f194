"""Scores snapshots one after the other. Their blobs come from one stream, and few are held at a time."""

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
"""Prefix of the blob id of an output whose content this clone lacks: its scorecard needs a different key."""


def results(
    context: WorkerContext, scorer: Scorer, snapshots: Sequence[Snapshot], embedder: Embedder | None = None
) -> Iterator[Result]:
    """Score each snapshot, in order. Hidden values are removed here, so that no later step can show them."""
    hidden = redaction(context.redact)
    for snapshot, inputs in zip(snapshots, all_inputs(context, snapshots), strict=True):
        with working_on(snapshot):
            outputs = [file for file, blob in zip(inputs.outputs, snapshot.outputs, strict=True) if not _is_lost(blob)]
            for file in (*outputs, inputs.ground_truth, inputs.mapping, inputs.schema):
                if file is not None and file.reason == MISSING:
                    # The memo would never replace a scorecard that was made without the content.
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
    """Number of outputs whose contents this clone lacks."""


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
    """Add the git command that fetches missing contents to findings about them: scorers do not know git."""
    card, fix = result.scorecard, MissingObjectsError().fix or ""
    findings = tuple(replace(finding, fix=fix) if MISSING in finding.message else finding for finding in card.findings)
    return replace(result, scorecard=replace(card, findings=findings))


def all_inputs(context: WorkerContext, snapshots: Sequence[Snapshot]) -> Iterator[ScoringInputs]:
    """Yield the scoring inputs of each snapshot, in order, without the embedder."""
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
    """The blobs of the stream that belong to one snapshot besides its outputs."""

    fresh: tuple[bool, bool, bool]
    """Whether ground truth, mapping and schema are read; False: same as for the previous snapshot, or there is none."""


class _Requests:
    """The blob ids to read, in the order of their use. Blobs that neighbouring snapshots share are read once."""

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
    """Takes blobs from the stream when a snapshot needs them, and holds only blobs that the next snapshot may share."""

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
        """Return one vector for each text, in order."""
        model = installed()
        keys = [within(self._eval_id, _text_digest(model, text)) for text in texts]
        vectors = {key: VECTORS.get(self._store, key) for key in dict.fromkeys(keys)}
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if vectors[key] is None}
        for key, vector in zip(unknown, embed(tuple(unknown.values())), strict=True):
            vectors[key] = VECTORS.keep(self._store, key, array("f", vector).tobytes())
        return [array("f", vectors[key] or b"") for key in keys]


def model_of(kind: str) -> str:
    """Return the name of the embedding model of a kind; empty if it needs none, or none is installed."""
    return installed() if traits_of(kind).embeds_texts else ""


def embedder_for(kind: str, eval_id: str, store: CacheStore) -> EvalEmbedder | None:
    """Return the embedder for an eval of a kind; None without a model."""
    return EvalEmbedder(store, eval_id) if model_of(kind) else None


def _text_digest(model: str, text: str) -> str:
    """Return the digest of a text and the model, because a vector depends on both."""
    return hashlib.sha256(f"{model}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
