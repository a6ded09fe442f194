"""Reads types and tolerances of fields from a JSON Schema of the output, as pydantic exports it.

Outputs are not validated against the schema.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from sitegen.config.findings import adapter_of, valid_part
from sitegen.data_files.reading import UnreadableError, read_json
from sitegen.model.frozen import Frozen
from sitegen.model.problems import Finding
from sitegen.scoring.mapping import FieldType, Tolerance
from sitegen.scoring.paths import ANY, PathStep, Pattern, follow, path_text

_Statement: TypeAlias = tuple[tuple[PathStep, ...], str | Tolerance | Finding]
"""A path and the statement of the schema there: a type, ``list`` for a list of objects, a tolerance, or an error."""


class SchemaRules(Frozen):
    """The types and tolerances that a schema states, and its errors."""

    types: tuple[tuple[Pattern, FieldType], ...] = ()
    tolerances: tuple[tuple[Pattern, Tolerance], ...] = ()
    lists: frozenset[str] = frozenset()
    """The paths of lists of objects, as ``walls[*]``."""
    findings: tuple[Finding, ...] = ()


_TYPES: Final[dict[str, FieldType]] = {
    "number": "numeric",
    "integer": "integer",
    "string": "string",
    "boolean": "boolean",
}
_MAX_FIELDS: Final = 20_000  # types and tolerances
_MAX_DEPTH: Final = 30  # steps of a path
_TOLERANCE_KEY: Final = "x-tolerance"
"""Keyword of a property, ``{percent, absolute}``; with pydantic, ``Field(json_schema_extra={"x-tolerance": ...})``."""
_UNIONS: Final = ("anyOf", "oneOf", "allOf")


@lru_cache(maxsize=32)
def read_schema(content: bytes | None) -> SchemaRules:
    """Return the types and tolerances that a schema states. Never raises.

    ``$ref`` is followed within the document only, and never in a circle. ``null`` in a union is ignored; a field with
    several types has none. ``format: date`` stays a text, because only the mapping can state how dates are written.
    """
    if content is None:
        return SchemaRules()
    try:
        root = read_json(content).value
    except UnreadableError as error:
        return SchemaRules(findings=(replace(error.finding("The schema"), about="schema"),))
    if not isinstance(root, dict):
        no_object = Finding("error", "The schema is not an object", "Write a JSON Schema.", about="schema")
        return SchemaRules(findings=(no_object,))
    types: list[tuple[Pattern, FieldType]] = []
    tolerances: list[tuple[Pattern, Tolerance]] = []
    lists: set[str] = set()
    findings: dict[Finding, None] = {}
    for steps, stated in _statements(root, root, (), ()):
        if isinstance(stated, Tolerance):
            tolerances.append((Pattern(steps, open_end=False), stated))
        elif isinstance(stated, Finding):
            findings[stated] = None
        elif stated == "list":
            lists.add(".".join(map(str, steps)))
        elif stated in _TYPES and steps:
            types.append((Pattern(steps, open_end=False), _TYPES[stated]))
        if len(types) + len(tolerances) >= _MAX_FIELDS:
            break
    return SchemaRules(
        types=tuple(types), tolerances=tuple(tolerances), lists=frozenset(lists), findings=tuple(findings)
    )


def _statements(schema: Any, root: Any, steps: tuple[PathStep, ...], refs: tuple[str, ...]) -> Iterator[_Statement]:
    if not isinstance(schema, dict) or len(steps) > _MAX_DEPTH:
        return
    if _TOLERANCE_KEY in schema and steps:
        valid, misfits = valid_part(Tolerance, schema[_TOLERANCE_KEY])
        message = f"The {_TOLERANCE_KEY} of {path_text(steps)!r} is not a tolerance"
        fix = 'Write {"percent": 1} or {"absolute": 0.5}, or both, from 0 up.'
        is_one = valid and not misfits
        yield (
            steps,
            adapter_of(Tolerance).validate_python(valid) if is_one else Finding("error", message, fix, about="schema"),
        )
    reference = schema.get("$ref")
    if isinstance(reference, str):
        if reference in refs or not reference.startswith("#/"):
            return
        keys = [key.replace("~1", "/").replace("~0", "~") for key in reference[2:].split("/")]
        yield from _statements(follow(root, keys), root, steps, (*refs, reference))
        return
    for union in _UNIONS:
        options = schema.get(union)
        if isinstance(options, list):
            real = [option for option in options if not (isinstance(option, dict) and option.get("type") == "null")]
            if len(real) == 1 or union == "allOf":
                for option in real:
                    yield from _statements(option, root, steps, refs)
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for key, below in properties.items():
            yield from _statements(below, root, (*steps, key), refs)
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _statements(schema["additionalProperties"], root, (*steps, ANY), refs)
    yield from _leaf_or_list(schema, steps, _statements(schema.get("items"), root, (*steps, ANY), refs))


def _leaf_or_list(
    schema: dict[str, Any], steps: tuple[PathStep, ...], items: Iterator[_Statement]
) -> Iterator[_Statement]:
    written = schema.get("type")
    kinds = [kind for kind in (written if isinstance(written, list) else [written]) if kind != "null"]
    if len(kinds) != 1 or not isinstance(kinds[0], str):
        return
    if kinds[0] != "array":
        yield steps, kinds[0]
        return
    below = list(items)
    # A list of scalars is one attribute: its items' type and tolerance are stated at the list's own path.
    of_items = [stated for place, stated in below if place == (*steps, ANY)]
    if any(isinstance(stated, str) for stated in of_items):
        yield from ((steps, stated) for stated in of_items)
    elif below:
        yield steps, "list"
    yield from below
