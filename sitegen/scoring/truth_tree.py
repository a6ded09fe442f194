"""A compiled ground truth as a tree, each of whose nodes remembers what was judged last against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec import field

from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Judgement, Outcome, Value
from sitegen.model.panels import AlignmentPanel
from sitegen.model.problems import Finding
from sitegen.model.scorecards import FieldScore
from sitegen.scoring.compare import Comparison
from sitegen.scoring.paths import ValuePlace
from sitegen.scoring.rules import FieldRule, ListRule


class JudgedNode(Frozen):
    """A value of an output, and all results of judging it against a node."""

    actual: Value
    judgements: tuple[Judgement, ...]
    panels: tuple[AlignmentPanel, ...] = ()
    findings: tuple[Finding, ...] = ()
    compare: Comparison | None = None
    """The comparison that judged the value of a leaf."""


class PairedItems(Frozen):
    """The pairs of items of a list, and everything that depends only on them."""

    keys: Value
    """Of each item of the output its index and the values by which it is paired and named, one after the other."""
    partners: Mapping[int, int]
    """Position of an expected item -> position of its partner in the output."""
    unmatched: Mapping[int, str]
    """Position of an item of the output without a partner -> its name."""
    panel: AlignmentPanel
    findings: tuple[Finding, ...]
    by_keys_alone: bool
    """Whether only the keys of items were compared, so that equal keys give the same pairs."""


class LastJudged(msgspec.Struct):
    """What was judged last against a node, since most values of the next output are the same.

    It only saves work: the result of an output does not depend on earlier ones. The ground truths of a history share it
    where they judge alike.
    """

    node: JudgedNode | None = None


class LastPaired(msgspec.Struct):
    """The items that were paired last with those of a list."""

    items: PairedItems | None = None


class CountedField(Frozen):
    """The counts of the judgements of an attribute, and the F1 that follows from them."""

    score: FieldScore
    f1: float | None


class LastOutput(msgspec.Struct):
    """What was counted of the output that was scored last against a ground truth; like ``LastJudged`` it saves work."""

    judgements: Sequence[Judgement] = ()
    fields: dict[str, CountedField] = field(default_factory=dict)
    """By attribute."""


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
    last: LastJudged
    """Of this leaf, or of one with the same value whose comparison may be another one."""


class Branch(Frozen):
    """An object."""

    place: ValuePlace
    members: dict[str, Node]
    by_index: bool = False
    """Whether the keys are indices of a list of plain values, of whose other items nothing is known."""
    last: LastJudged = field(default_factory=LastJudged)


class ItemList(Frozen):
    """A list of objects."""

    place: ValuePlace
    rule: ListRule
    key_rules: tuple[FieldRule, ...]
    """The rules of ``rule.keys``."""
    items: tuple[Item, ...]
    paired: LastPaired = field(default_factory=LastPaired)
    extra: dict[int, LastJudged] = field(default_factory=dict)
    """What was judged last of the extra items, by their index in the output."""
    last: LastJudged = field(default_factory=LastJudged)

    @property
    def expected_keys(self) -> set[str]:
        """The keys of all items."""
        return {key for item in self.items for key in item.branch.members}


class Item(Frozen):
    """One object of a list."""

    index: int
    branch: Branch
    raw: dict[str, Value]
    """The whole item, from which its match fields are read, in scope or not."""
    label: str
    """Its ``item_name``."""
    by_index: bool = False
    """Whether its partner is the item of the output with the same index, because it has no key and is mapped so."""


Node: TypeAlias = Leaf | Branch | ItemList | None
"""None if it is scored on neither side, because it is ignored or because the expected value cannot be read."""


def forget(node: Node) -> None:
    """Drop everything that a node and the nodes below it remember of outputs."""
    if node is None:
        return
    node.last.node = None
    if isinstance(node, Branch):
        for member in node.members.values():
            forget(member)
    elif isinstance(node, ItemList):
        node.paired.items = None
        node.extra.clear()
        for item in node.items:
            forget(item.branch)


def invalid_expected_value(error: str, fix: str, value: str, path: str) -> Finding:
    """The finding about an expected value that cannot be compared; *value* is quoted."""
    message = f"Ground-truth error: {error}; not scored"
    return Finding.of_type("invalid_expected_value", message, fix, about="ground_truth", value=value, path=path)


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
