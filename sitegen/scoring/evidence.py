"""Reads the places in the source, pages and quotes, that an output states for its values. No score depends on them.

An output states evidence in any of these places, of which the innermost counts:

- in the object that has the value: ``{"value": 12, "page": 3, "quote": "12 rooms"}``, or in a list item;
- in an object below it: ``{"width": 1.2, "_source": {"page": 3, "quote": "1.20 m"}}``;
- beside the value: ``{"rooms": 12, "rooms_page": 3, "rooms_quote": "12 rooms"}``, or an object ``rooms_source``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final, TypeAlias

from sitegen.data_files.reading import UnreadableError
from sitegen.model.values import Value
from sitegen.named_tuple import NamedTuple
from sitegen.scoring.compiled_truth import CompiledTruths
from sitegen.scoring.fields import documents_by_expected_names, rule_sources
from sitegen.scoring.outputs import read_outputs
from sitegen.scoring.paths import PathStep, path_text
from sitegen.scoring.rules import compile_rules
from sitegen.scoring.scorer import ScoringInputs

LONGEST_QUOTE: Final = 2_000
"""The greatest length of a quote, in characters; the rest is cut."""
_MOST_VALUES: Final = 50_000
"""The most objects of a document that are examined, which bounds the time for a hostile output."""
_PAGES: Final = ("page", "page_number")
_QUOTES: Final = ("quote", "source_text", "snippet")
_HOLDERS: Final = ("_source", "source", "_evidence", "evidence", "_citation", "citation")
_SUFFIXES: Final = {f"_{name}": (name,) for name in (*_PAGES, *_QUOTES)} | {
    f"_{name}": () for name in ("source", "evidence", "citation")
}
_PAGE: Final = re.compile(r"\D{0,6}(\d{1,6})")


class Evidence(NamedTuple):
    """The place of a value in the source, according to the output."""

    page: int | None
    quote: str
    """Empty if there is none."""


EvidenceByPath: TypeAlias = Mapping[str, Evidence]
"""By the path of the value, or of the object that holds it, in the output."""


def evidence_by_document(inputs: ScoringInputs, truths: CompiledTruths) -> dict[str, EvidenceByPath]:
    """Return the evidence of an output by the ids of its documents, as in judgements.

    ``truths``: compiles the ground truth of the eval, which names the documents, once for many outputs.
    """
    sources = rule_sources(inputs)
    rules, _ = compile_rules(sources)
    try:
        truth = truths.compiled(inputs.ground_truth, sources)
    except UnreadableError:
        return {}
    output = read_outputs(inputs.outputs, rules.mapping, expected=len(truth.documents), key=truth.key)
    documents = documents_by_expected_names(truth, output)
    return {name: evidence_in(document) for name, document in documents.items()}


def evidence_in(document: Mapping[str, Value]) -> EvidenceByPath:
    """The evidence of one document."""
    stated: dict[str, Evidence] = {}
    for number, (steps, members) in enumerate(_objects(document)):
        if number == _MOST_VALUES:
            break
        own = _evidence(members) or next(filter(None, (_held(members.get(name)) for name in _HOLDERS)), None)
        if own:
            stated[path_text(steps)] = own
        for key in members:
            if (beside := _beside(key, members)) is not None:
                stated[path_text((*steps, key))] = beside
    return stated


def _objects(
    node: Value | Mapping[str, Value], above: tuple[PathStep, ...] = ()
) -> Iterator[tuple[tuple[PathStep, ...], Mapping[str, Value]]]:
    """Yield every object of a document with its path, except objects that only hold evidence."""
    if isinstance(node, Mapping):
        yield above, node
        for key, below in node.items():
            if key not in _HOLDERS:
                yield from _objects(below, (*above, key))
    elif isinstance(node, list):
        for index, below in enumerate(node):
            yield from _objects(below, (*above, index))


def _evidence(members: Mapping[str, Value]) -> Evidence | None:
    page = next(filter(None, (_page(members.get(name)) for name in _PAGES)), None)
    quote = next(filter(None, (_quote(members.get(name)) for name in _QUOTES)), "")
    return Evidence(page, quote) if page or quote else None


def _held(value: Value) -> Evidence | None:
    """The evidence in an object of its own, or in the first of a list of such objects."""
    if isinstance(value, list) and value:
        value = value[0]
    return _evidence(value) if isinstance(value, dict) else None


def _beside(key: str, members: Mapping[str, Value]) -> Evidence | None:
    """The evidence for the value of a key in the keys beside it."""
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
    """A page from 1: a number, a text such as ``p. 3``, or the first of a list of these."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, str):
        match = _PAGE.fullmatch(value.strip())
        return int(match[1]) or None if match else None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return int(value) if 0 < value < 1_000_000 and value == int(value) else None


def _quote(value: Value) -> str:
    if isinstance(value, list) and value:
        value = value[0]
    return value.strip()[:LONGEST_QUOTE] if isinstance(value, str) else ""
