"""Tells values from the evidence that an output states for them: pages and quotes of the source, and confidence.

An output states evidence in any of these places, of which the innermost counts:

- in the object that has the value: ``{"value": 12, "page": 3, "quote": "12 rooms"}``, or in a list item;
- in an object below it: ``{"width": 1.2, "_source": {"page": 3, "quote": "1.20 m"}}``;
- beside the value: ``{"rooms": 12, "rooms_page": 3, "rooms_quote": "12 rooms"}``, or an object ``rooms_source``.

Pages show all of it (``evidence_in``, ``with_evidence``). A wrapped value, which is an object with a ``value`` and
nothing else but what is said about it, and keys beside an expected value are scored without it (``without_evidence``).
In any other object or list item, page, quote and ``_source`` are fields like all others: hallucinations, unless the
ground truth has them or the mapping ignores them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from math import isfinite
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from sitegen.model.outcomes import EXTRA_ITEM, WRONG, Judgement, Value
from sitegen.model.scorecards import AlignmentPanel
from sitegen.scoring.compiled_truth import CompiledTruth
from sitegen.scoring.paths import DOCUMENT, PathStep, ValuePlace, parse_path, path_text, with_key
from sitegen.scoring.values import is_number
from sitegen.text.keys import plain_key

_LONGEST_QUOTE: Final = 2_000  # the greatest length of a quote, in characters; the rest is cut
_MOST_VALUES: Final = 50_000
"""The most objects of a document that are examined, which bounds the time for a hostile output."""
_PAGES: Final = ("page", "page_number")
_QUOTES: Final = ("quote", "source_text", "snippet")
_CONFIDENCES: Final = ("confidence",)
_HOLDERS: Final = ("_source", "source", "_evidence", "evidence", "_citation", "citation")
_SUFFIXES: Final = {f"_{name}": (name,) for name in (*_PAGES, *_QUOTES, *_CONFIDENCES)} | {
    f"_{name}": () for name in ("source", "evidence", "citation")
}
_ENDINGS: Final = tuple(_SUFFIXES)
_VALUE_KEYS: Final = ("value", "_value")
_ABOUT_THE_VALUE: Final = frozenset(map(plain_key, (*_PAGES, *_QUOTES, *_CONFIDENCES, *_HOLDERS, "reasoning")))
_BESIDES: Final = _ABOUT_THE_VALUE | {
    *("unit", "boundingbox", "boundingboxes", "bbox", "confidencescore"),
    *("pages", "quotes", "sources", "citations"),  # several of what stands above
}
"""What an object may have besides a wrapped value."""
_OWN: Final = frozenset((*_PAGES, *_QUOTES, *_CONFIDENCES, *_HOLDERS, *_VALUE_KEYS))
TRACES: Final = tuple(f'{name}"'.encode() for name in (*_PAGES, *_QUOTES, *_CONFIDENCES, *_HOLDERS[1::2], "value"))
"""Without any of them, an output in JSON has no evidence at all."""
_SHOWN_QUOTE: Final = 200  # characters
_PAGE: Final = re.compile(r"\D{0,6}(\d{1,6})")


class Evidence(NamedTuple):
    """The place of a value in the source, according to the output."""

    page: int | None
    quote: str
    """Empty if there is none."""
    confidence: str = ""
    """As written; empty if there is none."""
    unit: str = ""
    """Of a wrapped value, which is judged without it."""

    @property
    def number(self) -> float | None:
        """The confidence as written, or as a share if it is written in percent; None if it is no number."""
        text, factor = (self.confidence[:-1], 100) if self.confidence.endswith("%") else (self.confidence, 1)
        try:
            number = float(text) / factor
        except ValueError:
            return None
        return number if isfinite(number) else None

    def __str__(self) -> str:
        page = "" if self.page is None else f"page {self.page}"
        confidence = self.confidence and f"confidence {self.confidence}"
        cut = f"{self.quote[:_SHOWN_QUOTE]}…" if len(self.quote) > _SHOWN_QUOTE else self.quote
        return ", ".join(filter(None, (self.unit and f"unit {self.unit}", page, confidence, self.quote and f"“{cut}”")))


EvidenceByPath: TypeAlias = Mapping[str, Evidence]
"""By the path of the value, or of the object that holds it, in the output."""


def evidence_in(document: Mapping[str, Value]) -> EvidenceByPath:
    """Return the evidence of one document."""
    stated: dict[str, Evidence] = {}
    for number, (steps, members) in enumerate(_objects(document)):
        if number == _MOST_VALUES:
            break
        if not _OWN.isdisjoint(members):
            own = _evidence(members) or next(filter(None, (_held(members.get(name)) for name in _HOLDERS)), None)
            if own:
                stated[path_text(steps)] = own
        for key in members if any(key.endswith(_ENDINGS) for key in members) else ():
            if (beside := _beside(key, members)) is not None:
                stated[path_text((*steps, key))] = beside
    return stated


def _objects(document: Mapping[str, Value]) -> Iterator[tuple[tuple[PathStep, ...], Mapping[str, Value]]]:
    """Yield every object of a document with its path, level by level, except objects that only hold evidence."""
    nodes: list[tuple[tuple[PathStep, ...], Any]] = [((), document)]
    for above, node in nodes:
        if isinstance(node, dict):
            yield above, node
        members = node.items() if isinstance(node, dict) else enumerate(node)
        nodes += [
            ((*above, step), below)
            for step, below in members
            if isinstance(below, (dict, list)) and step not in _HOLDERS
        ]


def _evidence(members: Mapping[str, Value]) -> Evidence | None:
    page = next(filter(None, (_page(members.get(name)) for name in _PAGES)), None)
    quotes = (members.get(name) for name in _QUOTES)
    firsts = (value[0] if isinstance(value, list) and value else value for value in quotes)
    quote = next((text.strip()[:_LONGEST_QUOTE] for text in firsts if isinstance(text, str) and text.strip()), "")
    confidence = next(filter(None, (_confidence(members.get(name)) for name in _CONFIDENCES)), "")
    has_value = any(key in members for key in _VALUE_KEYS)
    unit = _confidence(members.get("unit")) if has_value else ""
    return (
        Evidence(page=page, quote=quote, confidence=confidence, unit=unit)
        if page or quote or confidence or unit
        else None
    )


def _held(value: Value) -> Evidence | None:
    """Return the evidence in an object of its own, or in the first of a list of such objects."""
    if isinstance(value, list) and value:
        value = value[0]
    return _evidence(value) if isinstance(value, dict) else None


def _beside(key: str, members: Mapping[str, Value]) -> Evidence | None:
    stated: dict[str, Value] = {}
    for suffix, names in _SUFFIXES.items():
        value = members.get(f"{key}{suffix}")
        if value is None:
            continue
        if names:
            stated[names[0]] = value
        elif held := _held(value):
            return held
    return _evidence(stated) if stated else None


def _page(value: Value) -> int | None:
    """Return a page from 1: a number, a text such as ``p. 3``, or the first of a list of these."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, str):
        match = _PAGE.fullmatch(value.strip())
        return int(match[1]) or None if match else None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return int(value) if 0 < value < 1_000_000 and value == int(value) else None


def _confidence(value: Value) -> str:
    return str(value)[:20] if is_number(value) or isinstance(value, str) else ""


def without_evidence(root: dict[str, Value], truth: CompiledTruth) -> dict[str, Value]:
    """Return a document with each wrapped value replaced by the value, and without evidence beside expected values."""
    expected, objects, rules = truth.attributes.keys(), truth.objects, truth.rules
    attributes = expected | objects

    def value_below(value: Value, place: ValuePlace, *, in_list: bool = False) -> Value:
        """Return the value of a field. ``in_list``: it is an item of a list where plain values are expected."""
        attribute = place.attribute
        if isinstance(value, list):
            is_plain = attribute in expected
            return [value_below(item, place.item(at, ""), in_list=is_plain) for at, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        inner = _key_of_wrapped(value)
        if inner is not None:
            is_plain = in_list or attribute in expected or rules.field_rule(place).type is not None
            has_evidence = any(plain_key(key) in _ABOUT_THE_VALUE for key in value)
            is_wrapped_object = isinstance(value[inner], dict | list) and with_key(attribute, inner) not in attributes
            if is_plain or (is_wrapped_object if attribute in objects else has_evidence):
                return value_below(value[inner], place, in_list=in_list)  # which may be wrapped as well
            value = {
                key: below
                for key, below in value.items()
                if plain_key(key) not in _ABOUT_THE_VALUE or with_key(attribute, key) in attributes
            }
        return members_below(value, place)

    def members_below(members: dict[str, Value], place: ValuePlace) -> dict[str, Value]:
        attribute = place.attribute
        units = {  # of wrapped values, where the ground truth has a unit beside the value: ``width_unit``
            f"{key}_unit": value["unit"]
            for key, value in members.items()
            if isinstance(value, dict) and "unit" in value and f"{key}_unit" not in members
            if with_key(attribute, f"{key}_unit") in expected and _key_of_wrapped(value) is not None
        }
        return {
            key: value_below(value, place.member(key)) if isinstance(value, (dict, list)) else value
            for key, value in {**members, **units}.items()
            if not key.endswith(_ENDINGS)
            or with_key(attribute, key) in attributes
            # ``rooms_page`` is evidence for ``rooms``.
            or not any(
                with_key(attribute, key.removesuffix(suffix)) in attributes
                for suffix in _ENDINGS
                if key.endswith(suffix) and key != suffix
            )
        }

    return members_below(root, DOCUMENT)


def _key_of_wrapped(members: dict[str, Value]) -> str | None:
    """Return the key of the value in an object that has nothing else but what is said about it; else None."""
    key = next((key for key in _VALUE_KEYS if key in members), None)
    return None if key is None or any(other != key and plain_key(other) not in _BESIDES for other in members) else key


def with_evidence(
    judgements: Iterable[Judgement], root: Mapping[str, Value], panels: Iterable[AlignmentPanel]
) -> list[Judgement]:
    """Return the judgements of a document with the evidence that the output states for its values, confidence as it is.

    ``panels``: they pair the list items of the document, whose indices in the output can be other ones.
    """
    by_path = evidence_in(root)
    if not by_path:
        return list(judgements)
    pairs = {panel.path: {row.expected: row.actual for row in panel.pairs} for panel in panels}
    ends = {path.rpartition("]")[2] for path in by_path}  # which pairing, of indices, leaves as they are
    with_stated = []
    for judgement in judgements:
        if judgement.path.rpartition("]")[2] in ends:
            path = _path_in_output(judgement.path, {} if judgement.note == EXTRA_ITEM else pairs)
            if evidence := by_path.get(path):
                stated = () if evidence.number is None else ((evidence.number, judgement.outcome not in WRONG),)
                judgement = replace(judgement, evidence=str(evidence), stated=stated)
        with_stated.append(judgement)
    return with_stated


def _path_in_output(path: str, pairs: Mapping[str, Mapping[int | None, int | None]]) -> str:
    """Return the path of a value in the output; empty if its list item is missing there."""
    steps: list[PathStep] = []
    above: list[PathStep] = []
    for step in parse_path(path):
        partners = pairs.get(path_text(above)) if isinstance(step, int) else None
        partner = step if partners is None else partners.get(step)  # type: ignore[arg-type]
        if partner is None:
            return ""
        steps.append(partner)
        above.append(step)
    return path_text(steps)
