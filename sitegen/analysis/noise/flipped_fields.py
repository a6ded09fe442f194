"""Counts flipped cells, and tests whether the flips of a field are more than chance."""

from __future__ import annotations

from sitegen.model.cells import Flips, Tally
from sitegen.model.noise import FieldMove
from sitegen.stats.significance import holm, mcnemar


def moved_fields(flips: Flips) -> tuple[FieldMove, ...]:
    """Test each field with a flipped cell by McNemar's test, adjusted over these fields; the smallest p value first."""
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
    """Return the p value of McNemar's test of flipped cells; 1 if undefined."""
    p_value = mcnemar(broken, fixed, pairs=fixed + broken).p_value
    return 1.0 if p_value is None else p_value


def flipped_cells(tally: Tally) -> int:
    """Return the number of cells of all attributes."""
    return sum(number for _, number in tally)


def independent_flips(tally: Tally) -> int:
    """Return the number of flips that may be independent, if fields are the units.

    If a list item appears or disappears, all of its cells flip together. So among the fields of a list only the field
    with the most flips counts.
    """
    most: dict[str, int] = {}
    for attribute, number in tally:
        name = flipping_together(attribute)
        most[name] = max(number, most.get(name, 0))
    return sum(most.values())


def flipping_together(attribute: str) -> str:
    """Return the group of fields that flip together: the path of their list, or the field itself outside of lists."""
    start, brackets, _ = attribute.rpartition("[]")
    return start + brackets if brackets else attribute
