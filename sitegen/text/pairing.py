"""Which removed line became which added line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

LEAST: Final = 0.45
"""Similarity from which an added line counts as the removed one, rewritten."""

MOST_PAIRS: Final = 2_500
"""Removed lines times added lines beyond which nothing is compared: a passage written anew."""

COMPARED: Final = 500
"""Characters of a line that are compared."""


class AlignedLines(NamedTuple):
    """One row of a comparison side by side. At least one index is not None."""

    removed: int | None
    """Index of the removed line."""
    added: int | None
    alike: bool
    """The added line is the removed one rewritten; else they only share a row."""


def pair(removed: Sequence[str], added: Sequence[str]) -> tuple[AlignedLines, ...]:
    """Every removed and every added line once, both in their order.

    Lines that are alike stand on one row, so that the sum of similarities is largest; between them, what is left over
    of both sides shares rows from the top.
    """
    rows: list[AlignedLines] = []
    at_removed = at_added = 0
    for i, j in [*_alike(removed, added), (len(removed), len(added))]:
        while at_removed < i or at_added < j:
            left = at_removed if at_removed < i else None
            right = at_added if at_added < j else None
            rows.append(AlignedLines(left, right, False))
            at_removed += left is not None
            at_added += right is not None
        if i < len(removed):
            rows.append(AlignedLines(i, j, True))
            at_removed, at_added = i + 1, j + 1
    return tuple(rows)


def _alike(removed: Sequence[str], added: Sequence[str]) -> list[tuple[int, int]]:
    """The best alignment that keeps the order, as index pairs."""
    if not removed or not added or len(removed) * len(added) > MOST_PAIRS:
        return []
    from rapidfuzz import fuzz

    left = [line.strip()[:COMPARED] for line in removed]
    right = [line.strip()[:COMPARED] for line in added]
    likeness = [[fuzz.ratio(a, b, score_cutoff=100 * LEAST) / 100 if a and b else 0.0 for b in right] for a in left]
    if len(left) == len(right) == 1:
        return [(0, 0)] if likeness[0][0] else []
    return _best_path(likeness)


def _best_path(likeness: list[list[float]]) -> list[tuple[int, int]]:
    """The pairs of the order-preserving alignment with the largest sum."""
    n, m = len(likeness), len(likeness[0])
    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        row, below, here = likeness[i], best[i + 1], best[i]
        for j in range(m - 1, -1, -1):
            value = below[j] if below[j] > here[j + 1] else here[j + 1]
            if row[j]:
                value = max(value, row[j] + below[j + 1])
            here[j] = value
    pairs = []
    i = j = 0
    while i < n and j < m:
        if likeness[i][j] and best[i][j] == likeness[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
