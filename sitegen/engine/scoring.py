"""Scores snapshots one after the other. Their blobs come from one stream, and few are held at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from msgspec.structs import replace

from sitegen.engine.cached_kinds import VECTORS, CacheStore
from sitegen.engine.failures import working_on
from sitegen.engine.worker_context import WorkerContext
from sitegen.errors import POINTER, MissingObjectsError
from sitegen.history.blobs import MISSING
from sitegen.history.memo_rows import within
from sitegen.model.metrics import traits_of
from sitegen.model.scorecards import Result
from sitegen.model.timeline import Blob, EvalHistory, Snapshot
from sitegen.scoring.kinds import scored_with_own_metrics
from sitegen.scoring.redaction import redaction
from sitegen.scoring.scorer import Embedder, File, Scorer, ScoringInputs
from sitegen.scoring.usage import with_stated
from sitegen.text.embedding import embed, installed

_HELD: Final = 4
"""Number of snapshots whose contents are held for the next one."""
_LOST: Final = {"not here ": MISSING, "not fetched ": POINTER}
"""Prefixes of the blob id of a file whose content this clone lacks, and why: its scorecard needs a different key."""


def results(
    context: WorkerContext, by: Scorer, snapshots: Sequence[Snapshot], embedder: Embedder | None = None
) -> Iterator[Result]:
    """Score each snapshot, in order. Hidden values are removed here, so that no later step can show them."""
    hidden = redaction(context.redact)
    for snapshot, inputs in zip(snapshots, all_inputs(context, snapshots), strict=True):
        with working_on(snapshot):
            files = (*inputs.outputs, inputs.ground_truth, inputs.mapping, inputs.schema)
            blobs = (*snapshot.outputs, snapshot.ground_truth, snapshot.mapping, snapshot.schema)
            for file, blob in zip(files, blobs, strict=True):
                reason = file.reason if file and blob and not _why_lost(blob) else ""
                if file and (reason == MISSING or (reason == POINTER and not context.answers_a_question)):
                    # The memo would never replace a scorecard that was made without the content.
                    raise MissingObjectsError(file.path, snapshot.commit.sha, in_lfs=reason == POINTER)
            result = with_stated(scored_with_own_metrics(by, replace(inputs, embedder=embedder)), snapshot.usage)
            redacted = hidden.applied(result) if hidden else result
        yield redacted


def without_lost_contents(context: WorkerContext, history: EvalHistory) -> tuple[EvalHistory, int]:
    """Mark the outputs that this clone lacks, and all files whose contents are in Git LFS and were not fetched.

    Returns the history with these marks, by which scoring takes them as unreadable, and the number of contents that
    are missing; the history itself if it lacks nothing.
    """
    outputs = {blob.oid for snapshot in history.snapshots for blob in (*snapshot.outputs, *snapshot.runs)}
    oids = sorted(outputs | {blob.oid for snapshot in history.snapshots for blob in _scored_blobs(snapshot)})
    marks = {reason: mark for mark, reason in _LOST.items()}
    lost = {
        read.oid: marks[read.reason]
        for read in context.open().read_blobs(oids)
        if read.reason == POINTER or (read.reason == MISSING and read.oid in outputs)
    }

    def marked(blob: Blob | None) -> Blob | None:
        return blob._replace(oid=lost[blob.oid] + blob.oid) if blob and blob.oid in lost else blob

    def all_marked(blobs: Sequence[Blob]) -> tuple[Blob, ...]:
        return tuple(blob for blob in map(marked, blobs) if blob)

    snapshots = tuple(
        replace(
            snapshot,
            outputs=all_marked(snapshot.outputs),
            runs=all_marked(snapshot.runs),
            ground_truth=marked(snapshot.ground_truth),
            mapping=marked(snapshot.mapping),
            schema=marked(snapshot.schema),
        )
        for snapshot in history.snapshots
    )
    missing = sum(mark == marks[MISSING] for mark in lost.values())
    return replace(history, snapshots=snapshots) if lost else history, missing


def _why_lost(blob: Blob) -> str:
    """Why this clone lacks a content; empty if it has it."""
    return next((reason for mark, reason in _LOST.items() if blob.oid.startswith(mark)), "")


def all_inputs(context: WorkerContext, snapshots: Sequence[Snapshot]) -> Iterator[ScoringInputs]:
    """Yield the scoring inputs of each snapshot, in order, without the embedder.

    Blobs that a snapshot shares with one of the ``_HELD`` before it are read once, and only theirs are held: outputs
    are scored in turn by the ground truth and rules of their time and by the newest.
    """
    if not snapshots:
        return
    needed = [dict.fromkeys(_scored_blobs(snapshot)) for snapshot in snapshots]

    def recent(at: int) -> set[Blob]:
        return set(chain.from_iterable(needed[max(0, at - _HELD) : at]))

    stream = context.open().read_blobs(
        [blob.oid for at, blobs in enumerate(needed) for before in [recent(at)] for blob in blobs if blob not in before]
    )
    held: dict[Blob, File] = {}
    for at, (snapshot, blobs) in enumerate(zip(snapshots, needed, strict=True)):
        before = recent(at)
        held = {blob: file for blob, file in held.items() if blob in before}
        for blob in blobs:
            if blob in held:
                continue
            read = next(stream)
            reason = _why_lost(blob) or read.reason
            lost = reason in _LOST.values()
            fix = MissingObjectsError(in_lfs=reason == POINTER).fix if lost else None
            held[blob] = File(path=blob.path, content=read.content, reason=reason, fix=fix or "", not_fetched=lost)
        truth, mapping, schema = (
            held[blob] if blob else None for blob in (snapshot.ground_truth, snapshot.mapping, snapshot.schema)
        )
        yield ScoringInputs(
            outputs=tuple(held[blob] for blob in snapshot.outputs),
            ground_truth=truth,
            mapping=mapping,
            schema=schema,
            settings=snapshot.settings,
        )


def _scored_blobs(snapshot: Snapshot) -> Iterator[Blob]:
    yield from snapshot.outputs
    for blob in (snapshot.ground_truth, snapshot.mapping, snapshot.schema):
        if blob is not None:
            yield blob


def model_of(kind: str) -> str:
    """Return the name of the embedding model of a kind; empty if it needs none, or none is installed."""
    return installed() if traits_of(kind).embeds_texts else ""


def embedder_for(kind: str, eval_id: str, store: CacheStore) -> Embedder | None:
    """Return the embedder for an eval of a kind, which caches vectors; None without a model."""
    if not model_of(kind):
        return None

    def vectors_of(texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        from array import array  # few evals embed texts

        model = installed()
        both = (f"{model}\0{text}".encode("utf-8", "surrogatepass") for text in texts)  # a vector depends on both
        keys = [within(eval_id, hashlib.sha256(each).hexdigest()) for each in both]
        vectors = {key: VECTORS.get(store, key) for key in dict.fromkeys(keys)}
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if vectors[key] is None}
        for key, vector in zip(unknown, embed(tuple(unknown.values())), strict=True):
            vectors[key] = VECTORS.keep(store, key, array("f", vector).tobytes())
        return [array("f", vectors[key] or b"") for key in keys]

    return vectors_of
