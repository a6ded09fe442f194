"""Writes JSON for data files, results and exports."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import msgspec


class Dataclass(Protocol):
    """Any value of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


def to_json_bytes(document: object, indent: int | None = 2) -> bytes:
    """Return UTF-8 JSON, on one line without an indent. Numbers keep their spelling (``600.0``); undefined is null."""
    from decimal import Decimal

    encoder = msgspec.json.Encoder(decimal_format="number")
    try:
        content = encoder.encode(document)
    except UnicodeEncodeError:  # a path or a value has bytes that are not UTF-8
        content = encoder.encode(_printable(msgspec.to_builtins(document, builtin_types=(Decimal,))))
    return (content if indent is None else msgspec.json.format(content, indent=indent)) + b"\n"


def schema_first(document: Dataclass) -> bytes:
    """Return a dataclass as UTF-8 JSON that begins with its ``schema``. Numbers have full precision; None is null."""
    import json

    body = msgspec.to_builtins(document)
    body = {"schema": body.pop("schema"), **body}
    text = json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _printable(body: Any) -> Any:
    if isinstance(body, str):
        return body.encode("utf-8", "backslashreplace").decode()
    if isinstance(body, list | tuple):
        return [_printable(item) for item in body]
    if isinstance(body, dict):
        return {_printable(key): _printable(item) for key, item in body.items()}
    return body
