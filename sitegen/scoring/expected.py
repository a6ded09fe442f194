"""The ground truth of one document, read once and made ready to hold any number of outputs against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sitegen.model.outcomes import Judgement, Outcome
from sitegen.model.problems import Finding
from sitegen.model.values import Value
from sitegen.scoring.compare import Comparison, TruthError, comparison
from sitegen.scoring.paths import follow, with_key
from sitegen.scoring.rules import ListRule, Rules


class Leaf(NamedTuple):
    """One attribute: a scalar, or a list of scalars. A tuple, because there are a hundred in a document."""

    path: str
    attribute: str
    value: Value
    """As it is shown: numbers are numbers, whatever file they came from."""
    compare: Comparison | None
    """None: annotated as blank."""
    missing: Judgement
    """What comes of it where an output gives nothing."""
    same: Judgement
    """What comes of it where an output gives the value as it is shown."""


@dataclass(frozen=True, slots=True)
class Branch:
    """An object."""

    path: str
    attribute: str
    members: dict[str, Node]


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list of objects."""

    path: str
    attribute: str
    rule: ListRule
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One object of a list."""

    index: int
    branch: Branch
    raw: dict[str, Value]
    """What it is matched by, in scope or not."""


@dataclass(frozen=True, slots=True)
class OutOfScope:
    """Not scored on either side: ignored, or an expected value that cannot be read."""


Node: TypeAlias = Leaf | Branch | ItemList | OutOfScope

OUT_OF_SCOPE = OutOfScope()


class Compiler:
    """Compiles the tree of one document; collects its attributes and ground-truth errors on the way."""

    def __init__(self, document: str, rules: Rules, *, written: bool) -> None:
        self.document = document
        self.rules = rules
        self.written = written
        self.attributes: dict[str, None] = {}
        self.findings: list[Finding] = []

    def branch(self, members: dict[str, Value], path: str, attribute: str) -> Branch:
        """An object with everything below it."""
        return Branch(
            path,
            attribute,
            {key: self._node(each, with_key(path, key), with_key(attribute, key)) for key, each in members.items()},
        )

    def _node(self, value: Value, path: str, attribute: str) -> Node:
        rules = self.rules
        if rules.ignored(path, attribute):
            return OUT_OF_SCOPE
        if isinstance(value, dict) and value:
            return self.branch(value, path, attribute)
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            return self._list(value, path, attribute)
        if value == [] and rules.is_list_of_objects(path):
            return ItemList(path, attribute, rules.list_rule(path), ())
        if rules.empty(value):
            return self._leaf(path, attribute, value, None)
        try:
            shown, compare = comparison(value, rules.field_rule(path, attribute), rules, written=self.written)
        except TruthError as error:
            self._report(f"{path} {error}", error.value, path)
            return OUT_OF_SCOPE
        return self._leaf(path, attribute, shown, compare)

    def _leaf(self, path: str, attribute: str, value: Value, compare: Comparison | None) -> Leaf:
        """Most values of an output are missing or as expected: their judgements are made here, once."""
        self.attributes[attribute] = None
        nothing: Outcome = "true_negative" if compare is None else "omission"
        same = nothing if compare is None or self.rules.empty(value) else compare.judge(value)
        return Leaf(
            path,
            attribute,
            value,
            compare,
            missing=Judgement(self.document, path, attribute, nothing, value, None),
            same=Judgement(self.document, path, attribute, same, value, value),
        )

    def _list(self, values: list[Value], path: str, attribute: str) -> ItemList:
        rule = self.rules.list_rule(path)
        items = []
        for index, value in enumerate(values):
            if isinstance(value, dict):
                kept = project(value, rule.score_fields)
                items.append(Item(index, self.branch(kept, f"{path}[{index}]", f"{attribute}[]"), value))
            elif not self.rules.empty(value):
                self._report(f"{path}[{index}] is no object as the other items are")
        return ItemList(path, attribute, rule, tuple(items))

    def _report(self, what: str, value: str = "", path: str = "") -> None:
        self.findings.append(
            Finding(
                severity="warning",
                what=f"Ground-truth error: {what}; not scored",
                fix="Correct the ground truth.",
                about="ground_truth",
                value=value,
                path=path,
            )
        )


def project(item: dict[str, Value], fields: tuple[tuple[str, ...], ...]) -> dict[str, Value]:
    """The item with the named fields only (``price`` or ``price.net``); all of it if none is named."""
    if not fields:
        return item
    kept: dict[str, Value] = {}
    for *above, last in fields:
        holder = follow(item, above) if above else item
        if isinstance(holder, dict) and last in holder:
            below: Value = kept
            for key in above:
                assert isinstance(below, dict)
                below = below.setdefault(key, {})
            if isinstance(below, dict):
                below[last] = holder[last]
    return kept
