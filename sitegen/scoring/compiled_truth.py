"""The ground truth of one document, read once and made ready to hold any number of outputs against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from sitegen.data_files.reading import UnreadableError
from sitegen.model.outcomes import Judgement, Outcome
from sitegen.model.problems import Finding
from sitegen.model.values import Value
from sitegen.scoring.compare import Comparison, TruthError, comparison
from sitegen.scoring.ground_truth import read_ground_truth
from sitegen.scoring.paths import DOCUMENT, ValuePlace, follow, item_names
from sitegen.scoring.rules import FieldRules, ListRule, RuleSources, compile_rules
from sitegen.scoring.scorer import File

MAX_DOCUMENTS: Final = 100_000
"""Documents of a ground truth. Every one of them has a score of its own in each scorecard of history."""
MAX_REMEMBERED: Final = 100_000
"""Values of all compiled ground truths that are remembered; so many take about 100 MB."""


class Leaf(NamedTuple):
    """One attribute: a scalar, or a list of scalars. A tuple, because there are a hundred in a document."""

    place: ValuePlace
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

    place: ValuePlace
    members: dict[str, Node]


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list of objects."""

    place: ValuePlace
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


class CompiledTruth(NamedTuple):
    """The ground truth of an eval, compiled."""

    documents: tuple[tuple[str, Branch], ...]
    """By their ids, which need not differ."""
    attributes: tuple[str, ...]
    """In the order of the truth."""
    key: str | None
    """The key that names the documents in a list; None: they have no names, or the layout says it otherwise."""
    findings: tuple[Finding, ...]
    values: int = 0
    """Of all documents together, on every level."""


class CompiledTruths:
    """The ground truths that were compiled last: one serves many outputs, and a history has several in turn.

    They are remembered by content, as many as have ``MAX_REMEMBERED`` values together and always the last one.
    """

    def __init__(self) -> None:
        self._truths: dict[tuple[str, bytes, RuleSources], CompiledTruth] = {}
        self._values = 0

    def compiled(self, file: File | None, sources: RuleSources) -> CompiledTruth:
        """The ground truth in a file, by the rules of these sources. Raises UnreadableError."""
        if file is None or file.content is None:
            raise UnreadableError((file.reason if file else "") or "the file is missing", "Add the ground truth.")
        key = file.path.rpartition(".")[2], file.content, sources
        truth = self._truths.pop(key, None)
        if truth is None:
            truth = _compile(*key)
            self._values += truth.values
        self._truths[key] = truth  # the last that was used stands last
        while self._values > MAX_REMEMBERED and len(self._truths) > 1:
            self._values -= self._truths.pop(next(iter(self._truths))).values
        return truth


def _compile(ending: str, content: bytes, sources: RuleSources) -> CompiledTruth:
    rules, _ = compile_rules(sources)
    truth = read_ground_truth(f".{ending}", content, rules.mapping)
    if len(truth.documents) > MAX_DOCUMENTS:
        what = f"it has {len(truth.documents):,} documents, more than the {MAX_DOCUMENTS:,} that an eval can have"
        raise UnreadableError(what, "Split the eval into several.")
    documents = []
    attributes: dict[str, None] = {}
    findings = list(truth.findings)
    values = 0
    for document in truth.documents:
        compiler = DocumentCompiler(document.id, rules, written=truth.written)
        documents.append((document.id, compiler.branch(document.root)))
        attributes |= compiler.attributes
        findings += compiler.findings
        values += compiler.values
    return CompiledTruth(
        documents=tuple(documents),
        attributes=tuple(attributes),
        key=truth.key,
        findings=tuple(findings),
        values=values,
    )


class DocumentCompiler:
    """Compiles the tree of one document; collects its attributes and ground-truth errors and counts its values."""

    def __init__(self, document: str, rules: FieldRules, *, written: bool) -> None:
        self.document = document
        self.rules = rules
        self.written = written
        self.attributes: dict[str, None] = {}
        self.findings: list[Finding] = []
        self.values = 0

    def branch(self, members: dict[str, Value], place: ValuePlace = DOCUMENT) -> Branch:
        """An object with everything below it."""
        return Branch(place, {key: self._node(value, place.member(key)) for key, value in members.items()})

    def _node(self, value: Value, place: ValuePlace) -> Node:
        self.values += 1
        rules = self.rules
        path, attribute, _ = place
        if rules.ignored(path, attribute):
            return OUT_OF_SCOPE
        if isinstance(value, dict) and value:
            return self.branch(value, place)
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            return self._list(value, place)
        if value == [] and rules.is_list_of_objects(path):
            return ItemList(place, rules.list_rule(path), ())
        if rules.empty(value):
            return self._leaf(place, value, None)
        try:
            shown, compare = comparison(value, rules.field_rule(path, attribute), rules, written=self.written)
        except TruthError as error:
            self._report(f"{path} {error}", error.value, path)
            return OUT_OF_SCOPE
        return self._leaf(place, shown, compare)

    def _leaf(self, place: ValuePlace, value: Value, compare: Comparison | None) -> Leaf:
        """Most values of an output are missing or as expected: their judgements are made here, once."""
        path, attribute, named_path = place
        self.attributes[attribute] = None
        nothing: Outcome = "true_negative" if compare is None else "omission"
        same = nothing if compare is None or self.rules.empty(value) else compare.judge(value)
        as_expected = Judgement(
            document=self.document,
            path=path,
            attribute=attribute,
            outcome=same,
            expected=value,
            actual=value,
            note="",
            named_path=named_path,
        )
        missing = as_expected._replace(outcome=nothing, actual=None)
        return Leaf(place=place, value=value, compare=compare, missing=missing, same=as_expected)

    def _list(self, values: list[Value], place: ValuePlace) -> ItemList:
        rule = self.rules.list_rule(place.path)
        objects = [(index, value) for index, value in enumerate(values) if isinstance(value, dict)]
        items = [
            Item(index, self.branch(project(value, rule.score_fields), place.item(index, name)), value)
            for (index, value), name in zip(objects, item_names(objects, rule.match_fields), strict=True)
        ]
        for index, value in enumerate(values):
            if not isinstance(value, dict) and not self.rules.empty(value):
                self._report(f"{place.path}[{index}] is no object as the other items are")
        return ItemList(place, rule, tuple(items))

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
    projected: dict[str, Value] = {}
    for *above, last in fields:
        holder = follow(item, above) if above else item
        if isinstance(holder, dict) and last in holder:
            below: Value = projected
            for key in above:
                assert isinstance(below, dict)
                below = below.setdefault(key, {})
            if isinstance(below, dict):
                below[last] = holder[last]
    return projected
