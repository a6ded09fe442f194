"""Provides the vectors for consistency: embeddings recorded with the responses, or made by a model (rule 30)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from math import isfinite
from typing import NamedTuple

from sitegen.model.problems import Finding
from sitegen.model.values import Value
from sitegen.scoring.responses.answers import Response
from sitegen.scoring.scorer import Embedder

Vector = Sequence[float]


class ResponseVectors(NamedTuple):
    """The vectors of some responses."""

    vectors: tuple[Vector | None, ...]
    """A vector for each response, in order. None for a response without a vector."""
    findings: tuple[Finding, ...]


def response_vectors(responses: Sequence[Response], embedder: Embedder | None) -> ResponseVectors:
    """Return the vectors of responses that are compared with each other.

    If any response has a recorded embedding, those without are left out, because vectors of two models are not
    comparable. Otherwise the embedder makes all vectors. An empty answer gets the zero vector, whose cosine with any
    other is 0.
    """
    if any(response.embedding is not None for response in responses):
        return _recorded_vectors(responses)
    if len(responses) < 2:
        return ResponseVectors((None,) * len(responses), ())
    if embedder is None:
        message = "Consistency is undefined: the responses have no embeddings, and nothing is installed to make them"
        fix = "Record an `embedding` with each response, or pip install 'sitegen-evals[consistency]'."
        return ResponseVectors((None,) * len(responses), (Finding("note", message, fix),))
    return ResponseVectors(_embedded_vectors(responses, embedder), ())


def _recorded_vectors(responses: Sequence[Response]) -> ResponseVectors:
    read = [_recorded_embedding(response.embedding) for response in responses]
    lengths = Counter(len(vector) for vector in read if vector is not None)
    usual = lengths.most_common(1)[0][0] if lengths else 0
    vectors = tuple(vector if vector is not None and len(vector) == usual else None for vector in read)
    lines = [response.line for response, vector in zip(responses, vectors, strict=True) if vector is None]
    if not lines:
        return ResponseVectors(vectors, ())
    message = f"{len(lines)} of {len(vectors)} responses have no usable embedding and are left out of consistency"
    fix = "Record a list of numbers, as long as the others."
    return ResponseVectors(vectors, (Finding(severity="warning", message=message, fix=fix, line=lines[0]),))


def _embedded_vectors(responses: Sequence[Response], embedder: Embedder) -> tuple[Vector, ...]:
    texts = [text for text in dict.fromkeys(response.output for response in responses) if text.strip()]
    by_text = dict(zip(texts, embedder(texts), strict=True)) if texts else {}
    zero = [0.0] * (len(by_text[texts[0]]) if texts else 1)
    return tuple(by_text.get(response.output, zero) for response in responses)


def _recorded_embedding(value: Value) -> list[float] | None:
    """The numbers of an embedding. None if it is not a list of finite numbers."""
    if not isinstance(value, list) or not value:
        return None
    if not all(type(item) is int or type(item) is Decimal for item in value):
        return None
    try:
        numbers = [float(item) for item in value]  # type: ignore[arg-type]
    except OverflowError:
        return None
    return numbers if all(map(isfinite, numbers)) else None
