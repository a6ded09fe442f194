"""Finds copies: outputs that are byte for byte the same as an earlier output of their eval.

A copy was most likely not made by the model: somebody copied the last output into the next iteration, or restored an
old output. So a copy is no further evidence of how far repeats differ, or of values on which outputs agree. All code
that counts outputs uses this module. A model that returns the same bytes again cannot be distinguished from a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sitegen.analysis.deltas import differing_roles
from sitegen.model.kinds import traits_of
from sitegen.model.series import Headline, Point
from sitegen.model.timeline import Snapshot


def first_points_with_output(snapshots: Sequence[Snapshot], kind: str | None = None) -> tuple[int | None, ...]:
    """Return for each snapshot of an eval the index of the first one with the same output; None if it is the first.

    Outputs are the same if their files have the same blob ids, in the order of their paths. A missing output differs
    from the output of any other iteration. Recorded numbers are the same output only within one iteration, because two
    runs can have equal numbers.
    """
    is_recorded = traits_of(kind).is_recorded
    first: dict[tuple[object, ...], int] = {}
    earliest = (
        first.setdefault(
            (snapshot.iteration,)
            if is_recorded or not snapshot.outputs
            else tuple(blob.oid for blob in snapshot.outputs),
            index,
        )
        for index, snapshot in enumerate(snapshots)
    )
    return tuple(None if start == index else start for index, start in enumerate(earliest))


def output_of(points: Sequence[Point], index: int) -> int:
    """Return the index of the first point with the same output as a point."""
    first = points[index].first_with_output
    while first is None and index and "outputs" not in points[index].snapshot.cause:
        index -= 1  # the same output, scored again
        first = points[index].first_with_output
    return index if first is None else first


def first_of_each_output(points: Sequence[Point] | Sequence[Headline], indices: Iterable[int]) -> list[int]:
    """Return the indices, in their order, whose output no earlier one of these indices has."""
    first: dict[int, int] = {}
    for index in indices:
        earliest = points[index].first_with_output
        first.setdefault(index if earliest is None else earliest, index)
    return list(first.values())


def output_of_each(first_with_output: Iterable[int | None]) -> list[int]:
    """Return for each point the index of the first point with its output: equal numbers are the same output.

    *first_with_output* is the result of ``first_points_with_output``.
    """
    return [index if earliest is None else earliest for index, earliest in enumerate(first_with_output)]


def repeats_the_point_before(points: Sequence[Point], index: int) -> bool:
    """Decide whether a point is a copy that is equal to the previous point in every role.

    Such a copy does not count as a new value. A copy of an older output does if there is another output in between:
    the old one was restored.
    """
    point = points[index]
    return point.is_copy and index > 0 and not differing_roles(points[index - 1].snapshot, point.snapshot)
