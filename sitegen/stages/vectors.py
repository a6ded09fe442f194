"""Vectors of texts between builds: the memo knows them by the digest of model and text, a model makes the others."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from sitegen.analysis.memo import Memo, stored
from sitegen.model.kinds import traits_of
from sitegen.text.embedding import embed, installed

Rows: TypeAlias = tuple[tuple[str, bytes], ...]
"""(digest of the model and the text, its vector as single precision floats)."""


class EvalEmbedder:
    """The embedder of one eval: makes what is not known, and remembers it, for a task cannot write the memo."""

    def __init__(self, known: Iterable[tuple[str, bytes]]) -> None:
        self._known = dict(known)
        self._new: dict[str, bytes] = {}

    def __call__(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """One vector a text, in order."""
        model = installed()
        keys = [_key(model, text) for text in texts]
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        for key, vector in zip(unknown, embed(tuple(unknown.values())), strict=True):
            self._known[key] = self._new[key] = array("f", vector).tobytes()
        return [array("f", self._known[key]) for key in keys]

    @property
    def new(self) -> Rows:
        """What was made."""
        return tuple(self._new.items())


def model_of(kind: str) -> str:
    """The model that makes vectors for a kind; nothing if it needs none, or none is installed."""
    return installed() if traits_of(kind).embeds_texts else ""


def vectors_of(kind: str, known: Iterable[tuple[str, bytes]]) -> EvalEmbedder | None:
    """The embedder for an eval of a kind; None where there is no model."""
    return EvalEmbedder(known) if model_of(kind) else None


def known_vectors(memo: Memo, eval_id: str, kind: str) -> Rows:
    """What the memo knows for an eval."""
    return memo.all(_part(eval_id)) if model_of(kind) else ()


def keep_vectors(memo: Memo, eval_id: str, rows: Rows) -> None:
    """Remember what was made for an eval."""
    for key, vector in rows:
        memo.put(_part(eval_id), key, vector)


def forget_vectors(memo: Memo, eval_id: str) -> None:
    """Forget those of an eval that is no more."""
    for key in memo.keys(_part(eval_id)):
        memo.delete(_part(eval_id), key)


def _key(model: str, text: str) -> str:
    """Another model makes other vectors of the same text."""
    return hashlib.sha256(f"{model}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


def _part(eval_id: str) -> str:
    return f"vector:{stored(eval_id)}"
