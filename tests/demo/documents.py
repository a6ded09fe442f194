"""What the demo's evals read: fields with their types and stock of values, invented throughout."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from tests.demo.dice import Dice

FieldType: TypeAlias = Literal["string", "date", "numeric", "integer", "boolean", "angle", "list"]
Cell: TypeAlias = "str | int | float | bool | list[str] | None"
Cells: TypeAlias = dict[str, Cell]
"""One document, by concrete field path: ``meter.id``, ``goods[2].description``."""


class Field(NamedTuple):
    """One attribute of a document or of a line item."""

    path: str
    type: FieldType
    stock: tuple[str, ...] = ()
    """Texts to choose from; of a list its elements."""
    low: int = 0
    """Least value of a number, in hundredths if it is ``numeric``."""
    high: int = 0
    skill: int = 600
    """How well it is read at first: the share of cells that come out right, in thousandths."""
    blank: int = 0
    """Share of documents that do not have it, in hundredths."""


class Items(NamedTuple):
    """A list of objects in a document, matched by ``description``."""

    path: str
    least: int
    most: int
    fields: tuple[Field, ...]
    """The first is the description; its stock has no value twice."""
    skill: int = 850
    """How rarely a whole item is lost, in thousandths."""


class EvalSpec(NamedTuple):
    """One eval of the demo."""

    id: str
    name: str
    description: str
    truth: Literal["wide", "long", "json", "jsonl", "yaml"]
    layout: Literal["iterations", "overwritten"]
    documents: tuple[str, ...]
    """Ids; a single one means that the output is the document itself."""
    fields: tuple[Field, ...]
    items: Items
    instructions: tuple[str, ...]
    records_runs: bool = False
    """Every iteration has an ``eval-results.json`` that says when, and with which instructions, it was made."""

    def attributes(self) -> dict[str, Field]:
        """All fields by attribute, ``goods[].weight_kg`` for those of items."""
        own = {field.path: field for field in self.fields}
        return own | {f"{self.items.path}[].{field.path}": field for field in self.items.fields}


def attribute_of(path: str) -> str:
    """``goods[12].weight_kg`` -> ``goods[].weight_kg``."""
    head, bracket, rest = path.partition("[")
    return f"{head}[]{rest[rest.index(']') + 1 :]}" if bracket else path


def true_cells(spec: EvalSpec, document: str, dice: Dice) -> Cells:
    """What really stands in a document: the ground truth before anyone mistypes it."""
    cells: Cells = {field.path: value_of(field, dice) for field in spec.fields}
    count = dice.between(spec.items.least, spec.items.most)
    for index, description in enumerate(dice.draw(spec.items.fields[0].stock, count)):
        cells[f"{spec.items.path}[{index}].description"] = description
        for field in spec.items.fields[1:]:
            cells[f"{spec.items.path}[{index}].{field.path}"] = value_of(field, dice)
    return cells


def value_of(field: Field, dice: Dice) -> Cell:
    """A value that the field can have; None if the document does not say."""
    if dice.below(100) < field.blank:
        return None
    if field.type == "date":
        return f"2026-{dice.between(1, 12):02}-{dice.between(1, 28):02}"
    if field.type == "boolean":
        return dice.below(2) == 1
    if field.type == "list":
        return dice.draw(field.stock, dice.between(2, 4))
    if field.type == "numeric":
        return dice.between(field.low, field.high) / 100
    if field.type in ("integer", "angle"):
        return dice.between(field.low, field.high)
    return dice.pick(field.stock)
