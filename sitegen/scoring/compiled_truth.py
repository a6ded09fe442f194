"""Compiles a ground truth once into trees with a comparison for each value, against which outputs are judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from operator import is_
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from msgspec import field
from msgspec.structs import replace

from sitegen.data_files.reading import UnreadableError
from sitegen.model.frozen import Frozen
from sitegen.model.metrics import Convention
from sitegen.model.named_tuple import NamedTuple
from sitegen.model.outcomes import Outcome, Value
from sitegen.model.problems import Finding
from sitegen.scoring.compare import TruthError, comparison
from sitegen.scoring.ground_truth import read_ground_truth
from sitegen.scoring.ground_truth.truth import ByIndex, GroundTruth, TruthDocument, located
from sitegen.scoring.mapping import Mapping as FieldMapping
from sitegen.scoring.paths import DOCUMENT, ValuePlace, follow, item_name, item_names, objects_of, project, with_key
from sitegen.scoring.rules import FieldRules, RuleSources, compile_rules
from sitegen.scoring.scorer import File, content_of
from sitegen.scoring.truth_tree import (
    Branch,
    Item,
    ItemList,
    LastJudged,
    LastOutput,
    Leaf,
    Node,
    invalid_expected_value,
    judgement_at,
)
from sitegen.scoring.values import decimal_mark, is_same

_MAX_DOCUMENTS: Final = 100_000
"""The most documents of a ground truth: each has a score of its own in every scorecard of the history."""
MAX_REMEMBERED: Final = 20_000
"""The most values of all compiled ground truths in the cache, which take about 40 MB: an eval seldom has more."""


DecimalMarks: TypeAlias = Mapping[str, Set[str]]
"""The decimal marks that the texts of each attribute prove."""


class CompiledDocument(NamedTuple):
    """A document of the ground truth, compiled."""

    id: str
    """Ids may repeat."""
    tree: Branch
    lines: Mapping[str, int] = MappingProxyType({})
    """As ``TruthDocument.lines``."""


class CompiledTruth(Frozen):
    """The ground truth of an eval, compiled."""

    documents: tuple[CompiledDocument, ...]
    attributes: tuple[str, ...]
    """All attributes, in the order of the ground truth."""
    key: str | None
    """The key that names the documents of an output; None if they have no names, or if the layout names them."""
    findings: tuple[Finding, ...]
    rules: FieldRules
    """The rules by which it was compiled."""
    marks: DecimalMarks | None
    """None if no types had to be inferred."""
    convention: Convention = "standard"
    """By which its judgements are counted."""
    values: int = 0
    """Number of values of all documents together, on every level."""
    last: LastOutput = field(default_factory=LastOutput)
    objects: frozenset[str] = frozenset()
    """The attributes that are objects or lists of objects."""


class CompiledTruths:
    """Caches compiled ground truths by content, because many outputs of a history share one.

    Beyond ``MAX_REMEMBERED`` values the least recently used are dropped, except the last one. Most often a correction
    changes few values, and other rules none, so that the next one takes over what it can from the one compiled last.
    """

    def __init__(self) -> None:
        self._truths: dict[tuple[str, bytes, RuleSources], CompiledTruth] = {}
        self._values = 0
        self._reading: tuple[str, bytes, FieldMapping] | None = None
        self._truth: GroundTruth | None = None
        """The ground truth that was read last, and how. It is never changed."""
        self._last_compiled: CompiledTruth | None = None

    def compiled(self, file: File | None, sources: RuleSources) -> CompiledTruth:
        """Compile a ground truth file by the rules of these sources. Raises UnreadableError."""
        content = content_of(file, "the file is missing", "Add the ground truth.")
        key = file.path.rpartition(".")[2] if file else "", content, sources
        truth = self._truths.pop(key, None)
        if truth is None:
            rules = compile_rules(sources).value
            truth = self._last_compiled = _compile(self._read(*key[:2], rules.of_files), rules, self._last_compiled)
            self._values += truth.values
        self._truths[key] = truth  # the most recently used comes last
        while self._values > MAX_REMEMBERED and len(self._truths) > 1:
            self._values -= self._truths.pop(next(iter(self._truths))).values
        return truth

    def _read(self, ending: str, content: bytes, mapping: FieldMapping) -> GroundTruth:
        """Read a ground truth, or return the last one if only rules have changed since."""
        reading = ending, content, mapping
        if self._truth is None or self._reading != reading:
            self._truth, self._reading = read_ground_truth(f".{ending}", content, mapping), reading
        return self._truth


def _compile(truth: GroundTruth, rules: FieldRules, before: CompiledTruth | None) -> CompiledTruth:
    """Compile a ground truth. Values that are the same in the one *before* keep their judgements."""
    if len(truth.documents) > _MAX_DOCUMENTS:
        reason = f"it has {len(truth.documents):,} documents, more than the {_MAX_DOCUMENTS:,} that an eval can have"
        raise UnreadableError(reason, "Split the eval into several.")
    documents = []
    attributes: dict[str, None] = {}
    objects: set[str] = set()
    findings = list(truth.findings)
    values = 0
    trees = {document.id: document.tree for document in before.documents} if before else {}
    marks = _decimal_marks(truth.documents) if truth.written else None
    alike = before is not None and before.marks == marks and rules.judges_like(before.rules)
    for document in truth.documents:
        compiler = DocumentCompiler(document, rules, marks, alike=alike)
        tree = compiler.branch(document.root, DOCUMENT, trees.get(document.id))
        documents.append(CompiledDocument(document.id, tree, document.lines))
        attributes |= compiler.attributes
        objects |= compiler.objects
        findings += compiler.findings
        values += compiler.values
    convention = rules.mapping.convention
    if before and before.convention == convention:
        last = LastOutput(judgements=before.last.judgements, fields=before.last.fields)
    else:
        last = LastOutput()
    return CompiledTruth(
        documents=tuple(documents),
        attributes=tuple(attributes),
        key=truth.key,
        convention=convention,
        findings=tuple(findings),
        rules=rules,
        marks=marks,
        values=values,
        last=last,
        objects=frozenset(objects),
    )


def _decimal_marks(documents: Iterable[TruthDocument]) -> DecimalMarks:
    """The decimal marks that a CSV file proves, by attribute; with one document, for all of its attributes."""
    marks: dict[str, set[str]] = defaultdict(set)
    roots = [document.root for document in documents]
    for root in roots:
        for attribute, text in _texts_below(root, ""):
            marks[attribute].update(decimal_mark(text))
    of_file = set().union(*marks.values()) if len(roots) == 1 else set()
    return {attribute: own or of_file for attribute, own in marks.items()}


def _texts_below(value: Value, attribute: str) -> Iterator[tuple[str, str]]:
    """Yield each text of a document with its attribute."""
    if isinstance(value, str):
        yield attribute, value
    elif isinstance(value, list | ByIndex):
        for item in value.values() if isinstance(value, ByIndex) else value:
            yield from _texts_below(item, attribute if isinstance(item, str) else f"{attribute}[]")
    elif isinstance(value, dict):
        for key, below in value.items():
            yield from _texts_below(below, with_key(attribute, key))


class DocumentCompiler:
    """Compiles the tree of one document. Collects its attributes and ground-truth errors, and counts its values."""

    def __init__(
        self, document: TruthDocument, rules: FieldRules, marks: DecimalMarks | None, *, alike: bool = False
    ) -> None:
        """``alike``: whether nodes with equal rules judge as in the ground truth compiled last."""
        self.document = document
        self.rules = rules
        self.marks = marks
        self.alike = alike
        self.attributes: dict[str, None] = {}
        self.objects: set[str] = set()
        self.findings: list[Finding] = []
        self.values = 0

    def branch(self, members: dict[str, Value], place: ValuePlace, before: Node) -> Branch:
        """Compile an object and everything below it. *before*: what the ground truth compiled last has instead."""
        self.objects.add(place.attribute)
        by_index = isinstance(members, ByIndex)
        is_same_place = isinstance(before, Branch) and (before.place, before.by_index) == (place, by_index)
        earlier = before.members if isinstance(before, Branch) and is_same_place else {}
        nodes = {
            key: self._node(value, place.item(int(key), "") if by_index else place.member(key), earlier.get(key))
            for key, value in members.items()
        }
        if self.alike and isinstance(before, Branch) and is_same_place and _are_the_very(nodes, earlier):
            return before
        return Branch(place, nodes, by_index)

    def _node(self, value: Value, place: ValuePlace, before: Node) -> Node:
        """Compile a value. *before*: the node at the same place."""
        self.values += 1
        rules = self.rules
        path, attribute, _ = place
        if rules.ignored(path, attribute):
            return None
        if isinstance(value, ByIndex) and any(isinstance(item, dict) for item in value.values()):
            return self._list([value.get(str(index)) for index in range(max(map(int, value)) + 1)], place, before, True)
        if isinstance(value, dict) and value:
            return self.branch(value, place, before)
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            return self._list(value, place, before)
        if value == [] and rules.is_list_of_objects(path):
            return self._list([], place, before)
        return self._leaf(value, place, before)

    def _leaf(self, value: Value, place: ValuePlace, before: Node) -> Leaf | None:
        """Compile a value without objects in it; None if it cannot be compared, which is reported.

        The judgements of the two most frequent cases are prepared: the value is missing, or exactly as expected.
        """
        rules = self.rules
        rule = None if rules.empty(value) else rules.field_rule(place.path, place.attribute)
        nothing: Outcome
        earlier = before if isinstance(before, Leaf) else None
        if self.alike and earlier and earlier.rule == rule and is_same(earlier.read, value):
            self.attributes[place.attribute] = None
            return earlier
        expected, compare, nothing = value, None, "true_negative"
        if rule is not None:
            try:
                marks = None if self.marks is None else self.marks.get(place.attribute, frozenset())
                expected, compare, nothing = comparison(value, rule, rules, marks)
            except TruthError as error:
                self._report(f"{place.path} {error}", error.value, place.path)
                return None
        self.attributes[place.attribute] = None
        same = nothing if compare is None or rules.empty(expected) else compare(expected) or nothing
        if (
            earlier
            and (earlier.missing.outcome, earlier.same.outcome) == (nothing, same)
            and is_same(earlier.value, expected)
        ):
            last = earlier.last if self.alike else LastJudged()
            return replace(earlier, compare=compare, read=value, rule=rule, last=last)
        return Leaf(
            place=place,
            value=expected,
            compare=compare,
            missing=judgement_at(place, self.document.id, nothing, expected, None),
            same=judgement_at(place, self.document.id, same, expected, expected),
            read=value,
            rule=rule,
            last=LastJudged(),
        )

    def _list(self, values: list[Value], place: ValuePlace, before: Node, by_index: bool = False) -> ItemList:
        """Compile a list of objects. *by_index*: the mapping states the indices; items without a key keep them."""
        self.objects.add(place.attribute)
        rules = self.rules
        rule = rules.list_rule(place.path)
        objects = objects_of(values)
        earlier = {item.index: item.branch for item in before.items} if isinstance(before, ItemList) else {}
        items = [
            Item(
                index=index,
                branch=self.branch(project(value, rule.score_fields), place.item(index, name), earlier.get(index)),
                raw=value,
                label=item_name(value, rule.match_fields),
                by_index=by_index and all(rules.empty(follow(value, key)) for key in rule.keys),  # type: ignore[arg-type]
            )
            for (index, value), name in zip(objects, item_names(objects, rule.match_fields), strict=True)
        ]
        for index, value in enumerate(values):
            if not isinstance(value, dict) and not self.rules.empty(value):
                self._report(f"{place.path}[{index}] is not an object as the other items are")
        node = ItemList(place=place, rule=rule, key_rules=rules.key_rules(place, rule.keys), items=tuple(items))
        if not self.alike or not isinstance(before, ItemList):
            return node
        pairs_alike = before.key_rules == node.key_rules and is_same(_keys(before, rules), _keys(node, rules))
        if pairs_alike and all(
            item.branch is earlier.branch for item, earlier in zip(items, before.items, strict=True)
        ):
            return before
        paired = before.paired if pairs_alike else node.paired
        extra = before.extra if before.expected_keys == node.expected_keys else node.extra
        return replace(node, paired=paired, extra=extra)

    def _report(self, error: str, value: str = "", path: str = "") -> None:
        finding = invalid_expected_value(error, "Correct the ground truth.", value, path)
        self.findings.append(located(finding, self.document.lines))


def _are_the_very(nodes: dict[str, Node], others: dict[str, Node]) -> bool:
    """Whether two objects have the very same nodes, in the same order."""
    return list(nodes) == list(others) and all(map(is_, nodes.values(), others.values()))


def _keys(node: ItemList, rules: FieldRules) -> Any:
    """What decides how the items of an output are paired with those of a list by their keys, and how it is shown."""
    return [
        [item.index, item.by_index, rules.empty(item.raw), [follow(item.raw, key) for key in node.rule.keys]]
        for item in node.items
    ]
