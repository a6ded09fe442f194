"""The types of a field mapping, and its reading: errors are reported, and the rest is used."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from sitegen.config.findings import ANSWERED_IN, OWN_METRICS, adapter_of, finding_of, settings_finding, valid_part
from sitegen.config.models import ConfigTable, GroundTruthFormat
from sitegen.data_files.reading import FINITE, Location, UnreadableError, read_json
from sitegen.data_files.yaml_reader import KeyLines, read_yaml
from sitegen.model.metrics import Convention
from sitegen.model.problems import Finding, Parsed
from sitegen.text.keys import key_path, keys_at, nearest

FieldType: TypeAlias = Literal["numeric", "integer", "string", "boolean", "date", "angle"]
_TYPE_BY_OTHER_NAME: Final = {
    **dict.fromkeys(("number", "float", "double", "decimal"), "numeric"),
    **dict.fromkeys(("text", "str"), "string"),
    "int": "integer",
    "bool": "boolean",
    "datetime": "date",
}
"""What other languages call the types."""
Algorithm: TypeAlias = Literal["greedy", "hungarian", "position"]


@dataclass(frozen=True, kw_only=True)
class ArrayMapping(ConfigTable):
    """A list of the output, and the section of a building summary that holds its ground truth."""

    csv_section: str | None = None
    fields: dict[str, str] = field(default_factory=dict)
    """Column of the section -> key of the item."""


@dataclass(frozen=True, kw_only=True)
class Tolerance(ConfigTable):
    """A tolerance; the larger of the two applies."""

    percent: Decimal | None = None
    absolute: Decimal | None = None


@dataclass(frozen=True, kw_only=True)
class FieldSettings(ConfigTable):
    """How one field is compared; overrides everything else."""

    type: FieldType | None = None
    percent: Decimal | None = None
    absolute: Decimal | None = None
    formats: tuple[str, ...] | None = None
    """Formats of dates for ``strptime``; the first that fits counts."""
    coerce: bool | None = None
    ordered: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ListSettings(ConfigTable):
    """How the items of one list are paired."""

    match_fields: tuple[str, ...] | None = None
    score_fields: tuple[str, ...] | None = None
    threshold: float | None = None
    algorithm: Algorithm | None = None


@dataclass(frozen=True, kw_only=True)
class Documents(ConfigTable):
    """The path of the list of documents in the output, and the key that names each."""

    path: str | None = None
    key: str = "id"


@dataclass(frozen=True, kw_only=True)
class CaseKeys(ConfigTable):
    """The keys of a case in a file that holds both sides; None if the key is recognised by its name."""

    list: str | None = None
    """The path of the list of cases."""
    id: str | None = None
    input: str | None = None
    expected: str | None = None
    output: str | None = None
    category: str | None = None


@dataclass(frozen=True, kw_only=True)
class Mapping(ConfigTable):
    """``field_mapping.yaml``, overridden by the eval's settings."""

    csv_to_json: dict[str, str] = field(default_factory=dict)
    array_mappings: dict[str, ArrayMapping] = field(default_factory=dict)
    """Path of a list in the output -> the section of its items."""
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
    null_values: tuple[str | int | float, ...] = ()
    true_values: tuple[str, ...] = ()
    false_values: tuple[str, ...] = ()
    extra_fields: Literal["count", "ignore"] = "count"
    equality: Literal["tolerant", "strict"] = "tolerant"
    """``strict``: the same type and the same value, without tolerances, and with letter case and spelling."""
    convention: Convention = "standard"
    ground_truth_format: GroundTruthFormat = "auto"
    cases: CaseKeys = field(default_factory=CaseKeys)

    def of_files(self) -> "Mapping":
        """Return the entries by which ground truth and outputs are read, without those by which values are compared."""
        return Mapping(
            csv_to_json=self.csv_to_json,
            array_mappings=self.array_mappings,
            documents=self.documents,
            id_column=self.id_column,
            ground_truth_format=self.ground_truth_format,
            cases=self.cases,
        )


_OTHER_NAME_OF_IGNORE: Final = "non_extractable_fields"
_LISTS_OR_ARRAYS: Final = (
    "Write 'array_mappings' for where the items of a list stand in the ground truth, 'lists' for how they are paired."
)
_FIX_OF_KEY: Final = {
    **dict.fromkeys(("line_items", "items", "arrays", "list_fields", "sections", "tables"), _LISTS_OR_ARRAYS),
    **dict.fromkeys(
        ("columns", "column_mapping", "mapping", "mappings", "field_mapping", "field_mappings"),
        "Write 'csv_to_json' for which column of the ground truth is which field.",
    ),
    "types": "Write 'field_types' instead.",
    **dict.fromkeys(("exclude", "excluded", "skip", "ignored_fields"), "Write 'ignore' instead."),
}
"""Fixes for frequent wrong keys that ``nearest`` cannot relate to the right key."""
_NUMBER_OR_PERCENT: Final = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)\s*(%?)")

RulesFile: TypeAlias = Literal["mapping", "settings"]


_known: Final[dict[tuple[bytes | None, str], Parsed[Mapping]]] = {}
_MOST_KNOWN: Final = 64  # mappings that a process holds


def read_mapping(content: bytes | None, settings: str, kept: Parsed[Mapping] | None = None) -> Parsed[Mapping]:
    """Return the mapping file, overridden key by key by the settings of the eval, and the errors of both. Never raises.

    An unknown key or a value of the wrong shape is left out; its finding names the line and the nearest possible key.
    ``kept``: what an earlier build read of the same content and settings, without which pydantic has to be imported.
    """
    key = content, settings
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = kept or _read(content, settings)
    return _known[key]


def lines_of(content: bytes, entries: Iterable[tuple[str, str]]) -> Iterator[int | None]:
    """Yield the line of each entry of a mapping file, else that of the key that it is below; None without that."""
    lines: KeyLines = {}
    with suppress(UnreadableError):
        _, lines, _ = read_yaml(content)
    by_key, rows = {".".join(map(str, at)): line for at, line in lines.items()}, content.split(b"\n")
    for key, text in entries:
        start = by_key.get(key) or by_key.get(_OTHER_NAME_OF_IGNORE if key == "ignore" else "", 0)
        below = (number for number, row in enumerate(rows[start - 1 :], start) if text.encode(errors="replace") in row)
        named = by_key.get(f"{key}.{text}") or by_key.get(f"{key}.{text.partition(': ')[0]}")
        yield (named or next(below, start)) if start else None


def _read(content: bytes | None, settings: str) -> Parsed[Mapping]:
    findings: list[Finding] = []
    written: Any = None
    lines: dict[Location, int] = {}
    try:
        if content is not None:
            values, lines, odd = read_yaml(content)
            written = next(iter(values), None)
            findings += (replace(finding, about="mapping") for finding in odd if finding.fix != FINITE)  # a misfit
    except UnreadableError as error:
        message = f"The mapping cannot be read: {error.message}"
        findings.append(Finding("error", message, error.fix, line=error.line, about="mapping"))
    try:
        overriding = read_json(settings.encode("utf-8", "replace")).value if settings.strip() else {}
    except UnreadableError as error:
        findings.append(settings_finding(f"The settings cannot be read: {error.message}", error.fix))
        overriding = {}
    if isinstance(overriding, dict):
        overriding = {
            key: value
            for key, value in overriding.items()
            # The default of the manifest does not override the format that the mapping states.
            if key not in (OWN_METRICS, ANSWERED_IN) and (key, value) != ("ground_truth_format", "auto")
        }
    of_file = _valid(written, "mapping", lines, findings)
    of_settings = _valid(overriding, "settings", {}, findings)
    # Two valid mappings may be invalid together, for example if a number overrides an object.
    overlaid = _valid(_overlaid(of_file, of_settings), "settings", lines, findings)
    mapping: Mapping = adapter_of(Mapping).validate_python(overlaid) if overlaid else Mapping()
    return Parsed(mapping, tuple(findings))


def _overlaid(base: Any, top: Any) -> Any:
    """``base`` overridden by ``top``: objects key by key, everything else as a whole."""
    if isinstance(base, dict) and isinstance(top, dict):
        return {**base, **{key: _overlaid(base[key], value) if key in base else value for key, value in top.items()}}
    return top


def _valid(written: Any, about: RulesFile, lines: dict[Location, int], findings: list[Finding]) -> dict[str, Any]:
    """Return the valid part of what is written; each invalid value becomes a finding and is removed."""
    if not isinstance(written, dict):
        if written is not None:
            message = f"The root of the {about} is not an object"
            findings.append(Finding(severity="error", message=message, fix="Write keys and values.", about=about))
        return {}
    present = {key: value for key, value in written.items() if value is not None}
    ignored = present.pop(_OTHER_NAME_OF_IGNORE, None)
    if isinstance(ignored, list) and isinstance(present.get("ignore", []), list):
        present["ignore"] = [*ignored, *present.get("ignore", [])]
    elif ignored is not None:
        present.setdefault("ignore", ignored)
    valid, misfits = valid_part(Mapping, present) if present else ({}, [])
    for location, error in misfits:
        key = key_path(location) if about == "settings" else ""  # in a mapping, the line is known
        findings.append(replace(_misfit_finding(location, error, lines), about=about, path=key))
    return valid


def _misfit_finding(location: Location, error: Any, lines: dict[Location, int]) -> Finding:
    name = key_path(step if isinstance(step, int) else str(step)[:80] for step in location)
    line, possible = lines.get(location), keys_at(Mapping, location)
    if possible and len(location) == 1:
        possible = (*possible, _OTHER_NAME_OF_IGNORE)
    if possible is not None and location[-1] not in possible:
        key = str(location[-1])
        fix = _FIX_OF_KEY.get(key.casefold().replace("-", "_")) if len(location) == 1 else None
        if key == "path" and location[0] == "array_mappings":
            fix = (
                "Write the entry under the path of its list in the output, and name its section: "
                f'`{str(error["input"])[:80]}: {{csv_section: "{str(location[1])[:80]}", fields: ...}}`.'
            )
        meant = _TYPE_BY_OTHER_NAME.get(key.casefold())
        near = meant if meant in possible else nearest(key, possible)
        fix = fix or (f"Write {near!r} instead." if near else f"Remove it, or use one of: {', '.join(possible)}.")
        return replace(Finding.of_type("unknown_key", f"Unknown key {name!r}", fix), line=line)
    misfit, value = finding_of(error, line or lines.get(location[:-1]), Mapping), str(error["input"])
    fix = _tolerance_meant(location, value) or misfit.fix
    if location[0] == "fields" and location[-1] == "type" and (meant := _TYPE_BY_OTHER_NAME.get(value.casefold())):
        fix = f"Write {meant!r} instead."
    return replace(misfit, message=misfit.message.replace(name, repr(name), 1), fix=fix)


def _tolerance_meant(location: Location, value: str) -> str:
    """Return what to write for a number, or for one in percent, in place of a tolerance; empty for anything else."""
    stated = _NUMBER_OR_PERCENT.fullmatch(value)
    if stated is None or location[0] not in ("tolerances", "fields"):
        return ""
    number = stated[1]
    match len(location), location[-1], stated[2]:
        case 2, _, "":  # in place of the tolerances of a category or a field
            return f"Write {{absolute: {number}}} for a difference, or {{percent: {number}}}."
        case 2, _, "%":
            return f"Write {{percent: {number}}}."
        case _, "percent", "%":
            return f"Write {number}."
        case _, "absolute", "%":
            return f"Write 'percent: {number}' instead."
        case _, "tolerances", "%":
            return f"Write {{default: {{percent: {number}}}}}."
    return ""
