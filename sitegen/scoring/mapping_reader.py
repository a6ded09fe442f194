"""Reads and validates a field mapping: reports its errors, and uses the rest."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from sitegen.config.findings import valid_part
from sitegen.data_files.json_reader import read_json
from sitegen.data_files.reading import Location, UnreadableError
from sitegen.data_files.yaml_reader import read_yaml
from sitegen.model.problems import Finding, Parsed
from sitegen.scoring.mapping import (
    Mapping,
)
from sitegen.scoring.settings import OWN_METRICS, settings_finding
from sitegen.text.keys import key_path, keys_at, nearest

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

RulesFile: TypeAlias = Literal["mapping", "settings"]

_REMEMBERED: Final[dict[tuple[bytes | None, str], Parsed[Mapping]]] = {}
"""Mappings from the memo, by their sources: results of ``_read_and_validate``."""


def read_mapping(content: bytes | None, settings: str) -> Parsed[Mapping]:
    """The mapping file, overridden key by key by the settings of the eval, and the errors of both. Never raises.

    An unknown key or a value of the wrong shape is left out; its finding names the line and the nearest possible key.
    """
    return _REMEMBERED.get((content, settings)) or _read_and_validate(content, settings)


def remember(content: bytes | None, settings: str, read: Parsed[Mapping]) -> None:
    """Add a mapping from the memo, so that its sources are not read again."""
    _REMEMBERED[content, settings] = read


@lru_cache(maxsize=64)
def _read_and_validate(content: bytes | None, settings: str) -> Parsed[Mapping]:
    findings: list[Finding] = []
    written, lines = _load(content, findings)
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
            if key != OWN_METRICS and (key, value) != ("ground_truth_format", "auto")
        }
    of_file = _valid(_with_one_name_of_ignore(written, "mapping", findings), "mapping", lines, findings)
    of_settings = _valid(_with_one_name_of_ignore(overriding, "settings", findings), "settings", {}, findings)
    # Two valid mappings may be invalid together, for example if a number overrides an object.
    overlaid = _valid(_overlaid(of_file, of_settings), "settings", lines, findings)
    mapping: Mapping = _adapter().validate_python(overlaid) if overlaid else Mapping()
    return Parsed(mapping, tuple(findings))


def _load(content: bytes | None, findings: list[Finding]) -> tuple[Any, dict[Location, int]]:
    if content is None:
        return {}, {}
    try:
        parsed = read_yaml(content)
    except UnreadableError as error:
        message = f"The mapping cannot be read: {error.message}"
        findings.append(Finding(severity="error", message=message, fix=error.fix, line=error.line, about="mapping"))
        return {}, {}
    findings.extend(replace(finding, about="mapping") for finding in parsed.findings)
    return (parsed.values[0] if parsed.values else {}), dict(parsed.lines)


def _with_one_name_of_ignore(written: Any, about: RulesFile, findings: list[Finding]) -> dict[str, Any]:
    """The keys that have a value, with ``non_extractable_fields`` renamed to ``ignore``."""
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
    return present


def _overlaid(base: Any, top: Any) -> Any:
    """*base* overridden by *top*: objects key by key, everything else as a whole."""
    if isinstance(base, dict) and isinstance(top, dict):
        return {**base, **{key: _overlaid(base[key], value) if key in base else value for key, value in top.items()}}
    return top


@lru_cache(maxsize=1)
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Mapping)


def _valid(data: Any, about: RulesFile, lines: dict[Location, int], findings: list[Finding]) -> dict[str, Any]:
    """The valid part of *data*; each invalid value becomes a finding and is removed."""
    if not data:
        return {}

    def report(location: Location, error: Any) -> None:
        findings.append(_misfit_finding(about, location, error, lines))

    return valid_part(_adapter(), data, report)


def _misfit_finding(about: RulesFile, location: Location, error: Any, lines: dict[Location, int]) -> Finding:
    name = key_path(step if isinstance(step, int) else str(step)[:80] for step in location)
    line = lines.get(location)
    possible = _possible_keys(location)
    if possible is not None and location[-1] not in possible:
        key = str(location[-1])
        fix = _FIX_OF_KEY.get(key.casefold().replace("-", "_")) if len(location) == 1 else None
        if key == "path" and location[0] == "array_mappings":
            fix = (
                "Write the entry under the path of its list in the output, and name its section: "
                f'`{str(error["input"])[:80]}: {{csv_section: "{str(location[1])[:80]}", fields: ...}}`.'
            )
        near = nearest(key, possible)
        fix = fix or (f"Write {near!r} instead." if near else f"Use one of: {', '.join(possible)}.")
        return Finding(severity="error", message=f"Unknown key {name!r}", fix=fix, line=line, about=about)
    if line is None and location[:-1] in lines:
        line = lines[location[:-1]]
    misfit = f"{name!r} does not fit: {error['msg'][:200]}"
    return Finding(severity="error", message=misfit, fix="Correct the value.", line=line, about=about)


def _possible_keys(location: Location) -> tuple[str, ...] | None:
    """Return the keys that are allowed in place of the last step of *location*; None if any key is."""
    keys = keys_at(Mapping, location)
    return (*keys, _OTHER_NAME_OF_IGNORE) if keys and len(location) == 1 else keys
