"""Types of fields out of a JSON Schema of the output, as pydantic and others export it. Nothing is validated by it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from sitegen.model.problems import Finding
from sitegen.scoring.json_reader import read_json
from sitegen.scoring.mapping import FieldType
from sitegen.scoring.paths import ANY, Pattern, Step, follow
from sitegen.scoring.reading import UnreadableError

SchemaType = tuple[Pattern, FieldType]

_TYPES: Final[dict[str, FieldType]] = {
    "number": "numeric",
    "integer": "integer",
    "string": "string",
    "boolean": "boolean",
}
_MAX_FIELDS: Final = 20_000
_MAX_DEPTH: Final = 30
_UNIONS: Final = ("anyOf", "oneOf", "allOf")


@lru_cache(maxsize=32)
def read_schema(content: bytes | None) -> tuple[tuple[SchemaType, ...], frozenset[str], tuple[Finding, ...]]:
    """The declared types by path, the paths of lists of objects (as ``walls[*]``), and what was wrong.

    ``$ref`` is followed within the document only, never in a circle; ``null`` in a union is overlooked; a field of
    several types has none. A text with ``format: date`` is a text: only the mapping can say how dates are written.
    """
    if content is None:
        return (), frozenset(), ()
    try:
        root = read_json(content).value
    except UnreadableError as error:
        return (
            (),
            frozenset(),
            (Finding("error", f"The schema cannot be read: {error.what}", error.fix, error.line, "schema"),),
        )
    if not isinstance(root, dict):
        return (), frozenset(), (Finding("error", "The schema is no object", "Write a JSON Schema.", None, "schema"),)
    types: list[SchemaType] = []
    lists: set[str] = set()
    for steps, kind in _walk(root, root, (), ()):
        if kind == "list":
            lists.add(".".join(map(str, steps)))
        elif kind in _TYPES and steps:
            types.append((Pattern(steps, open_end=False), _TYPES[kind]))
        if len(types) >= _MAX_FIELDS:
            break
    return tuple(types), frozenset(lists), ()


def _walk(
    schema: Any, root: Any, steps: tuple[Step, ...], refs: tuple[str, ...]
) -> Iterator[tuple[tuple[Step, ...], str]]:
    if not isinstance(schema, dict) or len(steps) > _MAX_DEPTH:
        return
    reference = schema.get("$ref")
    if isinstance(reference, str):
        if reference in refs or not reference.startswith("#/"):
            return
        keys = [key.replace("~1", "/").replace("~0", "~") for key in reference[2:].split("/")]
        yield from _walk(follow(root, keys), root, steps, (*refs, reference))
        return
    for union in _UNIONS:
        options = schema.get(union)
        if isinstance(options, list):
            real = [option for option in options if not (isinstance(option, dict) and option.get("type") == "null")]
            if len(real) == 1 or union == "allOf":
                for option in real:
                    yield from _walk(option, root, steps, refs)
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for key, below in properties.items():
            yield from _walk(below, root, (*steps, key), refs)
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _walk(schema["additionalProperties"], root, (*steps, ANY), refs)
    yield from _leaf_or_list(schema, root, steps, refs)


def _leaf_or_list(
    schema: dict[str, Any], root: Any, steps: tuple[Step, ...], refs: tuple[str, ...]
) -> Iterator[tuple[tuple[Step, ...], str]]:
    written = schema.get("type")
    kinds = [kind for kind in (written if isinstance(written, list) else [written]) if kind != "null"]
    if len(kinds) != 1 or not isinstance(kinds[0], str):
        return
    if kinds[0] != "array":
        yield steps, kinds[0]
        return
    below = list(_walk(schema.get("items"), root, (*steps, ANY), refs))
    # A list of scalars is one attribute: its items' type is declared at the list's own path.
    scalar = next((kind for place, kind in below if place == (*steps, ANY)), None)
    if scalar is not None:
        yield steps, scalar
    elif below:
        yield steps, "list"
    yield from below
