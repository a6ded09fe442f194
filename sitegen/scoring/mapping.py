"""The field mapping as people write it, validated: what is wrong is reported, and the rest is used."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias, get_args

from sitegen.config import STRICT, GroundTruthFormat
from sitegen.data_files.json_reader import read_json
from sitegen.data_files.reading import UnreadableError
from sitegen.data_files.yaml_reader import read_yaml
from sitegen.model.metrics import Convention
from sitegen.model.problems import Finding
from sitegen.text.keys import key_path, nearest

FieldType: TypeAlias = Literal["numeric", "integer", "string", "boolean", "date", "angle"]
Algorithm: TypeAlias = Literal["greedy", "hungarian", "position"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayMapping:
    """One list of the output and the section of a building summary that holds its truth."""

    __pydantic_config__ = STRICT
    csv_section: str | None = None
    fields: dict[str, str] = field(default_factory=dict)
    """Column of the section -> key of the item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """The larger of the two counts."""

    __pydantic_config__ = STRICT
    percent: Decimal | None = None
    absolute: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSettings:
    """How one field is compared; stronger than everything else."""

    __pydantic_config__ = STRICT
    type: FieldType | None = None
    percent: Decimal | None = None
    absolute: Decimal | None = None
    formats: tuple[str, ...] | None = None
    """Of dates, as ``strptime`` takes them; the first that fits wins."""
    coerce: bool | None = None
    ordered: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSettings:
    """How the items of one list are paired."""

    __pydantic_config__ = STRICT
    match_fields: tuple[str, ...] | None = None
    score_fields: tuple[str, ...] | None = None
    threshold: float | None = None
    algorithm: Algorithm | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """Where the list of documents stands in the output, and which key names each."""

    __pydantic_config__ = STRICT
    path: str | None = None
    key: str = "id"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseKeys:
    """Which key of a case is what, in a file that holds both sides; None: it is known by its name."""

    __pydantic_config__ = STRICT
    list: str | None = None
    """Where the list of cases stands."""
    id: str | None = None
    input: str | None = None
    expected: str | None = None
    output: str | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """``field_mapping.yaml`` with the eval's settings laid over it."""

    __pydantic_config__ = STRICT
    csv_to_json: dict[str, str] = field(default_factory=dict)
    array_mappings: dict[str, ArrayMapping] = field(default_factory=dict)
    field_types: dict[FieldType, tuple[str, ...]] = field(default_factory=dict)
    tolerances: dict[str, Tolerance] = field(default_factory=dict)
    tolerance_categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    """Also written ``non_extractable_fields``."""
    documents: Documents | None = None
    id_column: str | None = None
    fields: dict[str, FieldSettings] = field(default_factory=dict)
    lists: dict[str, ListSettings] = field(default_factory=dict)
    coerce: bool = False
    null_values: tuple[str | int | Decimal, ...] = ()
    true_values: tuple[str, ...] = ()
    false_values: tuple[str, ...] = ()
    extra_fields: Literal["count", "ignore"] = "count"
    equality: Literal["tolerant", "strict"] = "tolerant"
    """``strict``: the same type and the same value. Tolerances, letter case and other spellings do not count."""
    convention: Convention = "standard"
    ground_truth_format: GroundTruthFormat = "auto"
    cases: CaseKeys = field(default_factory=CaseKeys)


_ALIAS: Final = "non_extractable_fields"
_LISTS: Final = (
    "Write 'array_mappings' for where the items of a list stand in the ground truth, 'lists' for how they are paired."
)
_MEANT: Final = {
    **dict.fromkeys(("line_items", "items", "arrays", "list_fields", "sections", "tables"), _LISTS),
    **dict.fromkeys(
        ("columns", "column_mapping", "mapping", "mappings", "field_mapping", "field_mappings"),
        "Write 'csv_to_json' for which column of the ground truth is which field.",
    ),
    "types": "Write 'field_types' instead.",
    **dict.fromkeys(("exclude", "excluded", "skip", "ignored_fields"), "Write 'ignore' instead."),
}
"""Key that people write for a thing -> what to write; names that no spelling leads to."""
_PARTS: Final[dict[str, tuple[type, int]]] = {
    "array_mappings": (ArrayMapping, 2),
    "tolerances": (Tolerance, 2),
    "fields": (FieldSettings, 2),
    "lists": (ListSettings, 2),
    "documents": (Documents, 1),
    "cases": (CaseKeys, 1),
}
"""Key -> the class below it, and how many keys lead there."""

Location: TypeAlias = tuple[str | int, ...]
About: TypeAlias = Literal["mapping", "settings"]
MappingRead: TypeAlias = tuple[Mapping, tuple[Finding, ...]]

_REMEMBERED: Final[dict[tuple[bytes | None, str], MappingRead]] = {}
"""What earlier builds read: the same that ``_read`` would give."""


def read_mapping(content: bytes | None, settings: str) -> MappingRead:
    """The mapping file with the settings of the eval over it, key by key, and what was wrong with either.

    A key that nobody knows, or a value of the wrong shape, is an error that names the nearest known key and the line;
    it is left out and the rest is used. Never raises.
    """
    return _REMEMBERED.get((content, settings)) or _read(content, settings)


def remember(content: bytes | None, settings: str, read: MappingRead) -> None:
    """Take what an earlier build read of these, so that it is not read again."""
    _REMEMBERED[content, settings] = read


@lru_cache(maxsize=64)
def _read(content: bytes | None, settings: str) -> MappingRead:
    findings: list[Finding] = []
    written, lines = _load(content, findings)
    try:
        over = read_json(settings.encode("utf-8", "replace")).value if settings.strip() else {}
    except UnreadableError as error:
        findings.append(Finding("error", f"The settings cannot be read: {error.what}", error.fix, None, "settings"))
        over = {}
    if isinstance(over, dict) and over.get("ground_truth_format") == "auto":
        # Nothing was said, so that what the mapping says stands.
        over = {key: value for key, value in over.items() if key != "ground_truth_format"}
    base = _valid(_dealiased(written, "mapping", findings), "mapping", lines, findings)
    laid = _valid(_dealiased(over, "settings", findings), "settings", {}, findings)
    both: list[Finding] = []
    mapping = _build(_valid(_over(base, laid), "settings", lines, both))
    return mapping, tuple(findings + both)


def _load(content: bytes | None, findings: list[Finding]) -> tuple[Any, dict[Location, int]]:
    if content is None:
        return {}, {}
    try:
        parsed = read_yaml(content)
    except UnreadableError as error:
        findings.append(Finding("error", f"The mapping cannot be read: {error.what}", error.fix, error.line, "mapping"))
        return {}, {}
    findings.extend(each._replace(about="mapping") for each in parsed.findings)
    return (parsed.values[0] if parsed.values else {}), dict(parsed.lines)


def _dealiased(written: Any, about: About, findings: list[Finding]) -> dict[str, Any]:
    """Without keys that have no value, and with one name for what is out of scope."""
    if not isinstance(written, dict):
        if written is not None:
            findings.append(
                Finding("error", f"The root of the {about} is no object", "Write keys and values.", None, about)
            )
        return {}
    present = {key: value for key, value in written.items() if value is not None}
    other = present.pop(_ALIAS, None)
    if isinstance(other, list) and isinstance(present.get("ignore", []), list):
        present["ignore"] = [*other, *present.get("ignore", [])]
    elif other is not None:
        present.setdefault("ignore", other)
    return present


def _over(base: Any, top: Any) -> Any:
    """*top* laid over *base*: objects key by key, everything else as a whole."""
    if isinstance(base, dict) and isinstance(top, dict):
        laid = {key: _over(base[key], value) if key in base else value for key, value in top.items()}
        return {**base, **laid}
    return top


def _build(data: dict[str, Any]) -> Mapping:
    if not data:
        return Mapping()
    mapping: Mapping = _adapter().validate_python(data)
    return mapping


@lru_cache(maxsize=1)
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Mapping)


def _valid(data: Any, about: About, lines: dict[Location, int], findings: list[Finding]) -> dict[str, Any]:
    """What of *data* fits; what does not becomes a finding and is taken out."""
    if not data:
        return {}
    from pydantic import ValidationError

    kept: dict[str, Any] = _copied(data)
    while True:
        try:
            _adapter().validate_python(kept)
        except ValidationError as error:
            places: dict[Location, str] = {}
            for each in error.errors(include_url=False, include_context=False):
                places.setdefault(_place(kept, each["loc"]), each["msg"])
            if () in places:
                return {}
            for place, message in places.items():
                findings.append(_explain(about, place, message, lines))
            for place in sorted(places, key=str, reverse=True):
                _remove(kept, place)
        else:
            return kept


def _copied(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _copied(value) for key, value in data.items()}
    return [_copied(value) for value in data] if isinstance(data, list) else data


def _place(data: Any, location: tuple[Any, ...]) -> Location:
    """The deepest key of the data that an error's location leads to."""
    place: list[Any] = []
    for step in location:
        if not (isinstance(data, dict) and step in data) and not (
            isinstance(data, list) and isinstance(step, int) and step < len(data)
        ):
            break
        data = data[step]
        place.append(step)
    return tuple(place)


def _remove(data: Any, place: Location) -> None:
    for step in place[:-1]:
        data = data[step]
    # An item that is taken out would move those behind it, which may be about to go as well.
    if isinstance(data, list):
        data[:] = [value for index, value in enumerate(data) if index != place[-1]]
    else:
        data.pop(place[-1], None)


def _explain(about: About, place: Location, message: str, lines: dict[Location, int]) -> Finding:
    shown = key_path(step if isinstance(step, int) else str(step)[:80] for step in place)
    line = lines.get(place)
    known = _known(place)
    if known is not None and place[-1] not in known:
        key = str(place[-1])
        meant = _MEANT.get(key.casefold().replace("-", "_")) if len(place) == 1 else None
        near = nearest(key, known)
        fix = meant or (f"Write {near!r} instead." if near else f"Use one of: {', '.join(known)}.")
        return Finding("error", f"Unknown key {shown!r}", fix, line, about)
    if line is None and place[:-1] in lines:
        line = lines[place[:-1]]
    return Finding("error", f"{shown!r} does not fit: {message[:200]}", "Correct the value.", line, about)


def _known(place: Location) -> tuple[str, ...] | None:
    """The keys that may stand where the last step of *place* does; None where any may."""
    if len(place) == 1:
        return (*(each.name for each in fields(Mapping)), _ALIAS)
    if place[0] == "field_types" and len(place) == 2:
        return get_args(FieldType)
    part = _PARTS.get(str(place[0]))
    if part is not None and len(place) == part[1] + 1:
        return tuple(each.name for each in fields(part[0]))
    return None
