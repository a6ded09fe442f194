"""A mapping that was read before, in types that JSON can hold: to use it takes neither pydantic nor yaml."""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, NamedTuple

from sitegen.model.problems import Finding
from sitegen.scoring.mapping import Mapping, MappingRead


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainMapping(Mapping):
    """A mapping in the types that JSON tells apart: of text and a Decimal it cannot say which a value was."""

    null_values: tuple[str | int, ...] = ()


class KeptMapping(NamedTuple):
    """What was read of a mapping."""

    mapping: PlainMapping
    findings: tuple[Finding, ...]


def kept_mapping(read: MappingRead) -> KeptMapping | None:
    """What was read, for the memo; None for the few mappings that JSON cannot hold."""
    mapping, findings = read
    plain = tuple(value for value in mapping.null_values if not isinstance(value, Decimal))
    if plain != mapping.null_values:
        return None
    return KeptMapping(PlainMapping(**{**_fields_of(mapping), "null_values": plain}), findings)


def mapping_read(kept: KeptMapping) -> MappingRead:
    """What ``kept_mapping`` was made from."""
    return Mapping(**_fields_of(kept.mapping)), kept.findings


def _fields_of(mapping: Mapping) -> dict[str, Any]:
    return {field.name: getattr(mapping, field.name) for field in fields(Mapping)}
