"""How alike vectors are among each other (rule 30)."""

from __future__ import annotations

from collections.abc import Sequence


def mean_pairwise_cosine(vectors: Sequence[Sequence[float]]) -> float | None:
    """The mean cosine over all pairs, -1..1; None for fewer than two vectors.

    All vectors have the same length and finite members. A zero vector has similarity 0 with every other. With unit
    vectors u of n responses the cosines of all ordered pairs sum up to ``|sum u|^2 - sum |u|^2``, so that the cost
    grows with n, not with its square.
    """
    count = len(vectors)
    if count < 2:
        return None
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float64)
    largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    # Scaled first: the squares of very large or very small members would overflow or vanish.
    rows = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    units = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    total = units.sum(axis=0)
    mean = float(total @ total - (units * units).sum()) / (count * (count - 1))
    return max(-1.0, min(1.0, mean))
