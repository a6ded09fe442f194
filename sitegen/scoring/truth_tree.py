"""A compiled ground truth as a tree, and what the output that was scored last gave at each of its nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec import field

from sitegen.frozen import Frozen
from sitegen.model.outcomes import Judgement, Outcome
from sitegen.model.panels import AlignmentPanel
from sitegen.model.problems import Finding
from sitegen.model.scorecards import FieldScore
from sitegen.model.values import Value
from sitegen.scoring.compare import Comparison
from sitegen.scoring.paths import ValuePlace
from sitegen.scoring.rules import FieldRule, ListRule


class Leaf(Frozen):
    """One attribute: a scalar, or a list of scalars."""

    place: ValuePlace
    value: Value
    """In the form of pages: numbers are numbers, whatever the format of the file."""
    compare: Comparison | None
    """None if the value is annotated as blank."""
    missing: Judgement
    """The judgement of an output without this value."""
    same: Judgement
    """The judgement of an output with ``value`` itself."""
    read: Value
    """The value as it was read, from which ``value`` and ``compare`` follow by the rule."""
    rule: FieldRule | None
    """None if the value is annotated as blank."""


class Branch(Frozen):
    """An object."""

    place: ValuePlace
    members: dict[str, Node]


class ItemList(Frozen):
    """A list of objects."""

    place: ValuePlace
    rule: ListRule
    items: tuple[Item, ...]


class Item(Frozen):
    """One object of a list."""

    index: int
    branch: Branch
    raw: dict[str, Value]
    """The whole item, from which its match fields are read, in scope or not."""
    label: str
    """Its ``item_name``."""


Node: TypeAlias = Leaf | Branch | ItemList | None
"""None if it is scored on neither side, because it is ignored or because the expected value cannot be read."""


NodeKey: TypeAlias = int | tuple[int, int]
"""The ``id`` of a node; for an extra item, the ``id`` of the list and the index in the output."""


class JudgedNode(Frozen):
    """A value of an output, and all results of judging it against a node."""

    actual: Value
    judgements: tuple[Judgement, ...]
    panels: tuple[AlignmentPanel, ...]
    findings: tuple[Finding, ...]


class PairedItems(Frozen):
    """The pairs of items of a list, and everything that depends only on them."""

    keys: Value
    """For each item of the output, its index and the values by which it is paired and named."""
    partners: Mapping[int, int]
    """Position of an expected item -> position of its partner in the output."""
    unmatched: Mapping[int, str]
    """Position of an item of the output without a partner -> its name."""
    panel: AlignmentPanel
    findings: tuple[Finding, ...]
    by_keys_alone: bool
    """Whether only the keys of items were compared, so that equal keys give the same pairs."""


class LastOutput(msgspec.Struct):
    """The results of the last output scored against a ground truth, since most values of the next are the same.

    It only saves work: the result of an output does not depend on earlier ones.
    """

    nodes: dict[NodeKey, JudgedNode] = field(default_factory=dict)
    pairings: dict[int, PairedItems] = field(default_factory=dict)
    """The pairs of each list, by its ``id``."""
    judgements: Sequence[Judgement] = ()
    fields: dict[str, FieldScore] = field(default_factory=dict)
    """The counts of these judgements by attribute."""

    def forget(self) -> None:
        """Drop all references to the output."""
        self.nodes.clear()
        self.pairings.clear()
        self.judgements, self.fields = (), {}


def judgement_at(
    place: ValuePlace, document: str, outcome: Outcome, expected: Value, actual: Value, note: str = ""
) -> Judgement:
    """The judgement of the value at a place."""
    path, attribute, named_path = place
    return Judgement(
        document=document,
        path=path,
        attribute=attribute,
        outcome=outcome,
        expected=expected,
        actual=actual,
        note=note,
        named_path=named_path,
    )
