"""Judges a document of an output against its ground truth, attribute by attribute (rules 1 to 5, 16, 24).

An expected value may be elsewhere in the output, because the mapping is wrong or the model misplaced it: a finding
says so, and the outcome is still an omission.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Any, Final

from msgspec.structs import replace

from sitegen.model.outcomes import EXTRA_ITEM, MISSING_ITEM, Judgement, Outcome, Value
from sitegen.model.problems import Finding
from sitegen.model.scorecards import AlignmentPanel
from sitegen.scoring.compare import doubt
from sitegen.scoring.compiled_truth import Branch, ItemList, JudgedNode, Leaf, Node, invalid_expected_value
from sitegen.scoring.lists import paired_items
from sitegen.scoring.paths import (
    ANY,
    PathError,
    PathStep,
    ValuePlace,
    item_names,
    objects_of,
    parse_path,
    path_text,
    project,
)
from sitegen.scoring.rules import FieldRules
from sitegen.scoring.values import is_same

BLANK: Final = "expected blank"
EXTRA: Final = "not in ground truth"
_NOT_AN_OBJECT: Final = "not an object"
_NOT_A_LIST: Final = "not a list of objects"


class Judge:
    """Judges one document: call ``document`` or ``omit`` once, then read the collected results."""

    __slots__ = ("_document", "_empty", "_rules", "findings", "judgements", "panels")

    def __init__(self, document: str, rules: FieldRules) -> None:
        self._document = document
        self._rules = rules
        self._empty = rules.empty
        self.judgements: list[Judgement] = []
        self.panels: list[AlignmentPanel] = []
        self.findings: list[Finding] = []

    def document(self, expected: Branch, actual: dict[str, Value], fields: tuple[tuple[str, ...], ...] = ()) -> None:
        """Judge a document that could be read, or an object inside it, of which only certain fields may count."""
        actual = project(actual, fields)
        members, judgements = expected.members, self.judgements
        for key, node in members.items():
            value = actual.get(key)
            # Most nodes are leaves, and most leaves are missing or exactly as expected, which needs no call.
            if type(node) is Leaf:
                if value is None:
                    judgements.append(node.missing)
                    continue
                if value is node.value or (type(value) is str and value == node.value):
                    judgements.append(node.same)
                    continue
                self._leaf(node, value)
            elif isinstance(node, Branch | ItemList):
                node.last = self._once(node.last, value, partial(self._node, node, value))
        if self._rules.mapping.extra_fields == "count":
            for key, value in actual.items():
                if key not in members:
                    self._extra(value, expected.place.member(key), EXTRA)

    def _once(self, last: JudgedNode | None, actual: Value, judge: Callable[[], None]) -> JudgedNode:
        """Judge a value, or reuse the judgements of the value that was judged last at a node, if it is the same."""
        if last is not None and is_same(last.actual, actual):
            self.judgements += last.judgements
            self.panels += last.panels
            self.findings += last.findings
            return last
        before = len(self.judgements), len(self.panels), len(self.findings)
        judge()
        return JudgedNode(
            actual=actual,
            judgements=tuple(self.judgements[before[0] :]),
            panels=tuple(self.panels[before[1] :]),
            findings=tuple(self.findings[before[2] :]),
        )

    def _node(self, node: Branch | ItemList, actual: Value) -> None:
        if isinstance(node, ItemList):
            self._list(node, actual)
            return
        members = actual
        if node.by_index and isinstance(actual, list):
            members = {str(index): item for index, item in enumerate(actual) if str(index) in node.members}
        if isinstance(members, dict) and members:
            self.document(node, members)
            return
        self.omit(node, "", blanks=True)
        if not self._empty(members):
            self._add(node.place, "hallucination", None, actual, _NOT_AN_OBJECT)

    def _leaf(self, leaf: Leaf, actual: Value) -> None:
        """Judge the value of a leaf as ``_once`` does. Another comparison most often finds the same outcome."""
        last = leaf.last
        same = last is not None and is_same(last.actual, actual)
        if last is not None and same and last.compare is leaf.compare:
            self.judgements += last.judgements
            self.findings += last.findings
            return
        start, findings_before = len(self.judgements), len(self.findings)
        if leaf.compare is None:
            if self._empty(actual):
                self._add(leaf.place, "true_negative", leaf.value, actual)
            else:
                self._extra(actual, leaf.place, BLANK)
        else:
            outcome = leaf.missing.outcome if self._empty(actual) else leaf.compare(actual)
            if last is not None and same and last.judgements and last.judgements[0].outcome == outcome:
                self.judgements += last.judgements
                return
            if outcome is None:  # nobody can tell what the expected value says of the output's: no error of the model
                why, fix = doubt(leaf.read)
                self.findings.append(invalid_expected_value(leaf.place, why, fix, repr(leaf.read)))
            else:
                self._add(leaf.place, outcome, leaf.value, actual)
        leaf.last = JudgedNode(
            actual=actual,
            judgements=tuple(self.judgements[start:]),
            findings=tuple(self.findings[findings_before:]),
            compare=leaf.compare,
        )

    def _list(self, node: ItemList, actual: Value) -> None:
        if self._empty(actual):
            self.omit(node, MISSING_ITEM)
            return
        if not isinstance(actual, list):
            self._add(node.place, "format_error", None, actual, _NOT_A_LIST)
            self.omit(node, MISSING_ITEM)
            return
        non_objects = [item for item in actual if not isinstance(item, dict) and not self._empty(item)]
        if non_objects:
            verb = "is not an object" if len(non_objects) == 1 else "are not objects"
            note = f"{_NOT_A_LIST}: {len(non_objects)} of {len(actual)} items {verb}"
            self._add(node.place, "format_error", None, non_objects[0], note)
        items = [item for item in objects_of(actual) if not self._empty(item[1])]
        pairing = paired_items(node, items, self._document, self._rules)
        fields = node.rule.score_fields
        for position, item in enumerate(node.items):
            branch, value = item.branch, None
            judge = partial(self.omit, branch, MISSING_ITEM)
            if position in pairing.partners:
                value = items[pairing.partners[position]][1]
                judge = partial(self.document, branch, value, fields)
            branch.last = self._once(branch.last, value, judge)
        for position, name in pairing.unmatched.items():
            index, extra = items[position]
            counted = project(extra, fields)
            if self._rules.mapping.extra_fields == "ignore" and node.items:
                counted = {key: value for key, value in counted.items() if key in node.expected_keys}
            judge = partial(self._extra, counted, node.place.item(index, name), EXTRA_ITEM)
            node.extra[index] = self._once(node.extra.get(index), [name, extra], judge)
        self.findings += pairing.findings
        self.panels.append(pairing.panel)

    def omit(self, node: Node, note: str, *, blanks: bool = False) -> None:
        """Judge a node that the output lacks: its values are omissions; ``blanks``: its blanks are true negatives."""
        if isinstance(node, Leaf):
            if node.missing.outcome == "omission":
                self._add(node.place, "omission", node.value, None, note)
            elif blanks:
                self._add(node.place, "true_negative", node.value, None, note)
            return
        below: Iterable[Node] = ()
        if isinstance(node, Branch):
            below = node.members.values()
        elif node is not None:
            below = [item.branch for item in node.items]
            blanks, note = False, note or MISSING_ITEM
        for child in below:
            self.omit(child, note, blanks=blanks)

    def _extra(self, value: Value, place: ValuePlace, note: str) -> None:
        """Judge an unexpected value: each of its non-empty leaves in scope is a hallucination."""
        path, attribute, _ = place
        if self._rules.ignored(place):
            return
        if isinstance(value, dict):
            # An ignored pattern such as ``confidence.*`` may cover as many values as are judged.
            if not self._rules.ignored(ValuePlace(f"{path}[{ANY}]", f"{attribute}[]", "")):
                for key, below in value.items():
                    self._extra(below, place.member(key), note)
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            non_objects = [item for item in value if not isinstance(item, dict) and not self._empty(item)]
            if non_objects:
                self._add(place, "hallucination", None, non_objects[0], note)
            items = objects_of(value)
            names = item_names(items, self._rules.list_rule(path).match_fields, of_output=True)
            for (index, item), name in zip(items, names, strict=True):
                self._extra(item, place.item(index, name), note)
        elif not self._empty(value):
            self._add(place, "hallucination", None, value, note)

    def _add(self, place: ValuePlace, outcome: Outcome, expected: Value, actual: Value, note: str = "") -> None:
        self.judgements.append(place.judgement(self._document, outcome, expected, actual, note))


_SHORTEST: Final = 4
"""The least length of a value that is searched. Shorter values, such as ``12`` or ``yes``, occur anywhere by chance."""
_FEWEST: Final = 3  # the least number of misplaced values that suggests a wrong mapping
_NAMED: Final = 5  # number of examples in a finding
_MOST_VALUES: Final = 50_000
"""The most values of a document that are examined, which bounds the time for a hostile output."""


def with_places(
    judgements: list[Judgement], root: dict[str, Value], text: str = ""
) -> tuple[list[Judgement], list[str]]:
    """Return the judgements of a document; for an omitted value that is at another path, with a note of that path.

    A value counts if exactly one omission expects it, it occurs in the output once, and no correct value is the same.
    Returns ``A at B`` for each of these values as well: A is the expected path and B the path in the output.
    ``text``: ``ReadOutput.text``: a value that does not occur in it need not be searched.
    """
    omitted = [(_text(item.expected), item.path) for item in judgements if item.outcome == "omission"]
    sought = {value for value, _ in omitted if value}
    if text and not any("E" in value for value in sought):  # ``1E+5`` can be written in other ways
        sought = {value for value in sought if value in text}
    if sought:
        times = Counter([value for value, _ in omitted])
        # An item without a partner omits values that are at their own paths, which is detected without a walk.
        sought = {
            value
            for value, path in omitted
            if value in sought and times[value] == 1 and not _has_text_at(path, value, root)
        }
    if sought:
        sought.difference_update([_text(item.actual) for item in judgements if item.outcome == "correct"])
    places: dict[str, tuple[PathStep, ...] | None] = {}
    """None for a text that occurs twice."""
    for above, step, value in islice(_plain_values(root), _MOST_VALUES) if sought else ():
        if (found := _text(value)) in sought:
            places[found] = None if found in places else (*above, step)
    if not any(places.values()):
        return judgements, []
    with_notes: list[Judgement] = []
    pairs: list[str] = []
    for judgement in judgements:
        place = places.get(_text(judgement.expected)) if judgement.outcome == "omission" else None
        if place is not None and (path := path_text(place)) != judgement.path:
            pairs.append(f"{judgement.path[:80]} at {path[:80]}")
            if not judgement.note:
                judgement = replace(judgement, note=f"is at {path[:80]} in the output")
        with_notes.append(judgement)
    return with_notes, pairs


def elsewhere(pairs: Sequence[str], omissions: int) -> Iterator[Finding]:
    """Yield a finding about the pairs of all documents. If they are most omissions, the mapping is probably wrong."""
    if not pairs:
        return
    most = len(pairs) >= _FEWEST and 2 * len(pairs) >= omissions
    examples = ", ".join(pairs[:_NAMED]) + (", ..." if len(pairs) > _NAMED else "")
    they = "value is" if len(pairs) == 1 else "values are"
    yield Finding.of_type(
        "values_elsewhere" if most else "value_elsewhere",
        f"{len(pairs)} omitted {they} elsewhere in the output, of {omissions} omissions: {examples}",
        "If the two paths mean the same, map the one to the other in csv_to_json; else the output has it in the wrong "
        "place.",
        about="mapping",
    )


def _text(value: Value) -> str:
    """Return the text to search for; empty if the value is too short, or neither a text nor a number."""
    if type(value) is str:
        text = value.strip().casefold()
    elif type(value) is bool or not isinstance(value, int | float | Decimal):
        return ""
    else:
        text = str(value)
        if "." in text:
            text = text.rstrip("0").rstrip(".")
    return text if len(text) >= _SHORTEST else ""


def _has_text_at(path: str, text: str, root: Any) -> bool:
    value = root
    try:
        for step in parse_path(path):
            value = value[step]
    except (PathError, LookupError, TypeError):
        return False
    return _text(value) == text


def _plain_values(
    node: dict[str, Value] | list[Value], above: tuple[PathStep, ...] = ()
) -> Iterator[tuple[tuple[PathStep, ...], PathStep, Value]]:
    """Yield each value below a node that is no object or list, after the path of its holder and the step to it."""
    for step, below in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(below, dict | list):
            yield from _plain_values(below, (*above, step))
        else:
            yield above, step, below
