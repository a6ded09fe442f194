"""The champion: the best point of a series so far."""

from __future__ import annotations

from collections.abc import Sequence


def champions(
    values: Sequence[float | None], since: Sequence[int] = (), *, higher_is_better: bool = True
) -> tuple[int | None, ...]:
    """For each point the index of the best one so far, itself included; of equals the earliest.

    None before the first value: an undefined value is never the best. ``since``: for each point the index of the first
    one that it can be compared with, where not all can (``deltas.graded_since``).
    """
    found = []
    at, best = None, 0.0
    for index, value in enumerate(values):
        if since and since[index] == index:
            at = None
        if value is not None and (at is None or (value > best if higher_is_better else value < best)):
            at, best = index, value
        found.append(at)
    return tuple(found)
