"""Counts flipped cells, and tests whether those of a field are more than chance."""

from __future__ import annotations

from sitegen.model.cells import Flips, Tally
from sitegen.model.noise import FieldMove
from sitegen.stats.significance import holm, mcnemar


def moved_fields(flips: Flips) -> tuple[FieldMove, ...]:
    """The fields with a flipped cell, each with McNemar's test, adjusted over these fields; the least p first."""
    fixed, broken = dict(flips.fixed), dict(flips.broken)
    names = tuple(fixed | broken)
    p_values = [flip_p_value(fixed.get(name, 0), broken.get(name, 0)) for name in names]
    moves = (
        FieldMove(
            attribute=name, fixed=fixed.get(name, 0), broken=broken.get(name, 0), p_value=p_value, adjusted_p=adjusted
        )
        for name, p_value, adjusted in zip(names, p_values, holm(p_values), strict=True)
        if adjusted is not None
    )
    return tuple(sorted(moves, key=lambda move: (move.p_value, move.attribute)))


def flip_p_value(fixed: int, broken: int) -> float:
    """McNemar's test of flipped cells; 1 where it is undefined."""
    p_value = mcnemar(broken, fixed, pairs=fixed + broken).p_value
    return 1.0 if p_value is None else p_value


def flipped_cells(tally: Tally) -> int:
    """The number of cells of all attributes."""
    return sum(number for _, number in tally)


def independent_flips(tally: Tally) -> int:
    """The number of flips that may be independent, where fields are the units.

    If a list item is found or lost, all of its cells flip together. So of the fields of a list only the one with the
    most flips counts.
    """
    most: dict[str, int] = {}
    for attribute, number in tally:
        name = flipping_together(attribute)
        most[name] = max(number, most.get(name, 0))
    return sum(most.values())


def flipping_together(attribute: str) -> str:
    """The group of fields whose cells flip together: the path of their list, or the field itself if it is in none."""
    start, brackets, _ = attribute.rpartition("[]")
    return start + brackets if brackets else attribute
