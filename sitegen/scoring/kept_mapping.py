"""A mapping that was read before, as bytes: to use it takes neither pydantic nor yaml, a third of a short build."""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal

from sitegen.model.problems import Finding
from sitegen.scoring.mapping import Mapping, MappingRead


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain(Mapping):
    """A mapping in the types that JSON tells apart: of text and a Decimal it cannot say which a value was."""

    null_values: tuple[str | int, ...] = ()


def pack_mapping(read: MappingRead) -> bytes | None:
    """What was read, for the memo; None for the few that JSON cannot hold."""
    import msgspec

    mapping, _ = read
    if any(isinstance(value, Decimal) for value in mapping.null_values):
        return None
    try:
        return msgspec.json.encode(read)
    except UnicodeEncodeError:  # half of a surrogate pair
        return None


def unpack_mapping(body: bytes) -> MappingRead | None:
    """What ``pack_mapping`` made; None for anything else."""
    import msgspec

    try:
        plain, findings = msgspec.json.decode(body, type=tuple[_Plain, tuple[Finding, ...]])
    except msgspec.DecodeError:
        return None
    return Mapping(**{each.name: getattr(plain, each.name) for each in fields(Mapping)}), findings
