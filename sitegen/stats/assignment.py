"""Pairing two sides so that the whole is best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_EXACT: Final = 2**53
"""Whole numbers below it are exact as floats, which scipy computes with."""


def assign(weights: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The pairs (row, column) of greatest total weight, every row and column at most once, by row.

    Kuhn-Munkres by shortest augmenting paths with potentials, O(n^2 m) for n <= m. Weights are whole numbers of any
    size, at least 0, so that nothing depends on rounding; pairs of weight 0 are left out. Deterministic.
    """
    if not weights or not weights[0]:
        return []
    if len(weights) > len(weights[0]):
        flipped = assign(list(zip(*weights, strict=True)))
        return sorted((row, column) for column, row in flipped)
    rows, columns = len(weights), len(weights[0])
    infinity = 4 * (max(max(row) for row in weights) + 1) * (rows + 1)
    # Row 0 and column 0 stand for "none"; costs are negated weights.
    row_potential = [0] * (rows + 1)
    column_potential = [0] * (columns + 1)
    row_of = [0] * (columns + 1)
    for row in range(1, rows + 1):
        row_of[0] = row
        least = [infinity] * (columns + 1)
        came_from = [0] * (columns + 1)
        done = [False] * (columns + 1)
        column = 0
        while row_of[column]:
            done[column] = True
            current = row_of[column]
            delta, following = infinity, 0
            costs = weights[current - 1]
            for candidate in range(1, columns + 1):
                if done[candidate]:
                    continue
                reduced = -costs[candidate - 1] - row_potential[current] - column_potential[candidate]
                if reduced < least[candidate]:
                    least[candidate] = reduced
                    came_from[candidate] = column
                if least[candidate] < delta:
                    delta, following = least[candidate], candidate
            for candidate in range(columns + 1):
                if done[candidate]:
                    row_potential[row_of[candidate]] += delta
                    column_potential[candidate] -= delta
                else:
                    least[candidate] -= delta
            column = following
        while column:
            previous = came_from[column]
            row_of[column] = row_of[previous]
            column = previous
    pairs = ((row_of[column] - 1, column - 1) for column in range(1, columns + 1) if row_of[column])
    return sorted((row, column) for row, column in pairs if weights[row][column] > 0)


def best_pairs(weights: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The pairs (row, column) of greatest total weight, every row and column at most once, by row.

    Weights are small whole numbers, at least 0; a weight of 0 is no pair. Of several pairings with the greatest total
    it is the one in which the first row has the lowest column (no column counts as the highest), then the second row,
    and so on. A few rows at a time are settled: their columns become the last digits of the weights, which floats hold
    exactly (scipy computes with floats).
    """
    candidates = [(row, column) for row, line in enumerate(weights) for column, weight in enumerate(line) if weight]
    rows, columns = sorted({row for row, _ in candidates}), sorted({column for _, column in candidates})
    if len(rows) == len(columns) == len(candidates):
        return candidates
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    matrix = np.array(weights, dtype=np.int64)[np.ix_(rows, columns)]
    pairs: list[tuple[int, int]] = []
    while rows and columns:
        base = len(columns) + 1
        largest = (int(matrix.max(axis=1).sum()) + 1) * len(rows)
        settled = 1
        while settled < len(rows) and largest * base ** (settled + 1) < _EXACT:
            settled += 1
        scaled = matrix * base**settled
        for row in range(settled):
            scaled[row] += np.where(matrix[row] > 0, np.arange(len(columns), 0, -1), 0) * base ** (settled - row - 1)
        chosen = [(int(i), int(j)) for i, j in zip(*linear_sum_assignment(scaled, maximize=True), strict=True)]
        taken = [(i, j) for i, j in chosen if i < settled and matrix[i, j]]
        pairs += [(rows[i], columns[j]) for i, j in taken]
        left = sorted({*range(len(columns))} - {j for _, j in taken})
        rows, columns, matrix = rows[settled:], [columns[j] for j in left], matrix[settled:][:, left]
    return sorted(pairs)


def pairs_up(choices: Sequence[Sequence[int]], others: int) -> bool:
    """Whether every one of the left can be given a different one of the right, ``choices[i]`` being what suits it."""
    taken_by: list[int | None] = [None] * others

    def place(one: int, seen: set[int]) -> bool:
        for other in choices[one]:
            if other not in seen:
                seen.add(other)
                holder = taken_by[other]
                if holder is None or place(holder, seen):
                    taken_by[other] = one
                    return True
        return False

    return all(place(one, set()) for one in range(len(choices)))
