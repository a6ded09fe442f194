"""Holds a document of an output against its ground truth, attribute by attribute (rules 1 to 5, 16, 24)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from sitegen.model.outcomes import EXTRA_ITEM, Judgement, Outcome
from sitegen.model.panels import AlignmentPanel, AlignmentRow
from sitegen.model.problems import Finding
from sitegen.model.scorecards import ListAlignment
from sitegen.model.values import Value
from sitegen.scoring.compiled_truth import Branch, Item, ItemList, Leaf, Node, OutOfScope, project
from sitegen.scoring.lists import align
from sitegen.scoring.paths import ANY, ValuePlace, item_name, item_names, path_text
from sitegen.scoring.rules import FieldRule, FieldRules

BLANK: Final = "expected blank"
EXTRA: Final = "not in ground truth"
MISSING_ITEM: Final = "missing item"
NOT_AN_OBJECT: Final = "not an object"
NOT_A_LIST: Final = "not a list of objects"


class Judge:
    """One document. Ask it once; then its judgements, alignments and findings are complete."""

    __slots__ = ("_document", "_empty", "_rules", "alignments", "findings", "judgements", "panels")

    def __init__(self, document: str, rules: FieldRules) -> None:
        self._document = document
        self._rules = rules
        self._empty = rules.empty
        self.judgements: list[Judgement] = []
        self.alignments: list[ListAlignment] = []
        self.panels: list[AlignmentPanel] = []
        self.findings: list[Finding] = []

    def document(self, expected: Branch, actual: dict[str, Value]) -> None:
        """Judge a document that could be read."""
        self._members(expected, actual)

    def unreadable(self, expected: Branch, note: str) -> None:
        """Every non-empty expected value is an omission; blanks are not agreed upon with nobody (rule 8)."""
        self._omit(expected, note, blanks=False)

    def _members(self, expected: Branch, actual: dict[str, Value]) -> None:
        members = expected.members
        for key, node in members.items():
            value = actual.get(key)
            # The great majority, three in four judged already: a call saved here is saved a hundred times a document.
            if type(node) is not Leaf:
                self._node(node, value)
            elif value is None:
                self.judgements.append(node.missing)
            elif value is node.value or (type(value) is str and value == node.value):
                self.judgements.append(node.same)
            else:
                self._leaf(node, value)
        if self._rules.mapping.extra_fields == "count":
            for key, value in actual.items():
                if key not in members:
                    self._extra(value, expected.place.member(key), EXTRA)

    def _node(self, node: Node, actual: Value) -> None:
        if isinstance(node, Leaf):
            self._leaf(node, actual)
        elif isinstance(node, Branch):
            if isinstance(actual, dict) and actual:
                self._members(node, actual)
                return
            self._omit(node, "", blanks=True)
            if not self._empty(actual):
                self._add(node.place, "hallucination", None, actual, NOT_AN_OBJECT)
        elif isinstance(node, ItemList):
            self._list(node, actual)

    def _leaf(self, leaf: Leaf, actual: Value) -> None:
        if leaf.compare is None:
            if self._empty(actual):
                self._add(leaf.place, "true_negative", leaf.value, actual)
            else:
                self._extra(actual, leaf.place, BLANK)
        elif self._empty(actual):
            self._add(leaf.place, "omission", leaf.value, actual)
        else:
            outcome = leaf.compare.judge(actual)
            self._add(leaf.place, outcome, leaf.value, actual)

    def _list(self, node: ItemList, actual: Value) -> None:
        if self._empty(actual):
            self._omit(node, MISSING_ITEM, blanks=False)
            return
        if not isinstance(actual, list):
            self._add(node.place, "format_error", None, actual, NOT_A_LIST)
            self._omit(node, MISSING_ITEM, blanks=False)
            return
        strangers = [item for item in actual if not isinstance(item, dict) and not self._empty(item)]
        if strangers:
            verb = "is no object" if len(strangers) == 1 else "are no objects"
            note = f"{NOT_A_LIST}: {len(strangers)} of {len(actual)} items {verb}"
            self._add(node.place, "format_error", None, strangers[0], note)
        given = [(index, item) for index, item in enumerate(actual) if isinstance(item, dict) and not self._empty(item)]
        self._items(node, given)

    def _items(self, node: ItemList, given: list[tuple[int, dict[str, Value]]]) -> None:
        path = node.place.path

        def field(key: tuple[str, ...]) -> FieldRule:
            return self._rules.field_rule(f"{path}[0].{path_text(key)}", f"{node.place.attribute}[].{path_text(key)}")

        def equal_fields(expected: int, actual: int) -> int:
            return sum(self._equal(node.items[expected].branch, given[actual][1]))

        def expected_values(place: int) -> int:
            return _expected_values_of(node.items[place].branch)

        expected = [(item.index, item.raw) for item in node.items]
        pairs, algorithm, too_many, beyond = align(
            expected, given, node.rule, field, self._rules, equal_fields, expected_values
        )
        partner = {pair.expected: pair.actual for pair in pairs}
        scored = node.rule.score_fields
        for place, item in enumerate(node.items):
            if place in partner:
                self._members(item.branch, project(given[partner[place]][1], scored))
            else:
                self._omit(item.branch, MISSING_ITEM, blanks=False)
        if beyond:
            self._report_too_long(node, len(given), beyond)
        elif too_many:
            what = f"In {path} more items are missing and extra than are paired by the values they agree in"
            fix = "Name the fields that tell its items apart in match_fields."
            self.findings.append(Finding(severity="note", what=what, fix=fix, line=None, about="output"))
        paired = set(partner.values())
        unmatched = [entry for place, entry in enumerate(given) if place not in paired]
        names = item_names(unmatched, node.rule.match_fields, of_output=True)
        for (index, extra), name in zip(unmatched, names, strict=True):
            counted = self._known(node.items, project(extra, scored))
            self._extra(counted, node.place.item(index, name), EXTRA_ITEM)
        alignment = ListAlignment(
            document=self._document,
            path=path,
            algorithm=algorithm,
            threshold=node.rule.threshold,
            pairs=tuple(
                pair._replace(expected=node.items[pair.expected].index, actual=given[pair.actual][0]) for pair in pairs
            ),
            unmatched_expected=tuple(
                item.index
                for place, item in enumerate(node.items)
                # A wide CSV file has columns for more items than most documents hold; nobody misses a blank one.
                if place not in partner and not self._empty(item.raw)
            ),
            unmatched_actual=tuple(index for index, _ in unmatched),
        )
        self.alignments.append(alignment)
        labels = {item.index: item_name(item.raw, node.rule.match_fields) for item in node.items}
        extra_labels = {index: item_name(item, node.rule.match_fields) for index, item in unmatched}
        self.panels.append(_alignment_panel(alignment, labels, extra_labels))

    def _report_too_long(self, node: ItemList, given: int, beyond: str) -> None:
        where = f" of {self._document[:80]!r}" if self._document else ""
        sizes = f"{len(node.items):,} expected and {given:,} given items"
        what = f"The list {node.place.path[:80]!r}{where} has {sizes}: {beyond}"
        fix = "Match them by an id that both sides have (match_fields), or use algorithm: position."
        self.findings.append(Finding("warning", what, fix))

    def _known(self, items: tuple[Item, ...], extra: dict[str, Value]) -> dict[str, Value]:
        """What of an extra item counts: its own fields do not if fields that the truth does not have do not."""
        if self._rules.mapping.extra_fields == "count" or not items:
            return extra
        expected_keys = {key for item in items for key in item.branch.members}
        return {key: value for key, value in extra.items() if key in expected_keys}

    def _equal(self, expected: Branch, actual: dict[str, Value]) -> Iterator[bool]:
        for key, node in expected.members.items():
            value = actual.get(key)
            if isinstance(node, Leaf):
                if node.compare is not None and not self._empty(value):
                    yield node.compare.judge(value) == "correct"
            elif isinstance(node, Branch) and isinstance(value, dict):
                yield from self._equal(node, value)

    def _omit(self, node: Node, note: str, *, blanks: bool) -> None:
        """Nothing was given for a node: its values are omissions, its blanks agreed upon if *blanks* says so."""
        if isinstance(node, Leaf):
            if node.compare is not None:
                self._add(node.place, "omission", node.value, None, note)
            elif blanks:
                self._add(node.place, "true_negative", node.value, None, note)
            return
        below: Iterable[Node] = ()
        if isinstance(node, Branch):
            below = node.members.values()
        elif not isinstance(node, OutOfScope):
            below = [item.branch for item in node.items]
            blanks, note = False, note or MISSING_ITEM
        for child in below:
            self._omit(child, note, blanks=blanks)

    def _extra(self, value: Value, place: ValuePlace, note: str) -> None:
        """A value where none was expected: each of its non-empty leaves in scope is a hallucination."""
        path, attribute, _ = place
        if self._rules.ignored(path, attribute):
            return
        if isinstance(value, dict):
            # ``confidence.*`` is often as large as everything that counts.
            if not self._rules.ignored(f"{path}[{ANY}]", f"{attribute}[{ANY}]"):
                for key, below in value.items():
                    self._extra(below, place.member(key), note)
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            strangers = [item for item in value if not isinstance(item, dict) and not self._empty(item)]
            if strangers:
                self._add(place, "hallucination", None, strangers[0], note)
            items = [(index, item) for index, item in enumerate(value) if isinstance(item, dict)]
            names = item_names(items, self._rules.list_rule(path).match_fields, of_output=True)
            for (index, item), name in zip(items, names, strict=True):
                self._extra(item, place.item(index, name), note)
        elif not self._empty(value):
            self._add(place, "hallucination", None, value, note)

    def _add(self, place: ValuePlace, outcome: Outcome, expected: Value, actual: Value, note: str = "") -> None:
        path, attribute, named_path = place
        self.judgements.append(
            Judgement(
                document=self._document,
                path=path,
                attribute=attribute,
                outcome=outcome,
                expected=expected,
                actual=actual,
                note=note,
                named_path=named_path,
            )
        )


def _expected_values_of(expected: Branch) -> int:
    """How many values of an item ``_equal`` can find equal: lists of items inside it have their own pairing."""
    return sum(
        _expected_values_of(node) if isinstance(node, Branch) else isinstance(node, Leaf) and node.compare is not None
        for node in expected.members.values()
    )


def _alignment_panel(alignment: ListAlignment, labels: dict[int, str], extra_labels: dict[int, str]) -> AlignmentPanel:
    rows = [AlignmentRow(*pair, labels[pair.expected]) for pair in alignment.pairs]
    rows += [
        AlignmentRow(expected=expected, actual=None, similarity=None, by=None, label=labels[expected])
        for expected in alignment.unmatched_expected
    ]
    rows += [
        AlignmentRow(expected=None, actual=actual, similarity=None, by=None, label=extra_labels[actual])
        for actual in alignment.unmatched_actual
    ]
    title = f"{alignment.document}: {alignment.path}" if alignment.document else alignment.path
    return AlignmentPanel(title=title, algorithm=alignment.algorithm, threshold=alignment.threshold, rows=tuple(rows))
