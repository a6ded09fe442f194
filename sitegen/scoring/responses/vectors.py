"""The vectors that consistency is computed from: recorded with the responses, or made by a model (rule 30)."""

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
    """One vector or None for each of the responses that were asked about."""

    of: tuple[Vector | None, ...]
    findings: tuple[Finding, ...]


def response_vectors(responses: Sequence[Response], embedder: Embedder | None) -> ResponseVectors:
    """The vectors of responses that are to be compared with each other.

    Recorded embeddings come first: if any response has one, those without are left out, for vectors of two models
    cannot be compared. Otherwise the embedder makes all; an empty answer is the zero vector, which is like nothing.
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
    kept = tuple(vector if vector is not None and len(vector) == usual else None for vector in read)
    without = sum(vector is None for vector in kept)
    if not without:
        return ResponseVectors(kept, ())
    line = next(one.line for one, vector in zip(responses, kept, strict=True) if vector is None)
    message = f"{without} of {len(kept)} responses have no usable embedding and are left out of consistency"
    return ResponseVectors(
        kept,
        (Finding(severity="warning", what=message, fix="Record a list of numbers, as long as the others.", line=line),),
    )


def _embedded_vectors(responses: Sequence[Response], embedder: Embedder) -> tuple[Vector, ...]:
    texts = [text for text in dict.fromkeys(response.output for response in responses) if text.strip()]
    made = dict(zip(texts, embedder(texts), strict=True)) if texts else {}
    zero = [0.0] * (len(made[texts[0]]) if texts else 1)
    return tuple(made.get(response.output, zero) for response in responses)


def _recorded_embedding(value: Value) -> list[float] | None:
    """A recorded embedding; None if it is none."""
    if not isinstance(value, list) or not value:
        return None
    if not all(type(each) is int or type(each) is Decimal for each in value):
        return None
    try:
        numbers = [float(each) for each in value]  # type: ignore[arg-type]
    except OverflowError:
        return None
    return numbers if all(map(isfinite, numbers)) else None
