"""Pairs two sides so that the total weight is greatest; scipy solves the assignments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

_EXACT: Final = 2**53
"""Whole numbers below it are exact as floats, with which scipy computes."""


IntMatrix: TypeAlias = Sequence[Sequence[int]]


def preferred_pairs(weights: IntMatrix, preferences: IntMatrix) -> list[tuple[int, int]]:
    """The pairs (row, column) of greatest total weight; of several such pairings that of greatest total preference.

    Remaining ties are broken as by ``best_pairs``. Both matrices hold whole numbers, at least 0; a weight of 0 is no
    pair. Totals of weights are below 2**53, so that floats hold them exactly.

    scipy finds only one best pairing; the others follow by linear programming duality. From the one pairing come the
    smallest worths of rows and prices of columns whose sum is at least the weight of each pair. A pair is part of a
    best pairing where the sum equals the weight, and such pairs make a best pairing if they use every row and column
    whose worth or price is above 0.
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    matrix = np.array(weights, dtype=np.int64)
    rows, columns = linear_sum_assignment(matrix, maximize=True)
    own = np.zeros(len(matrix), dtype=np.int64)
    own[rows] = matrix[rows, columns]
    prices = np.zeros(matrix.shape[1], dtype=np.int64)
    while True:
        worths = own.copy()
        worths[rows] -= prices[columns]
        raised = np.maximum(prices, (matrix - worths[:, None]).max(axis=0))
        if (raised == prices).all():
            break
        prices = raised
    preferred = np.array(preferences, dtype=np.int64)
    decisive = int(preferred.max()) * min(matrix.shape) + 1
    required = decisive * ((worths > 0).astype(np.int64)[:, None] + (prices > 0))
    is_best = (matrix > 0) & (worths[:, None] + prices == matrix)
    return best_pairs(np.where(is_best, preferred + required, 0).tolist())


def best_pairs(weights: IntMatrix) -> list[tuple[int, int]]:
    """The pairs (row, column) of greatest total weight, every row and column at most once, by row.

    Weights are small whole numbers, at least 0; a weight of 0 is no pair. Of several pairings with the greatest total
    this is the one in which the first row has the lowest column (no column counts as the highest), then the second row,
    and so on. To find it, rows are settled a few at a time: the order of their columns becomes the last digits of the
    weights, of as many rows as floats hold exactly.
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
        settled_pairs = [(i, j) for i, j in chosen if i < settled and matrix[i, j]]
        pairs += [(rows[i], columns[j]) for i, j in settled_pairs]
        left = sorted({*range(len(columns))} - {j for _, j in settled_pairs})
        rows, columns, matrix = rows[settled:], [columns[j] for j in left], matrix[settled:][:, left]
    return sorted(pairs)


def pairs_up(choices: Sequence[Sequence[int]], columns: int) -> bool:
    """Whether every row can be paired with a column of its own; ``choices[row]`` lists the columns that suit it.

    This is Kuhn's algorithm: a column that is in use is freed if its row can move to another one.
    """
    row_of: list[int | None] = [None] * columns

    def place(row: int, visited: set[int]) -> bool:
        for column in choices[row]:
            if column not in visited:
                visited.add(column)
                holder = row_of[column]
                if holder is None or place(holder, visited):
                    row_of[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(choices)))
