"""The champion: the best point of a series so far."""

from __future__ import annotations

from collections.abc import Sequence


def champions(values: Sequence[float | None], *, higher_is_better: bool = True) -> tuple[int | None, ...]:
    """For each point the index of the best one so far, itself included; of equals the earliest.

    None before the first value: an undefined value is never the best.
    """
    found = []
    best: tuple[float, int] | None = None
    for index, value in enumerate(values):
        if value is not None and (best is None or (value > best[0] if higher_is_better else value < best[0])):
            best = (value, index)
        found.append(best[1] if best else None)
    return tuple(found)
