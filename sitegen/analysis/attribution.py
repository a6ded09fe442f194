"""Attribution: which part of a change came from the outputs, which from the ground truth, which from the rules.

Two points of an eval differ in up to three roles. Scoring the mixtures (the outputs of one with the ground truth of
the other, and so on) says what each role does after any set of others; the mean over all orders is the Shapley value
(L. S. Shapley, *A value for n-person games*, 1953), whose parts sum to the whole exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import factorial, fsum
from typing import Final, Literal, TypeAlias

from sitegen.model.deltas import DeltaParts
from sitegen.model.timeline import Blob, Snapshot

Role: TypeAlias = Literal["outputs", "ground_truth", "rules"]

Taken: TypeAlias = tuple[Role, ...]
"""A set of roles, in the order of ``ROLES``."""

ROLES: Final[tuple[Role, ...]] = ("outputs", "ground_truth", "rules")


def differing(before: Snapshot, after: Snapshot) -> tuple[Role, ...]:
    """The roles whose contents are not the same; where a file stands does not matter."""
    return tuple(role for role in ROLES if _contents(before, role) != _contents(after, role))


def under_rules_of(snapshot: Snapshot, other: Snapshot) -> Snapshot:
    """The outputs of a snapshot with the ground truth and the rules of another: the second clock."""
    return mixture(snapshot, other, ("ground_truth", "rules"))


def mixtures(before: Snapshot, after: Snapshot) -> tuple[Snapshot, ...]:
    """What has to be scored besides the two themselves; nothing if they differ in one role only."""
    return tuple(mixture(before, after, taken) for taken in tuple(subsets(differing(before, after)))[1:-1])


def mixture(before: Snapshot, after: Snapshot, taken: Taken) -> Snapshot:
    """*before* with the taken roles of *after*."""
    mixed = before
    if "outputs" in taken:
        mixed = mixed._replace(outputs=after.outputs, usage=after.usage)
    if "ground_truth" in taken:
        mixed = mixed._replace(ground_truth=after.ground_truth)
    if "rules" in taken:
        mixed = mixed._replace(mapping=after.mapping, schema=after.schema, settings=after.settings)
    return mixed


def attribute(roles: Sequence[Role], value: Callable[[Taken], float | None]) -> DeltaParts | None:
    """Split ``value(roles) - value(())``; None if any value is undefined.

    ``roles`` is what ``differing`` says of two points, ``value`` the metric of the earlier one with some roles taken
    from the later one.
    """
    values: dict[Taken, float] = {}
    for taken in subsets(roles):
        found = value(taken)
        if found is None:
            return None
        values[taken] = found
    parts = {role: fsum(_shares(role, roles, values)) for role in roles}
    return DeltaParts(*(parts.get(role, 0.0) for role in ROLES))


def subsets(roles: Sequence[Role]) -> Iterator[Taken]:
    """Every set of roles, in their order, the empty one first and the whole last."""
    return (taken for size in range(len(roles) + 1) for taken in combinations(roles, size))


def _shares(role: Role, roles: Sequence[Role], values: dict[Taken, float]) -> Iterator[float]:
    """What the role adds to each set of the others, weighted by how many orders begin so."""
    others = tuple(one for one in roles if one != role)
    for size in range(len(roles)):
        weight = factorial(size) * factorial(len(roles) - size - 1) / factorial(len(roles))
        for taken in combinations(others, size):
            joined = tuple(one for one in roles if one in taken or one == role)
            yield weight * (values[joined] - values[taken])


def _contents(snapshot: Snapshot, role: Role) -> tuple[str | None, ...]:
    match role:
        case "outputs":
            names = [blob.path.rpartition("/")[2] for blob in snapshot.outputs]
            told_apart = names if len(names) > 1 else []
            return (*told_apart, *(blob.oid for blob in snapshot.outputs))
        case "ground_truth":
            return (_oid(snapshot.ground_truth),)
        case "rules":
            return (_oid(snapshot.mapping), _oid(snapshot.schema), snapshot.settings)


def _oid(blob: Blob | None) -> str | None:
    return blob.oid if blob else None
