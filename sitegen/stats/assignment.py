"""Pairs two sides so that the total weight is greatest; scipy solves the assignments."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Final, TypeAlias

_EXACT: Final = 2**53  # integers below it are exact as floats, with which scipy computes


IntMatrix: TypeAlias = Sequence[Sequence[int]]


def preferred_pairs(weights: IntMatrix, preferences: IntMatrix) -> list[tuple[int, int]]:
    """Return the pairs (row, column) of greatest total weight, and among such pairings of greatest total preference.

    Remaining ties are broken as in ``best_pairs``. Both matrices contain integers, at least 0; a weight of 0 means no
    pair. Totals of weights are below 2**53, so that floats represent them exactly.

    scipy finds only one best pairing; linear programming duality yields the others. The known pairing determines the
    smallest dual values of rows and columns whose sum is at least the weight of each pair. A pair can be part of a best
    pairing if the sum equals the weight, and such pairs are a best pairing if they use every row and column whose dual
    value is above 0.
    """
    import numpy as np

    matrix = np.array(weights, dtype=np.int64)
    rows, columns = _solver()(matrix, maximize=True)
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
    decisive = max(map(max, preferences)) * min(matrix.shape) + 1
    required = decisive * ((worths > 0).astype(np.int64)[:, None] + (prices > 0))
    is_best = (matrix > 0) & (worths[:, None] + prices == matrix)
    return best_pairs(np.where(is_best, preferred + required, 0).tolist())


def best_pairs(weights: IntMatrix) -> list[tuple[int, int]]:
    """Return the pairs (row, column) of greatest total weight, every row and column at most once, by row.

    Weights are small integers, at least 0; a weight of 0 means no pair. Among pairings with the greatest total, the
    first row has the lowest column (no column counts as the highest), then the second row, and so on. To find this
    pairing, a few rows are fixed at a time: the order of their columns is encoded in the last digits of the weights,
    for as many rows as floats represent exactly.
    """
    candidates = [(row, column) for row, line in enumerate(weights) for column, weight in enumerate(line) if weight]
    rows, columns = sorted({row for row, _ in candidates}), sorted({column for _, column in candidates})
    if len(rows) == len(columns) == len(candidates):
        return candidates
    import numpy as np

    solve = _solver()
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
        chosen = [(int(i), int(j)) for i, j in zip(*solve(scaled, maximize=True), strict=True)]
        settled_pairs = [(i, j) for i, j in chosen if i < settled and matrix[i, j]]
        pairs += [(rows[i], columns[j]) for i, j in settled_pairs]
        left = sorted({*range(len(columns))} - {j for _, j in settled_pairs})
        rows, columns, matrix = rows[settled:], [columns[j] for j in left], matrix[settled:][:, left]
    return sorted(pairs)


@cache
def _solver() -> Callable[..., Any]:
    """Return ``scipy.optimize.linear_sum_assignment``, if possible without importing the rest of ``scipy.optimize``.

    That would take 0.4 s in every process that pairs items, much longer than the pairing. The function is the whole of
    an extension module that needs nothing but numpy. If a version of scipy keeps it elsewhere, all is imported.
    """
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    import scipy

    with suppress(ImportError, AttributeError):
        spec = PathFinder.find_spec("_lsap", [f"{folder}/optimize" for folder in scipy.__path__])
        if spec and spec.loader:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            alone: Callable[..., Any] = module.linear_sum_assignment
            return alone
    import scipy.optimize

    whole: Callable[..., Any] = scipy.optimize.linear_sum_assignment
    return whole


def pairs_up(choices: Sequence[Sequence[int]], columns: int) -> bool:
    """Decide whether every row can be paired with a different column; ``choices[row]`` lists its possible columns.

    This is Kuhn's algorithm: a column in use is freed if its row can move to another column.
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
