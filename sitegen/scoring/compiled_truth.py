"""Compiles a ground truth once into trees with a comparison for each value, against which outputs are judged.

Each node of a tree remembers what was judged last against it, since most values of the next output are the same. That
only saves work: the result of an output does not depend on earlier ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from typing import Final, TypeAlias

import msgspec
from msgspec import field
from msgspec.structs import replace

from sitegen.data_files.reading import UnreadableError
from sitegen.importers.case import tags_of, texts_of
from sitegen.model.frozen import Frozen
from sitegen.model.outcomes import Judgement, Outcome, Unusable, Value
from sitegen.model.problems import Finding
from sitegen.model.scorecards import ANSWERERS, AlignmentPanel
from sitegen.scoring.compare import Comparison, TruthError, comparison
from sitegen.scoring.ground_truth.truth import ByIndex, GroundTruth, located
from sitegen.scoring.paths import DOCUMENT, ValuePlace, follow, item_name, item_names, objects_of, project, with_key
from sitegen.scoring.rules import FieldRule, FieldRules, ListRule
from sitegen.scoring.values import decimal_mark

_MAX_DOCUMENTS: Final = 100_000
"""The most documents of a ground truth: each has a score of its own in every scorecard of the history."""


class JudgedNode(Frozen):
    """A value of an output, and all results of judging it against a node."""

    actual: Value
    judgements: tuple[Judgement, ...]
    panels: tuple[AlignmentPanel, ...] = ()
    findings: tuple[Finding, ...] = ()


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


class Leaf(msgspec.Struct):
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
    last: JudgedNode | None = None


class Branch(msgspec.Struct):
    """An object."""

    place: ValuePlace
    members: dict[str, Node]
    by_index: bool = False
    """Whether the keys are indices of a list of plain values, of whose other items nothing is known."""
    last: JudgedNode | None = None


class ItemList(msgspec.Struct):
    """A list of objects."""

    place: ValuePlace
    rule: ListRule
    items: tuple[Item, ...]
    paired: PairedItems | None = None
    """The items that were paired last, if only their keys decided the pairs, so that equal keys give the same ones."""
    extra: dict[int, JudgedNode] = field(default_factory=dict)
    """What was judged last of the extra items, by their index in the output."""
    last: JudgedNode | None = None

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
    node.last = None
    if isinstance(node, Branch):
        for member in node.members.values():
            forget(member)
    elif isinstance(node, ItemList):
        node.paired = None
        node.extra.clear()
        for item in node.items:
            forget(item.branch)


def invalid_expected_value(place: ValuePlace, why: str, fix: str, value: str) -> Finding:
    """Return the finding about an expected value that cannot be compared; ``value``: what is quoted."""
    message = f"Ground-truth error: {place.path} {why}; not scored"
    return Finding.of_type("invalid_expected_value", message, fix, about="ground_truth", value=value, path=place.path)


class CompiledTruth:
    """The ground truth of an eval, compiled by its rules."""

    def __init__(self, truth: GroundTruth, rules: FieldRules) -> None:
        """Compile every document. Raises UnreadableError if there are too many."""
        number = len(truth.documents)
        if number > _MAX_DOCUMENTS:
            reason = f"it has {number:,} documents, more than the {_MAX_DOCUMENTS:,} that an eval can have"
            raise UnreadableError(reason, "Split the eval into several.")
        self.truth = truth
        self.rules = rules
        self.findings = list(truth.findings)
        self.attributes: dict[str, None] = {}
        """All attributes that are no objects, in the order of the ground truth."""
        self.objects: set[str] = set()
        """The attributes that are objects or lists of objects."""
        self.values = 0
        """Number of values of all documents together, on every level."""
        self._marks = _decimal_marks(truth) if truth.written is True else None
        """The decimal marks that the texts of each attribute prove; None if no types have to be inferred."""
        self.trees: list[Branch] = []
        """The tree of each document."""
        self.tags: dict[str, dict[str, str]] = {}
        """What else is said of each document, by its id: short texts that are not scored."""
        for document in truth.documents:
            self._document = document
            self.trees.append(self._branch(document.root, DOCUMENT))
            said: dict[str, Value] = {}
            for name, value in document.root.items():
                if rules.ignored(DOCUMENT.member(name)):
                    said |= value if isinstance(value, dict) else {name: value}
            tags = tags_of(texts_of(said))
            self.tags[document.id] = {name: text for name, text in tags.items() if name not in ANSWERERS}

    def _branch(self, members: dict[str, Value], place: ValuePlace) -> Branch:
        self.objects.add(place.attribute)
        by_index = isinstance(members, ByIndex)
        places = {key: place.item(int(key), "") if by_index else place.member(key) for key in members}
        return Branch(place, {key: self._node(value, places[key]) for key, value in members.items()}, by_index)

    def _node(self, value: Value, place: ValuePlace) -> Node:
        self.values += 1
        if self.rules.ignored(place):
            return None
        if isinstance(value, list | ByIndex):
            items = value.values() if isinstance(value, ByIndex) else value
            has_objects = any(isinstance(item, dict) for item in items)
            if has_objects or (value == [] and self.rules.is_list_of_objects(place.path)):
                return self._list(value, place)
        return self._branch(value, place) if isinstance(value, dict) and value else self._leaf(value, place)

    def _leaf(self, value: Value, place: ValuePlace) -> Leaf | None:
        """Compile a value without objects in it; None if it cannot be compared, which is reported.

        The judgements of the two most frequent cases are prepared: the value is missing, or exactly as expected.
        """
        rules = self.rules
        rule = None if rules.empty(value) else rules.field_rule(place)
        marks = None if self._marks is None else self._marks.get(place.attribute, frozenset())
        expected, compare = value, None
        nothing: Outcome = "true_negative"
        try:
            if rule is not None:
                expected, compare, nothing = comparison(value, rule, marks, typed=self.truth.written == "yaml")
        except TruthError as error:
            if not isinstance(value, Unusable):  # of which the reader of the file tells the line
                self._report(invalid_expected_value(place, str(error), "Correct the ground truth.", error.value))
            return None
        self.attributes[place.attribute] = None
        same = nothing if compare is None or rules.empty(expected) else compare(expected) or nothing
        return Leaf(
            place=place,
            value=expected,
            compare=compare,
            missing=place.judgement(self._document.id, nothing, expected, None),
            same=place.judgement(self._document.id, same, expected, expected),
            read=value,
            rule=rule,
        )

    def _list(self, value: list[Value] | ByIndex, place: ValuePlace) -> ItemList:
        """Compile a list of objects. Where the mapping states the indices, items without a key keep them."""
        self.objects.add(place.attribute)
        rules = self.rules
        rule = rules.list_rule(place.path)
        by_index = isinstance(value, ByIndex)
        values = [value.get(str(at)) for at in range(max(map(int, value)) + 1)] if isinstance(value, ByIndex) else value
        objects = objects_of(values)
        items = [
            Item(
                index=index,
                branch=self._branch(project(item, rule.score_fields), place.item(index, name)),
                raw=item,
                label=item_name(item, rule.match_fields),
                by_index=by_index and all(rules.empty(follow(item, key)) for key in rule.keys),  # type: ignore[arg-type]
            )
            for (index, item), name in zip(objects, item_names(objects, rule.match_fields), strict=True)
        ]
        for index, other in enumerate(values):
            if not isinstance(other, dict) and not rules.empty(other):
                error = f"Ground-truth error: {place.path}[{index}] is not an object as the other items are; not scored"
                fix = "Correct the ground truth."
                self._report(Finding.of_type("invalid_expected_value", error, fix, about="ground_truth"))
        return ItemList(place=place, rule=rule, items=tuple(items))

    def _report(self, finding: Finding) -> None:
        file = self.truth.files.get(self._document.id, "")
        self.findings.append(replace(located(finding, self._document.lines), file=file))


def _decimal_marks(truth: GroundTruth) -> Mapping[str, Set[str]]:
    """Return the decimal marks that a CSV file proves, by attribute; with one document, for all of its attributes."""
    marks: dict[str, set[str]] = defaultdict(set)
    for document in truth.documents:
        for attribute, text in _texts_below(document.root, ""):
            marks[attribute].update(decimal_mark(text))
    of_file = set().union(*marks.values()) if len(truth.documents) == 1 else set()
    return {attribute: own or of_file for attribute, own in marks.items()}


def _texts_below(value: Value, attribute: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield attribute, value
    elif isinstance(value, list | ByIndex):
        for item in value.values() if isinstance(value, ByIndex) else value:
            yield from _texts_below(item, attribute if isinstance(item, str) else f"{attribute}[]")
    elif isinstance(value, dict):
        for key, below in value.items():
            yield from _texts_below(below, with_key(attribute, key))
