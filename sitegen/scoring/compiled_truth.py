"""Compiles a ground truth once into trees with a comparison for each value, against which outputs are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import msgspec
from msgspec import field
from msgspec.structs import replace

from sitegen.data_files.reading import UnreadableError
from sitegen.frozen import Frozen
from sitegen.model.metrics import Convention
from sitegen.model.outcomes import Judgement, Outcome
from sitegen.model.panels import AlignmentPanel
from sitegen.model.problems import Finding
from sitegen.model.scorecards import FieldScore
from sitegen.model.values import Value
from sitegen.scoring.compare import Comparison, TruthError, comparison
from sitegen.scoring.ground_truth import read_ground_truth
from sitegen.scoring.ground_truth.truth import GroundTruth
from sitegen.scoring.mapping import Mapping as FieldMapping
from sitegen.scoring.paths import DOCUMENT, ValuePlace, item_name, item_names, objects_of, project
from sitegen.scoring.rules import FieldRules, ListRule, RuleSources, compile_rules
from sitegen.scoring.scorer import File, content_of
from sitegen.scoring.values import is_same

MAX_DOCUMENTS: Final = 100_000
"""The most documents of a ground truth: each has a score of its own in every scorecard of the history."""
MAX_REMEMBERED: Final = 20_000
"""The most values of all compiled ground truths in the cache, which take about 40 MB: an eval seldom has more."""


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


class CompiledDocument(NamedTuple):
    """A document of the ground truth, compiled."""

    id: str
    """Ids may repeat."""
    tree: Branch


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


class CompiledTruth(Frozen):
    """The ground truth of an eval, compiled."""

    documents: tuple[CompiledDocument, ...]
    attributes: tuple[str, ...]
    """All attributes, in the order of the ground truth."""
    key: str | None
    """The key that names the documents of an output; None if they have no names, or if the layout names them."""
    findings: tuple[Finding, ...]
    convention: Convention = "standard"
    """By which its judgements are counted."""
    values: int = 0
    """Number of values of all documents together, on every level."""
    last: LastOutput = field(default_factory=LastOutput)


class _TruthReading(Frozen):
    """A ground truth that was read, and how. ``truth`` is never changed."""

    ending: str
    content: bytes
    mapping: FieldMapping
    truth: GroundTruth


class CompiledTruths:
    """Caches compiled ground truths by content, because many outputs of a history share one.

    Beyond ``MAX_REMEMBERED`` values the least recently used are dropped, except the last one. Most often a correction
    changes few values, and other rules none, so that the next one takes over what it can from the one compiled last.
    """

    def __init__(self) -> None:
        self._truths: dict[tuple[str, bytes, RuleSources], CompiledTruth] = {}
        self._values = 0
        self._last_reading: _TruthReading | None = None
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
        last = self._last_reading
        if last is None or (last.ending, last.content, last.mapping) != (ending, content, mapping):
            truth = read_ground_truth(f".{ending}", content, mapping)
            last = self._last_reading = _TruthReading(ending=ending, content=content, mapping=mapping, truth=truth)
        return last.truth


def _compile(truth: GroundTruth, rules: FieldRules, before: CompiledTruth | None) -> CompiledTruth:
    """Compile a ground truth. Values that are the same in the one *before* keep their judgements."""
    if len(truth.documents) > MAX_DOCUMENTS:
        reason = f"it has {len(truth.documents):,} documents, more than the {MAX_DOCUMENTS:,} that an eval can have"
        raise UnreadableError(reason, "Split the eval into several.")
    documents = []
    attributes: dict[str, None] = {}
    findings = list(truth.findings)
    values = 0
    trees = dict(before.documents) if before else {}
    for document in truth.documents:
        compiler = DocumentCompiler(document.id, rules, written=truth.written)
        documents.append(
            CompiledDocument(document.id, compiler.branch(document.root, DOCUMENT, trees.get(document.id)))
        )
        attributes |= compiler.attributes
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
        values=values,
        last=last,
    )


class DocumentCompiler:
    """Compiles the tree of one document. Collects its attributes and ground-truth errors, and counts its values."""

    def __init__(self, document: str, rules: FieldRules, *, written: bool) -> None:
        self.document = document
        self.rules = rules
        self.written = written
        self.attributes: dict[str, None] = {}
        self.findings: list[Finding] = []
        self.values = 0

    def branch(self, members: dict[str, Value], place: ValuePlace, before: Node) -> Branch:
        """Compile an object and everything below it. *before*: what the ground truth compiled last has instead."""
        earlier = before.members if isinstance(before, Branch) and before.place == place else {}
        return Branch(place, {key: self._node(value, place, key, earlier.get(key)) for key, value in members.items()})

    def _node(self, value: Value, above: ValuePlace, key: str, before: Node) -> Node:
        """Compile the value at a key of an object. *before*: the node at the same place."""
        place = before.place if before else above.member(key)
        self.values += 1
        rules = self.rules
        path, attribute, _ = place
        if rules.ignored(path, attribute):
            return None
        if isinstance(value, dict) and value:
            return self.branch(value, place, before)
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            return self._list(value, place, before)
        if value == [] and rules.is_list_of_objects(path):
            return ItemList(place, rules.list_rule(path), ())
        if rules.empty(value):
            return self._leaf(place, value, None, before)
        try:
            expected, compare = comparison(value, rules.field_rule(path, attribute), rules, written=self.written)
        except TruthError as error:
            self._report(f"{path} {error}", error.value, path)
            return None
        return self._leaf(place, expected, compare, before)

    def _leaf(self, place: ValuePlace, value: Value, compare: Comparison | None, before: Node) -> Leaf:
        """Prepare the judgements of the two most frequent cases: the value is missing, or exactly as expected."""
        self.attributes[place.attribute] = None
        nothing: Outcome = "true_negative" if compare is None else "omission"
        same = nothing if compare is None or self.rules.empty(value) else compare(value)
        if (
            isinstance(before, Leaf)
            and (before.missing.outcome, before.same.outcome) == (nothing, same)
            and before.value == value
            and is_same(before.value, value)
        ):
            return replace(before, compare=compare)
        return Leaf(
            place=place,
            value=value,
            compare=compare,
            missing=judgement_at(place, self.document, nothing, value, None),
            same=judgement_at(place, self.document, same, value, value),
        )

    def _list(self, values: list[Value], place: ValuePlace, before: Node) -> ItemList:
        rule = self.rules.list_rule(place.path)
        objects = objects_of(values)
        earlier = {item.index: item.branch for item in before.items} if isinstance(before, ItemList) else {}
        items = [
            Item(
                index=index,
                branch=self.branch(project(value, rule.score_fields), place.item(index, name), earlier.get(index)),
                raw=value,
                label=item_name(value, rule.match_fields),
            )
            for (index, value), name in zip(objects, item_names(objects, rule.match_fields), strict=True)
        ]
        for index, value in enumerate(values):
            if not isinstance(value, dict) and not self.rules.empty(value):
                self._report(f"{place.path}[{index}] is no object as the other items are")
        return ItemList(place, rule, tuple(items))

    def _report(self, error: str, value: str = "", path: str = "") -> None:
        self.findings.append(
            Finding.of_type(
                "invalid_expected_value",
                f"Ground-truth error: {error}; not scored",
                "Correct the ground truth.",
                about="ground_truth",
                value=value,
                path=path,
            )
        )


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
