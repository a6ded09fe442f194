"""Tells which outputs are copies: byte for byte the same as an earlier output of their eval.

A copy was most likely not made by the model: somebody copied the last output into the next iteration, or put an old one
back. So it is no further evidence, neither of how far repeats differ nor of what outputs agree on. Whatever counts
outputs asks this module. A model that gave the same bytes again cannot be told from a copy.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from sitegen.analysis.deltas import differing_roles
from sitegen.model.kinds import traits_of
from sitegen.model.series import Headline, Point
from sitegen.model.timeline import Snapshot


def first_points_with_output(snapshots: Sequence[Snapshot], kind: str | None = None) -> tuple[int | None, ...]:
    """For each snapshot of an eval the index of the first one with the same output; None if it is the first itself.

    Outputs are the same if their files have the same blob ids, in the order of their paths. A missing output is the
    same as no other iteration's. Of recorded numbers only those of one iteration are the same output, because two runs
    can have equal numbers.
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


def first_of_each_output(points: Sequence[Point] | Sequence[Headline], indices: Iterable[int]) -> list[int]:
    """Of these indices of points, in their order, those whose output none before them among these has."""
    first: dict[int, int] = {}
    for index in indices:
        earliest = points[index].first_with_output
        first.setdefault(index if earliest is None else earliest, index)
    return list(first.values())


class OutputCounter:
    """Counts the different outputs that stretches of a series hold."""

    def __init__(self, first_with_output: Sequence[int | None]) -> None:
        """*first_with_output* is the result of ``first_points_with_output``."""
        self._again: list[tuple[int, int]] = []
        """(index of a point, index of the last point before it with the same output)."""
        newest: dict[int, int] = {}
        for index, earliest in enumerate(first_with_output):
            output = index if earliest is None else earliest
            if output in newest:
                self._again.append((index, newest[output]))
            newest[output] = index

    def between(self, start: int, end: int) -> int:
        """The number of different outputs of the points from index *start* to before *end*."""
        again = self._again[bisect_left(self._again, (start,)) : bisect_left(self._again, (end,))]
        return end - start - sum(before >= start for _, before in again)


def repeats_the_point_before(points: Sequence[Point], index: int) -> bool:
    """Whether a point is a copy that differs from the point before it in nothing, so that its value is no new one.

    A copy of an older output counts as a value where another output stood in between: it was put back.
    """
    point = points[index]
    return point.is_copy and index > 0 and not differing_roles(points[index - 1].snapshot, point.snapshot)
