"""Embeddings of texts: those that the memo holds, and those that the model makes now."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence

from sitegen.analysis.cached import CacheStore, within
from sitegen.model.kinds import traits_of
from sitegen.stages.cached_kinds import VECTORS
from sitegen.text.embedding import embed, installed


class EvalEmbedder:
    """The embedder of one eval."""

    def __init__(self, store: CacheStore, eval_id: str) -> None:
        self._store = store
        self._eval_id = eval_id

    def __call__(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """One vector a text, in order."""
        model = installed()
        keys = [within(self._eval_id, _text_digest(model, text)) for text in texts]
        vectors = {key: VECTORS.get(self._store, key) for key in dict.fromkeys(keys)}
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if vectors[key] is None}
        for key, vector in zip(unknown, embed(tuple(unknown.values())), strict=True):
            vectors[key] = VECTORS.keep(self._store, key, array("f", vector).tobytes())
        return [array("f", vectors[key] or b"") for key in keys]


def model_of(kind: str) -> str:
    """The model that makes vectors for a kind; nothing if it needs none, or none is installed."""
    return installed() if traits_of(kind).embeds_texts else ""


def embedder_for(kind: str, eval_id: str, store: CacheStore) -> EvalEmbedder | None:
    """The embedder for an eval of a kind; None where there is no model."""
    return EvalEmbedder(store, eval_id) if model_of(kind) else None


def _text_digest(model: str, text: str) -> str:
    """Another model makes other vectors of the same text."""
    return hashlib.sha256(f"{model}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
