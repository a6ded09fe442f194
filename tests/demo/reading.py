"""The stand-in for a language model: reads a document with a given skill at each field.

A cell is read right if the skill at its attribute exceeds the cell's own difficulty, which never changes, plus a little
noise of the run. So an edit that raises a skill mends some cells for good, and another that lowers it breaks the same
ones again, as with a real model.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.demo.dice import Dice, hashed
from tests.demo.documents import Cell, Cells, EvalSpec, Field, attribute_of, value_of

NOISE = 9
"""Largest push of one run, in thousandths, up or down."""


def read(spec: EvalSpec, document: str, truth: Cells, skills: Mapping[str, int], run: int) -> Cells:
    """What the stand-in makes of one document in one run."""
    fields = spec.attributes()
    cells: Cells = {}
    for path, expected in truth.items():
        attribute = attribute_of(path)
        if "[" in path:
            item = path[: path.index("]") + 1]
            if not _succeeds(skills[f"{spec.items.path}[]"], run, spec.id, document, item):
                continue
        if _succeeds(skills[attribute], run, spec.id, document, path):
            cells[path] = expected
        else:
            cells[path] = misread(fields[attribute], expected, Dice(hashed(spec.id, document, path, "error")))
    return renumbered(cells)


def _succeeds(skill: int, run: int, *cell: str) -> bool:
    push = hashed(*cell, str(run)) % (2 * NOISE + 1) - NOISE
    return hashed(*cell) % 1000 < skill + push


def renumbered(cells: Cells) -> Cells:
    """Close the gaps that lost items leave: indices of what is there run from 0."""
    order: dict[str, int] = {}
    closed: Cells = {}
    for path, cell in cells.items():
        item, bracket, rest = path.partition("]")
        if bracket:
            index = order.setdefault(item, len(order))
            path = f"{item[: item.index('[')]}[{index}]{rest}"
        closed[path] = cell
    return closed


def misread(field: Field, expected: Cell, dice: Dice) -> Cell:
    """A believable mistake: omission, another value, another form, or a value where there is none."""
    if expected is None:
        return value_of(field._replace(blank=0), dice)
    if dice.below(10) < 3:
        return None
    if isinstance(expected, bool):
        return not expected if dice.below(4) else "see overleaf"
    if isinstance(expected, list):
        return expected[:-1] if dice.below(2) else ", ".join(expected)
    if isinstance(expected, int | float):
        return _misread_number(field, expected, dice)
    if field.type == "date":
        year, month, day = expected.split("-")
        return f"{year}-{day}-{month}" if dice.below(2) else f"{day}/{month}/{year[2:]}"
    return _misread_text(field, expected, dice)


def _misread_number(field: Field, expected: float, dice: Dice) -> Cell:
    mistake = dice.below(4)
    if field.type == "angle":
        return int(expected + 180) % 360 if mistake else f"{expected} deg"
    if mistake == 0:
        return f"{expected} approx."
    if mistake == 1:
        return expected * 10
    return value_of(field._replace(blank=0), dice)


def _misread_text(field: Field, expected: str, dice: Dice) -> Cell:
    mistake = dice.below(3)
    if mistake == 0 and len(expected) > 4:
        place = dice.between(1, len(expected) - 3)
        return expected[:place] + expected[place + 1] + expected[place] + expected[place + 2 :]
    if mistake == 1 and " " in expected:
        return expected.rsplit(" ", 1)[0]
    return dice.pick(field.stock)
