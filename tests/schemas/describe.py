"""JSON Schema of a frozen dataclass, a table of the configuration or a TypedDict.

Its annotations become types, its docstrings descriptions.

Why not a library: pydantic spells the same type in another way from version to version, so that our schemas would
change without our types, and neither it nor msgspec reads the docstrings of inherited fields.
"""

import ast
import inspect
import re
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from textwrap import dedent
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import msgspec

Schema = dict[str, Any]

ABSENT: Any = (MISSING, msgspec.NODEFAULT)
"""Stand for no default."""
NEEDED: Any = object()
"""Stands for the default of a field that has none."""

_SIMPLE: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}


_DIGIT = r"[^\x00-/:-^`-\x7f]"
"""A digit or ``_``. Of other scripts, a pattern cannot tell the digits from the letters."""
_SIZE = rf"({_DIGIT}+\.?{_DIGIT}*|\.{_DIGIT}+)"
_POWER = rf"([eE][+-]?{_DIGIT}+)?\s*$"
_READ: dict[Any, Schema] = _SIMPLE | {
    float: {"type": ["number", "string"], "pattern": rf"^\s*[+-]?{_SIZE}{_POWER}"},
    Decimal: {
        "type": ["number", "string"],
        "minimum": 0,
        "pattern": rf"^\s*(\+?{_SIZE}|-([0_]+\.?[0_]*|\.[0_]+)){_POWER}",
    },
    bool: {
        "type": ["boolean", "integer", "string"],
        "minimum": 0,
        "maximum": 1,
        "pattern": "^([01]|[Tt]([Rr][Uu][Ee])?|[Ff]([Aa][Ll][Ss][Ee])?|[Yy]([Ee][Ss])?|[Nn][Oo]?|[Oo]([Nn]|[Ff][Ff]))$",
    },
}
"""The same where a person writes the file: numbers and truth values may be text there."""


class Described(NamedTuple):
    """A dataclass as a schema, and the parts that it refers to."""

    schema: Schema
    parts: dict[str, Schema]


class Member(NamedTuple):
    """A key of an object."""

    name: str
    hint: Any
    needed: bool
    default: Schema
    description: str


def describe(model: type, *, written: bool) -> Described:
    """The schema of a dataclass or TypedDict.

    ``written``: a file of ours, which has every key; else keys with defaults may lack.
    """
    parts: dict[str, Schema] = {}
    return Described(_object(model, parts, written), dict(sorted(parts.items())))


def _object(model: type, parts: dict[str, Schema], written: bool) -> Schema:
    properties: dict[str, Schema] = {}
    members = _members(model, written)
    for each in members:
        shape = _type(each.hint, parts, written)
        if "$ref" in shape and each.description:
            shape = {"allOf": [shape]}
        about = {"description": each.description} if each.description else {}
        properties[each.name] = {**shape, **about, **each.default}
    required = [each.name for each in members if each.needed]
    closed = {"additionalProperties": False} if getattr(model, "__pydantic_config__", None) else {}
    about = {"description": _one_line(model.__doc__)} if model.__doc__ else {}
    return {
        "type": "object",
        **about,
        "properties": properties,
        **({"required": required} if required else {}),
        **closed,
    }


def _members(model: type, written: bool) -> list[Member]:
    declared = _defaults(model)
    docstrings, members = _docstrings(model), []
    hints = get_type_hints(model, include_extras=True)
    written_as = {each.name: each.encode_name for each in msgspec.structs.fields(model)} if _is_table(model) else {}
    for name in declared or hints:
        hint, needed, default, description = hints[name], True, {}, docstrings.get(name, "")
        if get_origin(hint) is NotRequired:
            hint, needed = get_args(hint)[0], False
        if get_origin(hint) is Annotated:
            hint, description = get_args(hint)
        if name in declared and not written:
            needed, default = declared[name] is NEEDED, _shown_default(declared[name])
        members.append(
            Member(name=written_as.get(name, name), hint=hint, needed=needed, default=default, description=description)
        )
    return members


def _type(hint: Any, parts: dict[str, Schema], written: bool) -> Schema:
    simple = _SIMPLE if written else _READ
    if hint in simple:
        return dict(simple[hint])
    origin, arguments = get_origin(hint), get_args(hint)
    if is_dataclass(hint) or is_typeddict(hint) or _is_table(hint):
        assert isinstance(hint, type)
        if hint.__name__ not in parts:
            parts[hint.__name__] = {}
            parts[hint.__name__] = _object(hint, parts, written)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if names := getattr(hint, "_fields", None) or getattr(hint, "__struct_fields__", None):
        return _row([get_type_hints(hint)[name] for name in names], parts, written)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return _either([_type(each, parts, written) for each in arguments])
    if origin is tuple and arguments[1:] != (...,):
        return _row(arguments, parts, written)
    if origin in (tuple, list, Sequence):
        return {"type": "array", "items": _type(arguments[0], parts, written)}
    if origin in (dict, Mapping):
        keys = _type(arguments[0], parts, written)
        named = {} if keys == _SIMPLE[str] else {"propertyNames": keys}
        return {"type": "object", **named, "additionalProperties": _type(arguments[1], parts, written)}
    raise TypeError(f"no schema for {hint!r}")


def _row(hints: Sequence[Any], parts: dict[str, Schema], written: bool) -> Schema:
    """A list of a fixed length."""
    items = [_type(each, parts, written) for each in hints]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


def _either(choices: list[Schema]) -> Schema:
    """One of several; simple ones as a list of types."""
    if all(choice.keys() == {"type"} for choice in choices):
        named = [choice["type"] if isinstance(choice["type"], list) else [choice["type"]] for choice in choices]
        return {"type": list(dict.fromkeys(name for names in named for name in names))}
    if [choice.keys() for choice in choices] == [{"enum"}, {"type"}] and choices[1] == _SIMPLE[type(None)]:
        return {"enum": [*choices[0]["enum"], None]}
    return {"anyOf": choices}


def _is_table(model: Any) -> bool:
    return isinstance(model, type) and issubclass(model, msgspec.Struct) and not model.__struct_config__.array_like


def _defaults(model: type) -> dict[str, Any]:
    """The default of each field: ``NEEDED`` if there is none, and None if a function makes it."""
    rows: Sequence[Any] = ()
    if is_dataclass(model):
        rows = fields(model)
    elif _is_table(model):
        rows = msgspec.structs.fields(model)
    stated = {row.name: [value for value in (row.default, row.default_factory) if value not in ABSENT] for row in rows}
    return {
        row.name: NEEDED if not stated[row.name] else None if row.default in ABSENT else row.default for row in rows
    }


def _shown_default(value: Any) -> Schema:
    if value is NEEDED or value is None:
        return {}
    return {"default": list(value) if isinstance(value, tuple) else value}


def _docstrings(model: type) -> dict[str, str]:
    """The text below each field of a class and of those it inherits from."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        try:
            body = ast.parse(dedent(inspect.getsource(base))).body[0]
        except (OSError, TypeError):  # built in, or made when it runs: without a source
            continue
        for field, text in zip(body.body, body.body[1:], strict=False) if isinstance(body, ast.ClassDef) else ():
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                assert isinstance(field.target, ast.Name)
                found[field.target.id] = _one_line(str(text.value.value))
    return found


def _one_line(text: str) -> str:
    return " ".join(re.sub(r"\bNone\b", "null", text.replace("``", "`")).split())
